#!/bin/sh
# Campaigns on a CUDA program: cuda.sh REDOUBT SOURCE.cu. Shortcuts change no outcome; output, files and exit codes are judged.
# Exit code 77 (skipped) where there is no nvcc.
set -eu
redoubt=$(realpath "$1")
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$nvcc" -std=c++17 -arch=sm_75 -cudart shared -o "$folder/app" "$2"
# A library built with the address sanitizer needs its runtime in the program from the start.
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
if [ -n "$asan" ]; then
  export LD_PRELOAD="$asan" ASAN_OPTIONS="detect_leaks=0"
fi
cd "$folder"

campaign() { # name options...
  name=$1
  shift
  "$redoubt" campaign --machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2 -o "$name.db" "$@" >"$name.out" 2>&1 || {
    cat "$name.out"
    exit 1
  }
  "$redoubt" report "$name.db" --csv "$name.csv" >/dev/null
}

# Every column but how the fault was settled.
outcomes() {
  awk -F '"' '{ for (i = 2; i <= NF; i += 2) gsub(",", ";", $i); print }' OFS='"' "$1" | awk -F , '
    NR == 1 { for (i = 1; i <= NF; i++) skip[i] = $i == "settled" || $i == "class_of" || $i == "line" }
    { for (i = 1; i <= NF; i++) if (!skip[i]) printf "%s,", $i; print "" }'
}

for structure in rf l2,latch; do
  campaign "fast-$structure" --structure $structure --faults 120 -j2 -- ./app
  campaign "slow-$structure" --structure $structure --faults 120 -j1 --no-prune --no-snapshot -- ./app
  outcomes "fast-$structure.csv" >fast.txt
  outcomes "slow-$structure.csv" >slow.txt
  diff fast.txt slow.txt || exit 1
done
# Files count, and traps of which the host hears.
campaign files --structure dram --window kernel:_Z6squarePKiPii --faults 60 -j2 --output result.txt -- ./app result.txt
campaign traps --structure rf --model lanes --window cycles:100-1200 --faults 300 -j2 -- ./app
grep -q 'sdc,.*wrong:.* files' files.csv || { echo "no wrong file"; exit 1; }
grep -q 'due-address' traps.csv || { echo "no trap"; exit 1; }
if grep -q internal ./*.csv; then
  echo "internal errors"
  exit 1
fi
# What cannot be judged is refused.
refused() { # pattern command...
  pattern=$1
  shift
  code=0
  "$@" >refused.out 2>&1 || code=$?
  [ $code -eq 2 ] || { echo "exit code $code: $*"; exit 1; }
  grep -q "$pattern" refused.out || { cat refused.out; exit 1; }
}
refused "cannot run" "$redoubt" campaign --machine fermi-gtx480 -o none.db -- ./nothing
refused "makes no CUDA calls" "$redoubt" campaign --machine fermi-gtx480 -o none.db -- true
