#!/bin/sh
# Faults of CUDA programs that are followed without time: cuda-follow.sh REDOUBT FAULTS [LONG]
# FAULTS for each program, settled with all shortcuts and by a simulation of every fault: every column but how it was settled must be the
# same, and of the faults that do something most are followed. LONG: the programs of bench/cuda, too. Exit code 77 (skipped) where there is no nvcc.
set -eu
redoubt=$(realpath "$1") faults=$2 long=${3:-}
sources=$(cd "$(dirname "$0")" && pwd)
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build() { "$nvcc" -O2 -std=c++17 -arch=sm_75 -cudart shared -o "$folder/$2" "$1/$2.cu"; }
build "$sources" app
build "$sources" stencil
[ -z "$long" ] || for program in matmul relax; do build "$sources/../../bench/cuda" $program; done
# A library built with the address sanitizer needs its runtime in the program from the start.
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
if [ -n "$asan" ]; then
  export LD_PRELOAD="$asan" ASAN_OPTIONS="detect_leaks=0"
fi

settle() { # name options... -- program
  name=$1
  shift
  rm -f "$name.db"
  "$redoubt" campaign --machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2 --set sm.registers=2K --faults "$faults" -j2 -o "$name.db" "$@" >"$name.out" 2>&1 || {
    cat "$name.out"
    exit 1
  }
  "$redoubt" report -q "$name.db" --csv "$name.csv"
  # Texts stand in quotes and have commas of their own.
  awk -F '"' '{ for (i = 2; i <= NF; i += 2) gsub(",", ";", $i); print }' OFS='"' "$name.csv" >"$name.plain"
  awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) skip[i] = $i ~ /^(settled|class_of|block|pc|opcode|line)$/ }
    { for (i = 1; i <= NF; i++) if (!skip[i]) printf "%s,", $i; print "" }' "$name.plain" >"$name.txt"
}

compare() { # what options... -- program
  what=$1
  shift
  settle fast "$@"
  settle slow --no-prune "$@"
  if ! cmp -s fast.txt slow.txt; then
    echo "$what: outcomes differ"
    diff fast.txt slow.txt | head
    exit 1
  fi
  awk -F , -v what="$what" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "settled") column = i; next }
    { all++; n[$column]++ }
    END { printf "%s: %d faults alike, %d followed, %d simulated\n", what, all, n["followed"], n["run"] + n["hash"]
          exit (n["followed"] == 0 || n["followed"] < n["run"] + n["hash"]) }' fast.plain || { echo "$what: too few are followed"; exit 1; }
}

cd "$folder"
compare "app, rf and shared" --structure rf,shared --window cycles:100-4000 -- ./app
# Copied back, checked by the program, printed with the time, never copied but read, given up half-way.
for how in code word clock managed early; do compare "stencil $how, rf, pred and units" --structure rf,pred,unit.sp -- ./stencil $how; done
compare "stencil with a file" --structure rf --output result.txt -- sh -c './stencil word > result.txt'
[ -n "$long" ] || exit 0
for program in matmul relax; do
  compare "$program, rf, pred and shared" --structure rf,pred,shared -- ./$program
done
