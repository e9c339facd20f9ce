"""soak.py REDOUBT FOLDER MINUTES|Nx SEED: for MINUTES, or N times, random campaigns, disturbed in every way; nothing may be lost and nothing different.

Each campaign runs once in peace. Then the same campaign is killed, interrupted, run on a disk that fills up, under a clock that jumps, in parts that are
merged, as tasks of a cluster, by one worker. Every row of its journal must be as before. A campaign that does not end within ten minutes fails the soak.
What it finds is left in the folder, with the command."""
import glob
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cluster"))
from random_campaign import Generator  # noqa: E402
from same import difference  # noqa: E402

LONGEST = 600  # seconds of one command
GOOD = (0, 2, 129, 130, 143, -signal.SIGKILL, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP)  # 2: refused, or the disk is full; signals: before it minds them


class Failed(Exception):
    pass


class Soak:
    def __init__(self, redoubt, folder, seed):
        self.redoubt, self.folder = redoubt, folder
        self.random = random.Random(seed)
        self.trouble = os.path.join(folder, "trouble.so")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", self.trouble, os.path.join(os.path.dirname(__file__), "trouble.c"), "-ldl"], check=True)
        self.counts, self.met = {}, {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def clean(self, *names):
        for name in names:
            for path in glob.glob(self.path(name) + "*"):
                if os.path.isdir(path):
                    shutil.rmtree(path)
                else:
                    os.remove(path)

    def start(self, words, **more):
        self.output = open(self.path("output.txt"), "w+", encoding="utf-8", errors="replace")
        return subprocess.Popen([self.redoubt, *words], stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
                                start_new_session=True, **more)

    def end(self, process, words):
        """Its exit code. A command that hangs, crashes or fails internally ends the soak."""
        try:
            code = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Failed(f"does not end within {LONGEST} s: redoubt {' '.join(words)}") from None
        self.output.seek(0)
        self.said = self.output.read()
        self.output.close()
        if code not in GOOD:
            raise Failed(f"exit code {code}: redoubt {' '.join(words)}\n{self.said[-2000:]}")
        return code

    def run(self, words, **more):
        return self.end(self.start(words, **more), words)

    def troubled(self, name, value):
        # A build with ASan otherwise refuses whatever is loaded before its own library.
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return dict(os.environ, LD_PRELOAD=self.trouble, ASAN_OPTIONS=asan, **{name: str(value)})

    def meet(self, name, is_met):
        """A kill that comes too late, or a disk that is large enough, disturbs nothing: both are counted."""
        met, tried = self.met.get(name, (0, 0))
        self.met[name] = (met + is_met, tried + 1)

    def finish(self, words):
        if self.run(words) != 0:
            raise Failed(f"does not go on: redoubt {' '.join(words)}\n{self.said[-2000:]}")

    # The ways to disturb a campaign. Each leaves its journal in other.db.
    def killed(self, words, which):
        """Killed or interrupted at some moments; then it goes on to its end."""
        for _ in range(self.random.randint(1, 3)):
            process = self.start([*words, "-o", self.path("other.db")])
            time.sleep(self.random.random() ** 2 * 1.2 * max(self.peace, 0.1))
            self.meet("signals that met it running", process.poll() is None)
            for one in self.victims(process, which):
                try:
                    os.kill(one, which)
                except ProcessLookupError:
                    pass
            if which == signal.SIGKILL:
                self.end(process, words)
                continue
            code = self.end(process, words)
            if code == 2:
                raise Failed(f"refused after a signal: {' '.join(words)}\n{self.said[-2000:]}")
            if code == 0:
                return  # it says that it is complete
        self.finish([*words, "-o", self.path("other.db")])

    def victims(self, process, which):
        """A kill takes the whole session at once, as a scheduler does; a signal goes to the command."""
        if which != signal.SIGKILL:
            return [process.pid]
        done = subprocess.run(["ps", "-o", "pid=", "-s", str(process.pid)], capture_output=True, text=True, check=False)
        return [process.pid] + [int(pid) for pid in done.stdout.split() if int(pid) != process.pid]

    def kill(self, words):
        self.killed(words, signal.SIGKILL)

    def interrupt(self, words):
        self.killed(words, self.random.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)))

    def full_disk(self, words):
        """Files may grow no larger, or no byte more can be written."""
        for _ in range(self.random.randint(1, 3)):
            limit = self.random.choice((0, 4096, 20000, 40000, 80000, 120000, 200000, 400000))
            if self.random.random() < 0.5:
                how = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))}  # noqa: B023
            else:
                how = {"env": self.troubled("DISK_BYTES", limit)}
            code = self.run([*words, "-o", self.path("other.db")], **how)
            if code not in (0, 2):
                raise Failed(f"a full disk: exit code {code}: {' '.join(words)}\n{self.said[-2000:]}")
            self.meet("disks that were full", code == 2)
            if code == 0:
                return  # it says that it is complete
        self.finish([*words, "-o", self.path("other.db")])

    def jumping_clock(self, words):
        environment = self.troubled("CLOCK_SEED", self.random.randrange(1 << 30))
        if self.run([*words, "-o", self.path("other.db")], env=environment) != 0:
            raise Failed(f"a clock that jumps: {' '.join(words)}\n{self.said[-2000:]}")

    def shards(self, words):
        count = self.random.randint(2, 4)
        parts = [self.path(f"other-part-{i}.db") for i in range(count)]
        for i, part in enumerate(parts):
            self.finish([*words, "--shard", f"{i}/{count}", "-o", part])
        self.random.shuffle(parts)
        self.finish(["merge", self.path("other.db"), *parts])

    def tasks(self, words):
        """Tasks of this machine, some of which have clocks that jump; they or the one who gathers are killed once."""
        words = [*words, "--cluster", "local:2", "-o", self.path("other.db")]
        how = {"env": self.troubled("CLOCK_SEED", self.random.randrange(1 << 30))} if self.random.random() < 0.5 else {}
        process = self.start(words, **how)
        time.sleep(self.random.random() * max(self.peace, 0.1))
        self.meet("signals that met it running", process.poll() is None)
        victims = self.victims(process, signal.SIGKILL)
        for one in victims if self.random.random() < 0.5 else victims[:1]:  # or the one who gathers alone, and its tasks go on
            try:
                os.kill(one, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.end(process, words)
        if self.run(words, **how) != 0:
            raise Failed(f"does not go on: redoubt {' '.join(words)}\n{self.said[-2000:]}")

    def alone(self, words):
        self.finish([*words, "-j", "1", "-o", self.path("other.db")])

    WAYS = ("kill", "kill", "interrupt", "full_disk", "jumping_clock", "shards", "tasks", "alone")

    def once(self, words):
        """One campaign in peace and disturbed."""
        self.clean("whole", "other")
        began = time.monotonic()
        code = self.run([*words, "-o", self.path("whole.db")])
        if code not in (0, 2):
            raise Failed(f"in peace: exit code {code}: redoubt {' '.join(words)}\n{self.said[-2000:]}")
        if code == 2:
            self.count("refused")
            self.refusal = f"redoubt {' '.join(words)}\n{self.said[-500:]}"
            return
        self.peace = time.monotonic() - began
        way = self.random.choice(self.WAYS)
        getattr(self, way)(words)
        found = difference(self.path("whole.db"), self.path("other.db"))
        if found:
            raise Failed(f"{way}: {found}\nredoubt {' '.join(words)}")
        self.count(way.replace("_", " "))
        self.count("faults", int(words[words.index("--faults") + 1]))

    def count(self, name, by=1):
        self.counts[name] = self.counts.get(name, 0) + by


def main(redoubt, folder, long, seed):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    soak = Soak(redoubt, folder, seed)
    generator = Generator(redoubt, seed)
    most = int(long[:-1]) if long.endswith("x") else 0
    minutes = 0 if most else float(long)
    began = time.monotonic()
    campaigns = 0
    while campaigns < most or time.monotonic() < began + 60 * minutes or campaigns == soak.counts.get("refused", 0):
        try:
            soak.once(["campaign", *generator.draw()])
        except Failed as what:
            print(f"soak: after {campaigns} campaigns: {what}")
            return 1
        campaigns += 1
    refused = soak.counts.pop("refused", 0)
    faults = soak.counts.pop("faults", 0)
    if refused > 5 + campaigns / 4:
        print(f"soak: {refused} of {campaigns} campaigns were refused, such as\n{soak.refusal}")
        return 1
    ways = ", ".join(f"{name} {count}" for name, count in sorted(soak.counts.items()))
    ways += "".join(f"; {met} of {tried} {name}" for name, (met, tried) in sorted(soak.met.items()))
    print(f"RESULT soak: {(time.monotonic() - began) / 60:.0f} minutes, seed {seed}: {campaigns - refused} random campaigns of {faults} faults, each in peace and disturbed ({ways}): "
          f"every row the same, nothing lost, none hung; {refused} more were refused")
    return 0


sys.exit(main(os.path.realpath(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))
