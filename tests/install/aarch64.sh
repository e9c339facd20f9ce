#!/bin/bash
# The program for aarch64 gives the numbers of the golden record: aarch64.sh REDOUBT ROOT [PATTERN]. ROOT is a system with the C library of aarch64; qemu
# runs the program. It has to be registered nowhere: commands that start the program anew are left out, PATTERN says which commands are taken.
set -eu
redoubt=$(realpath "$1") root=$(realpath "$2")
pattern=${3:-'^run .*(--size tiny|\.ptx|\.fp)'}
here=$(cd "$(dirname "$0")" && pwd)
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || { echo "no qemu: package qemu-user-static"; exit 1; }
wrapper=$(mktemp)
trap 'rm -f "$wrapper"' EXIT
printf '#!/bin/sh\nexec %s -L "%s" "%s" "$@"\n' "$qemu" "$root" "$redoubt" >"$wrapper"
chmod +x "$wrapper"
file -L "$redoubt" | grep -q 'ARM aarch64' || { echo "$redoubt is not for aarch64"; exit 1; }
said=$("$here/../golden/golden.py" check "$wrapper" "$pattern" -j 1) || { echo "$said"; exit 1; }
echo "RESULT aarch64: $said"
