#!/usr/bin/env python3
"""Latencies and throughputs of machines, measured as papers measure hardware, beside what they have published.

micro.py REDOUBT [--machine NAME|FILE]... [--set KEY=VALUE]... [--only PART]... [--markdown | --json | --check CYCLES]

Kernels are made here: chains of dependent instructions of one warp, pointer chases, full SMs, copies. Each number is a
difference of two runs that differ in one length alone, so that the launch, cold caches and the loop itself cancel.
Cycles are the machine's core cycles. Published figures are in published.csv, each with its source.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MACHINES = ["gt200-rise", "tesla-hints", "fermi-gtx480", "gtx480-gpgpusim", "turing-rtx2060", "ampere-a100"]
UNROLL = 16  # instructions of a chain in one turn of its loop; the longer form has twice as many
TURNS = 8  # of the shorter run; the longer has three times as many
WARPS_OF_SM = 16  # for throughputs: enough to hide every latency of arithmetic, and they fit on every machine

# name: the dependent instruction, by the type of its register. {r} is read and written.
CHAINS = {
    "add s32": ("s32", "add.s32 {r}, {r}, %k;"),
    "logic": ("s32", "xor.b32 {r}, {r}, %k;"),
    "shift": ("s32", "shl.b32 {r}, {r}, %k;"),
    "min s32": ("s32", "min.s32 {r}, {r}, %k;"),
    "setp + selp": ("s32", "setp.lt.s32 %q, {r}, %k; selp.b32 {r}, {r}, %k, %q;"),
    "mul s32": ("s32", "mul.lo.s32 {r}, {r}, %k;"),
    "mad s32": ("s32", "mad.lo.s32 {r}, {r}, %k, %k;"),
    "div s32": ("s32", "div.s32 {r}, {r}, %k;"),
    "rem s32": ("s32", "rem.s32 {r}, {r}, %k;"),
    "add f32": ("f32", "add.f32 {r}, {r}, %f;"),
    "mul f32": ("f32", "mul.f32 {r}, {r}, %f;"),
    "fma f32": ("f32", "fma.rn.f32 {r}, {r}, %f, %f;"),
    "div f32": ("f32", "div.rn.f32 {r}, {r}, %f;"),
    "rsqrt f32": ("f32", "rsqrt.approx.f32 {r}, {r};"),
    "sin f32": ("f32", "sin.approx.f32 {r}, {r};"),
    "cvt s32, f32 and back": ("s32", "cvt.rn.f32.s32 %g, {r}; cvt.rzi.s32.f32 {r}, %g;"),
    "add f64": ("f64", "add.f64 {r}, {r}, 0d3FE0000000000000;"),
    "fma f64": ("f64", "fma.rn.f64 {r}, {r}, %d, %d;"),
}
THROUGHPUTS = ["add s32", "shift", "mul s32", "add f32", "fma f32", "rsqrt f32", "cvt s32, f32 and back", "add f64"]
REGISTERS = {"s32": ("b32", "%a"), "f32": ("f32", "%b"), "f64": ("f64", "%c")}

HEAD = """.version 6.4
.target sm_30
.address_size 64
.const .align 8 .b32 zeros[64];
.visible .entry k(.param .u64 out, .param .u32 turns, .param .u32 one, .param .f32 half, .param .u64 place)
{
 .reg .pred %p, %q; .reg .b32 %n, %k, %t, %a<9>, %s, %v, %w, %x<4>; .reg .f32 %f, %g, %b<9>; .reg .f64 %d, %c<9>;
 .reg .b64 %o, %l, %m, %u, %y;
 .shared .align 16 .b8 room[4096];
 ld.param.u64 %o, [out]; ld.param.u32 %n, [turns]; ld.param.u32 %k, [one]; ld.param.f32 %f, [half]; ld.param.u64 %l, [place];
 cvta.to.global.u64 %o, %o; cvta.to.global.u64 %l, %l; cvt.f64.f32 %d, %f; mov.u32 %t, %tid.x;
"""
START = " ".join("mov.b32 %a{0}, %t; mov.f32 %b{0}, %f; mov.f64 %c{0}, %d;".format(i) for i in range(9))
TAIL = """ sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra LOOP;
 mul.wide.u32 %u, %t, 8; add.u64 %o, %o, %u;
"""
KEEP = {"s32": " st.global.u32 [%o], {r};", "f32": " st.global.f32 [%o], {r};", "f64": " st.global.f64 [%o], {r};"}


def loop(body, before="", after=""):
    return HEAD + START + before + "\nLOOP:\n " + "\n ".join(body) + "\n" + TAIL + after + "\n ret;\n}\n"


class Bench:
    def __init__(self, redoubt, machine, settings, folder):
        self.redoubt, self.machine, self.settings, self.folder = redoubt, machine, settings, pathlib.Path(folder)

    def run(self, text, turns, grid=1, block=32, words=1, one=1, fill=0):
        """Statistics of one launch. `words` 64-bit words of `fill` are at `place`."""
        path = self.folder / "k.ptx"
        path.write_text(text)
        command = [self.redoubt, "run", str(path), "--machine", self.machine, "--grid", str(grid), "--block", str(block)]
        for setting in ["launch.host_writes=around", *self.settings]:  # what is read begins in DRAM
            command += ["--set", setting]
        for argument in (f"out:u64[{grid * block}]", f"u32:{turns}", f"u32:{one}", "f32:0.5", f"place:u64[{words}]=fill({fill})"):
            command += ["--arg", argument]
        done = subprocess.run(command + ["--json"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr}{done.stdout}")
        return json.loads(done.stdout)["total"]

    def cycles(self, text, turns, **how):
        return self.run(text, turns, **how)["cycles"]

    def per_step(self, step, before="", after="", **how):
        """Cycles of one step of a chain: turns of loops with one and two times UNROLL steps."""
        once, twice = (self.per_turn([step] * count, TURNS, 3 * TURNS, before, after, **how) for count in (UNROLL, 2 * UNROLL))
        return (twice - once) / UNROLL

    def per_turn(self, body, few, many, before="", after="", **how):
        text = loop(body, before, after)
        return (self.cycles(text, many, **how) - self.cycles(text, few, **how)) / (many - few)

    # ---- What is measured: generators of (name, value, unit) -------------------------------------------------------

    def chains(self):
        for name, (kind, step) in CHAINS.items():
            register = REGISTERS[kind][1] + "0"
            one = 3 if name[:3] in ("div", "rem") else 1
            yield name, self.per_step(step.format(r=register), after=KEEP[kind].format(r=register), one=one), "cycles"
        yield "turn of a loop: add, setp, bra", self.per_turn([], TURNS, 3 * TURNS), "cycles"

    def memory(self):
        chase = " st.{0} [{1}], {1};"
        yield "shared memory", self.per_step("ld.shared.u32 %s, [%s];", " mov.u32 %s, room; st.shared.u32 [%s], %s;", KEEP["s32"].format(r="%s")), "cycles"
        constant = "ld.const.u32 %s, [%s];"
        yield "constant memory", self.per_step(constant, " mov.u32 %s, 0;", KEEP["s32"].format(r="%s")), "cycles"
        yield "L1 hit", self.per_step("ld.global.ca.u64 %l, [%l];", chase.format("global.u64", "%l"), " st.global.u64 [%o], %l;"), "cycles"
        yield "L2 hit", self.per_step("ld.global.cg.u64 %l, [%l];", chase.format("global.u64", "%l"), " st.global.u64 [%o], %l;"), "cycles"
        # The word at every place is the distance to the next place: a line of 128 bytes further on, then a row of DRAM.
        for name, stride in (("DRAM, next line", 128), ("DRAM, 32 KB further on", 32768)):
            steps = 48
            words = stride // 8 * (2 * steps + 1)
            body = ["ld.global.cg.u64 %u, [%l]; add.u64 %l, %l, %u;"]
            value = self.per_turn(body, steps, 2 * steps, after=" st.global.u64 [%o], %l;", words=words, fill=stride)
            add = self.per_step("add.u64 %l, %l, %u;", " mov.u64 %u, 8;", " st.global.u64 [%o], %l;")
            yield name, value - add, "cycles"

    def conflicts(self):
        for ways in (1, 2, 4, 8, 16, 32):
            before = f" mul.lo.u32 %s, %t, {4 * ways}; and.b32 %s, %s, 4095; mov.u32 %v, room; add.u32 %s, %s, %v; st.shared.u32 [%s], %s;"
            yield f"shared load, {ways} lanes a bank", self.per_step("ld.shared.u32 %s, [%s];", before, KEEP["s32"].format(r="%s")), "cycles"

    def throughputs(self):
        for name in THROUGHPUTS:
            kind, step = CHAINS[name]
            prefix = REGISTERS[kind][1]
            steps = [step.format(r=f"{prefix}{i}") for i in range(8)]
            after = " ".join(KEEP[kind].format(r=f"{prefix}{i}") for i in range(8))
            cycles = self.per_turn(steps * 8, 4, 12, after=after, block=32 * WARPS_OF_SM)
            operations = 8 * 8 * step.count(";") * 32 * WARPS_OF_SM
            yield name, operations / cycles, "lanes a cycle and SM"

    def whole(self):
        sms = int(self.run(loop(["add.s32 %a0, %a0, %k;"]), 1)["sm_shares"])
        blocks, threads = 4 * sms, 256
        empty = HEAD + " ret;\n}\n"
        yield "launch of a kernel that does nothing", self.cycles(empty, 1), "cycles"
        for warps in (1, 8):
            yield f"barrier of {warps} warps", self.per_turn(["bar.sync 0;"] * 4, 8, 16, block=32 * warps) / 4, "cycles"
        position = " mov.u32 %x0, %ctaid.x; mov.u32 %x1, %ntid.x; mad.lo.u32 %x0, %x0, %x1, %t; mul.wide.u32 %u, %x0, 8; add.u64 %m, %l, %u;"
        total = 8 * blocks * threads
        far = f" mov.u64 %y, {total};"
        read = self.per_turn(["ld.global.cg.u64 %u, [%m]; add.u64 %m, %m, %y;"], 2, 8, before=position + far, after=" st.global.u64 [%o], %u;",
                             grid=blocks, block=threads, words=8 * blocks * threads)
        yield "reads of DRAM by all SMs", total / read, "bytes a cycle"
        near = self.per_turn(["ld.global.cg.u64 %u, [%m]; add.u64 %m, %m, %u;"], 4, 12, before=position, after=" st.global.u64 [%o], %u;",
                             grid=blocks, block=threads, words=blocks * threads)
        yield "reads of the L2 by all SMs", total / near, "bytes a cycle"
        for name, before in (("one word", ""), ("a word each", position)):
            place = "%m" if before else "%l"
            value = self.per_turn([f"red.global.add.u32 [{place}], %k;"], 2, 6, before=before, grid=sms, block=threads, words=blocks * threads)
            yield f"atomic additions to {name}", sms * threads / value, "a cycle"

    def parts(self):
        return {"latency": self.chains, "memory": self.memory, "conflicts": self.conflicts, "throughput": self.throughputs, "whole": self.whole}

    def measure(self, only):
        for part, made in self.parts().items():
            if only and part not in only:
                continue
            for name, value, unit in made():
                yield part, name, round(value, 2), unit


def published():
    rows = {}
    with open(HERE / "published.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            rows[row["machine"], row["part"], row["name"]] = row
    return rows


def show(results, machines, markdown):
    known = published()
    names = []
    for machine in machines:
        names += [key for key in ((part, name, unit) for part, name, _, unit in results[machine]) if key not in names]
    if markdown:
        print("| what | unit | " + " | ".join(machines) + " |\n|---|---|" + "---|" * len(machines))
    for part, name, unit in names:
        cells = []
        for machine in machines:
            value = next((v for p, n, v, _ in results[machine] if (p, n) == (part, name)), None)
            paper = known.get((machine, part, name))
            cells.append(("" if value is None else f"{value:g}") + (f" ({paper['value']})" if paper else ""))
        if markdown:
            print(f"| {name} | {unit} | " + " | ".join(cells) + " |")
        else:
            print(f"{part:<11}{name:<38}" + "".join(f"{cell:>22}" for cell in cells) + f"  {unit}")


def check(results, tolerance):
    """How many numbers are further from the published ones. At least one must be compared."""
    known, compared, wrong = published(), 0, 0
    for machine, rows in results.items():
        for part, name, value, unit in rows:
            paper = known.get((machine, part, name))
            if paper is None:
                continue
            compared += 1
            if abs(value - float(paper["value"])) > tolerance:
                wrong += 1
                print(f"{machine}: {name}: {value} {unit}, published {paper['value']} ({paper['source']})")
    print(f"{compared} numbers compared, {wrong} wrong")
    return 1 if wrong > 0 or compared == 0 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("redoubt")
    parser.add_argument("--machine", action="append")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--only", action="append", help="latency, memory, conflicts, throughput, whole")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", type=float, metavar="CYCLES", help="fail if a number is further than this from a published one")
    wishes = parser.parse_args()
    machines = wishes.machine or MACHINES
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for machine in machines:
            results[machine] = list(Bench(wishes.redoubt, machine, wishes.set, folder).measure(wishes.only))
    if wishes.check is not None:
        sys.exit(check(results, wishes.check))
    if wishes.json:
        print(json.dumps({m: [dict(zip(("part", "name", "value", "unit"), r)) for r in rows] for m, rows in results.items()}, indent=1))
        return
    if not wishes.markdown:
        print(f"{'':<49}" + "".join(f"{machine:>22}" for machine in machines) + "\n(in parentheses: published, see published.csv)")
    show(results, machines, wishes.markdown)


if __name__ == "__main__":
    main()
