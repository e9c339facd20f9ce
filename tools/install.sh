#!/bin/sh
# `make install`: install.sh BUILD PREFIX [DESTDIR]. What an older installation put there goes first. Beside the files lies a list of them and of
# the folders that were made for them, share/redoubt/installed, for uninstall.sh; paths in it begin at the prefix, so that a tree can be moved.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1 prefix=$2 destination=${3:-}
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
root=$destination$prefix
list=share/redoubt/installed
[ ! -f "$root/$list" ] || "$here/uninstall.sh" "$root"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DESTDIR=$work/tree cmake --install "$build" --prefix "$prefix" --strip >/dev/null # to see what there will be
(cd "$work/tree$prefix" && find . -type d ! -path . | sort) | while read -r folder; do
  [ -d "$root/$folder" ] || echo "$folder/"
done >"$work/list"
(cd "$work/tree$prefix" && find . ! -type d | sort) >>"$work/list"
DESTDIR=$destination cmake --install "$build" --prefix "$prefix" --strip >/dev/null
echo "./$list" >>"$work/list"
cp "$work/list" "$root/$list"
[ -n "$destination" ] || ldconfig 2>/dev/null || true
