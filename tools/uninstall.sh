#!/bin/sh
# `make uninstall`: uninstall.sh ROOT. Removes what install.sh has put below ROOT, and the folders that it made if nothing else is in them.
set -eu
cd "$1" 2>/dev/null && [ -f share/redoubt/installed ] || {
  echo "Nothing of Redoubt is installed below $1: there is no $1/share/redoubt/installed." >&2
  exit 1
}
list=$(mktemp)
trap 'rm -f "$list"' EXIT
cp share/redoubt/installed "$list"
while read -r file; do
  case $file in
    */) ;;
    */redoubt.py) rm -f "$file" "${file%/*}"/__pycache__/redoubt.*.pyc && rmdir "${file%/*}/__pycache__" 2>/dev/null || true ;;
    *) rm -f "$file" ;;
  esac
done <"$list"
sed -n '/\/$/p' "$list" | sort -r | while read -r folder; do rmdir "$folder" 2>/dev/null || true; done
ldconfig 2>/dev/null || true
