#!/bin/bash
# The Debian package: deb.sh BUILD. It is built, names what it needs, and what is in it works when it is unpacked.
set -u
build=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/works.sh"
command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null || { echo "deb: skipped, no dpkg-dev or file"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

rm -rf "$build/package"
(cd "$build" && cpack -G DEB -B "$build/package" >"$folder/log" 2>&1) || { cat "$folder/log"; exit 1; }
package=$(ls "$build"/package/redoubt_*.deb) || { echo "deb: FAILED: no package"; exit 1; }
depends=$(dpkg-deb -f "$package" Depends)
for need in libc6 libsqlite3-0 libjansson4 libzstd1 libinih1 libxxhash0 liblz4-1; do
  case $depends in *"$need "*) ;; *) fail "it does not depend on $need: $depends" ;; esac
done
case $depends in *-dev* | *gcc* | *cmake* | *nodejs*) fail "it depends on what only builds need: $depends" ;; esac
dpkg-deb -I "$package" triggers 2>/dev/null | grep -q ldconfig || fail "libraries are not made known when it is installed"
dpkg-deb -I "$package" shlibs | grep -q cudart && fail "it claims NVIDIA's library for others to link with"
dpkg-deb -x "$package" "$folder/root"
[ -e "$folder/root/usr/share/zsh/vendor-completions/_redoubt" ] || fail "no completions of zsh"
[ -e "$folder/root/usr/lib/python3/dist-packages/redoubt.py" ] || fail "no Python"
grep -rIl -e "$build" "$folder/root" && fail "the package remembers where it was built"
works "$folder/root/usr"
exit $failed
