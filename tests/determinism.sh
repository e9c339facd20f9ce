#!/bin/sh
# The same inputs give the same bytes: determinism.sh REDOUBT REDOUBT... runs every workload, with and without time, prints every
# lowered program and injects some faults with each of them, and compares all they say (host times apart).
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

outputs() {
  case $1 in
    vecadd | matmul) echo c ;; scalarprod) echo partial ;; gray | bfs) echo level ;; transpose | scan) echo out ;;
    backprop) echo partial weights changes ;; binomial) echo value ;; fwt) echo transform ;; hybridsort) echo sorted ;;
    levenshtein) echo distance ;; needleman) echo score ;; nqueens) echo solutions ;; srad) echo image coefficient ;;
    nn) echo distance least where ;; reduction) echo integer_sum float_sum ;; histogram64) echo bins ;;
    blackscholes) echo call put ;; hotspot) echo temperature ;; aes) echo cipher ;; coulomb) echo potential ;;
    libor) echo price greek exercised ;; mrifhd) echo real imaginary ;; convolution) echo out ;; kmeans) echo members centres ;; mummer) echo length where ;;
    laplace3d | stencil3d) echo u ;;
    sad) echo sad_4x4 sad_8x4 sad_4x8 sad_8x8 sad_16x8 sad_8x16 sad_16x16 ;;
    neuralnet) echo maps1 maps2 hidden digits ;;
    raytrace) echo picture ;;
    storegpu) echo sliding direct ;;
    weather) echo temperature vapour cloud ice rain snow ground ;;
    *) echo "determinism.sh: name the outputs of workload $1 here" >&2; exit 1 ;;
  esac
}

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
    dumps=$(for output in $(outputs "$name"); do printf ' --dump %s' "$output"; done)
    # shellcheck disable=SC2086
    "$redoubt" run "$name" --size small --json $dumps | grep -v '"host_seconds"'
    "$redoubt" run "$name" --dump program
    timed "$name" fermi-gtx480
  done >"$folder/now"
  {
    for machine in gt200-rise tesla-hints turing-rtx2060; do timed hotspot $machine; done
    faults histogram64 rf,shared,l2
  } >>"$folder/now"
  if [ -f "$folder/first" ]; then
    cmp "$folder/first" "$folder/now" || { echo "$redoubt differs from $1"; diff "$folder/first" "$folder/now" | head -n 20; exit 1; }
  else
    mv "$folder/now" "$folder/first"
  fi
done
echo "determinism: $# programs agree on $(wc -c <"$folder/first") bytes"
