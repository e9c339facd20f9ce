#!/bin/sh
# Installs the Debian packages that are missing: packages.sh build [test] [docs] [deb] [cluster]
# Says which; asks for nothing. Needs root or sudo only when something is missing.
set -eu

build="gcc libc6-dev make cmake ninja-build libinih-dev libjansson-dev libxxhash-dev libzstd-dev liblz4-dev libsqlite3-dev libiberty-dev libpng-dev pkg-config libjs-vega"
test="clang clang-format libclang-rt-14-dev libcmocka-dev libmpfr-dev libgmp-dev git chromium zsh fish groff-base python3 debootstrap"
docs="mkdocs"
deb="dpkg-dev file"
cluster="slurm-wlm munge shellcheck"

wanted=""
for group in "$@"; do
  case $group in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test" ;;
    docs) wanted="$wanted $docs" ;;
    deb) wanted="$wanted $deb" ;;
    cluster) wanted="$wanted $cluster" ;;
    *) echo "packages.sh: unknown group '$group'; known: build, test, docs, deb, cluster" >&2; exit 2 ;;
  esac
done

# Elsewhere than on Debian and its like people install what a build names as missing.
command -v dpkg-query >/dev/null 2>&1 || exit 0
missing=""
for package in $wanted; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "Installing Debian packages:$missing"
if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null 2>&1; then
  as_root="sudo"
else
  echo "These packages are missing and this is neither root nor has sudo. Ask an administrator to run:" >&2
  echo "  apt-get install$missing" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# An old package list is the usual reason for a failed install: refresh it once and try again.
# shellcheck disable=SC2086
$as_root apt-get install -y --no-install-recommends $missing >/dev/null 2>&1 ||
  { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends $missing; }
