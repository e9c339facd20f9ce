#!/bin/sh
# Options for machines with time reach a CUDA program: attached.sh REDOUBT SOURCE.cu
set -eu
redoubt=$(realpath "$1")
command -v nvcc >/dev/null 2>&1 || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
nvcc -std=c++17 -arch=sm_75 -cudart shared -o "$folder/app" "$2"
cat >"$folder/count.cu" <<'CODE'
#include <cstdio>
__global__ void count(int *n) { atomicAdd(n, 1); }
int main() {
  int *n, host = 0;
  cudaMalloc(&n, sizeof *n);
  cudaMemset(n, 0, sizeof *n);
  count<<<4, 32>>>(n);
  cudaMemcpy(&host, n, sizeof host, cudaMemcpyDeviceToHost);
  puts(host == 128 ? "PASS" : "FAIL");
}
CODE
nvcc -std=c++17 -arch=sm_75 -cudart shared -o "$folder/count" "$folder/count.cu"
# A library built with the address sanitizer needs its runtime in the program from the start.
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
if [ -n "$asan" ]; then
  export LD_PRELOAD="$asan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
fi
cd "$folder"

expect() { # PATTERN
  grep -q "$1" out || { echo "no line: $1"; cat out; exit 1; }
}

"$redoubt" run --machine fermi-gtx480 --set sm.count=2 --set scheduler.policy=gto --protect dmr --trace trace.json -- ./app >out
expect '^PASS$'
expect ' on fermi-gtx480$'
expect '^  protection .* copies issued'
# The time line is a whole file.
case $(tail -c 8 trace.json | tr -d ' \n') in *']' | *'}') ;; *) echo "trace.json is cut off"; exit 1 ;; esac
# With faults it is the time line of the run that has them.
"$redoubt" run --machine fermi-gtx480 --trace trace.json --explain --fault 'flip:rf[sm=0,warp=0,reg=0,lane=7,bit=4]@1500' -- ./app >out
expect '^outcome'
case $(tail -c 8 trace.json | tr -d ' \n') in *'}') ;; *) echo "trace.json is cut off"; exit 1 ;; esac
[ "$(grep -c '"s":"g".*"fault: flip:rf' trace.json)" = 1 ] || { echo "the fault is not marked"; exit 1; }
grep -q '"ph":"C".*IPC' trace.json || { echo "no curves"; exit 1; }
# A choice among words arrives too: another scheduler, another time.
cycles() { "$redoubt" run --machine fermi-gtx480 --set sm.count=1 --csv --set scheduler.policy="$1" -- ./app | sed -n 's/^"total",\([^,]*,\)\{6\}\([0-9]*\),.*/\2/p'; }
[ "$(cycles gto)" != "$(cycles lrr)" ] || { echo "scheduler.policy made no difference: $(cycles gto) cycles"; exit 1; }
# What cannot be attached is told before the program starts.
code=0
"$redoubt" run --machine fermi-gtx480 --protect dmrr -- ./app >out 2>&1 || code=$?
[ "$code" = 2 ] || { echo "exit code $code, expected 2"; cat out; exit 1; }
if grep -q PASS out; then
  echo "the program ran"
  exit 1
fi

# ACE analysis in the program's own process, alone and held against a campaign.
"$redoubt" avf --machine fermi-gtx480 --set sm.count=2 --structure rf,unit.sp -- ./app >out
expect 'ACE analysis of [0-9]* cycles'
expect '^rf  *2097152  *[0-9]*[.][0-9]*[1-9]'
"$redoubt" run --machine fermi-gtx480 --set sm.count=2 --observe ace:unit.sp --json=ace.json -- ./app >/dev/null 2>&1
cp ace.json out
expect '"ace_sp_ace": [1-9]'
"$redoubt" campaign -q --machine fermi-gtx480 --set sm.count=2 --structure rf,unit.sp --faults 200 -o ace.db -- ./app >/dev/null
"$redoubt" avf --machine fermi-gtx480 --set sm.count=2 --structure rf,unit.sp --against ace.db -- ./app >out
expect 'No SDC or DUE in a bit-cycle that is un-ACE'

# Blocks run twice, launch by launch; a kernel that cannot is named with the reason.
"$redoubt" run --machine fermi-gtx480 --protect reissue --json=twice.json -- ./app >out
expect '^PASS$'
cp twice.json out
expect '"reissue_blocks": [1-9]'
expect '"reissue_reissues": 0'
"$redoubt" run --machine fermi-gtx480 --protect reissue -- ./count >out 2>&1
expect '^PASS$'
expect '^kernel .*: reissue does not cover it: atomic on global memory in line [0-9]*: its order between blocks'
