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
# Compiling a probe would take as long as the program itself.
toolkit=$(dirname "$(dirname "$(realpath "$nvcc")")")
for header in cublas_v2.h curand.h; do
  [ -e "$toolkit/include/$header" ] || [ -e "/usr/include/$header" ] || exit 77
done
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
"$nvcc" -std=c++17 -arch=sm_75 -c "$source" -o program.o
for form in shared static; do
  "$nvcc" -cudart $form -o app program.o -lcublas -lcublasLt -lcurand >link.out 2>&1 || {
    cat link.out
    ! grep -q 'cannot find -l' link.out || exit 77
    exit 1
  }
  (
    [ -z "$asan" ] || export LD_PRELOAD="$asan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
    exec "$redoubt" run -- ./app
  ) >$form.out 2>&1 || { cat $form.out; exit 1; }
  grep -q '^PASS$' $form.out || { cat $form.out; exit 1; }
  for kernel in cublas_sgemm cublas_hsgemm curand_philox scale; do
    grep -q "$kernel" $form.out || { cat $form.out; echo "$kernel was not launched"; exit 1; }
  done
done
