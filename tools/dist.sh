#!/bin/sh
# `make dist`: dist.sh OUT [x86_64 | aarch64]... The tarball and the Debian package of each, built from this commit in a bare Debian 11: the oldest whose
# packages are to be had, so the programs run wherever the C library is not older than its own (glibc 2.31). For aarch64 by a cross compiler; what a
# build runs of its own programs, qemu runs. Needs root and debootstrap; nothing is built outside of that system. The systems are kept in OUT/systems.
# FOLDER is where in the system the source lies: no byte depends on it, nor on the number of JOBS (tests/proof/dist.sh).
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1/systems"
out=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- x86_64
folder=${FOLDER:-/redoubt}
. "$here/tools/debian.sh"
fail() {
  echo "make dist: $*" >&2
  exit 1
}
git -C "$here" rev-parse --git-dir >/dev/null 2>&1 || fail "the source must be a git checkout: what is given out is of a commit"
vega=/usr/share/javascript/vega
[ -d $vega ] || fail "Vega is missing, so pages would have no charts: apt-get install libjs-vega"
root=""
trap '[ -z "$root" ] || rm -rf "$root"' EXIT

libraries="libinih-dev libjansson-dev libxxhash-dev libzstd-dev liblz4-dev libsqlite3-dev libiberty-dev libpng-dev libc6-dev"
tools="gcc make cmake ninja-build pkg-config python3 dpkg-dev file"
for architecture in "$@"; do
  case $architecture in
    x86_64) packages="$tools $libraries" options="" ;;
    aarch64)
      packages="$tools libc6-dev gcc-aarch64-linux-gnu qemu-user-static"
      for library in $libraries; do packages="$packages $library:arm64"; done
      options="-DCMAKE_TOOLCHAIN_FILE=$folder/cmake/aarch64.cmake"
      ;;
    *) fail "unknown architecture '$architecture'; known: x86_64, aarch64" ;;
  esac
  root=$(mktemp -d "$out/root.XXXXXX")
  chmod 755 "$root"
  # shellcheck disable=SC2086
  debian_make "$root" bullseye "$out/systems/bullseye-$architecture.tar" $packages || fail "$why"
  mkdir -p "$root$folder" "$root/vega" "$root/out"
  git -C "$here" archive HEAD | tar -C "$root$folder" -xf -
  cp $vega/*.min.js /usr/share/doc/libjs-vega/copyright "$root/vega/"
  dpkg-query -W -f='${Package} ${source:Package} ${Version}\n' libjs-vega >"$root/vega/PACKAGE"
  cat >"$root/build.sh" <<SCRIPT
set -e
cd $folder
export SOURCE_DATE_EPOCH=$(git -C "$here" log -1 --format=%ct) JOBS=${JOBS:-1}
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DREDOUBT_TESTS=OFF -DREDOUBT_VEGA=/vega $options \\
  -DREDOUBT_COMMIT=$(git -C "$here" describe --always --tags --abbrev=12) "-DCMAKE_C_FLAGS=-ffile-prefix-map=$folder=redoubt"
nice -n 10 cmake --build build -j \$JOBS >build.log 2>&1 || { tail -n 30 build.log; exit 1; }
tools/pack.sh build /out
cd build
cpack -G DEB -B /out/deb
mv /out/deb/*.deb /out/
SCRIPT
  debian_inside "$root" sh /build.sh >"$out/$architecture.log" 2>&1 || { tail -n 20 "$out/$architecture.log"; fail "it does not build"; }
  mv "$root"/out/*.tar.gz "$root"/out/*.deb "$out/"
  rm -rf "$root"
  root=""
done
cd "$out"
sha256sum redoubt*.tar.gz redoubt*.deb >SHA256SUMS
cat SHA256SUMS
