"""hostile.py FOLDER INPUTS SEED REDOUBT...: damaged files and words, taken by builds of several compilers under sanitizers.

Each input is a good file in which something was changed: bytes, numbers, lines, rows of a journal. Every build gets it in the same command. None may
crash, be stopped by a sanitizer, fail internally or hang, and all must end with the same code and the same words. What fails is left in the folder."""
import glob
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
LONGEST = 120  # seconds of one command
NUMBERS = ("0", "-1", "1", "2147483648", "4294967295", "9223372036854775807", "18446744073709551616", "1e999", "-1e999", "nan", "0x7fffffffffffffff", "1.5", "")
WORDS = ("inf", "flip:", "[", "]", "@", ",", "%", "\x00", "\xff", "../..", "=", "'", '"', "{", "}", "SELECT", "stuck1")
CHIP = ["--set", "sm.count=1", "--set", "dram.controllers=1"]
SAXPY = ["--grid", "2", "--block", "64", "--arg", "a:f32=2", "--arg", "x:f32[128]=ramp", "--arg", "y:f32[128]=ones", "--arg", "n:u32=128",
         "--max-instructions", "20000"]
CAMPAIGN = ["campaign", "vecadd", "--size", "tiny", "--machine", "fermi-gtx480", *CHIP, "--structure", "rf", "--faults", "40", "-q"]

# How long it took, and rates: the only things that differ between two runs of one build.
TIMES = re.compile(r"(?<![\w.])[0-9.e+-]+ ?(s|ms|us|MB)\b|[0-9.,]+ (M|k|G)?\w*/s|\b\d+\.\d{3}(?= )")


def found(*pattern):
    return sorted(glob.glob(os.path.join(ROOT, *pattern)))


