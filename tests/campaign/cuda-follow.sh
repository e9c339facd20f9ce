#!/bin/sh
# Faults of CUDA programs that are followed without time, or tried on a copy of the machine: cuda-follow.sh REDOUBT FAULTS [LONG]
# FAULTS for each program, with and without protections, settled with all shortcuts and by a simulation of every fault: every column but how it was settled must be the
# same, and of the faults that do something most are followed or tried. LONG: more programs under more protections. Exit code 77 (skipped) where there is no nvcc.
set -eu
. "$(dirname "$0")/columns.sh"
redoubt=$(realpath "$1") faults=$2 long=${3:-}
registers=2K
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
  export LD_PRELOAD="$asan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
fi

settle() { # name options... -- program
  name=$1
  shift
  rm -f "$name.db"
  "$redoubt" campaign --machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2 --set sm.registers=$registers --faults "$faults" -j2 -o "$name.db" "$@" >"$name.out" 2>&1 || {
    cat "$name.out"
    exit 1
  }
  "$redoubt" report -q "$name.db" --csv "$name.csv"
  plain "$name.csv" >"$name.plain"
  outcomes "$name.csv" >"$name.txt"
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
    END { printf "%s: %d faults alike, %d followed, %d tried, %d simulated\n", what, all, n["followed"], n["block"], n["run"] + n["hash"]
          short = n["followed"] + n["block"]
          exit (short == 0 || short < n["run"] + n["hash"]) }' fast.plain || [ "$what" != "${what%, any way}" ] || [ "$faults" -lt 200 ] || { # few faults say nothing of that
    echo "$what: too few are followed or tried"
    exit 1
  }
}

cd "$folder"
compare "app, rf and shared" --structure rf,shared --window cycles:100-4000 -- ./app
# Copied back, checked by the program, printed with the time, never copied but read, given up half-way.
for how in code clock managed early; do compare "stencil $how, rf, pred and units" --structure rf,pred,unit.sp -- ./stencil $how; done
compare "stencil with a file, rf" --structure rf --output result.txt -- sh -c './stencil word > result.txt'
# Under protections: errors that are found stop a kernel, and the host hears of it; those that are put right may cost time, which the host may ask for.
compare "stencil word, secded" --structure rf --model 'adjacent(2)' --protect secded:rf -- ./stencil word
compare "stencil timed, dmr, any way" --structure rf,unit.sp --protect dmr -- ./stencil timed
compare "stencil print, dmr, any way" --structure rf --window kernel:_Z4showPKf --protect dmr -- ./stencil print
[ -n "$long" ] || exit 0
for protect in secded:rf,shared,l2 dmr parity; do
  compare "app, $protect, any way" --structure rf,shared,l2,unit --protect $protect --window cycles:100-4000 -- ./app
  for how in code managed early; do
    compare "stencil $how, $protect, any way" --structure rf,pred,unit,latch,l2 --protect $protect -- ./stencil $how
  done
done
registers=8K faults=$((faults / 4))
for program in matmul relax; do
  for protect in none dmr secded:rf; do
    compare "$program, $protect, any way" --structure rf,pred,shared --protect $protect -- ./$program
  done
done
