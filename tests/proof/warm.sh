#!/bin/sh
# Faults in caches that outlive launches end as by a simulation from the beginning: warm.sh REDOUBT FOLDER. The long form of tests/campaign/warm.sh: four workloads
# of several launches and two CUDA programs.
set -eu
faults=1700 # for each of twelve lots
"$(dirname "$0")/../campaign/warm.sh" "$1" $faults long >"$2/warm.txt" || {
  cat "$2/warm.txt"
  exit 1
}
awk '/faults alike/ { for (i = 1; i <= NF; i++) { if ($(i + 1) == "faults") n += $i; if ($(i + 1) == "of") w += $i } lots++ }
  END { printf "RESULT warm: %d faults in %d lots in caches that outlive launches, and beside them, with shortcuts and by a simulation of each from the beginning: all alike; %d not masked\n", n, lots, w }' "$2/warm.txt"
