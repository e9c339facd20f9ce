#!/bin/sh
# What a redesign must not change: the outcomes of 24 campaigns, fault by fault, and the cycles of 40 runs.
#   record.sh REDOUBT FOLDER
# Record before and after, then compare: diff -r BEFORE AFTER. How a fault was settled, and the words of a note, may differ: they are left out.
set -eu
redoubt=$(realpath "$1") folder=$2
mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

outcomes() { # of a CSV: number, fault, outcome, time
  awk -F '"' '{ for (i = 2; i <= NF; i += 2) gsub(",", ";", $i); print }' OFS='"' "$1" | awk -F , '
    NR == 1 { for (i = 1; i <= NF; i++) skip[i] = $i ~ /^(settled|class_of|block|pc|opcode|line|note)$/ }
    { for (i = 1; i <= NF; i++) if (!skip[i]) printf "%s,", $i; print "" }'
}

campaign() { # name workload machine options...
  name=$1 workload=$2 machine=$3
  shift 3
  "$redoubt" campaign "$workload" --size tiny --machine "$machine" --set sm.count=2 --set sm.registers=16384 --set sm.stack=32 --set l2.bytes=16384 -q -o "$scratch/$name.db" -j "$(nproc)" "$@" >"$scratch/$name.log"
  "$redoubt" report -q "$scratch/$name.db" --csv "$scratch/$name.csv"
  outcomes "$scratch/$name.csv" >"$folder/$name.outcomes"
}

for workload in vecadd matmul bfs scalarprod; do
  campaign "$workload-fermi-flip" "$workload" fermi-gtx480 --structure rf,stack,latch,l2,unit.sp --faults 2000
  campaign "$workload-turing-adjacent" "$workload" turing-rtx2060 --structure rf,shared,l1d,collector --model 'adjacent(2)' --faults 1500
  campaign "$workload-tesla-stuck" "$workload" tesla-hints --structure rf,unit.sp,scheduler --model stuck1 --faults 300
  campaign "$workload-rise-dmr" "$workload" gt200-rise --structure unit.sp,rf --protect dmr --faults 1000
  campaign "$workload-rise-secded" "$workload" gt200-rise --structure rf,l2 --protect secded:rf,l2 --model 'adjacent(2)' --faults 1000
  campaign "$workload-fermi-both" "$workload" fermi-gtx480 --structure rf,unit.sp --protect secded:rf --protect dmr --faults 600
done

# A line for each run: workload, machine, protection, cycles.
for machine in fermi-gtx480 turing-rtx2060 tesla-hints gt200-rise; do
  for protection in none dmr; do
    "$redoubt" run vecadd,matmul,bfs,scalarprod,histogram64 --size tiny --machine $machine --protect $protection --csv
  done
done >"$scratch/runs.csv"
cut -d , -f 1-5,7- "$scratch/runs.csv" >"$folder/runs.csv" # without the host's seconds
