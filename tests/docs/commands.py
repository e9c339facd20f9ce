"""Every command that a page shows is run, and what it shows of the output comes: commands.py REDOUBT PAGE.md...

In code blocks, a line that begins with "$ " is a command, and the lines up to the next one are its output: each must come, in that
order; "..." stands for any lines. In a block without "$ ", every line is a command. Commands of a page run one after the other in one
folder, in which the folders of the repository are found. "make TARGET" is not run here: its target must exist. What needs nvcc is
left out where there is none.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
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


def check_make(command, makefile):
    target = command.split("#")[0].split()[1:2]
    return not target or re.search(rf"^{re.escape(target[0])}:", makefile, re.M) is not None


def run_page(page, environment):
    failed = count = left_out = 0
    makefile = open(os.path.join(ROOT, "Makefile")).read()
    has_nvcc = shutil.which("nvcc", path=environment["PATH"]) is not None
    with tempfile.TemporaryDirectory() as folder:
        for name in ("examples", "machines", "workloads", "tests", "docs", "python", "src"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        for block in blocks(open(page).read()):
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
                if run.returncode != 0 or missing is not None:
                    failed += 1
                    why = f"exit code {run.returncode}" if run.returncode else f"this line does not come: {missing}"
                    print(f"{page}: {command}\n  {why}\n" + "".join(f"    | {line}\n" for line in run.stdout.splitlines()[:40]))
    print(f"{os.path.relpath(page, ROOT)}: {count} commands, {failed} failures" + (f", {left_out} left out: no nvcc" if left_out else ""))
    return failed or count == 0


def main():
    redoubt = os.path.realpath(sys.argv[1])
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
        return 1 if any([run_page(page, environment) for page in sys.argv[2:]]) else 0


if __name__ == "__main__":
    sys.exit(main())
