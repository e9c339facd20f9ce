"""draws.py REDOUBT FOLDER FAULTS USED SEED: campaigns that draw from what is used say what those that draw from all say.

For each lot FAULTS faults are drawn from all. Those that strike what is not used are simulated in full, from the beginning to the end: each must be masked, in the
time of the run without faults. How many these are must agree with the share that --draw used has measured. Then USED faults are drawn from what is used: SDC-AVF
and DUE-AVF of each structure must agree with those of the first campaign, within what chance explains (one in a million). Lots: machines, caches that outlive
launches, protections that read whole words or copy, faults of several bits, faults that last, windows."""
import math
import os
import shutil
import sqlite3
import subprocess
import sys

CHANCE = 4.9
HERE = os.path.dirname(os.path.abspath(__file__))
TINY = ["--set", "sm.count=2", "--set", "dram.controllers=1", "--set", "l2.bytes=8192"]
FERMI = ["--machine", "fermi-gtx480", *TINY]
CELLS = "rf,shared,pred,l1d,l2,icache"
LOTS = (
    ("matmul", ["matmul", "--size", "tiny", *FERMI, "--structure", CELLS + ",constant"]),
    ("fwt, kept caches", ["fwt", "--size", "tiny", "--machine", "ampere-a100", *TINY, "--structure", "rf,shared,l2,icache"]),
    ("ECC", ["scalarprod", "--size", "tiny", *FERMI, "--structure", "rf,shared,l2", "--protect", "secded:rf", "--protect", "secded:l2"]),
    ("dmr", ["vecadd", "--size", "tiny", *FERMI, "--structure", "rf,pred,l1d", "--protect", "dmr"]),
    ("lanes", ["histogram64", "--size", "tiny", *FERMI, "--structure", "rf,shared,l2", "--model", "lanes"]),
    ("bits of a row", ["aes", "--size", "tiny", *FERMI, "--structure", "rf,shared,texture", "--model", "random(3)"]),
    ("stuck", ["scalarprod", "--size", "tiny", *FERMI, "--structure", "rf,shared,l1d", "--model", "stuck1"]),
    ("on and off", ["vecadd", "--size", "tiny", *FERMI, "--structure", "rf,l2", "--model", "duty(50,200)"]),
    ("window", ["reduction", "--size", "tiny", *FERMI, "--structure", "rf,shared,l2", "--window", "cycles:300-1500"]),
    ("part", ["matmul", "--size", "tiny", *FERMI, "--structure", "rf[sm=1,lane=3],shared[sm=0]"]),
)


def campaign(redoubt, folder, name, words):
    journal = os.path.join(folder, name + ".db")
    for end in ("", "-wal", "-shm"):
        if os.path.exists(journal + end):
            os.remove(journal + end)
    done = subprocess.run([redoubt, "campaign", *words, "-q", "-o", journal], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise SystemExit(f"draws: exit code {done.returncode}: {' '.join(words)}\n{done.stderr}")
    return sqlite3.connect(f"file:{journal}?mode=ro", uri=True)


def near(share, trials, other, spread):
    """A share of so many trials, and another number with its variance."""
    middle = min(max((share * trials + 2) / (trials + 4), 1e-9), 1)  # not 0 where none was a hit
    return abs(share - other) <= CHANCE * math.sqrt(middle * (1 - middle) / trials + spread) + 1 / trials


def check_lot(redoubt, folder, lot, words, faults, used, seed):
    """How many faults were left out, or a text that says what is wrong."""
    words = [*words, "--fault-seed", str(seed)]
    fast = campaign(redoubt, folder, "all", [*words, "--faults", str(faults)])
    slow = campaign(redoubt, folder, "slow", [*words, "--faults", str(faults), "--no-prune", "--no-snapshot"])
    part = campaign(redoubt, folder, "used", [*words, "--faults", str(used), "--draw", "used"])
    whole = dict(slow.execute("SELECT id, outcome FROM faults"))
    cycles = slow.execute("SELECT sum(cycles) FROM launches").fetchone()[0]
    late = {row[0] for row in slow.execute("SELECT id FROM faults WHERE cycles IS NOT NULL AND cycles <> ?", (cycles,))}
    undrawn = 0
    for structure, drawn in part.execute("SELECT name, drawn FROM structures").fetchall():
        rows = fast.execute("SELECT id, read, outcome_group FROM results WHERE structure = ?", (structure,)).fetchall()
        left_out = [row[0] for row in rows if row[1] == 0] if drawn < 1 else []
        for fault in left_out:
            if whole[fault] != "masked" or fault in late:
                return f"{lot}: fault {fault} in {structure} is left out, and ends as {whole[fault]}"
        undrawn += len(left_out)
        share = 1 - len(left_out) / len(rows)
        # Of faults in several units of a row it is measured for the row: no less, and not all.
        several = "--model" in words and words[words.index("--model") + 1].startswith(("lanes", "random"))
        if drawn < 1 and not near(share, len(rows), drawn, 0) and not (several and drawn > share):
            return f"{lot}: {drawn:.6f} of {structure} is used, and {share:.6f} of {len(rows)} faults strike that"
        for group in ("sdc", "due"):
            hits, count = part.execute("SELECT total(outcome_group = ?), count(*) FROM results WHERE structure = ?", (group, structure)).fetchone()
            before = sum(1 for row in rows if row[2] == group) / len(rows)
            p = (hits + 2) / (count + 4)
            if not near(before, len(rows), drawn * hits / count, drawn * drawn * p * (1 - p) / count):
                return f"{lot}: {group} of {structure} is {drawn * hits / count:.6f} drawn from what is used, {before:.6f} of all"
    return undrawn


def main(redoubt, folder, faults, used, seed):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    undrawn = 0
    for lot, words in LOTS:
        found = check_lot(redoubt, folder, lot, words, faults, used, seed)
        if isinstance(found, str):
            raise SystemExit("draws: FAILED: " + found)
        undrawn += found
    if undrawn < faults * len(LOTS) / 4:
        raise SystemExit(f"draws: FAILED: only {undrawn} faults were left out")
    print(f"RESULT draws: {undrawn} faults that --draw used leaves out, simulated in full on {len(LOTS)} lots: all masked; shares and AVFs agree")


if __name__ == "__main__":
    main(os.path.realpath(sys.argv[1]), sys.argv[2], *(int(word) for word in sys.argv[3:6]))
