#!/bin/sh
# A program linked with the static CUDA runtime must not seem to run: static-runtime.sh REDOUBT SOURCE.cu
set -eu
command -v nvcc >/dev/null 2>&1 || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
nvcc -arch=sm_75 -cudart static -o "$folder/app" "$2"
code=0
"$1" run -- "$folder/app" >"$folder/out" 2>&1 || code=$?
[ "$code" = 2 ] || { echo "exit code $code, expected 2"; cat "$folder/out"; exit 1; }
grep -q "rebuild it with 'nvcc -cudart shared'" "$folder/out" || { cat "$folder/out"; exit 1; }
