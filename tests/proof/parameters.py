"""parameters.py REDOUBT FOLDER [EVERY [DRAWN [SEED]]]: machine files at the ends of what parameters may be.

Each parameter at its least and at its most (of all of these every EVERY-th, 1: all), then DRAWN files with up to six of them anywhere between. A program runs
on the machine, and its results are right; or one line says why not, and where in the file. Nothing may crash, hang, or take memory without end."""
import os
import random
import re
import resource
import subprocess
import sys

SECONDS, KILOBYTES = 120, 2_000_000
PROGRAMS = {
    "functional": ["scalarprod", "--size", "tiny"],
    "fermi-gtx480": ["scalarprod", "--size", "tiny"],
    "flexgrip-thesis": ["g80.saxpy", "--size", "tiny"],
    "sheaffer-2007": ["mandelbrot.fp", "--domain", "16x16"],
}
OF_ONE = {"g80": "flexgrip-thesis", "fragment": "sheaffer-2007", "functional": "functional"}
# What is refused without a place: it lies in the program as well as in the machine.
OF_PROGRAM = ("needs [0-9]+ registers x", "the limit is", "out of device memory", "the program has", "of address space", "machine's structures", "exceeds", "takes")


def parameters(redoubt):
    """(key, values at the ends, a function that draws one)"""
    said = subprocess.run([redoubt, "list", "params"], capture_output=True, text=True, check=True).stdout
    for line in said.splitlines():
        key = line.split()[0]
        ends = re.search(r"; (\d+) to (\d+)( [^;]*)?$", line)
        if key == "machine.model":
            continue
        if ends is None:
            words = line.split()[1].split("|")
            yield key, words, lambda chance, words=words: chance.choice(words)
        else:
            least, most = int(ends[1]), int(ends[2])
            yield key, [least, most], lambda chance, least=least, most=most: between(chance, least, most)


def between(chance, least, most):
    """Small numbers as often as large ones; half of the time a power of two, which many sizes must be."""
    bits = chance.uniform(max(least, 1).bit_length() - 1, most.bit_length())
    value = 1 << int(bits) if chance.random() < 0.5 else int(2**bits)
    return min(max(value, least), most)


def machines(redoubt, chance, every, drawn):
    """(machine, {key: value})"""
    known = list(parameters(redoubt))
    singles = []
    for key, ends, _ in known:
        section = key.split(".")[0]
        common = ["functional", "fermi-gtx480", "sheaffer-2007", "flexgrip-thesis"] if section in ("memory", "limit") else ["fermi-gtx480"]
        singles += [(machine, {key: value}) for machine in ([OF_ONE[section]] if section in OF_ONE else common) for value in ends]
    yield from singles[chance.randrange(every)::every]
    for _ in range(drawn):
        machine = chance.choice(["fermi-gtx480"] * 5 + ["sheaffer-2007", "flexgrip-thesis"])
        ours = [one for one in known if OF_ONE.get(one[0].split(".")[0], machine) == machine]
        yield machine, {key: draw(chance) for key, _, draw in chance.sample(ours, chance.randint(1, 6))}


def write(text, path, changes):
    """The machine file with these values; what it does not set is added. No value twice."""
    lines, section = [], ""
    for line in text.splitlines():
        heading = re.match(r"\s*\[(\w+)\]", line)
        section = heading[1] if heading else section
        setting = re.match(r"\s*(\w+)\s*=", line)
        if setting and f"{section}.{setting[1]}" in changes:
            continue
        lines.append(line)
    for key, value in changes.items():
        lines += [f"[{key.split('.')[0]}]", f"{key.split('.')[1]} = {value}"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def wrong(path, done, kilobytes):
    """What is wrong with how it ended; None: nothing."""
    if done.returncode == 2:
        first = (done.stderr.strip().splitlines() or [""])[0]
        if re.match(re.escape(path) + r":\d+:\d+: error: [a-z0-9]+\.[a-z0-9_]+ = ", first) or re.search("|".join(OF_PROGRAM), first):
            return None
        return f"refused without a place: {first}"
    if done.returncode == 3 and "limit" in done.stderr:  # it may not take as long as it takes
        return None
    if done.returncode != 0:
        return f"exit code {done.returncode}"
    return f"took {kilobytes} KB" if kilobytes > KILOBYTES else None


def main(redoubt, folder, every=1, drawn=0, seed=1):
    os.makedirs(folder, exist_ok=True)
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "machines")
    texts = {name: open(os.path.join(here, name + ".ini"), encoding="utf-8").read() for name in PROGRAMS}
    count = refused = bad = 0
    for machine, changes in machines(redoubt, random.Random(seed), every, drawn):
        path = os.path.join(folder, "machine.ini")
        small = {"sm.count": 2} if machine == "fermi-gtx480" else {}
        write(texts[machine], path, {**small, **changes})
        command = [redoubt, "run", *PROGRAMS[machine], "--machine", path]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
            most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # of all so far
            said = wrong(path, done, most)
        except subprocess.TimeoutExpired:
            done, said = None, f"does not end within {SECONDS} s"
        count += 1
        refused += done is not None and done.returncode == 2
        if said is not None:
            bad += 1
            print(f"{machine} with {', '.join(f'{key} = {value}' for key, value in changes.items())}: {said}")
            if done is not None:
                print("".join(f"    | {line}\n" for line in (done.stderr.splitlines()[:6])), end="")
    careful = "under ASan and UBSan " if folder.endswith("-asan") else ""
    print(f"RESULT parameters: {careful}{count} machine files at the ends of what parameters may be: {count - refused - bad} run right, {refused} are refused with "
          f"their place, {bad} otherwise")
    return bad > 0


sys.exit(main(os.path.realpath(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])))
