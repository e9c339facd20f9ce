#!/bin/sh
# What `make demo` shows: what single-bit upsets in the register file do to two programs, without and with ECC, and the report page.
# The inputs are as large as it takes to fill most of the machine: on a nearly empty one nearly all upsets would hit nothing (docs/campaigns.md).
set -eu
redoubt=$1
folder=$(dirname "$redoubt")/demo
faults=2000
mkdir -p "$folder"
for workload in scalarprod matmul; do
  rm -f "$folder/$workload.db" "$folder/$workload-ecc.db"
  input= # scalarprod fills the machine by default
  [ $workload = scalarprod ] || input='--param tiles=8 '
  # shellcheck disable=SC2086 # two words
  set -- campaign $workload $input--machine fermi-gtx480 --structure rf --faults $faults
  echo "\$ redoubt $* -o $folder/$workload.db"
  "$redoubt" "$@" -q -o "$folder/$workload.db"
  echo
  echo "\$ redoubt $* --protect secded:rf -o $folder/$workload-ecc.db"
  "$redoubt" "$@" --protect secded:rf -q -o "$folder/$workload-ecc.db"
  echo
  echo "\$ redoubt compare $folder/$workload.db $folder/$workload-ecc.db"
  "$redoubt" compare "$folder/$workload.db" "$folder/$workload-ecc.db"
  echo
done
"$redoubt" report "$folder/matmul.db" -o "$folder/matmul.html" >/dev/null
harmful=$("$redoubt" export "$folder/matmul.db" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
  $column["outcome"] ~ /^sdc/ { print $column["id"]; exit }')
# What is typed to call the program: its name where the shell finds it.
test "$(command -v redoubt 2>/dev/null || true)" -ef "$redoubt" && call=redoubt || call=$redoubt
next() { printf '  %-54s %s\n' "$1" "$2"; }
echo "The same as a page with charts: $folder/matmul.html (open it in a browser)"
echo
echo "Next, type:"
next "$call replay $folder/matmul.db ${harmful:-0}" "why this fault made a wrong result, step by step"
next "$call report $folder/matmul.db --by bit,opcode" "which bits and instructions matter"
next "$call list workloads" "what else there is to break"
next "$call run --help" "your own PTX file or CUDA program"
next "make install" "to call it 'redoubt' from anywhere (as root, or with PREFIX=~/.local)"
echo "docs/tutorial.md goes on from here."
