#!/bin/sh
# From start to end of a CUDA program whose kernel is empty: startup.sh REDOUBT. Median of eleven; needs nvcc to build the program.
set -eu
redoubt=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
command -v nvcc >/dev/null 2>&1 || { echo "startup: skipped, no nvcc to build the program"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/empty.cu" <<'END'
__global__ void nothing() {}
int main() {
  nothing<<<1, 32>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
END
nvcc -arch=sm_75 -cudart shared -o "$folder/empty" "$folder/empty.cu"
for _ in 1 2 3 4 5 6 7 8 9 10 11; do
  start=$(date +%s%N)
  "$redoubt" run -- "$folder/empty" >/dev/null
  end=$(date +%s%N)
  echo $(((end - start) / 1000))
done | sort -n | awk '
  NR == 6 { median = $1 / 1000 }
  END { printf "%-40s %8.1f ms %8d ms %8s\n", "empty CUDA program, start to end", median, 50, (median <= 50 ? "met" : "MISSED"); exit (median > 50) }'
