#!/bin/sh
# Faults strike the kernels of the libraries: faults.sh REDOUBT PROGRAM FAULTS. A campaign on a product of cuBLAS's finds wrong results in its
# kernel, explains one with a line of our PTX, is the same without shortcuts, and a protection corrects what it covers.
set -eu
redoubt=$(realpath "$1") faults=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$2" "$folder/gemm"
cd "$folder"
# A library built with the address sanitizer needs its runtime in the program from the start.
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
[ -z "$asan" ] || export LD_PRELOAD="$asan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
fail() { echo "$*"; exit 1; }
campaign() { # NAME OPTIONS...
  name=$1
  shift
  "$redoubt" campaign -q --machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2 -o "$name.db" "$@" -- ./gemm >"$name.out" 2>&1 ||
    { cat "$name.out"; exit 1; }
  "$redoubt" report -q "$name.db" --csv "$name.csv"
}
campaign many --structure rf,shared --window kernel:cublas_sgemm --faults "$faults"
id=$(grep ',cublas_sgemm,.*,sdc,' many.csv | head -n 1 | cut -d, -f1)
[ -n "$id" ] || fail "no fault in cublas_sgemm makes a wrong result"
"$redoubt" replay many.db "$id" >explained
grep -q '\[line [0-9]*: .*%f' explained || { cat explained; fail "no line of the kernel's PTX is shown"; }

outcomes() { awk -F , '{ print $1, $2, $11, $13 }' "$1" && grep -o ',\(masked\|sdc[a-z-]*\|due[a-z-]*\|detected\|corrected\),' "$1"; }
campaign fast --structure rf,unit.sp --window kernel:cublas_sgemm --faults $((faults / 8))
campaign slow --structure rf,unit.sp --window kernel:cublas_sgemm --faults $((faults / 8)) --no-prune --no-snapshot
outcomes fast.csv >fast.txt
outcomes slow.csv >slow.txt
diff fast.txt slow.txt || fail "shortcuts change an outcome"

campaign safe --structure rf,shared --window kernel:cublas_sgemm --faults $((faults / 2)) --protect secded:rf,shared
grep -q ',corrected,' safe.csv || fail "nothing was corrected"
! grep -q ',sdc,' safe.csv || fail "a wrong result in spite of the protection"
