"""coverage.py REDOUBT FOLDER REPETITIONS TRUTH [MINUTES]: how often the intervals that are printed hold the true value.

Each case is one campaign, or two that are compared. It is repeated with other faults, REPETITIONS times. The truth is the same campaign with TRUTH
faults of a seed of its own; what that truth itself may be off is told. An interval is judged by its own confidence, 95%: the share that holds the truth
must not lie below 95% by more than chance explains (one in 10,000, with the truth's own error allowed for), nor so high that the interval says nothing.
After MINUTES it ends with the repetitions that it has; the cases share the time."""
import concurrent.futures
import csv
import io
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time

CONFIDENCE = 0.95
Z = 1.959964
CHANCE = 3.72  # standard deviations: one-sided, one in 10,000
TRUTH_SEED = 1000000
OWN_SEEDS = 5000000
LEAST = 10  # repetitions of a case, whatever the time

SMALL = ["--set", "sm.count=1", "--set", "dram.controllers=1"]
FERMI = ["scalarprod", "--size", "tiny", "--machine", "fermi-gtx480", *SMALL]
RISE = ["scalarprod", "--size", "tiny", "--machine", "gt200-rise", *SMALL]
MANY = "rf,shared,unit.sp,stack,collector,l1d"
UNITS = [*RISE, "--structure", "rf,unit.sp"]
ECC = ["--protect", "secded:rf"]
STUCK = ["--model", "stuck1", "--window", "cycles:0-1"]
# Rates by which both terms of the PMHF matter: what is left of flips and stuck cells, and a latent fault with a second one.
TWO_FAULTS = ["--lifetime", "1e7", "--scope", "rf,unit.sp"]
for structure, fit in (("rf", 100), ("unit.sp", 25), ("ecc.rf", 100)):
    TWO_FAULTS += ["--rate", f"permanent:{structure}={fit}"]
TWO_FAULTS += ["--rate", "transient:unit.sp=50"]

# Rarely harmful, and six structures: a batch has 682 faults of each, and where they end differs by some 1.96 / margin = 1000.
RARE = ["scalarprod", "--size", "tiny", "--machine", "fermi-gtx480", "--set", "sm.count=4", "--set", "dram.controllers=1"]

# name, words of each campaign, how many faults or which margin, the command that reads them with its words, times TRUTH faults for the truth
CASES = (
    ("margin", [[*RARE, "--structure", "rf,shared,pred,constant,texture,l1d"]], ["--margin", "0.002"], ["export"], 5),
    ("bits", [[*FERMI, "--structure", MANY, "--sampling", "bits"]], ["--faults", "2000"], ["export"], 1),
    ("even", [[*FERMI, "--structure", MANY]], ["--faults", "1200"], ["export"], 1),
    ("same faults", [UNITS, [*UNITS, "--protect", "parity", "--protect", "rise"]], ["--faults", "1000"], ["compare"], 1),
    ("shifted faults", [UNITS, [*UNITS, "--protect", "dmr"]], ["--faults", "1000"], ["compare"], 1),
    ("two faults", [[*FERMI, "--structure", "rf,unit.sp"], [*FERMI, "--structure", "rf,unit.sp", *ECC],
                    [*FERMI, "--structure", "rf,unit.sp", *STUCK], [*FERMI, "--structure", "rf,unit.sp", *STUCK, *ECC],
                    [*FERMI, "--structure", "ecc.rf", *STUCK, *ECC]], ["--faults", "100"], ["fmeda", *TWO_FAULTS], 0.1),
)
MEASURES = ("sdc_avf", "due_avf", "avf")


