#!/bin/sh
# Faults in the schedulers' cells are settled as by a full simulation: schedulers.sh REDOUBT FOLDER. The long form of tests/campaign/schedulers.sh: whole
# machines, then small ones that are full of work, then under dmr.
set -eu
run() { # faults options...
  "$(dirname "$0")/../campaign/schedulers.sh" "$redoubt" "$@" >"$folder/lot.txt" || {
    cat "$folder/lot.txt"
    exit 1
  }
  cat "$folder/lot.txt" >>"$folder/schedulers.txt"
}
redoubt=$1 folder=$2
run 1000
run 1000 --set sm.count=4 --set dram.controllers=2
run 300 --set sm.count=4 --set dram.controllers=2 --protect dmr
awk '/faults alike$/ { n += $(NF - 2); lots++ } /without a simulation/ { free += $1; all += $3 }
  END { printf "RESULT schedulers: %d faults in scheduler.* and blocks.* in %d lots, with shortcuts and by full simulation: all alike; %.1f%% without a simulation\n", n, lots, 100 * free / all }' "$folder/schedulers.txt"