class Hostile:
    def __init__(self, builds, folder, seed):
        self.builds, self.folder = builds, folder
        self.random = random.Random(seed)
        self.counts, self.codes = {}, {}
        self.journal, self.cluster = self.path("good.db"), self.path("good-cluster")
        plan = self.path("gathered.db.cluster")
        for words, wanted in (([*CAMPAIGN, "-o", self.journal], 0), ([*CAMPAIGN, "--cluster", "folder:tasks=3", "-o", self.path("gathered.db")], 5),
                              (["task", plan, "0", "2"], 0)):
            code, said = self.run(builds[0], words)
            if code != wanted:
                raise SystemExit(f"{' '.join(words)}: exit {code}\n{said}")
        shutil.move(plan, self.cluster)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, build, words):
        """Code, and what it said, without what differs between two runs of one build."""
        environment = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=32:detect_leaks=0:allocator_may_return_null=1")
        try:
            done = subprocess.run([build, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONGEST,
                                  check=False, env=environment, cwd=self.folder)
        except subprocess.TimeoutExpired:
            return -signal.SIGALRM, f"does not end within {LONGEST} s"
        text = done.stdout.decode(errors="replace")
        return done.returncode, TIMES.sub("#", text)

    # ---- Changes ------------------------------------------------------------------------------------------------
    def place(self, data):
        return self.random.randrange(len(data)) if data else 0

    def set_byte(self, data):
        if data:
            data[self.place(data)] = self.random.randrange(256)

    def change_number(self, data):
        """A number that stands alone: one that is part of a name is mostly refused at once."""
        numbers = list(re.finditer(rb"(?<![\w%.])\d+(\.\d+)?", data))
        if numbers:
            one = self.random.choice(numbers)
            data[one.start():one.end()] = self.random.choice(NUMBERS).encode()

    def add_offset(self, data):
        """[x] becomes [x+N]."""
        ends = [at for at, byte in enumerate(data) if byte == ord("]")]
        if ends:
            at = self.random.choice(ends)
            data[at:at] = b"+" + self.random.choice(NUMBERS).encode()

    def swap_lines(self, data):
        lines = bytes(data).split(b"\n")
        one, two = self.random.randrange(len(lines)), self.random.randrange(len(lines))
        lines[one], lines[two] = lines[two], lines[one]
        data[:] = b"\n".join(lines)

    def repeat(self, data):
        at, count = self.place(data), self.random.choice((1, 2, 10, 300))
        data[at:at] = bytes(data[at:at + self.random.randint(1, 40)]) * count

    def cut(self, data):
        at = self.place(data)
        del data[at:at + self.random.choice((1, 4, 50, len(data)))]

    def add_word(self, data):
        at = self.place(data)
        data[at:at] = self.random.choice(WORDS).encode("latin-1")

    CHANGES = (set_byte, swap_lines, repeat, cut, add_word)

    def changed(self, content):
        """Numbers alone in half of the inputs: these often get farther than the reader."""
        data = bytearray(content)
        only_numbers = self.random.random() < 0.5
        for _ in range(self.random.randint(1, 3)):
            numbers = only_numbers or self.random.random() < 0.3
            self.random.choice((Hostile.change_number, Hostile.change_number, Hostile.add_offset) if numbers else self.CHANGES)(self, data)
        return bytes(data)

    def changed_file(self, sources, name):
        source = self.random.choice(sources)
        with open(source, "rb") as file:
            content = self.changed(file.read())
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(content)
        return path, source

    # ---- What is damaged, and the command that takes it --------------------------------------------------------
    def machine(self):
        path, _ = self.changed_file(found("machines", "*.ini"), "input.ini")
        return ["run", "vecadd", "--size", "tiny", "--machine", path, "--max-instructions", "20000"]

    def ptx(self):
        path, _ = self.changed_file(found("tests", "ptx", "run", "*.ptx") + found("examples", "*.ptx"), "input.ptx")
        return ["check", path]

    def kernel(self):
        path, _ = self.changed_file(found("examples", "saxpy.ptx"), "input.ptx")
        return ["run", path, *SAXPY, *self.random.choice(([], ["--machine", "fermi-gtx480", *CHIP]))]

    def fragment(self):
        path, _ = self.changed_file(found("workloads", "fragment", "*.fp"), "input.fp")
        return self.random.choice((["check", path], ["run", path, "--machine", "sheaffer-2007", "--domain", "8x8", "--texture", "0=random:8x8"]))

    def picture(self):
        path, _ = self.changed_file(found("tests", "fragment", "*.png"), "input.png")
        program = os.path.join(ROOT, "workloads", "fragment", "convolution.fp")
        return ["run", program, "--machine", "sheaffer-2007", "--domain", "8x8", "--texture", f"0={path}"]

    def assembly(self):
        path, _ = self.changed_file(found("tests", "sass", "fuzz-corpus", "*.sass"), "input.sass")
        return ["asm", path]

    def study(self):
        path, _ = self.changed_file(found("studies", "*", "*.ini") + found("tests", "study", "*.ini") + found("examples", "*.ini"), "input-study.ini")
        return ["study", path, "--list", "-o", self.path("study-results")]

    def fault(self):
        good = ("flip:rf[sm=0,warp=0,reg=2,lane=7,bit=4]@700", "stuck1:unit.sp[sm=0,sp=0,lane=3,bit=1]@0-", "random(3):shared[row=1,word=2]@100", "byte:l2@90")
        text = self.changed(self.random.choice(good).encode()).replace(b"\x00", b"")
        return ["run", "vecadd", "--size", "tiny", "--machine", "fermi-gtx480", *CHIP, "--fault", os.fsdecode(text)]

    def words(self):
        """Some options with odd values."""
        options = ("--faults", "--fault-seed", "--structure", "--model", "--window", "--confidence", "--protect", "--set", "--sampling", "--timeout", "-j")
        values = (*NUMBERS, "rf", "all", "rf,rf", "flip", "random(99)", "cycles:9-1", "cycles:0-99999999999999999999", "dmr", "secded:", "heal:threshold=0",
                  "sm.count=0", "sm.count=99999999", "clock.core_khz=-1", "bits")
        words = [*CAMPAIGN, "-o", self.path("words.db")]
        for _ in range(self.random.randint(1, 3)):
            words += [self.random.choice(options), self.random.choice(values)]
        return words

    def damaged_rows(self, path):
        """Values of a journal, by SQL: the file itself stays whole."""
        file = sqlite3.connect(path)
        tables = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
        for _ in range(self.random.randint(1, 4)):
            table = self.random.choice(tables)
            column = self.random.choice([row[1] for row in file.execute(f"PRAGMA table_info({table})")])
            value = self.random.choice((None, -1, 0, 1 << 31, (1 << 63) - 1, 1e300, "", "x" * 5000, "\x1b[2J", b"\x00\xff", "9" * 40))
            where = self.random.choice(("", " WHERE rowid % 7 = 1", " WHERE rowid = 1"))
            try:
                file.execute(f"UPDATE {table} SET {column} = ?{where}", (value,))
            except sqlite3.Error:
                pass  # it has a rule for that
        file.commit()
        file.close()

    def journal_file(self):
        path = self.path("input.db")
        shutil.copy(self.journal, path)
        if self.random.random() < 0.7:
            self.damaged_rows(path)
        else:
            with open(path, "r+b") as file:
                content = bytearray(file.read())
                for _ in range(self.random.randint(1, 20)):
                    content[self.place(content)] = self.random.randrange(256)
                file.seek(0)
                file.write(content[:self.random.choice((len(content), self.place(content)))])
                file.truncate()
        return self.random.choice((["report", path], ["report", path, "--by", "bit,opcode,pattern"], ["report", path, "--json", self.path("out.json")],
                                   ["export", path], ["compare", path, self.journal], ["fmeda", path], ["merge", self.path("merged.db"), path],
                                   ["replay", path, "3"]))

    def cluster_folder(self):
        path = self.path("input-cluster")
        shutil.copytree(self.cluster, path)
        names = sorted(name for name in glob.glob(f"{path}/**", recursive=True) if os.path.isfile(name))
        name = self.random.choice([one for one in names if one.endswith("plan.json")] * 3 + names)
        with open(name, "rb") as file:
            content = self.changed(file.read())
        with open(name, "wb") as file:
            file.write(content)
        return [self.random.choice(("status", "gather")), path]

    KINDS = (machine, machine, ptx, ptx, kernel, kernel, fragment, picture, assembly, study, study, fault, words, words, journal_file, journal_file, journal_file,
             cluster_folder)

    def clean(self):
        for name in ("words", "merged", "out", "gathered", "input-cluster", "study-results"):
            for path in glob.glob(self.path(name) + "*"):
                if os.path.isdir(path):
                    shutil.rmtree(path)
                else:
                    os.remove(path)

    def once(self):
        """None, or what is wrong."""
        kind = self.random.choice(self.KINDS)
        before = self.path("before")
        words = kind(self)
        shutil.rmtree(before, ignore_errors=True)
        if kind is Hostile.cluster_folder:
            shutil.copytree(words[1], before)
        said = []
        for build in self.builds:  # each finds the folder as it was
            said.append(self.run(build, words))
            self.clean()
            if kind is Hostile.cluster_folder:
                shutil.copytree(before, words[1])
        self.clean()
        name = kind.__name__.replace("_", " ")
        self.counts[name] = self.counts.get(name, 0) + 1
        command = f"{name}: redoubt {' '.join(words)!r}"
        for build, (code, text) in zip(self.builds, said, strict=True):
            if code not in (0, 1, 2, 3, 5) or "Sanitizer" in text or "runtime error" in text:
                return f"{command}\n{build}: exit code {code}\n{text[-3000:]}"
            self.codes[code] = self.codes.get(code, 0) + (build == self.builds[0])
        if len(set(said)) > 1:
            return f"{command}\nthe builds differ: exit codes {[code for code, _ in said]}\n" + "\n----\n".join(text[-1500:] for _, text in said)
        return None


def main(folder, inputs, seed, builds):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    hostile = Hostile([os.path.realpath(build) for build in builds], folder, seed)
    for i in range(inputs):
        wrong = hostile.once()
        if wrong:
            print(f"hostile: input {i} of seed {seed}: {wrong}")
            return 1
    kinds = ", ".join(f"{name} {count}" for name, count in sorted(hostile.counts.items()))
    codes = ", ".join(f"{count} end with {code}" for code, count in sorted(hostile.codes.items()))
    print(f"RESULT hostile: {inputs} damaged inputs, seed {seed} ({kinds}), each by {len(builds)} builds under ASan and UBSan: {codes}; "
          "none crashes, hangs or fails internally, and the builds say the same")
    return 0


sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]))
