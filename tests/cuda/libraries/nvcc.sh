#!/bin/sh
# A program built with a toolkit's own headers and libraries, with the shared and with the static runtime: nvcc.sh REDOUBT
# Exit code 77 (skipped) where there is no nvcc, or no cuBLAS or cuRAND beside it.
set -eu
redoubt=$(realpath "$1")
source=$(realpath "$(dirname "$0")")/program.cu
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '#include <cublas_v2.h>\n#include <curand.h>\nint main() { return 0; }\n' >probe.cu
"$nvcc" -o probe probe.cu -lcublas -lcurand >/dev/null 2>&1 || exit 77
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
"$nvcc" -std=c++17 -arch=sm_75 -c "$source" -o program.o
for form in shared static; do
  "$nvcc" -cudart $form -o app program.o -lcublas -lcublasLt -lcurand
  (
    [ -z "$asan" ] || export LD_PRELOAD="$asan" ASAN_OPTIONS="detect_leaks=0"
    exec "$redoubt" run -- ./app
  ) >$form.out 2>&1 || { cat $form.out; exit 1; }
  grep -q '^PASS$' $form.out || { cat $form.out; exit 1; }
  for kernel in cublas_sgemm cublas_hsgemm curand_philox scale; do
    grep -q "$kernel" $form.out || { cat $form.out; echo "$kernel was not launched"; exit 1; }
  done
done
