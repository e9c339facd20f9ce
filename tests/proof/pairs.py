"""pairs.py REDOUBT FOLDER [EVERY [FAULTS [SEED]]]: protections in pairs, on every machine that has time.

Every pair of two protections, also of the same one, in both orders, and of their forms with options in one order; of all these every EVERY-th. The program
itself says whether a machine takes a pair: if not, in one line. If it does, a program's results are the same bytes as without, and FAULTS faults in
structures of the machine and of the schemes end alike with every shortcut and by a simulation of each. A scheme of 'redoubt list protections' that has no
row here fails."""
import os
import random
import subprocess
import sys

from harmful import campaign, outcomes
from random_campaign import Generator, listed

# As each is attached; the first form alone meets the others in both orders. What a machine does not take it refuses.
FORMS = {
    "none": ["none"],
    "null": ["null:plan,places,decisions", "null"],
    "dmr": ["dmr", "dmr:entries=2,shuffle=5"],
    "hints": ["hints:faulty=each", "hints:faulty=1,use=off"],
    "heal": ["heal", "heal:threshold=1,window=64", "heal:detect=rise"],
    "parity": ["parity"],
    "reissue": ["reissue", "reissue:lines=8,tries=2", "reissue:toggle,copies=3"],
    "rise": ["rise", "rise:rp", "rise:is", "rise:partial"],
    "secded": ["secded:all", "secded:rf", "secded:shared"],
    "shield": ["shield:map=3-per-cluster", "shield:map=random,density=40", "shield:map=random,density=10,most=1,deform"],
    "twin": ["twin"],
}
# Chips on which every scheme finds what it needs: two SMs in each of two TPCs for hints, two arithmetic units for twin.
CHIPS = {name: ["--set", "sm.count=4", "--set", "sm.per_tpc=2", "--set", "dram.controllers=2"]
         for name in ("ampere-a100", "fermi-gtx480", "gt200-rise", "gtx480-gpgpusim", "tesla-hints", "turing-rtx2060")}
CHIPS["ampere-a100"] = [*CHIPS["ampere-a100"], "--set", "l2.bytes=262144"]
CHIPS["flexgrip"], CHIPS["flexgrip-thesis"] = [], ["--set", "g80.sms=2"]
CHIPS["sheaffer-2007"] = ["--set", "fragment.units=2"]
PROGRAMS = {"flexgrip": ["g80.saxpy"], "flexgrip-thesis": ["g80.saxpy", "g80.scalarprod"], "sheaffer-2007": ["mandelbrot.fp"]}
SIMT_PROGRAMS = ["vecadd", "scalarprod", "reduction", "matmul", "bfs", "hotspot"]
MODELS = ("flip", "flip", "random(2)", "byte", "stuck1")
HUGE = {"dram", "icache2"}  # that a small program hardly uses


def pairs(machines):
    """(machine, first, second)"""
    forms = [(name, form) for name, known in FORMS.items() for form in known]
    for machine in machines:
        for i, (name, form) in enumerate(forms):
            for k, (other, beside) in enumerate(forms):
                both_first = form == FORMS[name][0] and beside == FORMS[other][0]
                if both_first or (i <= k if (i + k) % 2 == 0 else i > k):
                    yield machine, form, beside


def attach(schemes):
    return [word for scheme in schemes for word in ("--protect", scheme)]


def run(redoubt, words):
    """Its code, and what it prints before the first statistic, which ends with the outputs."""
    what = "color" if "--domain" in words else "outputs"
    done = subprocess.run([redoubt, "run", *words, "--dump", what], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=300)
    return done.returncode, done.stdout.split("\nkernel  ")[0], done.stderr


