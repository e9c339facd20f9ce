#!/bin/sh
# Texture fetches on the functional machine: texture.sh REDOUBT. Median of three runs: nanoseconds for a fetch of a warp, what little is
# around it included.
set -eu
redoubt=$(realpath "$1")
source=$(realpath "$(dirname "$0")/texture.cu")
command -v nvcc >/dev/null 2>&1 || { echo "no nvcc: skipped"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
nvcc -arch=sm_75 -o "$folder/texture" "$source"
printf '%-28s %14s %10s %8s\n' fetches 'ns a warp' 'goal' verdict
failed=0
measure() { # name goal arguments
  name=$1
  goal=$2
  shift 2
  for _ in 1 2 3; do
    "$redoubt" run --csv="$folder/out.csv" -- "$folder/texture" "$@" >/dev/null 2>&1
    awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "host_seconds") column = i } NR == 2 { printf "%.0f\n", $column * 1e9 / (512 * 512 * 16 / 32) }' "$folder/out.csv"
  done | sort -n | awk -v name="$name" -v goal="$goal" '
    NR == 2 { printf "%-28s %14d %10d %8s\n", name, $1, goal, ($1 <= goal ? "met" : "MISSED"); exit ($1 > goal) }' || failed=1
}
measure 'point, float' 500 0 0 0
measure 'linear, float' 1200 1 0 0
measure 'point, bytes, normalized' 600 0 1 1
measure 'linear, bytes, normalized' 1400 1 1 1
exit $failed
