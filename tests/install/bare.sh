#!/bin/bash
# The Debian package in a bare Debian: bare.sh BUILD, after deb.sh. A system of the fewest packages is made with debootstrap (and kept,
# BUILD/bare.tar), the package installed with apt-get, and the program, its manual, the library and Python used in it.
# Also how many packages a build needs there. Skipped without root, debootstrap or a mirror.
set -u
build=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../tools/debian.sh"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
failed=0
fail() {
  echo "bare: FAILED: $*"
  failed=1
}
inside() { debian_inside "$root" "$@"; }
debian_make "$root" bookworm "$build/bare.tar" || {
  echo "bare: skipped, $why"
  exit 77
}
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null

# Who has cloned the repository has git and make; the rest is what 'make demo' installs.
count() { inside apt-get install -s --no-install-recommends "$@" 2>/dev/null | grep -c '^Inst'; }
needed=$(sed -n 's/^build="\(.*\)"$/\1/p' "$here/../../tools/packages.sh")
# shellcheck disable=SC2086
added=$(($(count git ca-certificates make $needed) - $(count git ca-certificates make)))
[ "$added" -gt 10 ] && [ "$added" -lt 68 ] || fail "a build installs $added packages"

cp "$build"/package/redoubt_*.deb "$root/tmp/redoubt.deb" || exit 1
inside apt-get install -y --no-install-recommends /tmp/redoubt.deb python3-minimal >"$build/bare-install.log" 2>&1 || { tail "$build/bare-install.log"; fail "it does not install"; }
inside redoubt version | grep -q '^redoubt ' || fail "redoubt version"
inside redoubt run vecadd --size tiny >/dev/null || fail "redoubt run"
inside sh -c 'cd /tmp && redoubt campaign scalarprod --size tiny --faults 50 -o a.db -q && redoubt report a.db -o page.html -q' >/dev/null 2>&1 || fail "a campaign and its page"
inside ldconfig -p | grep -q 'libredoubt.so.0 ' || fail "the library is not known"
inside dpkg -L redoubt | grep -q '/usr/share/man/man1/redoubt-run.1' || fail "no manual"
inside apt-get remove -y redoubt >/dev/null 2>&1 || fail "it cannot be removed"
[ ! -e "$root/usr/bin/redoubt" ] || fail "removal leaves it there"
[ "$failed" = 0 ] && echo "bare: a build installs $added packages"
exit $failed
