#!/bin/sh
# --check memory reaches a CUDA program, and its findings come back: memory-check.sh REDOUBT
set -eu
redoubt=$(realpath "$1")
command -v nvcc >/dev/null 2>&1 || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/app.cu" <<'CU'
#include <cstdio>
#include <cstdlib>
__global__ void sum(const int *a, int *out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = a[i] + 1;
}
int main(int argc, char **argv) {
  int *a, *b, *managed, skip = atoi(argv[1]), past = atoi(argv[2]);
  cudaMalloc(&a, 256);
  cudaMalloc(&b, 256);
  cudaMallocManaged(&managed, 256);
  for (int i = 0; i < 64; i++) managed[i] = i;
  cudaMemcpy(a, managed, 256 - 4 * skip, cudaMemcpyDefault);
  sum<<<1, 128>>>(managed, b, 64);   // the host wrote it without a call
  sum<<<1, 128>>>(a, b, 64);
  sum<<<1, 128>>>(b, managed, 64 + past);
  cudaMemset(a, 0, 256);
  sum<<<1, 128>>>(a, b, 64);
  printf("last error %d\n", (int)cudaDeviceSynchronize());
  return 0;
}
CU
nvcc -std=c++17 -arch=sm_75 -cudart shared -o "$folder/app" "$folder/app.cu"
# A library built with the address sanitizer needs its runtime in the program from the start.
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
if [ -n "$asan" ]; then
  export LD_PRELOAD="$asan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
fi
cd "$folder"

expect() { # CODE PATTERN ARGUMENTS
  wanted=$1 pattern=$2 code=0
  shift 2
  "$redoubt" run "$@" >out 2>&1 || code=$?
  [ "$code" = "$wanted" ] || { echo "exit code $code, expected $wanted: $*"; cat out; exit 1; }
  grep -q "$pattern" out || { echo "no line: $pattern"; cat out; exit 1; }
}

expect 0 '^memory check: nothing found$' --check memory=strict -- ./app 0 0
expect 0 '^uninitialised read  global  .* 3          3  ' --check memory -- ./app 3 0
expect 1 '^memory check: 1 place$' --check memory=strict -- ./app 3 0
expect 0 '^memory check: 2 places$' --check memory -- ./app 0 2
expect 0 '^read outside .* 2          2  .* past the end of a 256-byte allocation' --check memory -- ./app 0 2
expect 0 '^write outside ' --check memory -- ./app 0 2
# Without the option nothing is said.
"$redoubt" run -- ./app 3 2 >out
if grep -q 'memory check' out; then
  echo "checked without being asked"
  exit 1
fi
