#!/usr/bin/env python3
"""The numbers of docs/validation.md: validation.py REDOUBT [FOLDER]. Takes some minutes; journals are kept in FOLDER and not made again.

Means over programs, with intervals at 99% by the method that reports use: Wilson's for each program, distances of the limits
added as squares.
"""
import glob
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

Z = 2.575829  # 99%


def wilson(hits, total):
    share, scale = hits / total, 1 + Z * Z / total
    centre = (share + Z * Z / (2 * total)) / scale
    half = Z * math.sqrt(share * (1 - share) / total + Z * Z / (4 * total * total)) / scale
    return centre - half, centre + half


def mean(rows):
    """Of (hits, total, divisor): the mean share and its interval, in percent."""
    value = sum(h / n / d for h, n, d in rows) / len(rows)
    below = math.sqrt(sum(((h / n - wilson(h, n)[0]) / d) ** 2 for h, n, d in rows)) / len(rows)
    above = math.sqrt(sum(((wilson(h, n)[1] - h / n) / d) ** 2 for h, n, d in rows)) / len(rows)
    return f"{100 * value:.1f} ({100 * (value - below):.1f} to {100 * (value + above):.1f})"


def show(folder):
    rows = {}
    for path in sorted(glob.glob(folder + "/*.db")):
        journal = sqlite3.connect(path)
        used = dict(journal.execute("SELECT name, used FROM structures"))
        query = "SELECT structure, sum(outcome_group IN ('sdc', 'due')), count(*) FROM results GROUP BY structure"
        for name, hits, total in journal.execute(query):
            rows.setdefault(name, []).append((hits, total, used[name]))
    for name, found in rows.items():
        line = f"{name:12} {len(found)} programs: AVF % {mean([(h, n, 1) for h, n, _ in found])}"
        in_use = [row for row in found if row[2] > 0]
        if in_use:
            share = 100 * sum(used for *_, used in in_use) / len(in_use)
            line += f"; AVF-util, {len(in_use)} programs: {mean(in_use)}; held by resident work: {share:.1f}%"
        print(line)


redoubt = os.path.realpath(sys.argv[1])
folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
for name, words in (("all", "@all --machine fermi-gtx480 --structure rf,shared,stack.mask --faults 900"),
                    ("rise", "@rise --machine gt200-rise --structure unit.sp --faults 400")):
    print(f"redoubt campaign {words} --size small")
    subprocess.run([redoubt, "campaign", *words.split(), "--size", "small", "-o", f"{folder}/{name}", "-q"], check=True,
                   stdout=subprocess.DEVNULL)
    show(f"{folder}/{name}")
print("redoubt campaign matmul --size small --machine fermi-gtx480 --structure rf,shared,unit.sp --faults 9000")
subprocess.run([redoubt, *"campaign matmul --size small --machine fermi-gtx480 --structure rf,shared,unit.sp --faults 9000 -q -o".split(),
                f"{folder}/matmul.db"], check=True, stdout=subprocess.DEVNULL)
subprocess.run([redoubt, "report", f"{folder}/matmul.db", "--by", "elements"], check=True)
if shutil.which("nvcc"):
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["nvcc", "-arch=sm_75", "-cudart", "shared", "-o", f"{folder}/stencil1d", f"{here}/validation/stencil1d.cu"], check=True)
    words = "campaign --machine turing-rtx2060 --structure rf --faults 2000000 -o stencil1d.db -- ./stencil1d 256"
    print(f"redoubt {words}")
    subprocess.run([redoubt, *words.split()], cwd=folder, check=True)
