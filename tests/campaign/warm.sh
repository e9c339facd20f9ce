#!/bin/sh
# Faults in caches that outlive launches: warm.sh REDOUBT FAULTS [LONG]
# FAULTS for each lot: programs of several launches, structures that are kept from launch to launch and some that are not, small caches so that most of their
# lines are in use. Each lot is settled with all shortcuts, and by a simulation of every fault from the beginning: every column but how it was settled must be the same.
# LONG: more lots, and CUDA programs (where there is nvcc).
set -eu
. "$(dirname "$0")/columns.sh"
redoubt=$(realpath "$1") faults=$2 long=${3:-}
sources=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
small='--set sm.count=2 --set dram.controllers=2 --set l2.bytes=4096 --set icache.bytes=1024 --set icache2.bytes=4096 --set constant.bytes=2048'
kept=l2,l2.tag,icache,icache.tag,icache2,constant,constant.tag

settle() { # name options...
  name=$1
  shift
  "$redoubt" campaign --machine fermi-gtx480 $small --faults "$faults" -j2 -o "$name.db" "$@" >"$name.out" 2>&1 || {
    cat "$name.out"
    exit 1
  }
  "$redoubt" report -q "$name.db" --csv "$name.csv"
  plain "$name.csv" >"$name.plain"
  outcomes "$name.csv" >"$name.txt"
}

compare() { # what options...
  what=$1
  shift
  rm -f ./*.db ./*.csv ./*.plain ./*.txt
  settle fast "$@"
  settle slow --no-prune --no-snapshot "$@"
  if ! cmp -s fast.txt slow.txt; then
    echo "$what: outcomes differ"
    diff fast.txt slow.txt | head
    exit 1
  fi
  awk -F , -v what="$what" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "outcome") column = i; next }
    { all++; if ($column != "masked") wrong++ }
    END { printf "%s: %d faults alike, %d of them not masked\n", what, all, wrong }' fast.plain
}

cd "$folder"
compare "fwt, caches" fwt --size tiny --structure $kept
compare "hotspot, caches, host writes through the L2" hotspot --size tiny --structure $kept --set launch.host_writes=through --set dispatch.first=next
[ -n "$long" ] || exit 0
compare "backprop, caches" backprop --size tiny --structure $kept
compare "bfs, caches" bfs --size tiny --structure $kept
compare "fwt, registers" fwt --size tiny --structure rf,shared,pred
compare "bfs, registers" bfs --size tiny --structure rf,shared,pred
compare "hotspot, block scheduler and queues" hotspot --size tiny --structure blocks.sm,mshr,dramq.data,network.reply --set dispatch.first=next
compare "fwt, check bits of caches" fwt --size tiny --structure $kept --protect secded:l2,icache
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || exit 0
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
for program in app stencil; do "$nvcc" -O2 -std=c++17 -arch=sm_75 -cudart shared -o $program "$sources/$program.cu"; done
if [ -n "$asan" ]; then
  export LD_PRELOAD="$asan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
fi
for program in app stencil; do
  compare "CUDA program $program, caches" --structure $kept -- ./$program
  compare "CUDA program $program, registers" --structure rf,shared -- ./$program
done