def run(redoubt, words):
    done = subprocess.run([redoubt, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def estimates(row, before, name):
    """Of a row of CSV: {what: (value, low, high)} as far as they are known."""
    names = {measure: f"{before}{measure}" for measure in MEASURES}
    return {f"{name} {measure}": tuple(float(row[key + end]) for end in ("", "_low", "_high")) for measure, key in names.items() if row.get(key)}


def of_export(redoubt, paths, _):
    """The tables of structures and of the whole, which stay small however many faults there are."""
    found = {}
    for row in csv.DictReader(io.StringIO(run(redoubt, ["export", paths[0], "--table", "structures"]))):
        found.update(estimates(row, "", row["structure"]))
    whole = {row["key"]: row["value"] for row in csv.DictReader(io.StringIO(run(redoubt, ["export", paths[0], "--table", "campaign"])))}
    found.update(estimates(whole, "weighted_", "all"))
    return found, int(whole["faults"])


def page_of(redoubt, words, paths):
    run(redoubt, [words[0], *paths, *words[1:], "--json", f"{paths[0]}.json", "-q"])
    with open(f"{paths[0]}.json", encoding="utf-8") as file:
        page = json.load(file)
    os.remove(f"{paths[0]}.json")
    return page


def known(found):
    return {what: (one["value"], one["low"], one["high"]) for what, one in found.items() if one is not None}


def of_comparison(redoubt, paths, words):
    page = page_of(redoubt, words, paths)[0]
    return known({f"{change['structure']} {change['measure']} removed": change["removed"] for change in page["changes"]}), page["a"]["faults"]


def of_fmeda(redoubt, paths, words):
    page = page_of(redoubt, words, paths)
    found = {f"{row['metric']} {row['faults']}": row["estimate"] for row in page["metrics"]}
    for faults, row in page["fit"].items():
        found[f"two faults, {faults}"] = row["dual"]
    return known(found), 0


READERS = {"export": of_export, "compare": of_comparison, "fmeda": of_fmeda}


def figures(redoubt, case, how_many, seed, folder, cores):
    """Of one campaign or several that are read together: {what: (value, low, high)}, and the number of faults."""
    name, campaigns, _, reader, _ = case
    paths = [f"{folder}/{name.replace(' ', '-')}-{seed}-{i}.db" for i in range(len(campaigns))]
    for words, path in zip(campaigns, paths, strict=True):
        # Faults of one seed strike alike places of other structures, too: those of a mechanism's own state have to be drawn apart.
        own = OWN_SEEDS if "ecc.rf" in words else 0
        run(redoubt, ["campaign", *words, *how_many, "--confidence", str(CONFIDENCE), "--fault-seed", str(seed + own),
                      "--golden", f"{folder}/golden", "-o", path, "-j", str(cores), "-q"])
    found = READERS[reader[0]](redoubt, paths, reader)
    for path in paths:
        for end in ("", "-wal", "-shm"):
            if os.path.exists(path + end):
                os.remove(path + end)
    return found


def lowest(repetitions, off):
    """Fewer intervals that hold are no chance. `off`: the truth's own standard error, in those of one repetition. The truth then lies farther from the
    middle of each interval, and all repetitions meet the same truth."""
    share = (math.erf((Z + CHANCE * off) / math.sqrt(2)) + math.erf((Z - CHANCE * off) / math.sqrt(2))) / 2
    return repetitions * share - CHANCE * math.sqrt(repetitions * share * (1 - share))


def widths(repetitions):
    """How wide intervals may be, as a mean over a case's figures, in those that the scatter of the repetitions calls for. That scatter is itself known to
    1 / sqrt(2 x repetitions). Wilson's and Newcombe's are up to a fifth wider where hits are few."""
    off = 1 / math.sqrt(2 * repetitions)
    return 0.85 - off, 1.25 + 2 * off


def judge(name, truth, repeated):
    """Counts, for each figure, the intervals that hold. Figures that are often zero, or often withheld, prove nothing and are left out.
    Returns the worst share and its figure, how many hold of how many, how wide they are, and what is wrong."""
    worst, all_held, all_count, ratios, bad = (1.0, "none"), 0, 0, [], []
    for what, (value, low, high) in truth.items():
        rows = [figure[what] for figure, _ in repeated if what in figure]
        if sum(1 for row in rows if row[0] != 0) < 0.9 * len(repeated):
            continue
        width, scatter = sum(row[2] - row[1] for row in rows) / len(rows), statistics.stdev(row[0] for row in rows)
        if scatter == 0:
            continue
        held = sum(1 for row in rows if row[1] <= value <= row[2])
        ratios.append(width / (2 * Z * scatter))
        all_held, all_count, worst = all_held + held, all_count + len(rows), min(worst, (held / len(rows), what))
        if held < lowest(len(rows), (high - low) / width):
            bad.append(f"{name}, {what}: {held} of {len(rows)} intervals hold {value:.6g} ({low:.6g} to {high:.6g})")
    wide = statistics.geometric_mean(ratios) if ratios else 0
    least, most = widths(len(repeated))
    if name == "two faults":
        most = math.inf  # a bound on purpose: products and sums of limits
    if not least <= wide <= most:
        bad.append(f"{name}: {len(ratios)} figures, intervals {wide:.2f} times as wide as the scatter calls for; {least:.2f} to {most:.2f} is right")
    return worst, all_held, all_count, wide, len(ratios), bad


def repeat(redoubt, case, repetitions, end, folder, cores):
    """With one seed after the other, until there are enough or the time is over."""
    repeated = []
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        while len(repeated) < repetitions and (len(repeated) < LEAST or time.monotonic() < end):
            seeds = range(len(repeated) + 1, min(len(repeated) + 4 * cores, repetitions) + 1)
            repeated += pool.map(lambda seed: figures(redoubt, case, case[2], seed, folder, 1), seeds)
    return repeated


def main(redoubt, folder, repetitions, truth_faults, minutes):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    failed = False
    cores = len(os.sched_getaffinity(0))
    last = time.monotonic() + 60 * minutes
    for at, case in enumerate(CASES):
        name, how_many = case[0], case[2]
        true_of = int(case[4] * truth_faults)
        truth, _ = figures(redoubt, case, ["--faults", str(true_of)], TRUTH_SEED, folder, cores)
        now = time.monotonic()
        repeated = repeat(redoubt, case, repetitions, now + (last - now) / (len(CASES) - at), folder, cores)
        ends = sorted({count for _, count in repeated})
        worst, held, count, wide, counted, bad = judge(name, truth, repeated)
        for line in bad:
            print(line)
        if name == "margin" and len(ends) < 2:
            bad.append(f"{name}: all campaigns ended after {ends} faults")
            print(bad[-1])
        failed = failed or bool(bad)
        stops = f" (ended after {ends[0]} to {ends[-1]} faults, {len(ends)} different ends)" if len(ends) > 1 else ""
        print(f"RESULT coverage: {name}: {' '.join(how_many)}{stops}, repeated {len(repeated)} times: of {count} intervals at 95% of {counted} figures "
              f"{100 * held / max(count, 1):.2f}% hold what {true_of} other faults give; of the worst figure, {worst[1]}, {100 * worst[0]:.1f}%; they are {wide:.2f} times as wide as the scatter calls for", flush=True)
    return 1 if failed else 0


sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]) if len(sys.argv) > 5 else math.inf))
