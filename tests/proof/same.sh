#!/bin/sh
# What a faster machine must not change: same.sh REDOUBT [OTHER]. Runs 48 timed runs (workloads, machines, parameters, protections: every statistic and a
# hash of the outputs) and 26 campaigns (every fault's outcome and time) and prints one line for each. With OTHER, an older build of the program, both
# must say the same.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

timed() { # options: a line for the run
  "$redoubt" run "$@" --json --dump outputs 2>&1 | grep -v -E '"host_seconds"|"commit"' >"$folder/run.txt" || true
  printf '%s run %s %s\n' "$(cksum <"$folder/run.txt" | cut -d ' ' -f 1)" "$(wc -l <"$folder/run.txt")" "$*"
}

struck() { # options: a line for the campaign
  rm -f "$folder"/faults.*
  "$redoubt" campaign "$@" --size tiny -j 2 -o "$folder/faults.db" >/dev/null 2>"$folder/faults.csv" &&
    "$redoubt" report "$folder/faults.db" --csv "$folder/faults.csv" >/dev/null 2>&1
  printf '%s campaign %s %s\n' "$(cksum <"$folder/faults.csv" | cut -d ' ' -f 1)" "$(wc -l <"$folder/faults.csv")" "$*"
}

all() {
  for name in aes backprop bfs binomial coulomb fwt gray histogram64 hotspot hybridsort kmeans laplace3d levenshtein libor matmul mrifhd needleman nn \
    raytrace reduction sad scalarprod scan srad stencil3d transpose vecadd; do
    timed $name --size tiny --machine fermi-gtx480
  done
  timed matmul --size small --machine fermi-gtx480
  timed bfs --size small --machine fermi-gtx480
  for machine in gt200-rise tesla-hints turing-rtx2060; do
    for name in hotspot histogram64 kmeans; do timed $name --size tiny --machine $machine; done
  done
  for policy in gto two-level fair frfs; do timed scan --size tiny --machine fermi-gtx480 --set scheduler.policy=$policy; done
  timed transpose --size tiny --machine fermi-gtx480 --set network.kind=mesh
  timed bfs --size tiny --machine fermi-gtx480 --set l2.bytes=0
  timed bfs --size tiny --machine fermi-gtx480 --set dram.policy=fcfs
  for scheme in dmr rise heal null:plan,places hints:faulty=1 secded:rf; do timed reduction --size tiny --machine fermi-gtx480 --protect $scheme; done
  for structures in rf shared l2 stack warp scheduler blocks collector latch ldst mshr l1d network icache ibuffer scoreboard unit.sp pred constant plan; do
    struck scalarprod --machine fermi-gtx480 --set sm.count=3 --structure $structures --faults 120
  done
  struck bfs --machine fermi-gtx480 --structure all --faults 300
  struck histogram64 --machine fermi-gtx480 --structure rf,shared,l2 --faults 120 --model stuck1
  struck matmul --machine fermi-gtx480 --structure rf,unit.sp --faults 200 --protect dmr
  struck hotspot --machine gt200-rise --structure rf,stack,collector --faults 100 --protect rise
  struck kmeans --machine turing-rtx2060 --structure texture,rf,l2 --faults 100
  struck scan --machine fermi-gtx480 --structure rf,stack,scheduler --faults 60 --no-prune
}

redoubt=$1
all | tee "$folder/first"
if [ $# -gt 1 ]; then
  redoubt=$2
  all >"$folder/second"
  if ! diff "$folder/first" "$folder/second" >"$folder/diff"; then
    cat "$folder/diff"
    echo "RESULT same: differs"
    exit 1
  fi
  echo "RESULT same: $(grep -c ' run ' "$folder/first") timed runs and $(grep -c ' campaign ' "$folder/first") campaigns are the same in both programs"
fi
