"""Every command that a page shows is run, and what it shows of the output comes: commands.py [--update] REDOUBT PAGE.md...

In code blocks, a line that begins with "$ " is a command, and the lines up to the next one are its output: each must come, in that
order; "..." stands for any lines. In a block without "$ ", every line is a command. Commands of a page run one after the other in one
folder, in which the folders of the repository are found. "make TARGET" is not run here: its target must exist. What needs nvcc is
left out where there is none.

With --update, a shown line that does not come is replaced in the page by the line that comes and is most like it, numbers apart. What the text around says of
the numbers is for people to change.
"""
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
LIKE = 0.6
COMMANDS = ("redoubt ", "make ", "python3 ", "cc ", "nvcc ", "cp ", "cat ")


def blocks(text):
    """Code blocks: indented by four, or fenced as sh; lists of lines."""
    block, fence = [], None
    for line in text.splitlines() + [""]:
        if fence is not None:
            if line.startswith("```"):
                if fence in ("sh", "console"):
                    yield block
                block, fence = [], None
            else:
                block.append(line)
        elif line.startswith("```"):
            fence, block = line[3:].strip(), []
        elif line.startswith("    "):
            block.append(line[4:])
        elif block and line.strip():
            yield block
            block = []
        elif block:
            block.append("")
    if block:
        yield block


def commands(block):
    """(command, lines of output that it shows)"""
    found, has_prompt = [], any(line.startswith("$ ") for line in block)
    joined = False
    for line in block:
        is_command = line.startswith("$ ") if has_prompt else line.startswith(COMMANDS)
        if joined:
            found[-1][0] += "\n" + line
        elif is_command:
            found.append([line[2:] if has_prompt else line, []])
        elif has_prompt and found:
            found[-1][1].append(line)
        joined = (joined or is_command) and line.endswith("\\")
    return found


def comes(shown, output):
    """The first shown line that does not come; None: all do."""
    lines, at = [line.rstrip() for line in output.splitlines()], 0
    for wanted in shown:
        wanted = wanted.rstrip()
        if wanted in ("", "..."):
            continue
        if wanted not in lines[at:]:
            return wanted
        at = lines.index(wanted, at) + 1
    return None


def shape(line):
    return re.sub(r"[0-9][0-9.,]*", "#", line)


def likeness(line, wanted):
    """What a line begins with is the name of what its numbers are of."""
    named = 0.5 if line.split()[:1] == wanted.split()[:1] else 0
    return 2 if line == wanted else named + difflib.SequenceMatcher(None, shape(line), shape(wanted), autojunk=False).ratio()


def updated(shown, output):
    """Pairs of a shown line and what takes its place."""
    lines, at = [line.rstrip() for line in output.splitlines()], 0
    for old in shown:
        wanted = old.rstrip()
        if wanted in ("", "..."):
            continue
        ratios = [likeness(line, wanted) for line in lines[at:]]
        best = max(range(len(ratios)), key=lambda i: (ratios[i], -i), default=None)
        if best is None or ratios[best] < LIKE:
            print(f"  no line is like: {wanted}")
            continue
        if lines[at + best] != wanted:
            yield old, lines[at + best]
        at += best + 1


def check_make(command, makefile):
    target = command.split("#")[0].split()[1:2]
    return not target or re.search(rf"^{re.escape(target[0])}:", makefile, re.M) is not None


def run_page(page, environment, updates):
    failed = count = left_out = 0
    text = open(page).read()
    makefile = open(os.path.join(ROOT, "Makefile")).read()
    has_nvcc = shutil.which("nvcc", path=environment["PATH"]) is not None
    with tempfile.TemporaryDirectory() as folder:
        for name in ("examples", "machines", "workloads", "tests", "docs", "python", "src"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        for block in blocks(text):
            for command, shown in commands(block):
                count += 1
                if command.startswith("make "):
                    if not check_make(command, makefile):
                        print(f"{page}: no such target: {command}")
                        failed += 1
                    continue
                if not has_nvcc and ("nvcc" in command.split() or " -- ./" in command):
                    left_out += 1
                    continue
                run = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
                missing = comes(shown, run.stdout)
                if updates and run.returncode == 0 and missing is not None:
                    place = text.index(command.split("\n")[0])  # pages show a command once, or its first place is before
                    for old, new in updated(shown, run.stdout):
                        found = text.find(old + "\n", place)
                        if found >= 0:
                            text = text[:found] + new + text[found + len(old):]
                            place = found
                    continue
                if run.returncode != 0 or missing is not None:
                    failed += 1
                    why = f"exit code {run.returncode}" if run.returncode else f"this line does not come: {missing}"
                    print(f"{page}: {command}\n  {why}\n" + "".join(f"    | {line}\n" for line in run.stdout.splitlines()[:40]))
    if updates:
        open(page, "w").write(text)
    print(f"{os.path.relpath(page, ROOT)}: {count} commands, {failed} failures" + (f", {left_out} left out: no nvcc" if left_out else ""))
    return failed or count == 0


def main():
    updates = sys.argv[1] == "--update"
    redoubt, *pages = sys.argv[2 if updates else 1:]
    redoubt = os.path.realpath(redoubt)
    build = os.path.dirname(redoubt)
    cuda = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(redoubt, os.path.join(folder, "redoubt"))
        environment = {"PATH": ":".join([folder, os.environ["PATH"], cuda]), "HOME": folder, "LC_ALL": "C.UTF-8",
                       "PYTHONPATH": os.path.join(ROOT, "python"), "REDOUBT_LIBRARY": os.path.join(build, "libredoubt.so.0"),
                       "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": folder, "LD_LIBRARY_PATH": build,
                       "LIBRARY_PATH": build, "C_INCLUDE_PATH": os.path.join(ROOT, "src", "lib")}
        for name in ("CCACHE_DIR", "LD_PRELOAD", "ASAN_OPTIONS"):
            if name in os.environ:
                environment[name] = os.environ[name]
        return 1 if any([run_page(page, environment, updates) for page in pages]) else 0


if __name__ == "__main__":
    sys.exit(main())
