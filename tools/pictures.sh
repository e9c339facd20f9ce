#!/bin/sh
# Makes the pictures of README.md and docs/ anew, with Chromium: pictures.sh REDOUBT FOLDER
set -eu
redoubt=$(realpath "$1")
out=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
shoot() { # PAGE PICTURE WIDTH HEIGHT
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" --virtual-time-budget=8000 \
    --window-size="$3,$4" --screenshot="$out/$2" "file://$work/$1" >/dev/null 2>&1
}
set -- campaign matmul --param tiles=8 --machine fermi-gtx480 --structure rf --faults 2000
"$redoubt" "$@" -o plain.db >end.txt 2>next.txt
{
  echo '<!doctype html><meta charset="utf-8"><style>body{margin:0;background:#14181d;color:#e6e9ed;font:15px/1.35 "DejaVu Sans Mono",monospace;padding:14px 18px}'
  echo 'b{color:#7cc4ff;font-weight:normal}</style><pre style="margin:0">'
  echo "<b>\$ redoubt $* -o plain.db</b>"
  { cat end.txt; sed -n "/^cost/,\$ { s| $redoubt | redoubt |; p }" next.txt; } | sed 's/&/\&amp;/g; s/</\&lt;/g'
  echo '</pre>'
} >table.html
shoot table.html table.png 1020 260
"$redoubt" campaign matmul --param tiles=8 --machine fermi-gtx480 --structure rf,shared,ibuffer,collector.a,stack.pc,l1d --faults 9000 -o page.db >/dev/null 2>&1
"$redoubt" report -q page.db -o page.html
shoot page.html page.png 1100 820
# A study with its charts.
"$redoubt" reproduce sizes -o sizes >/dev/null 2>&1
shoot sizes/index.html sizes.png 1100 905
