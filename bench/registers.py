#!/usr/bin/env python3
"""Registers of the workloads' kernels: ours beside those of ptxas, and the line through them that sm.register_source = estimate uses.

registers.py REDOUBT [ARCH]. Needs ptxas. ARCH (default sm_75): what it compiles for; the PTX is told that it is for that.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def of_ptxas(text, arch, work):
    text = re.sub(r"\.target sm_\d+", f".target {arch}", re.sub(r"\.version \d\.\d", ".version 6.5", text))
    (work / "kernel.ptx").write_text(text)
    done = subprocess.run(["ptxas", "-v", f"-arch={arch}", "-o", work / "kernel.cubin", work / "kernel.ptx"], capture_output=True, text=True, check=False)
    return {name: int(count) for name, count in re.findall(r"Compiling entry function '(\S+)'.*?Used (\d+) registers", done.stderr, re.S)}


def of_redoubt(redoubt, file):
    done = subprocess.run([redoubt, "run", file, "--dump", "program"], capture_output=True, text=True, check=False)
    return {name: int(count) for name, count in re.findall(r"kernel (\w+)\b.*?(\d+) registers", done.stdout)}


def main():
    redoubt, arch = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "sm_75"
    if shutil.which("ptxas") is None:
        sys.exit("skipped: ptxas is not installed")
    root = pathlib.Path(__file__).resolve().parent.parent
    pairs = []
    with tempfile.TemporaryDirectory() as name:
        for file in sorted(root.glob("workloads/*/kernel.ptx")) + sorted(root.glob("bench/gpgpusim/*.ptx")):
            theirs, ours = of_ptxas(file.read_text(), arch, pathlib.Path(name)), of_redoubt(redoubt, file)
            pairs += [(ours[kernel], theirs[kernel], kernel) for kernel in theirs if kernel in ours]
    for ours, theirs, kernel in sorted(pairs):
        print(f"{kernel:<24} {ours:>4} {theirs:>4}")
    count = len(pairs)
    lines = [(base / 4, slope / 100) for base in range(0, 80) for slope in range(50, 200, 2)]
    off = {line: sorted(abs(y - line[0] - line[1] * x) for x, y, _ in pairs) for line in lines}
    best = min(lines, key=lambda line: sum(off[line]))
    rest = off[best]
    print(f"{count} kernels: theirs = {best[0]} + {best[1]} x ours; off by {sum(rest) / count:.1f} on average, {rest[count // 2]:.1f} in the middle, {rest[count * 9 // 10]:.0f} for one in ten")


if __name__ == "__main__":
    main()
