#!/bin/sh
# The tarball of a build: pack.sh BUILD OUT. OUT/redoubt-VERSION-linux-ARCHITECTURE.tar.gz. The same build gives the same bytes: files in
# order, of one time (SOURCE_DATE_EPOCH, else that of the newest change in CHANGELOG.md), of nobody. Runs on Debian, whose packages it names.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

cmake --build "$build" -j "${JOBS:-1}" --target all bundled >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
architecture=$(sed -n 's/^set(CMAKE_SYSTEM_PROCESSOR "\(.*\)")/\1/p' "$build"/CMakeFiles/*/CMakeSystem.cmake)
name=redoubt-$(cache CMAKE_PROJECT_VERSION)-linux-$architecture
strip=$(cache CMAKE_STRIP)
tree=$work/$name
DESTDIR=$work/stage cmake --install "$build" --prefix "/$name" --strip >/dev/null
mv "$work/stage/$name" "$tree"
for file in bin/redoubt lib/libredoubt.so.0 lib/redoubt/cudart/libcudart.so.13 lib/redoubt/cudart/libcudart.so.12 lib/redoubt/cudart/libcudart.so.11.0; do
  cp -f "$build/bundled/$file" "$(realpath "$tree/$file")"
  "$strip" "$tree/$file"
done
mkdir "$tree/lib/python" && mv "$(find "$tree/lib" -name redoubt.py)" "$tree/lib/python/" && find "$tree/lib" -type d -empty -delete
python3 "$here/sbom.py" "$build" "$tree" "$architecture"

epoch=${SOURCE_DATE_EPOCH:-$(stat -c %Y "$here/../CHANGELOG.md")}
find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f -perm /111 -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
tar -C "$work" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=gnu -cf "$work/tar" "$name"
gzip -6n <"$work/tar" >"$out/$name.tar.gz"
echo "$out/$name.tar.gz"
