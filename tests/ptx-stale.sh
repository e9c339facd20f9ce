#!/bin/sh
# The committed PTX of the workloads is what clang 14 makes of their CUDA sources. Skipped (77) without it.
set -eu
cd "$(dirname "$0")/.."
clang --version 2>/dev/null | grep -q 'version 14\.' || exit 77
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
tools/ptx.sh "$fresh"
for folder in workloads/*/; do
  [ -f "$folder/kernel.cu" ] || continue
  name=$(basename "$folder")
  cmp "$folder/kernel.ptx" "$fresh/$name.ptx" || { echo "$folder/kernel.ptx is stale: run 'make ptx'"; exit 1; }
done
