#!/usr/bin/env python3
"""The golden record, tests/golden/record.txt: numbers that no change moves unless it says so. docs/develop/golden.md explains it.

  golden.py check REDOUBT [PATTERN]    make it again and compare; with PATTERN, only commands that this regular expression matches
  golden.py update REDOUBT             make it again and write it

The commands are those of commands.py. A section is a command and what it gave, as name=value; zeros, check=passed and trap=none are left out.
"lane_*=0-7:320,8:9" stands for lane_0 to lane_7 and lane_8, "faults_100=..s" for the outcomes of faults 100 to 102, a letter each. Same inputs, same bytes:
of any compiler, with any number of jobs.
"""
import argparse
import collections
import concurrent.futures
import csv
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

import commands

PAGE = os.path.join(commands.ROOT, "docs", "develop", "golden.md")
RECORD = os.path.join(commands.ROOT, "tests", "golden", "record.txt")
USUAL = (("check", "passed"), ("trap", "none"))
SHOWN = 20  # numbers of a comparison that are printed
TOO_LONG = 900  # seconds for one command
DERIVED = ("host_seconds", "energy_total_nj", "power_mean_mw", "kernel", "name")
LETTERS = {"masked": ".", "performance": "p", "sdc": "s", "sdc-critical": "c", "sdc-tolerable": "t", "tolerated": "w", "sdc-order": "o", "due-address": "a", "due-misaligned": "m", "due-instruction": "i",
           "due-hang": "h", "due-assert": "A", "due-trap": "T", "due-host": "H", "timeout": "e", "detected": "D", "corrected": "C", "internal": "!"}
GROUP = r"faults_\d+|hints_[a-z]+|ace_.+(?=_(bit_cycles|ace|undecided|compared|dead|inactive|masked|unread|idle)$)|[^:]+(?=:)|[^_]+"  # what names of one line have in common
ROW = 100  # letters in a line
HEAD = "# Made by tests/golden/golden.py; docs/develop/golden.md says how to read it and how to change it. Faults: " + ", ".join(f"{letter} {name}" for name, letter in LETTERS.items()) + "\n"


def digest(text, digits=8):
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()[:digits]


# ---- What a command gave: pairs of name and value ----------------------------------------------------------------------------------------------------------

def carry_out(redoubt, arguments):
    """What came, and its exit code if it is not 0."""
    try:
        result = subprocess.run([redoubt, *arguments], cwd=commands.ROOT, capture_output=True, timeout=TOO_LONG, check=False)
    except subprocess.TimeoutExpired:
        sys.exit(f"golden: more than {TOO_LONG} seconds: {redoubt} {shlex.join(arguments)}")
    return result, [("exit", str(result.returncode))] if result.returncode else []


def refused(result, pairs):
    """No numbers: the first line of what was said instead."""
    return pairs + [("message", result.stderr.decode().split("\n")[0].replace(" ", "_"))]


def numbers(values):
    """The statistics of a JSON object, without zeros. Ratios follow from the others; host times are of this computer."""
    for name, value in values.items():
        if name in DERIVED or not value or isinstance(value, (list, dict)) or (name, value) in USUAL:
            continue
        whole = isinstance(value, float) and value.is_integer()
        yield name, f"{value:.0f}" if whole else f"{value:.6g}" if isinstance(value, float) else str(value)


def of_run(redoubt, arguments, _):
    dump = [] if "--fault" in arguments or arguments[1].endswith(".ptx") else ["--dump", "color" if arguments[1].endswith(".fp") else "outputs"]
    result, pairs = carry_out(redoubt, [*arguments, *dump, "-q", "--json"])
    outputs, brace, report = result.stdout.partition(b"{\n")
    if not brace:
        return refused(result, pairs)
    data = json.loads(brace + report)
    if outputs:
        pairs.append(("outputs", digest(outputs)))
    if "outcome" in data:
        pairs.append(("outcome", data["outcome"]))
    pairs += numbers(data["total"])
    for number, launch in enumerate(data.get("launches", []), 1):
        statistics = json.dumps([launch["grid"], launch["block"], list(numbers(launch))])
        pairs.append((f"launch_{number}", f"{launch['kernel'].replace(' ', '_')},{launch['cycles'] or 0},{digest(statistics)}"))
    return pairs


