#!/bin/sh
# Registers per thread of every kernel of the repository, beside ptxas. Fails when the median of the
# ratios is over 1.15 or any is over 1.5. Skipped (77) where there is no ptxas.
# usage: compare.sh REDOUBT [FILE.ptx...]
set -eu
redoubt=$1
shift
cd "$(dirname "$0")/../.."
ptxas=$(command -v ptxas || command -v "${CUDA_HOME:-}/bin/ptxas") || { echo "no ptxas here"; exit 77; }
[ $# -gt 0 ] || set -- workloads/*/kernel.ptx tests/registers/*.ptx

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "$@"; do
  # "ptxas info : Compiling entry function 'NAME' for ..." is followed by "... Used N registers".
  source=$file arch=sm_75
  if [ -f "$(dirname "$file")/arch" ]; then # clang does not know the GPU that has all of its instructions
    sed 's/^\.version .*/.version 8.4/;s/^\.target .*/.target sm_89/' "$file" >"$work/newer.ptx"
    source=$work/newer.ptx arch=sm_89
  fi
  "$ptxas" -v -arch=$arch "$source" -o "$work/cubin" 2>"$work/log" || { cat "$work/log"; exit 1; }
  awk -v quote="'" '
    /Compiling entry function/ { split($0, part, quote); kernel = part[2] }
    / registers/ && kernel != "" {
      for (i = 2; i <= NF; i++) if ($i ~ /^registers/) print kernel, $(i - 1)
      kernel = ""
    }' "$work/log" | sort >"$work/theirs"
  # "kernel NAME: N registers, ..."
  "$redoubt" run "$file" --dump program >"$work/listing"
  sed -n 's/^kernel \([^:]*\): \([0-9]*\) registers.*/\1 \2/p' "$work/listing" | sort >"$work/ours"
  join "$work/ours" "$work/theirs" | awk -v file="$file" '{ printf "%.3f %d %d %s %s\n", $2 / $3, $2, $3, file, $1 }'
done | sort -n >"$work/table"

awk 'BEGIN { printf "%7s %6s %6s  %s\n", "ratio", "ours", "ptxas", "kernel" } { printf "%7.3f %6d %6d  %s %s\n", $1, $2, $3, $4, $5 }' "$work/table"
awk '
  { ratio[NR] = $1 }
  END {
    if (NR == 0) { print "no kernel was compared"; exit 1 }
    median = NR % 2 ? ratio[(NR + 1) / 2] : (ratio[NR / 2] + ratio[NR / 2 + 1]) / 2
    printf "%d kernels: median %.3f (at most 1.15), greatest %.3f (at most 1.5)\n", NR, median, ratio[NR]
    exit median > 1.15 || ratio[NR] > 1.5
  }' "$work/table"