class Pairs:
    def __init__(self, redoubt, folder, faults, seed):
        self.redoubt, self.folder, self.faults = redoubt, folder, faults
        self.random = random.Random(seed)
        self.generator = Generator(redoubt, seed)
        self.plain = {}
        self.counts = {"taken": 0, "refused": 0, "faults": 0, "harmful": 0}

    def target(self, machine):
        program = self.random.choice(PROGRAMS.get(machine, SIMT_PROGRAMS))
        size = ["--domain", "32x32"] if machine == "sheaffer-2007" else ["--size", "tiny"]
        return [program, *size, "--machine", machine, *CHIPS[machine]]

    def check_refused(self, machine, schemes):
        done = subprocess.run([self.redoubt, "list", "structures", "--machine", machine, *CHIPS[machine], *attach(schemes)], capture_output=True,
                              text=True, check=False)
        if done.returncode == 0:
            return None
        lines = done.stderr.strip().splitlines()
        if done.returncode != 2 or len(lines) != 1 or not lines[0].startswith("redoubt: "):
            return f"refused with code {done.returncode}: {done.stderr}"
        self.counts["refused"] += 1
        return ""

    def check_run(self, target, schemes):
        """Without faults it gives the same bytes as without protections."""
        key = " ".join(target)
        if key not in self.plain:
            self.plain[key] = run(self.redoubt, target)
        code, outputs, said = run(self.redoubt, [*target, *attach(schemes)])
        if code != 0 or self.plain[key][0] != 0:
            return f"exit code {code}: {said}"
        return None if outputs == self.plain[key][1] else "other results than without protections"

    def check_faults(self, target, machine, schemes):
        known = [name for name in self.structures(machine, schemes) if name not in HUGE]
        own = [name for name in known if name not in self.structures(machine, [])]
        chosen = self.random.sample(known, min(4, len(known))) + self.random.sample(own, min(3, len(own)))
        words = [*target, *attach(schemes), "--structure", ",".join(sorted(set(chosen))), "--model", self.random.choice(MODELS), "--faults",
                 str(self.faults), "--fault-seed", str(self.random.randrange(1, 1 << 30))]
        rows = []
        for name, how in (("fast", []), ("slow", ["--no-prune", "--no-snapshot"])):
            journal = os.path.join(self.folder, name + ".db")
            code, said = campaign(self.redoubt, [*words, *how], journal)
            if code != 0:
                return f"exit code {code}: redoubt campaign {' '.join([*words, *how])}\n{said}"
            rows.append(outcomes(journal))
        if rows[0] != rows[1]:
            different = [(one, two) for one, two in zip(rows[0][0], rows[1][0]) if one != two]
            return f"fast and slow differ: redoubt campaign {' '.join(words)}\n{different[:1]}"
        self.counts["faults"] += len(rows[0][0])
        self.counts["harmful"] += rows[0][1]
        return None

    def structures(self, machine, schemes):
        key = (machine, *schemes)
        known = self.generator.known
        if key not in known:
            names = listed(self.redoubt, "structures", "--machine", machine, *CHIPS[machine], *attach(schemes))
            known[key] = [name for name in names if name not in ("structure", "all")]
        return known[key]

    def check(self, machine, schemes):
        """None: all is well, or it is refused as it should be."""
        said = self.check_refused(machine, schemes)
        if said is not None:
            return said or None
        self.counts["taken"] += 1
        target = self.target(machine)
        return self.check_run(target, schemes) or self.check_faults(target, machine, schemes)


def main(redoubt, folder, every=1, faults=20, seed=1):
    os.makedirs(folder, exist_ok=True)
    names = {line.split("[")[0].split(":")[0] for line in listed(redoubt, "protections")}
    if names != set(FORMS):
        print(f"pairs: forms are missing of {names ^ set(FORMS)}")
        return 1
    machines = [name for name in listed(redoubt, "machines") if name != "functional"]
    if set(machines) != set(CHIPS):
        print(f"pairs: chips are missing of {set(machines) ^ set(CHIPS)}")
        return 1
    pairs_of = Pairs(redoubt, folder, faults, seed)
    work = list(pairs(machines))
    bad = 0
    for machine, one, two in work[pairs_of.random.randrange(every)::every]:
        said = pairs_of.check(machine, [one, two])
        if said is not None:
            bad += 1
            print(f"{machine}, {one} and {two}: {said}", flush=True)
    counts = pairs_of.counts
    careful = "under ASan and UBSan " if folder.endswith("-asan") else ""
    print(f"RESULT pairs: {careful}{counts['taken']} pairs of protections on {len(machines)} machines: without faults the same results as without them, and "
          f"{counts['faults']} faults, of which {counts['harmful']} did harm, end alike with shortcuts and by a simulation of each; {counts['refused']} pairs are "
          f"refused in one line; {bad} otherwise")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(os.path.realpath(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])))