def of_ptx(redoubt, arguments, folder):
    """In short: what these kernels compute has tests of its own."""
    pairs = of_run(redoubt, arguments, folder)
    return [pair for pair in pairs if pair[0] in ("exit", "message", "trap", "cycles")] + [("statistics", digest(json.dumps(pairs)))]


def of_program(redoubt, arguments, _):
    result, pairs = carry_out(redoubt, arguments)
    return pairs + [("lines", str(result.stdout.count(b"\n"))), ("text", digest(result.stdout))]


def of_campaign(redoubt, arguments, folder):
    journal, table = os.path.join(folder, "faults.db"), os.path.join(folder, "faults.csv")
    result, pairs = carry_out(redoubt, [*arguments, "-q", "-j1", "-o", journal])
    if pairs:
        return refused(result, pairs)
    carry_out(redoubt, ["report", "-q", journal, "--csv", table])
    with open(table, encoding="utf-8", newline="") as file:
        faults = list(csv.DictReader(file))
    outcomes = "".join(LETTERS[fault["outcome"]] for fault in faults)
    structures = collections.defaultdict(list)
    for fault in faults:
        # How a fault was settled may change, and with it what is known about who read it first and what is checked (tests/campaign/columns.sh).
        fault = {name: value for name, value in fault.items() if name not in ("settled", "class_of", "block", "pc", "opcode", "line", "note", "verified")}
        structures[fault["structure"]].append(fault)
    for name, rows in sorted(structures.items()):
        counts = collections.Counter(fault["outcome"] for fault in rows)
        pairs += [(f"{name}:{outcome}", str(counts[outcome])) for outcome in LETTERS if counts[outcome]] + [(f"{name}:rows", digest(json.dumps(rows)))]
    return pairs + [(f"faults_{first}", outcomes[first:first + ROW]) for first in range(0, len(outcomes), ROW)]


def section(redoubt, command):
    arguments = shlex.split(command)
    kind = of_campaign if arguments[0] == "campaign" else of_program if arguments[-1] == "program" else of_ptx if arguments[1].endswith(".ptx") else of_run
    with tempfile.TemporaryDirectory() as folder:
        return kind(redoubt, arguments, folder)


# ---- The record as text, and back --------------------------------------------------------------------------------------------------------------------------

def family(name):
    """Of lane_3: lane and 3."""
    found = re.fullmatch(r"(lane|active|hints_aged|hints_aged_useful)_(\d+)", name)
    return (found[1], int(found[2])) if found else None


def lines(pairs):
    """A line for names that begin alike, and one for each family of numbered statistics."""
    written, ranges = {}, {}
    for name, value in pairs:
        if member := family(name):
            runs = ranges.setdefault(member[0], [])
            if runs and runs[-1][1] == member[1] - 1 and runs[-1][2] == value:
                runs[-1][1] = member[1]
            else:
                runs.append([member[1], member[1], value])
            written.setdefault(member[0] + "_*", [])
        else:
            written.setdefault(re.match(GROUP, name)[0], []).append(f"{name}={value}")
    for name, runs in ranges.items():
        written[name + "_*"] = [f"{name}_*=" + ",".join(f"{a}:{value}" if a == b else f"{a}-{b}:{value}" for a, b, value in runs)]
    return [" ".join(words) + "\n" for words in written.values()]


def parse(text):
    """Sections by command: names and values."""
    sections = {}
    for line in text.splitlines():
        if line.startswith("== "):
            values = sections[line[3:]] = {}
        elif not line.startswith("#"):
            for word in line.split():
                name, value = word.split("=", 1)
                if name.endswith("_*"):
                    for run in value.split(","):
                        places, number = run.split(":")
                        first, _, last = places.partition("-")
                        values.update((f"{name[:-1]}{n}", number) for n in range(int(first), int(last or first) + 1))
                elif name.startswith("faults_"):
                    values.update((f"fault {n}", letter) for n, letter in enumerate(value, int(name[7:])))
                else:
                    values[name] = value
    return sections


