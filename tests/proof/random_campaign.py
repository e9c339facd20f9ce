"""Campaigns that are drawn at random and accepted: used by soak.py, harmful.py and what else needs many of them.

Words are taken from what the program itself lists, and put together by the rules of its manual. What is refused all the same is counted: a generator that
is mostly refused tests nothing but messages."""
import random
import subprocess

SIMT = ("ampere-a100", "fermi-gtx480", "gt200-rise", "gtx480-gpgpusim", "tesla-hints", "turing-rtx2060")
# Small chips, so that faults strike where work is done. The machine of hints needs two SMs of one TPC.
SMALL = {name: ["--set", "sm.count=2", "--set", "dram.controllers=2"] for name in SIMT}
SMALL["tesla-hints"] = ["--set", "sm.count=4", "--set", "dram.controllers=2"]
SMALL["ampere-a100"] = ["--set", "sm.count=2", "--set", "dram.controllers=2", "--set", "l2.bytes=262144"]

ONCE = ("flip", "adjacent(2)", "adjacent(3)", "random(2)", "random(4)", "byte", "lanes")
LASTING = ("stuck0", "stuck1", "duty(50,50)")
SCHEMES = ("dmr", "dmr:entries=4", "heal", "heal:threshold=2", "parity", "reissue", "rise", "rise:rp", "rise:partial", "rise:is", "secded:rf", "secded:all",
           "secded:shared", "shield:map=3-per-cluster", "shield:map=random,density=40", "hints:faulty=each")
COLD = {"icache2", "dram", "unit.tensor"}  # often empty, or of a size that a small campaign learns nothing from


def listed(redoubt, *words):
    """First words of the lines of a list; [] where the program refuses."""
    done = subprocess.run([redoubt, "list", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return [line.split()[0] for line in done.stdout.splitlines() if line and not line[0].isspace()] if done.returncode == 0 else []


class Generator:
    def __init__(self, redoubt, seed):
        self.redoubt = redoubt
        self.random = random.Random(seed)
        self.known = {}
        names = listed(redoubt, "workloads")
        self.workloads = [name for name in names if name.isidentifier()]
        self.g80 = [name for name in names if name.startswith("g80.")]

    def structures(self, machine, schemes):
        """All that the machine has under these schemes; empty: it does not take them."""
        key = (machine, *schemes)
        if key not in self.known:
            words = ["structures", "--machine", machine]
            for scheme in schemes:
                words += ["--protect", scheme]
            self.known[key] = [name for name in listed(self.redoubt, *words) if name not in ("structure", "all") and name not in COLD]
        return self.known[key]

    def protection(self, machine, how_many):
        """That many schemes which this machine takes together."""
        for _ in range(50):
            schemes = sorted(self.random.sample(SCHEMES, how_many))
            if len({scheme.split(":")[0] for scheme in schemes}) == how_many and self.structures(machine, schemes):
                return schemes
        return []

    def simt(self, how_many_schemes):
        machine = self.random.choice(SIMT)
        schemes = self.protection(machine, how_many_schemes) if how_many_schemes else []
        words = [self.random.choice(self.workloads), "--size", "tiny", "--machine", machine, *SMALL[machine]]
        for scheme in schemes:
            words += ["--protect", scheme]
        return words, self.structures(machine, schemes), ONCE + LASTING

    def fragment(self):
        words = [self.random.choice(("mandelbrot.fp", "stress0.fp", "stress1.fp", "stress2.fp")), "--machine", "sheaffer-2007", "--domain", "32x32",
                 "--texture", "0=random:64x64", "--texture", "1=random:64x64"]
        if self.random.random() < 0.5:
            words += ["--protect", "reissue"]
        schemes = ["reissue"] if "--protect" in words else []
        return words, self.structures("sheaffer-2007", schemes), ONCE

    def flexgrip(self):
        machine = "flexgrip-thesis"
        words = [self.random.choice(self.g80), "--size", "tiny", "--machine", machine, "--set", "g80.sms=2"]
        return words, self.structures(machine, []), ONCE + ("stuck0", "stuck1")

    def draw(self, schemes=None):
        """Words of a campaign, without its journal. `schemes`: how many at a time; None: none to two."""
        kind = self.random.random() if schemes is None else 0
        if kind > 0.92 and self.g80:
            words, structures, models = self.flexgrip()
        elif kind > 0.84:
            words, structures, models = self.fragment()
        else:
            words, structures, models = self.simt(self.random.choice((0, 0, 1, 2)) if schemes is None else schemes)
        model = self.random.choice(models)
        chosen = ["all"] if self.random.random() < 0.1 else self.random.sample(structures, min(self.random.randint(1, 6), len(structures)))
        words = [*words, "--structure", ",".join(chosen), "--model", model, "--fault-seed", str(self.random.randrange(1, 1 << 30))]
        words += ["--faults", str(self.random.choice((30, 60, 120, 200)))]
        if self.random.random() < 0.2 and "all" not in chosen:
            words += ["--sampling", "bits"]
        if model in LASTING and self.random.random() < 0.5:
            words += ["--window", "cycles:0-1"]
        return words
