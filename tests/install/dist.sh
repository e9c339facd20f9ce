#!/bin/bash
# The tarball of this build: dist.sh BUILD. Packed twice it is the same, the list of what is inside is right, it needs the C library alone, and a user without
# rights unpacks and uses it in a bare Debian. `make proof` does so with what `make dist` makes, in three releases (proof/dist.sh).
set -u
build=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../tools/debian.sh"
. "$here/unpacked.sh"
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || { echo "dist: skipped, not root or no debootstrap"; exit 77; }
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=1700000000
tarball=$("$here/../../tools/pack.sh" "$build" "$work/one") || { echo "dist: FAILED: it is not packed: $tarball"; exit 1; }
again=$(umask 077 && cd / && TZ=Asia/Tokyo LC_ALL=C.UTF-8 "$here/../../tools/pack.sh" "$build" "$work/two") || { echo "dist: FAILED: not again"; exit 1; }
cmp "$tarball" "$again" || { echo "dist: FAILED: packed twice it is not the same"; exit 1; }
mkdir "$work/tree" && tar -C "$work/tree" --strip-components=1 -xzf "$tarball"
"$here/sbom.py" "$work/tree" || exit 1
grep -rIlF -e "$build" "$work/tree" && { echo "dist: FAILED: the above remember where they were built"; exit 1; }

mkdir "$work/root"
debian_make "$work/root" bookworm "$build/bare.tar" || { echo "dist: skipped, $why"; exit 77; }
unpacked "$work/root" "$tarball" "$build/gemm13" "$build/generation13" || exit 1
echo "dist: $(basename "$tarball") works for a user of a bare Debian"

# The container files with this tarball, and the example for Slurm.
"$here/containers.py" "$tarball" "$build/bare.tar" "$work/containers" || exit 1
"$here/slurm.sh" "$work/containers"
code=$?
[ $code = 77 ] || exit $code