def make(redoubt, chosen, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        sections = pool.map(lambda command: section(redoubt, command), chosen)
        return HEAD + "".join(f"\n== {command}\n" + "".join(lines(pairs)) for command, pairs in zip(chosen, sections))


# ---- Comparison --------------------------------------------------------------------------------------------------------------------------------------------

def moved(was, now):
    """What differs, in words; nothing if nothing does."""
    said, runs, count, names = [], 0, 0, collections.Counter()
    for command, values in now.items():
        if command not in was:
            continue
        old = was[command]
        differ = [name for name in {**old, **values} if old.get(name) != values.get(name)]
        names.update({"fault N" if name.startswith("fault ") else "launch_N" if name.startswith("launch_") else name for name in differ})
        runs += bool(differ)
        if differ and count < SHOWN:
            said.append(command)
            said += [f"  {name:<26} {old.get(name, '-'):>20} -> {values.get(name, '-')}" for name in differ[:SHOWN - count]]
        count += len(differ)
    if count:
        said.insert(0, f"{count} numbers of {runs} commands are not those of the record" + (f"; the first {SHOWN}:" if count > SHOWN else ":") + "\n")
        said.append("\nIn how many commands: " + ", ".join(f"{name} {n}" for name, n in names.most_common(SHOWN)) + (", ..." if len(names) > SHOWN else ""))
    for what, more in (("In the record alone", [c for c in was if c not in now]), ("Not in the record", [c for c in now if c not in was])):
        if more:
            said += [f"\n{what}, {len(more)}:"] + more[:SHOWN] + ["..."] * (len(more) > SHOWN)
    return "\n".join(said)


def explained(record):
    """Whether the last row of the page's table is of this record."""
    with open(PAGE, encoding="utf-8") as file:
        rows = [line for line in file if line.startswith("|")]
    return f"| {digest(record)} |" in rows[-1]


def check(redoubt, pattern, jobs, path):
    with open(path, encoding="utf-8") as file:
        record = file.read()
    if not pattern and not explained(record):
        sys.exit(f"golden: docs/develop/golden.md: the last row of its table is not of this record, {digest(record)}: what has moved, why, and in which commit?")
    chosen = [command for command in commands.all_commands(redoubt) if re.search(pattern, command)]
    was = {command: values for command, values in parse(record).items() if re.search(pattern, command)}
    if not chosen and not was:
        sys.exit(f"golden: no command has '{pattern}'")
    text = make(redoubt, chosen, jobs)
    now = parse(text)
    said = moved(was, now) or ("the same numbers, written in another way" if not pattern and text != record else "")
    if said:
        sys.exit(f"golden: {redoubt}: {said}\n\nIf your change is meant to do that: make golden, and a row in docs/develop/golden.md that says what moved, why, and in which commit.")
    print(f"golden: {redoubt}: {len(chosen)} commands, {sum(map(len, now.values()))} numbers, as recorded")


def update(redoubt, jobs, path):
    text = make(redoubt, list(commands.all_commands(redoubt)), jobs)
    try:
        with open(path, encoding="utf-8") as file:
            was = file.read()
    except FileNotFoundError:
        was = ""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)
    print(f"golden: {moved(parse(was), parse(text)) or 'nothing has moved'}")
    if not explained(text):
        print(f"\nNow a row for docs/develop/golden.md: what moved, why, and in which commit. The record is {digest(text)}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "update"))
    parser.add_argument("redoubt")
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--record", default=RECORD, help="another file than tests/golden/record.txt")
    given = parser.parse_args()
    redoubt = os.path.realpath(given.redoubt)
    if given.what == "check":
        check(redoubt, given.pattern, given.jobs, given.record)
    elif given.pattern:
        parser.error("update takes no PATTERN: the record is one whole")
    else:
        update(redoubt, given.jobs, given.record)


if __name__ == "__main__":
    main()
