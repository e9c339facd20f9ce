#!/bin/sh
# The same inputs give the same bytes: determinism.sh REDOUBT REDOUBT... runs every workload and prints every lowered
# program with each of them, and compares all they say (host times apart).
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

outputs() {
  case $1 in
    vecadd | matmul) echo c ;; scalarprod) echo partial ;; gray | bfs) echo level ;; transpose | scan) echo out ;;
    nn) echo distance least where ;; reduction) echo integer_sum float_sum ;; histogram64) echo bins ;;
    blackscholes) echo call put ;; hotspot) echo temperature ;;
    *) echo "determinism.sh: name the outputs of workload $1 here" >&2; exit 1 ;;
  esac
}

for redoubt in "$@"; do
  for path in workloads/*/; do
    name=$(basename "$path")
    dumps=$(for output in $(outputs "$name"); do printf ' --dump %s' "$output"; done)
    # shellcheck disable=SC2086
    "$redoubt" run "$name" --size small --json $dumps | grep -v '"host_seconds"'
    "$redoubt" run "$name" --dump program
  done >"$folder/now"
  if [ -f "$folder/first" ]; then
    cmp "$folder/first" "$folder/now" || { echo "$redoubt differs from $1"; diff "$folder/first" "$folder/now" | head -n 20; exit 1; }
  else
    mv "$folder/now" "$folder/first"
  fi
done
echo "determinism: $# programs agree on $(wc -c <"$folder/first") bytes"
