#!/bin/sh
# Random faults of every model in every structure of the tensor unit, while it makes products of every kind, on both GPUs that have one: each ends as an
# outcome of the program, none as a failure of Redoubt; and the shortcuts of a campaign change no outcome. tensor.sh REDOUBT PRODUCTS.ptx FAULTS
# About one fault in a hundred makes something wrong: with this seed, some of each model do.
set -eu
redoubt=$(realpath "$1")
kernels=$(realpath "$2")
faults=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
campaign() { # NAME MACHINE MODEL FAULTS OPTIONS...
  name=$1 machine=$2 model=$3 count=$4
  shift 4
  "$redoubt" campaign "$kernels" --machine "$machine" --set sm.count=1 --kernel products --block 128 --arg 'out:u32[6912]' \
    --structure tensor.product,tensor.sum,unit.tensor --model "$model" --fault-seed 2 --faults "$count" "$@" -o "$name.db" >"$name.out" 2>&1 ||
    { cat "$name.out"; echo "$machine, $model: exit code $?"; exit 1; }
  "$redoubt" export "$name.db" -o "$name.csv" 2>/dev/null
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "outcome") at = i; next } { gsub(/"[^"]*"/, ""); print $1, $at }' "$name.csv" >"$name.txt"
  [ "$(wc -l <"$name.txt")" = "$count" ] || { cat "$name.out"; echo "$machine, $model: faults are missing"; exit 1; }
  ! grep -q internal "$name.txt" || { echo "$machine, $model: Redoubt has failed"; exit 1; }
}
first=0
for machine in turing-rtx2060 ampere-a100; do
  first=$((1 - first))
  number=0
  for model in flip 'adjacent(3)' 'random(5)' byte lanes stuck0 stuck1 'duty(3,2)'; do
    number=$((number + 1)) # with few faults each GPU takes every other model, the first one from the first, the second one from the second
    [ "$faults" -ge 36 ] || [ $((number % 2)) -eq $first ] || continue
    case $model in stuck* | duty*) count=$((faults / 3)) ;; *) count=$faults ;; esac
    rm -f all.db
    campaign all "$machine" "$model" "$count"
    cat all.txt >>"$machine.txt"
    [ "$faults" -lt 36 ] || grep -q sdc all.txt || { echo "$machine, $model: nothing has become wrong"; exit 1; }
  done
  grep -q sdc "$machine.txt" || { echo "$machine: nothing has become wrong"; exit 1; }
  rm -f quick.db plain.db
  campaign quick "$machine" flip $((faults / 2))
  campaign plain "$machine" flip $((faults / 2)) --no-prune
  diff quick.txt plain.txt || { echo "$machine: outcomes differ"; exit 1; }
done
