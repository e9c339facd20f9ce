#!/bin/sh
# Compiles the CUDA kernels of the workloads and of the libraries to PTX with clang: ptx.sh [FOLDER]
# Writes kernel.ptx beside each kernel.cu, or FOLDER/NAME.ptx when a folder is given; NAME is that of the kernel's own folder.
set -eu
cd "$(dirname "$0")/.."
for source in workloads/*/kernel.cu src/libraries/*/kernels.cu; do
  name=$(basename "$(dirname "$source")")
  out=${1:+$1/$name.ptx}
  arch=sm_70
  if [ -f "${source%/*}/arch" ]; then arch=$(cat "${source%/*}/arch"); fi # of instructions that older GPUs lack
  clang -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch="$arch" -fdeclspec -O2 -S \
    -Wno-unknown-cuda-version -Wall -Wno-unused-function -o "${out:-${source%.cu}.ptx}" "$source"
done
