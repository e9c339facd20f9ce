#!/bin/sh
# What is hardest for the smallest machine runs there too: machines.sh REDOUBT SOURCE.cu...
# gt200-rise has blocks of 512 threads, 16 KB of shared memory and 16,384 registers an SM; programs compiled today expect more.
set -eu
redoubt=$(realpath "$1")
shift
command -v nvcc >/dev/null 2>&1 || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
for source; do
  nvcc -std=c++17 -arch=sm_75 -o "$folder/app" "$source"
  ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" LD_PRELOAD=$asan "$redoubt" run --machine gt200-rise -- "$folder/app" >"$folder/out" 2>&1 ||
    { cat "$folder/out"; echo "$source: exit code $?"; exit 1; }
  grep -q '^PASS$' "$folder/out" || { cat "$folder/out"; exit 1; }
done
# What cannot run there says why: libraries ask for the occupancy, and make a grid of no blocks of it.
cat >"$folder/large.cu" <<'END'
#include <cstdio>
__global__ void large(int *out) {
  __shared__ int words[5000];
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = words[(threadIdx.x * 39) % 5000];
}
int main() {
  int blocks = -1;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, large, 64, 0);
  std::printf("%d blocks\n", blocks);
}
END
nvcc -std=c++17 -arch=sm_75 -o "$folder/large" "$folder/large.cu"
ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" LD_PRELOAD=$asan "$redoubt" run --machine gt200-rise -- "$folder/large" >"$folder/out" 2>&1 || true
grep -q '^0 blocks$' "$folder/out" && grep -q 'cannot run on gt200-rise: it needs 20000 bytes of shared memory' "$folder/out" ||
  { cat "$folder/out"; echo "no cause was given"; exit 1; }
# A limit that the user gives is kept.
code=0
ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" LD_PRELOAD=$asan "$redoubt" run --machine gt200-rise --set block.threads=256 -- "$folder/app" >"$folder/out" 2>&1 || code=$?
[ "$code" != 0 ] || { cat "$folder/out"; echo "block.threads=256 was not kept"; exit 1; }
