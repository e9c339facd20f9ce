#!/bin/sh
# Faults of CUDA programs that are followed without time, or tried on a copy of the machine, end as by a simulation: cuda-follow.sh REDOUBT FOLDER. The long form of
# tests/campaign/cuda-follow.sh.
set -eu
faults=2000
code=0
"$(dirname "$0")/../campaign/cuda-follow.sh" "$1" $faults long >"$2/follow.txt" || code=$?
if [ $code -eq 77 ]; then
  echo "RESULT cuda-follow: not run, there is no nvcc"
  exit 0
fi
[ $code -eq 0 ] || {
  cat "$2/follow.txt"
  exit 1
}
awk '/faults alike/ { for (i = 1; i <= NF; i++) { if ($(i + 1) == "faults") n += $i; if ($(i + 1) == "followed,") f += $i; if ($(i + 1) == "tried,") t += $i; if ($(i + 1) == "simulated") s += $i } lots++ }
  END { printf "RESULT cuda-follow: %d faults of CUDA programs in %d lots, with and without protections, with shortcuts and by a simulation of each: all alike; %d followed, %d tried, %d simulated\n", n, lots, f, t, s }' "$2/follow.txt"
