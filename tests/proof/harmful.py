"""harmful.py REDOUBT FOLDER HARMFUL PAIRS SEED: shortcuts change no outcome, where faults do harm.

A fault that is masked proves little: most ways to settle it wrongly say "masked", too. For each lot faults are drawn until HARMFUL of a machine end as SDC,
DUE or detected; all of them are settled with every shortcut and by a simulation of each from the beginning. Lots: every machine, atomics, clusters, caches that
outlive launches, and pairs of protections drawn at random."""
import math
import os
import shutil
import sqlite3
import subprocess
import sys

from random_campaign import SIMT, SMALL, Generator

MOST_FAULTS = 8000  # of a lot
BATCH = (40, 500)
HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(HERE, "..", "ptx", "run")
SHADERS = os.path.join(HERE, "..", "..", "workloads", "fragment")
CLUSTERS = [os.path.join(RUN, "clusters.ptx"), "--kernel", "ring", "--grid", "64", "--block", "64", "--arg", "out:u32[4096]"]
TICKETS = [os.path.join(RUN, "atomics.ptx"), "--kernel", "tickets", "--grid", "32", "--block", "64", "--arg", "out:u32[2048]", "--arg", "counter:u32[1]"]
# One SM and small caches, so that most of what is struck is in use.
TINY = ["--set", "sm.count=1", "--set", "dram.controllers=1", "--set", "icache.bytes=1024", "--set", "constant.bytes=2048"]
BUSY = "rf,unit.sp,unit.agu,collector.a,ldst.address"


def chip(machine):
    cells = SMALL[machine] if machine == "tesla-hints" else TINY if machine == "gt200-rise" else [*TINY, "--set", "l2.bytes=8192"]
    return ["--size", "tiny", "--machine", machine, *cells]


def lots():
    """(machine, name, words of the campaign, share of the harmful faults wanted of a machine)"""
    for machine in SIMT:
        for workload in ("matmul", "aes", "fwt"):
            yield machine, workload, [workload, *chip(machine), "--structure", BUSY], 1 / 3
    for machine in ("ampere-a100", "turing-rtx2060"):
        here = ["--machine", machine, *TINY, "--set", "l2.bytes=8192"]
        both = ["--machine", machine, *SMALL[machine]]
        yield machine, "histogram64, atomics", ["histogram64", *chip(machine), "--structure", "rf,unit.agu,unit.sp,shared,ibuffer,warp.base"], 1 / 4
        yield machine, "tickets, atomics", [*TICKETS, *here, "--structure", "rf,l2,unit.sp,unit.agu,ldst.address,network.address"], 1 / 4
        yield machine, "gemm, tensor unit", ["gemm", *chip(machine), "--structure", "rf,warp.base,unit.agu,unit.sp,tensor,ldst.address,icache"], 1 / 4
        yield machine, "ring, clusters", [*CLUSTERS, *both, "--structure", "rf,shared,collector.a,unit.sp,unit.agu,network.request"], 1 / 4
        for workload in ("fwt", "hotspot"):
            yield machine, f"{workload}, warm caches", [workload, *chip(machine), "--structure", "l2,l2.tag,icache"], 1 / 8
    flexgrip = ["--machine", "flexgrip-thesis", "--set", "g80.sms=2", "--size", "tiny"]
    yield "flexgrip-thesis", "saxpy", ["g80.saxpy", *flexgrip, "--structure", "all"], 1 / 2
    yield "flexgrip-thesis", "scalarprod", ["g80.scalarprod", *flexgrip, "--structure", "all"], 1 / 2
    fragment = ["--machine", "sheaffer-2007", "--domain", "32x32", "--texture", "0=random:32x32", "--texture", "1=random:32x32", "--structure"]
    yield "sheaffer-2007", "mandelbrot", ["mandelbrot.fp", *fragment, "unit,temp,pc,place,fqueue,loop.depth"], 1 / 2
    yield "sheaffer-2007", "convolution", [os.path.join(SHADERS, "convolution.fp"), *fragment, "unit,temp,pc,place,texel,output"], 1 / 2


def pairs(redoubt, seed):
    """Pairs of protections that a machine takes together, on random programs. Without end."""
    generator = Generator(redoubt, seed)
    while True:
        words = generator.draw(2)
        for option in ("--faults", "--fault-seed", "--structure", "--model", "--sampling", "--window"):
            if option in words:
                at = words.index(option)
                del words[at:at + 2]
        names = [word for i, word in enumerate(words) if i > 0 and words[i - 1] == "--protect"]
        yield words[4], f"{words[0]} under " + " and ".join(names), [*words, "--structure", BUSY], 0


