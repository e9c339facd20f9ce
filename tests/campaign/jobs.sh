#!/bin/sh
# A journal is the same whatever -j says, row by row, with how each fault was settled: jobs.sh REDOUBT. Workers try faults on a copy of the machine that
# is used again and again; each must begin as the fault-free run is then. The first campaign is one that a soak found.
set -eu
redoubt=$(realpath "$1")
same=$(realpath "$(dirname "$0")/../cluster/same.py")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
compare() { # the campaign's words
  for jobs in 1 2; do
    rm -f "$jobs.db"
    "$redoubt" campaign "$@" --size tiny --set sm.count=2 --set dram.controllers=2 -q -j $jobs -o $jobs.db >/dev/null
  done
  python3 "$same" 1.db 2.db || { echo "jobs: -j 1 and -j 2 differ: $*"; exit 1; }
}
compare raytrace --machine fermi-gtx480 --protect rise:partial --structure plan.parts,rf,unit.sfu,texture,unit.fp64 --model 'random(2)' --fault-seed 537171421 --faults 60
compare bfs --machine gt200-rise --protect rise:partial --structure rf,unit.sp,warp.pc --faults 200
compare scan --machine tesla-hints --set sm.count=4 --protect hints:faulty=each --structure rf,unit.sp,stack --faults 100
compare histogram64 --machine turing-rtx2060 --protect reissue --structure rf,unit.sp,l2 --faults 100
echo "jobs: 4 campaigns, each the same with 1 and 2 workers"
