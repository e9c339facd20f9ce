#!/bin/sh
# Compiles every workload's kernel.cu to PTX with clang: ptx.sh [FOLDER]
# Writes workloads/NAME/kernel.ptx, or FOLDER/NAME.ptx when a folder is given.
set -eu
cd "$(dirname "$0")/.."
for source in workloads/*/kernel.cu; do
  folder=${source%/kernel.cu}
  out=${1:+$1/${folder##*/}.ptx}
  clang -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -fdeclspec -O2 -S \
    -Wno-unknown-cuda-version -Wall -Wno-unused-function -o "${out:-$folder/kernel.ptx}" "$source"
done
