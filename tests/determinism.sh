#!/bin/sh
# The same inputs give the same bytes: determinism.sh REDOUBT REDOUBT... runs every workload, with and without time, prints every
# lowered program and injects some faults with each of them, and compares all they say (host times apart).
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

timed() { # workload machine: every statistic of the run
  "$redoubt" run "$1" --size tiny --machine "$2" --json | grep -v '"host_seconds"'
}

faults() { # workload structures: every fault's outcome
  rm -f "$folder"/faults.db*
  "$redoubt" campaign "$1" --size tiny --machine fermi-gtx480 --set sm.count=2 --structure "$2" --faults 60 -o "$folder/faults.db"
  "$redoubt" report "$folder/faults.db" --csv "$folder/faults.csv"
  cat "$folder/faults.csv"
}

for redoubt in "$@"; do
  for path in workloads/*/workload.c; do
    name=$(basename "${path%/workload.c}")
    "$redoubt" run "$name" --size small --json --dump outputs | grep -v '"host_seconds"'
    "$redoubt" run "$name" --dump program
    timed "$name" fermi-gtx480
  done >"$folder/now"
  {
    for machine in gt200-rise tesla-hints turing-rtx2060; do timed hotspot $machine; done
    faults histogram64 rf,shared,l2
    for program in mandelbrot stress0; do "$redoubt" run workloads/fragment/$program.fp --machine sheaffer-2007 --json --dump color | grep -v '"host_seconds"'; done
  } >>"$folder/now"
  if [ -f "$folder/first" ]; then
    cmp "$folder/first" "$folder/now" || { echo "$redoubt differs from $1"; diff "$folder/first" "$folder/now" | head -n 20; exit 1; }
  else
    mv "$folder/now" "$folder/first"
  fi
done
echo "determinism: $# programs agree on $(wc -c <"$folder/first") bytes"
