"""versions.py REDOUBT: journals that older versions of Redoubt wrote, one file of each format.

tests/report/journals/NAME.db.gz were written by the programs of their time. Those that are still read must say what their rows say, in every command that
takes a journal, and are left as they are; others are refused in one line that names both versions. None may crash."""
import collections
import csv
import glob
import gzip
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
READ = {3, 4, 5}  # formats; those before are refused
CAMPAIGN = "--size tiny --set sm.count=1 --set sm.registers=4096 --set sm.threads=512 --faults 120".split()  # of each file
CODES = {"replay": (0, 2), "campaign": (0, 2)}  # the machine may have changed since: then these say so


def version_of(path):
    with sqlite3.connect(path) as file:
        return file.execute("PRAGMA user_version").fetchone()[0] or int(file.execute("SELECT value FROM meta WHERE key = 'journal version'").fetchone()[0])


def rows_of(path):
    """What the file itself says: (outcome, structure) of each fault, in order."""
    with sqlite3.connect(path) as file:
        return file.execute("SELECT outcome, name FROM faults JOIN structures USING (region) ORDER BY id").fetchall()


class Journals:
    def __init__(self, redoubt, folder):
        self.redoubt, self.folder, self.failed = redoubt, folder, 0

    def fail(self, text):
        self.failed += 1
        print(f"versions: {text}")

    def run(self, *words):
        return subprocess.run([self.redoubt, *words], cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False)

    def commands(self, path):
        """All that take a journal. The campaign is that which wrote it."""
        with sqlite3.connect(path) as file:
            meta = dict(file.execute("SELECT key, value FROM meta"))
        again = [*CAMPAIGN, "--machine", meta["machine"], "--structure", meta["structures"], "-q"]
        return [
            ["report", path],
            ["report", path, "-o", "page.html", "--csv", "report.csv", "--json", "report.json"],
            *(["export", path, "--table", table] for table in
              ("faults", "campaign", "structures", "kernels", "launches", "lines", "time", "breakdown", "severity")),
            ["export", path, "--json"],
            ["compare", path, path],
            ["fmeda", path],
            ["grade", path],
            ["merge", "merged.db", path],
            ["replay", path, "0"],
            ["replay", path, "119"],
            ["campaign", meta["target"], *again, "-o", path],
        ]

    def check_refused(self, path, version):
        wanted = f"error: is a journal of version {version}, and this Redoubt reads versions 3 to 6"
        for words in self.commands(path):
            done = self.run(*words)
            lines = [line for line in done.stderr.splitlines() if "without a fault" not in line and "for a run without faults" not in line]
            if done.returncode != 2 or len(lines) != 1 or wanted not in lines[0]:
                self.fail(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr[:300]}")

    def check_read(self, path):
        rows = rows_of(path)
        for words in self.commands(path):
            before = open(path, "rb").read()
            done = self.run(*words)
            if done.returncode not in CODES.get(words[0], (0,)) and not (words[0] in ("fmeda", "grade", "merge") and done.returncode == 2):
                self.fail(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr[:300]}")
            errors = [line for line in done.stderr.splitlines() if "error" in line or line.startswith("redoubt: ")]
            if done.returncode == 2 and len(errors) != 1:
                self.fail(f"{' '.join(words)}: not one line: {done.stderr[:300]}")
            if words[0] != "campaign" and open(path, "rb").read() != before:
                self.fail(f"{' '.join(words)}: the file is changed")
        said = [(row["outcome"], row["structure"]) for row in csv.DictReader(io.StringIO(self.run("export", path).stdout))]
        if said != rows:
            self.fail(f"{path}: export says other faults than the file")
        report = self.run("report", path).stdout
        if "AVF of the used part of rf" in report and "which of the held registers are padding is not recorded" not in report:
            self.fail(f"{path}: the report does not say that padding is not recorded")
        totals = collections.Counter(rows)
        table = json.loads(self.run("export", path, "--json").stdout)
        if len(table["faults"]) != len(rows):
            self.fail(f"{path}: JSON has {len(table['faults'])} faults, the file {len(rows)}")
        for structure in csv.DictReader(io.StringIO(self.run("export", path, "--table", "structures").stdout)):
            count = sum(number for (_, name), number in totals.items() if name == structure["structure"])
            if int(structure["faults"]) != count:
                self.fail(f"{path}: {structure['structure']} has {structure['faults']} faults, the file {count}")

    def check(self, packed):
        path = os.path.join(self.folder, os.path.basename(packed)[:-3])
        with gzip.open(packed) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target)
        version = version_of(path)
        if version in READ:
            self.check_read(path)
        else:
            self.check_refused(path, version)
        return version


def main(redoubt):
    with tempfile.TemporaryDirectory() as folder:
        journals = Journals(redoubt, folder)
        found = {journals.check(packed) for packed in sorted(glob.glob(os.path.join(HERE, "journals", "*.db.gz")))}
    if found != {1, 2, 3, 4, 5}:
        journals.fail(f"there are files of versions {sorted(found)} only")
    return journals.failed > 0


sys.exit(main(os.path.realpath(sys.argv[1])))
