#!/usr/bin/env python3
"""Cycles of CUDA programs beside those of GPGPU-Sim.

compare.py REDOUBT [--machine NAME|FILE] [--set KEY=VALUE]... [--folder FOLDER] [PROGRAM]...

FOLDER (default: this one) holds PROGRAM.cu, its PTX as GPGPU-Sim ran it (PROGRAM.ptx or PROGRAM.sm_35.ptx), and cycles.csv with the columns
program, launch, kernel, cycles. The programs were compiled by nvcc 11.8 for compute_35, which later compilers do not know. So nvcc here
compiles the host's half, and the PTX of that time takes the place of what it makes for the device.
reasons.csv names what is known to differ; every number is of a launch. Exit code 1: a goal was missed.
"""
import argparse
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

GOAL_MEAN, GOAL_EACH = 0.08, 0.20


def build(source, ptx, program, work):
    """The steps that nvcc would take, with the PTX put in the place of its own."""
    plan = subprocess.run(["nvcc", "-arch=compute_75", "-cudart", "shared", "--dryrun", "-o", str(program), str(source)],
                          capture_output=True, text=True, check=True, cwd=work, env=os.environ | {"TMPDIR": str(work)})
    steps = ["set -e"]
    for line in plan.stderr.splitlines():
        step = line.removeprefix("#$ ")
        name = re.match(r"([A-Za-z_]+)=(.*)", step)
        if name:
            if name[1] in ("PATH", "LD_LIBRARY_PATH", "TOP", "CICC_PATH", "NVVMIR_LIBRARY_DIR"):
                steps.append(f'{name[1]}="{name[2]}"')
            continue
        if step.startswith("rm "):
            continue
        steps.append(step)
        if '/cicc"' in step:
            made = re.search(r'-o "([^"]*\.ptx)"', step)
            steps.append(f'cp "{ptx}" "{made[1]}"')
    subprocess.run(["sh", "-c", "\n".join(steps)], check=True, cwd=work, capture_output=True)


def launches(redoubt, machine, settings, program, work):
    result = work / "result.json"
    command = [redoubt, "run", "--machine", machine, f"--json={result}"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command + ["--", str(program)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program.name} failed:\n{done.stdout}{done.stderr}")
    return json.loads(result.read_text())["launches"]


def rows_of(path):
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def summary(ratios):
    mean = math.exp(sum(math.log(r) for r in ratios) / len(ratios))
    deviation = sum(abs(r - 1) for r in ratios) / len(ratios)
    return mean, deviation, max(ratios, key=lambda r: abs(math.log(r)))


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("redoubt")
    parser.add_argument("--machine", default="gtx480-gpgpusim")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--folder", type=pathlib.Path, default=here)
    parser.add_argument("program", nargs="*")
    wishes = parser.parse_args()
    folder = wishes.folder.resolve()
    expected = {}
    for row in rows_of(folder / "cycles.csv"):
        expected.setdefault(row["program"], []).append((row["kernel"], int(row["cycles"])))
    reasons = {(row["program"], row["kernel"]): row["reason"] for row in rows_of(folder / "reasons.csv")}
    print(f"{'program':<10} {'kernel':<14} {'launches':>8} {'GPGPU-Sim':>10} {'Redoubt':>9} {'ratio':>6} {'from':>5} {'to':>5}  reason of a difference above {GOAL_EACH:.0%}")
    ratios, unexplained = [], []
    for program in wishes.program or expected:
        with tempfile.TemporaryDirectory() as name:
            work = pathlib.Path(name)
            ptx = next(p for p in (folder / f"{program}.ptx", folder / f"{program}.sm_35.ptx") if p.exists())
            build(folder / f"{program}.cu", ptx, work / program, work)
            found = launches(wishes.redoubt, wishes.machine, wishes.set, work / program, work)
        if len(found) != len(expected[program]):
            sys.exit(f"{program}: {len(found)} launches, not {len(expected[program])}")
        kernels = {}
        for launch, (kernel, cycles) in zip(found, expected[program]):
            kernels.setdefault(kernel, []).append((cycles, launch["cycles"]))
        for kernel, pairs in kernels.items():
            own = [ours / theirs for theirs, ours in pairs]
            theirs, ours = (sum(column) for column in zip(*pairs))
            is_off = max(abs(r - 1) for r in own) > GOAL_EACH
            reason = reasons.get((program, kernel), "") if is_off else ""
            if is_off and not reason:
                unexplained.append(kernel)
            print(f"{program:<10} {kernel:<14} {len(own):>8} {theirs:>10} {ours:>9} {ours / theirs:>6.3f} {min(own):>5.2f} {max(own):>5.2f}  {reason or ('NOT NAMED' if is_off else '')}")
            ratios += own
    mean, deviation, worst = summary(ratios)
    print(f"{len(ratios)} launches: geometric mean {mean:.3f}, mean absolute deviation {deviation:.1%} (goal {GOAL_MEAN:.0%}), worst {worst:.3f}; "
          f"{sum(abs(r - 1) > GOAL_EACH for r in ratios)} off by more than {GOAL_EACH:.0%}")
    sys.exit(deviation > GOAL_MEAN or len(unexplained) > 0)


if __name__ == "__main__":
    main()
