#!/bin/bash
# What `make dist` makes: dist.sh REDOUBT FOLDER. Built twice, in folders of different length and with other numbers of processes: the same bytes. The list
# of what is inside is right. Bare systems of Debian 11, 12 and 13 take the tarball as a user, and the package as root. A part of the golden record comes
# out the same by the program for aarch64, under qemu.
set -eu
folder=$(mkdir -p "$2" && realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
source=$(realpath "$here/../..")
. "$source/tools/debian.sh"
. "$here/../install/unpacked.sh"
[ -n "$(command -v debootstrap)" ] && [ "$(id -u)" = 0 ] || { echo "needs root and debootstrap"; exit 1; }

JOBS=1 "$source/tools/dist.sh" "$folder/one" x86_64 aarch64
cp -r --reflink=auto "$folder/one/systems" "$folder/" && mkdir -p "$folder/two" && mv "$folder/systems" "$folder/two/systems"
FOLDER=/somewhere/else/than/before JOBS=2 "$source/tools/dist.sh" "$folder/two" x86_64 aarch64
cmp "$folder/one/SHA256SUMS" "$folder/two/SHA256SUMS"
files=$(wc -l <"$folder/one/SHA256SUMS")
echo "RESULT dist: built twice, in other folders: $files files, all the same byte for byte"

tarball=$(ls "$folder"/one/redoubt-*-x86_64.tar.gz)
mkdir "$folder/tree" && tar -C "$folder/tree" --strip-components=1 -xzf "$tarball"
"$here/../install/sbom.py" "$folder/tree"
needs=$(find "$folder/tree" -type f -exec sh -c 'objdump -T "$1" 2>/dev/null' sh {} \; | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
[ "$(printf 'GLIBC_2.31\n%s\n' "$needs" | sort -V | tail -n 1)" = GLIBC_2.31 ] || { echo "it needs $needs"; exit 1; }

# CUDA programs as users of Debian 11 have them: built there.
mkdir "$folder/root" && debian_make "$folder/root" bullseye "$folder/one/systems/bullseye-x86_64.tar"
mkdir "$folder/root/p" && cp -r "$folder/tree" "$folder/root/p/tree" && cp -r "$here/../cuda" "$folder/root/p/"
debian_inside "$folder/root" sh -ec 'cd /p; l=tree/lib/redoubt/cudart
  gcc -DGENERATION=13 -o generation13 cuda/generation.c -L$l -l:libcudart.so.13
  gcc -o gemm13 cuda/libraries/gemm.c -L$l -l:libcublas.so.13 -l:libcudart.so.13'
cp "$folder/root/p/generation13" "$folder/root/p/gemm13" "$folder/"
rm -rf "$folder/root"
for release in bullseye bookworm trixie; do
  mkdir "$folder/root"
  debian_make "$folder/root" $release "$folder/$release.tar" || { echo "$release: $why"; exit 1; }
  unpacked "$folder/root" "$tarball" "$folder/gemm13" "$folder/generation13"
  cp "$folder"/one/redoubt_*_amd64.deb "$folder/root/tmp/redoubt.deb"
  debian_inside "$folder/root" sh -ec 'apt-get update; apt-get install -y --no-install-recommends /tmp/redoubt.deb; redoubt run vecadd --size tiny' >"$folder/log" 2>&1 ||
    { tail "$folder/log"; exit 1; }
  rm -rf "$folder/root"
done
echo "RESULT dist: needs $needs; the tarball, by a user without rights, and the package work in bare systems of Debian 11, 12 and 13: campaigns, pages, a study, the demo, faults in a CUDA program"

# aarch64.
mkdir "$folder/root" "$folder/arm" && debian_make "$folder/root" bullseye "$folder/one/systems/bullseye-aarch64.tar"
tar -C "$folder/arm" --strip-components=1 -xzf "$folder"/one/redoubt-*-aarch64.tar.gz
"$here/../install/aarch64.sh" "$folder/arm/bin/redoubt" "$folder/root"