def campaign(redoubt, words, journal):
    for end in ("", "-wal", "-shm"):
        if os.path.exists(journal + end):
            os.remove(journal + end)
    done = subprocess.run([redoubt, "campaign", *words, "-q", "-o", journal], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stderr


def outcomes(journal):
    """All of a fault's row but how it was settled, and whether and by whom it was read first, which is not known without that."""
    file = sqlite3.connect(f"file:{journal}?mode=ro", uri=True)
    file.row_factory = sqlite3.Row
    groups = {row["outcome"]: row["outcome_group"] for row in file.execute("SELECT DISTINCT outcome, outcome_group FROM results")}
    left_out = {"settled", "class_of", "block", "pc", "opcode", "line", "read"}
    rows = [{key: row[key] for key in row.keys() if key not in left_out} for row in file.execute("SELECT * FROM results ORDER BY id")]
    harmful = sum(1 for row in rows if groups[row["outcome"]] in ("sdc", "due", "detected"))
    return rows, harmful


def settle(redoubt, folder, words):
    """Both ways: the rows and how many did harm, or a text that says what is wrong."""
    found = []
    for name, how in (("fast.db", []), ("slow.db", ["--no-prune", "--no-snapshot"])):
        code, said = campaign(redoubt, [*words, *how], os.path.join(folder, name))
        if code != 0:
            return f"{'refused' if code == 2 else f'exit code {code}'}: {' '.join([*words, *how])}\n{said}"
        found.append(outcomes(os.path.join(folder, name)))
    (fast, harmful), (slow, _) = found
    if len(fast) != len(slow) or not fast:
        return f"{len(fast)} and {len(slow)} faults: {' '.join(words)}"
    for one, two in zip(fast, slow, strict=True):
        if one != two:
            return f"fast and slow differ: {' '.join(words)}\n{one}\n{two}"
    return len(fast), harmful


def compare(redoubt, folder, words, wanted, seed):
    """Batches of faults until `wanted` of them did harm. Returns (faults, harmful), or a text that says what is wrong."""
    faults = harmful = 0
    while harmful < wanted and faults < MOST_FAULTS:
        share = max(harmful / faults, 0.02) if faults > 0 else 0.2
        size = min(max(math.ceil((wanted - harmful) / share), BATCH[0]), BATCH[1])
        found = settle(redoubt, folder, [*words, "--fault-seed", str(seed), "--faults", str(size)])
        if isinstance(found, str):
            return found
        faults, harmful, seed = faults + found[0], harmful + found[1], seed + 1
    if harmful < wanted / 2:
        return f"only {harmful} of {faults} faults did harm: {' '.join(words)}"
    return faults, harmful


def main(redoubt, folder, wanted, how_many_pairs, seed):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    totals = {}
    work, drawn = list(lots()), pairs(redoubt, seed)
    tried = 0
    while work or tried < how_many_pairs:
        is_pair = not work
        machine, name, words, share = next(drawn) if is_pair else work.pop(0)
        if is_pair:
            found = settle(redoubt, folder, [*words, "--fault-seed", str(seed), "--faults", "60"])
            if isinstance(found, str) and found.startswith("refused"):
                continue
        else:
            found = compare(redoubt, folder, words, max(10, wanted * share), seed)
        if isinstance(found, str):
            print(f"{machine}, {name}: {found}")
            return 1
        tried += is_pair
        print(f"{machine}, {name}: {found[0]} faults alike, {found[1]} of them did harm", flush=True)
        key = "pairs of protections" if is_pair else machine
        known = totals.get(key, (0, 0, 0))
        totals[key] = (known[0] + 1, known[1] + found[0], known[2] + found[1])
    few = [f"{name}: only {total[2]} faults did harm" for name, total in totals.items() if total[2] < 0.85 * wanted and name != "pairs of protections"]
    if few:
        print("\n".join(few))
        return 1
    for name, (count, faults, harmful) in totals.items():
        print(f"RESULT harmful: {name}: {faults} faults in {count} lots, {harmful} of them did harm; with shortcuts and by a simulation of each: all alike")
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.realpath(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])))
