#!/bin/sh
# The fragment programs give what the host computes: programs.sh REDOUBT CHECKER (programs.c), plain and under reissue.
set -eu
redoubt=$(realpath "$1")
checker=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for program in convolution jacobi matmul mandelbrot; do
  for protection in none reissue; do
    "$redoubt" run "$program.fp" --machine sheaffer-2007 --domain 64x64 --seed 1 --texture 0=random:64x64 --texture 1=random:64x64 --texture 2=random:64x64 \
      --protect "$protection" --dump color=frame.bin -q >out.txt 2>&1 || { cat out.txt; exit 1; }
    "$checker" "$program" frame.bin || { echo "programs: FAILED: $program, $protection"; exit 1; }
  done
done
