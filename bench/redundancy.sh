#!/bin/sh
# What full redundancy costs on the baseline GPU of RISE, and how idle its SPs are: redundancy.sh REDOUBT [SIZE]
# Beside the paper's (Tan and Fu, PACT 2012, sections 1 and 5.1: 1.58 times the time, 35% and 11% idle), whose workloads are others.
# Simulated time: the same on every host.
set -eu
redoubt=$1
size=${2:-default}
machine=gt200-rise

# numbers FIELD...: of the total in the JSON text on standard input, on one line
numbers() {
  awk -v names="$*" -F '[:,]' '
    BEGIN { count = split(names, name, " ") }
    /"total"/ { total = 1 }
    total { for (i = 1; i <= count; i++) if (index($1, "\"" name[i] "\"")) value[i] = $2 + 0 }
    END { for (i = 1; i <= count; i++) printf "%s ", value[i]; print "" }'
}

printf '%-14s %12s %12s %10s %12s %12s\n' workload cycles 'with dmr' slow-down 'fully idle' 'partly idle'
for name in $("$redoubt" list workloads | awk '/^[a-z]/ { print $1 }'); do
  plain=$("$redoubt" run "$name" --size "$size" --machine $machine --json | numbers cycles idle_full_share idle_partial_share)
  twice=$("$redoubt" run "$name" --size "$size" --machine $machine --protect dmr --json | numbers cycles)
  echo "$name $plain $twice"
done | awk '
  {
    printf "%-14s %12d %12d %10.3f %11.1f%% %11.1f%%\n", $1, $2, $5, $5 / $2, 100 * $3, 100 * $4
    slow += $5 / $2; full += $3; partial += $4; count++
  }
  END {
    printf "%-14s %12s %12s %10.3f %11.1f%% %11.1f%%\n", "mean", "", "", slow / count, 100 * full / count, 100 * partial / count
    printf "%-14s %12s %12s %10.3f %11.1f%% %11.1f%%\n", "the paper", "", "", 1.58, 35, 11
  }'
