#!/bin/sh
# run.sh REDOUBT SOURCE.cu: build one CUDA program with nvcc and run it on the simulated GPU.
# Further options for nvcc stand in the source's `// nvcc:` line; @ in it is the source's folder.
# Exit code: the program's; 77 (skipped) where there is no nvcc.
set -eu
redoubt=$(realpath "$1")
source=$2
folder=$(cd "$(dirname "$source")" && pwd)
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
if ! [ -x "$nvcc" ]; then
    echo "no nvcc: skipped"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
options=$(sed -n 's|^// nvcc: ||p' "$source" | sed "s|@|$folder|g")
case $options in
*-arch=* | *-gencode*) ;;
*) options="-arch=sm_75 $options" ;;
esac
# shellcheck disable=SC2086  # the options are words
"$nvcc" -std=c++17 -cudart shared -o "$scratch/app" "$source" $options
# A library built with the address sanitizer needs its runtime in the program from the start.
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
if [ -n "$asan" ]; then
    export LD_PRELOAD="$asan" ASAN_OPTIONS="detect_leaks=0"
fi
cd "$scratch"
"$redoubt" run -- ./app >app.out || { status=$?; cat app.out; exit $status; }
cat app.out
grep -q '^PASS$' app.out
