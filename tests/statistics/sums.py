#!/usr/bin/env python3
"""Sums that hold in every run of the golden record: sums.py [RECORD]. The relations are rows of sums.txt; each must have met at least ten runs."""
import collections
import os
import re
import shlex
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "golden"))
import commands  # noqa: E402
import golden  # noqa: E402

LEAST, SHOWN = 10, 5
FAMILIES = {"{lane}": ("lane_{}", 32, 0), "{active}": ("active_{}", 33, 0), "{threads}": ("active_{}", 33, 1)}


class Numbers(collections.defaultdict):
    """Of a run; what the record leaves out is 0."""

    def __init__(self, values):
        super().__init__(int, {name: float(value) for name, value in values.items() if re.fullmatch(r"[\d.e+-]+", value)})
        self["launches"] = sum(re.fullmatch(r"launch_\d+", name) is not None for name in values)


def rows():
    with open(os.path.join(HERE, "sums.txt"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                where, relation = line.strip().split(" | ")
                for name, (one, count, weight) in FAMILIES.items():
                    relation = relation.replace(name, "(" + " + ".join(f"{i ** weight} * {one.format(i)}" for i in range(count)) + ")")
                yield f"sums.txt:{number}", where, line.strip().split(" | ")[1], compile(relation, "sums.txt", "eval")


def runs(record):
    """Command, kind of machine, whether alone, numbers."""
    of_machine = {name: kind for kind, names in commands.machines().items() for name in names}
    for command, values in record.items():
        words = shlex.split(command)
        if words[0] == "run" and "program" not in words and "statistics" not in values and "exit" not in values:
            machine = words[words.index("--machine") + 1] if "--machine" in words else "functional"
            yield command, of_machine[machine], not {"--protect", "--fault", "--upsets"} & set(words), Numbers(values)


def main():
    with open(sys.argv[1] if len(sys.argv) > 1 else golden.RECORD, encoding="utf-8") as file:
        record = golden.parse(file.read())
    said, table = [], list(rows())
    met, broken = collections.Counter(), collections.defaultdict(list)
    for command, kind, alone, numbers in runs(record):
        for row in table:
            if row[1] == kind or (alone and row[1] == kind + " alone"):
                met[row[0]] += 1
                if not eval(row[3], {"__builtins__": {}}, numbers):  # the table is ours
                    broken[row[0]].append(command)
    for place, where, relation, _ in table:
        if met[place] < LEAST:
            said.append(f"{place}: {where}: {met[place]} runs in all")
        if broken[place]:
            said += [f"{place}: not so in {len(broken[place])} of {met[place]} runs: {relation}"] + [f"  {command}" for command in broken[place][:SHOWN]]
    if said:
        sys.exit("statistics: " + "\n".join(said))
    print(f"statistics: {len(table)} sums hold in {sum(met.values())} cases")


if __name__ == "__main__":
    main()
