#!/usr/bin/env python3
"""Every statistic moves when what it counts is changed: moves.py REDOUBT [PATTERN]; with PATTERN, only rows that this regular expression matches.

Rows of moves.txt: statistic | command | change | relation. `a` is the statistic after the command, `b` after the changed one. The change replaces options and
names of the command and adds what it has not; --set, --protect and --fault are always added. The relation is a Python expression; A and B are all statistics of
the two runs. No statistic may be without a row; nor may one that the golden record shows on a kind of machine be without a row on that kind.

`loop NAME n=N` stands for N turns of a kernel of loops.py on fermi-gtx480, by 2 blocks of 64 threads: 4 warps. `picture NAME` for a fragment program.
`{0..31}` in a statistic makes a row for each number; {i} and {i+1} in the command are then that number and the next. `same` as a command: that of the row before.
`tested` is for the few that no command reaches within a test's time: the change is then the file of a unit test, the relation what it asserts.
"""
import concurrent.futures
import functools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path.append(os.path.join(ROOT, "tests", "golden"))
import commands  # noqa: E402
import golden  # noqa: E402
import loops  # noqa: E402

ADDED = ("--set", "--protect", "--fault")


def rows():
    """Place, statistic, command, change, relation."""
    with open(os.path.join(HERE, "moves.txt"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    before = ""
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        names, command, change, relation = (part.strip() for part in line.split(" | "))
        command = before = before if command == "same" else command
        many = re.search(r"\{(\d+)\.\.(\d+)\}", names)
        for i in range(int(many[1]), int(many[2]) + 1) if many else [None]:
            def put(text):
                return text if i is None else text.replace("{i}", str(i)).replace("{i+1}", str(i + 1))
            for name in names.split(", "):
                yield f"moves.txt:{number}", re.sub(r"\{\d+\.\.\d+\}", str(i), name), put(command), put(change), relation


def changed(command, change):
    """The command's words with those of the change in their places."""
    words, new = shlex.split(command), shlex.split(change)
    while new:
        word = new.pop(0)
        name = word.split("=")[0] + "="
        if word.startswith("--") and word not in ADDED and word in words:
            words[words.index(word) + 1] = new.pop(0)
        elif word.startswith("--"):
            words += [word] + ([new.pop(0)] if new else [])
        elif "=" in word and any(old.startswith(name) for old in words):
            words = [word if old.startswith(name) else old for old in words]
        else:
            words[1] = word
    return shlex.join(words)


def full(command, loop_file):
    """The words after `redoubt`."""
    words = shlex.split(command)
    if words[0] == "loop":
        turns = next(word for word in words if word.startswith("n="))
        words.remove(turns)
        arrays = ["--arg", "out:u32[8192]", "--arg", "in:u32[32768]", "--arg", "n:u32=" + turns[2:]]
        usual = [word for option, value in (("--grid", "2"), ("--block", "64"), ("--machine", "fermi-gtx480")) if option not in words for word in (option, value)]
        words = ["run", loop_file, "--kernel", words[1], *arrays, *usual, *words[2:]]
    elif words[0] == "picture":
        usual = [word for option, value in (("--domain", "16x16"), ) if option not in words for word in (option, value)]
        textures = [word for number in range(8) for word in ("--texture", f"{number}=random:64x64")]
        words = ["run", words[1] + ".fp", "--machine", "sheaffer-2007", *usual, *textures, *words[2:]]
    return [*words, "--json", "-q"]


class Numbers(dict):
    """Statistics of a run as attributes."""
    __getattr__ = dict.__getitem__


def make_run(redoubt, loop_file):
    @functools.lru_cache(None)
    def run(command):
        result = subprocess.run([redoubt, *full(command, loop_file)], cwd=ROOT, capture_output=True, text=True, check=False)
        start = result.stdout.find("{\n")
        report = json.loads(result.stdout[start:]) if start >= 0 else {}
        if "total" not in report:
            return None, report.get("note") or result.stderr.strip() or f"exit code {result.returncode}"
        return Numbers(report["total"]), ""
    return run


def judge(run, row):
    """What is wrong with it, or nothing."""
    place, name, command, change, relation = row
    if command == "tested":
        with open(os.path.join(ROOT, change), encoding="utf-8") as file:
            return "" if re.search(rf"assert_int_equal\(.*\b{relation}\]", file.read()) else f"{place}: {name}: {change} asserts nothing of {relation}"
    numbers = []
    for words in (command, changed(command, change)):
        found, said = run(words)
        if found is None:
            return f"{place}: {name}: '{words}' gives no numbers: {said}"
        numbers.append(found)
    a, b = (found[name] for found in numbers)
    if eval(relation, {"__builtins__": {}}, {"a": a, "b": b, "A": numbers[0], "B": numbers[1], "abs": abs}):  # the table is ours
        return ""
    return f"{place}: {name}: {a} after '{command}', {b} after '{changed(command, change)}'; that is not {relation}"


def kinds():
    return {name: kind for kind, names in commands.machines().items() for name in names}


def kind_of(words, of_machine):
    """Of a command: the kind of its machine."""
    machine = words[words.index("--machine") + 1] if "--machine" in words else "functional"
    return of_machine[machine]


def lacking(redoubt, table):
    """Statistics without a row, and kinds of machines that show one and have no row of it."""
    of_machine, shown = kinds(), set()
    with open(golden.RECORD, encoding="utf-8") as file:
        record = golden.parse(file.read())
    statistics = [line.split()[0] for line in commands.listed(redoubt, "statistics") if line[:1].isalpha()]
    for command, values in record.items():
        words = shlex.split(command)
        if words[0] == "run" and "program" not in words and "tests/ptx" not in command:
            shown |= {(name, kind_of(words, of_machine)) for name in values if name in statistics}
    have = {(name, "simt" if command == "tested" else kind_of(full(command, ""), of_machine)) for _, name, command, _, _ in table}
    names = {name for name, _ in have}
    said = [f"{name}: no row of moves.txt" for name in statistics if name not in names]
    said += [f"{name}: no row of moves.txt on a machine of kind {kind}" for name, kind in sorted(shown - have) if name in names]
    return said + [f"{name}: no such statistic" for name in sorted(names - set(statistics))]


def main():
    redoubt, pattern = os.path.realpath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    table = list(rows())
    said = lacking(redoubt, table)
    chosen = [row for row in table if re.search(pattern, " | ".join(row))]
    with tempfile.TemporaryDirectory() as folder:
        loop_file = os.path.join(folder, "loops.ptx")
        with open(loop_file, "w", encoding="utf-8") as file:
            file.write(loops.text())
        run = make_run(redoubt, loop_file)
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            said += [text for text in pool.map(lambda row: judge(run, row), chosen) if text]
    if said:
        sys.exit("statistics: " + "\n".join(said))
    print(f"statistics: {len(chosen)} rows hold, {len({row[1] for row in chosen})} statistics, {run.cache_info().currsize} runs")


if __name__ == "__main__":
    main()
