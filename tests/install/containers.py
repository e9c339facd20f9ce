#!/usr/bin/env python3
"""The container files without a container engine: containers.py TARBALL SYSTEM FOLDER. SYSTEM is a tar file of a bare Debian, the release that the files
begin with. Their steps are carried out in it as an engine would, and the result is started as it would be. FOLDER/apptainer stays: the system that
redoubt.def makes, and FOLDER/bin/apptainer, which does `apptainer exec` with it. An instruction that this script does not know fails."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/containers")
PATH = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

STAND_IN = """#!/bin/sh
[ "$1 $2 $4" = "exec --bind redoubt.sif" ] || { echo "apptainer: $*" >&2; exit 255; }
folder=$3
shift 4
mkdir -p "ROOT$folder"
exec unshare --mount sh -c 'mount -t proc proc "ROOT/proc"; mount --bind "$0" "ROOT$0"
  exec chroot "ROOT" sh -c ". /environment; cd \\"\\$0\\" && exec \\"\\$@\\"" "$0" "$@"' "$folder" "$@"
"""


def inside(root, words, environment, folder="/", user="0:0"):
    """With /proc and without a network; the folder is entered after the change of root."""
    script = 'mount -t proc proc "$0/proc"; exec chroot --userspec="$1" --groups= "$0" sh -c \'cd "$0" && exec "$@"\' "$2" ' + shlex.join(words)
    return subprocess.run(["unshare", "--mount", "--net", "sh", "-c", script, root, user, folder], env={**PATH, **environment}, capture_output=True, text=True, check=False)


def must(result, what):
    if result.returncode:
        sys.exit(f"containers: FAILED: {what}: exit code {result.returncode}: {result.stderr[-400:]}")
    return result.stdout


def system(folder, archive, image):
    if not re.fullmatch(r"debian:bookworm-slim", image):
        sys.exit(f"containers: FAILED: begins with {image}; the system here is Debian 12")
    os.makedirs(folder)
    subprocess.run(["tar", "-C", folder, "-xf", archive], check=True)
    os.chmod(folder, 0o755)
    return folder


def containerfile(tarball, archive, folder):
    text = re.sub(r"^#.*\n", "", open(os.path.join(EXAMPLES, "Containerfile")).read(), flags=re.M)
    root, arguments, environment, place, user, entry = None, {}, {}, "/", "0:0", None
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip():
            continue
        word, rest = line.split(None, 1)
        rest = re.sub(r"\$\{(\w+)\}", lambda found: arguments[found[1]], rest)
        if word == "FROM":
            root = system(folder, archive, rest)
        elif word == "ARG":
            arguments[rest] = os.path.basename(tarball)  # of the folder that is built in
        elif word == "ADD":
            source, target = rest.split()
            assert source == os.path.basename(tarball) and target.endswith("/")
            subprocess.run(["tar", "-C", root + target, "-xzf", tarball], check=True)  # an engine unpacks it
        elif word == "RUN":
            must(inside(root, ["sh", "-c", rest], environment, place, user), f"RUN {rest}")
        elif word == "ENV":
            name, value = rest.split("=", 1)
            environment[name] = value
        elif word == "WORKDIR":
            place = rest
        elif word == "USER":
            user = rest
        elif word == "ENTRYPOINT":
            entry = json.loads(rest)
        else:
            sys.exit(f"containers: FAILED: Containerfile: unknown instruction {word}")
    said = must(inside(root, entry + ["run", "vecadd", "--size", "tiny"], environment, place, user), "podman run")
    assert "passed" in said.lower(), said
    must(inside(root, entry + ["campaign", "scalarprod", "--size", "tiny", "--faults", "20", "-q", "-o", "a.db"], environment, place, user), "a campaign in /work")


def definition(tarball, archive, folder):
    lines = open(os.path.join(EXAMPLES, "redoubt.def")).read().replace("{{ TARBALL }}", tarball).splitlines()
    head, sections, at = {}, {}, None
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("%"):
            at = line[1:].strip()
            sections[at] = ""
        elif at is None:
            key, value = line.split(":", 1)
            head[key] = value.strip()
        else:
            sections[at] += line + "\n"
    assert head.pop("Bootstrap") == "docker", head
    root = system(folder, archive, head.pop("From"))
    assert not head and set(sections) == {"files", "post", "environment", "runscript", "test"}, (head, sections)
    for line in sections["files"].splitlines():
        source, target = line.split()
        shutil.copyfile(source, root + target)
    must(inside(root, ["sh", "-ec", sections["post"]], {}), "%post")
    must(inside(root, ["sh", "-ec", sections["environment"] + sections["test"]], {"TMPDIR": "/tmp"}, "/tmp", "1000:1000"), "%test")
    must(inside(root, ["sh", "-ec", sections["environment"] + sections["runscript"], "run", "version"], {}, "/tmp", "1000:1000"), "apptainer run")
    # `apptainer exec --bind FOLDER IMAGE COMMAND...` shows that folder, and stays in it.
    with open(os.path.join(root, "environment"), "w") as file:
        file.write(sections["environment"])
    os.makedirs(os.path.join(folder, "../bin"))
    stand_in = os.path.join(folder, "../bin/apptainer")
    with open(stand_in, "w") as file:
        file.write(STAND_IN.replace("ROOT", root))
    os.chmod(stand_in, 0o755)


def main():
    tarball, archive, folder = (os.path.abspath(word) for word in sys.argv[1:])
    containerfile(tarball, archive, os.path.join(folder, "podman"))
    definition(tarball, archive, os.path.join(folder, "apptainer"))
    print("containers: the steps of Containerfile and redoubt.def work")


main()
