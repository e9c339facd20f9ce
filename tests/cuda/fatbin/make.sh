#!/bin/sh
# Builds the fat binaries of this folder from its sources: make.sh, where nvcc is. They are committed, so that
# registration, decompression and launch are tested without nvcc.
set -eu
cd "$(dirname "$0")"
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
ptx75=-gencode=arch=compute_75,code=compute_75
build() {
    output=$1
    shift
    "$nvcc" -fatbin -std=c++17 -o "$output.fatbin" "$@"
}
build zstd "$ptx75" kernels.cu
build lz4 "$ptx75" -compress-mode=speed kernels.cu
build plain "$ptx75" -no-compress kernels.cu
build several "$ptx75" -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=compute_90 kernels.cu
build newer -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=compute_90 kernels.cu
build machine-code -gencode arch=compute_75,code=sm_75 kernels.cu
build unit_a "$ptx75" -rdc=true unit_a.cu
build unit_b "$ptx75" -rdc=true unit_b.cu
