#!/bin/sh
# run.sh COMPARE: builds every workload's kernel.cu with nvcc and compares its results with those of the committed PTX, which clang
# has made of the same source. Skipped (77) where there is no nvcc.
set -eu
compare=$(realpath "$1")
cd "$(dirname "$0")/../.."
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || { echo "no nvcc: skipped"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
set --
for source in workloads/*/kernel.cu; do
  name=$(basename "$(dirname "$source")")
  "$nvcc" -ptx -arch=sm_75 -o "$scratch/$name.ptx" "$source"
  set -- "$@" "$name=$scratch/$name.ptx"
done
"$compare" "$@"
