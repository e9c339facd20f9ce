#!/bin/sh
# Full redundancy on every workload over gt200-rise, beside the figures of the RISE paper (2012): redundancy.sh REDOUBT [SIZE]
# As they come: nothing is tuned per workload.
set -eu
redoubt=$1
size=${2:-default}

figures() { # workload options...: cycles, fully idle, partly idle and all SM cycles of the whole run
  "$redoubt" run "$@" --machine gt200-rise --size "$size" --json | awk -F '[:,]' '
    /"total"/ { total = 1 }
    total && /"cycles"/ { cycles = $2 }
    total && /"idle_full"/ { full = $2 }
    total && /"idle_memory"/ { memory = $2 }
    total && /"idle_empty"/ { empty = $2 }
    total && /"idle_partial"/ { partial = $2 }
    total && /"sm_cycles"/ { all = $2 }
    END { printf "%d %.4f %.4f %.4f %.4f\n", cycles, full / all, partial / all, full ? memory / full : 0, full ? empty / full : 0 }'
}

for workload in $("$redoubt" list workloads | awk '/^[a-z]/ { print $1 }'); do
  echo "$workload $(figures "$workload") $(figures "$workload" --protect dmr)"
done | awk '
  BEGIN { printf "%-14s %10s %10s %9s %10s %12s %10s %10s\n", "workload", "cycles", "with DMR", "slowdown", "fully idle", "partly idle", "of memory", "of balance" }
  {
    slow = $7 / $2
    printf "%-14s %10d %10d %9.3f %9.1f%% %11.1f%% %9.1f%% %9.1f%%\n", $1, $2, $7, slow, 100 * $3, 100 * $4, 100 * $5, 100 * $6
    sum += slow; full += $3; partial += $4; memory += $5 * $3; empty += $6 * $3; idle += $3; n++
  }
  END {
    printf "%-14s %10s %10s %9.3f %9.1f%% %11.1f%% %9.1f%% %9.1f%%\n", "mean", "", "", sum / n, 100 * full / n, 100 * partial / n, idle ? 100 * memory / idle : 0, idle ? 100 * empty / idle : 0
    printf "%-14s %10s %10s %9.3f %9.1f%% %11.1f%% %9.1f%% %9.1f%%\n", "RISE paper", "", "", 1.58, 35, 11, 65, 35
  }'
