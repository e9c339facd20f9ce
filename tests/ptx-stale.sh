#!/bin/sh
# The committed PTX of the workloads and libraries is what clang 14 makes of their CUDA sources. Skipped (77) without it.
set -eu
cd "$(dirname "$0")/.."
clang --version 2>/dev/null | grep -q 'version 14\.' || exit 77
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
tools/ptx.sh "$fresh"
for source in workloads/*/kernel.cu src/libraries/*/kernels.cu; do
  name=$(basename "$(dirname "$source")")
  cmp "${source%.cu}.ptx" "$fresh/$name.ptx" || { echo "${source%.cu}.ptx is stale: run 'make ptx'"; exit 1; }
done
