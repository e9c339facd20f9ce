#!/bin/sh
# Faults in the cells of warp and block schedulers: schedulers.sh REDOUBT FAULTS [OPTIONS...]
# FAULTS for each of three workloads on two machines, with OPTIONS of the campaign. Each lot is settled with all shortcuts and by a full simulation of every
# fault: every column but how it was settled must be the same. Of all of them at least 70% are settled without a simulation.
set -eu
. "$(dirname "$0")/columns.sh"
redoubt=$1 faults=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

settle() { # name workload machine options...
  name=$1 workload=$2 machine=$3
  shift 3
  "$redoubt" campaign "$workload" --size tiny --machine "$machine" --structure scheduler,blocks --faults "$faults" -j2 -o "$folder/$name.db" "$@" \
    >"$folder/$name.out" 2>&1 || {
    cat "$folder/$name.out"
    exit 1
  }
  "$redoubt" report "$folder/$name.db" --csv "$folder/$name.csv" >/dev/null
  rm "$folder/$name.db"
  plain "$folder/$name.csv" >"$folder/$name.plain"
  outcomes "$folder/$name.csv" >"$folder/$name.txt"
}

for machine in fermi-gtx480 turing-rtx2060; do
  for workload in matmul scan hotspot; do
    settle fast $workload $machine "$@"
    settle slow $workload $machine "$@" --no-prune --no-snapshot
    if ! cmp -s "$folder/fast.txt" "$folder/slow.txt"; then
      echo "$workload on $machine: outcomes differ"
      diff "$folder/fast.txt" "$folder/slow.txt" | head
      exit 1
    fi
    cat "$folder/fast.plain" >>"$folder/all"
    echo "$workload on $machine: $faults faults alike"
  done
done
awk -F , '{ for (i = 1; i <= NF && column == 0; i++) if ($i == "settled") column = i }
  $column == "settled" { next }
  { all++; free += $column ~ /^(overwritten|unread|class)$/ }
  END { printf "%d of %d faults without a simulation: %.1f%%\n", free, all, 100 * free / all; exit (free < 0.7 * all) }' "$folder/all"
