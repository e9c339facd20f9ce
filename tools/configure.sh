#!/bin/sh
# Configures build/ for `make`: a release build with what this computer has. Installs nothing, needs no root; says what is missing and its package.
set -eu
cd "$(dirname "$0")/.."
fail() {
  echo "$*" >&2
  echo "On Debian as root 'make setup' installs all that a build needs. Without building: unpack the tarball (docs/install.md)." >&2
  exit 1
}
command -v cmake >/dev/null 2>&1 || fail "CMake is missing: the package cmake, everywhere; or 'module load cmake' on a cluster."
version=$(cmake --version | sed -n '1s/^cmake version //p')
[ "$(printf '%s\n3.18\n' "$version" | sort -V | head -n 1)" = 3.18 ] || fail "CMake $version is too old: 3.18 is needed."
command -v "${CC:-cc}" >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || command -v clang >/dev/null 2>&1 ||
  fail "A C compiler is missing: the package gcc, everywhere; or 'module load gcc' on a cluster."
generator=""
[ -f build/CMakeCache.txt ] || ! command -v ninja >/dev/null 2>&1 || generator="-G Ninja"
# shellcheck disable=SC2086
exec cmake -S . -B build $generator -DCMAKE_BUILD_TYPE=Release -DREDOUBT_TESTS=OFF
