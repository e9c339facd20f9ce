#!/bin/sh
# ACE analysis is never below injection: ace.sh REDOUBT FOLDER [FAULTS [WORKLOAD...]]. FAULTS are struck in each workload, half of them in structures
# whose values are followed and half in all cells of the chip, on three machines in turn. A fault that does harm (SDC or DUE) in a bit-cycle that the
# analysis calls un-ACE ends it. Small chips, so that few faults strike places without work. The short form has fewer faults and workloads.
set -eu
redoubt=$1 folder=$2/ace faults=${3:-9600}
[ $# -gt 3 ] && shift 3 || set -- matmul scan bfs hotspot sad binomial reduction kmeans needleman transpose aes raytrace
rm -rf "$folder"
mkdir -p "$folder"
: >"$folder/all.csv"
turn=0 programs=$#
for workload in "$@"; do
  case $((turn % 3)) in
  0) machine="fermi-gtx480 --set sm.count=2 --set dram.controllers=2" ;;
  1) machine="gt200-rise --set sm.count=2 --set dram.controllers=2" ;;
  2) machine="turing-rtx2060 --set sm.count=2 --set dram.controllers=2" ;;
  esac
  turn=$((turn + 1))
  for structures in rf,pred,shared,unit all; do
    run="$workload --size tiny --machine $machine"
    mkdir -p "$folder/tables"
    # shellcheck disable=SC2086
    "$redoubt" campaign $run --structure $structures --faults $((faults / 2)) -o "$folder/$workload-$structures.db" -q >"$folder/log" 2>&1 || {
      cat "$folder/log"
      exit 1
    }
    # shellcheck disable=SC2086
    "$redoubt" avf $run --structure $structures --against "$folder/$workload-$structures.db" --csv="$folder/tables" -q || {
      echo "$run --structure $structures: see $folder"
      exit 1
    }
    sed 1d "$folder/tables/against.csv" >>"$folder/all.csv"
  done
done
# structure,cause,ace,outcome,outcome_group,settled,faults,first
awk -F , -v programs="$programs" '
  { all += $7; if ($3) ace += $7; else un += $7 }
  $5 == "sdc" || $5 == "due" { harm += $7; if (!$3) wrong += $7 }
  !$3 { cause[$2] += $7 }
  END {
    printf "RESULT ace: %d faults in %d workloads, %d of them SDC or DUE, %d in bit-cycles that are ACE; of the %d in bit-cycles that are un-ACE %d did harm (", all, programs, harm, ace, un, wrong
    split("empty unread overwritten inactive dead dead-later masked", names, " ")
    for (i = 1; i in names; i++) printf("%s%s %d", (i == 1 ? "" : ", "), names[i], cause[names[i]])
    print ")"
    exit (wrong != 0 || harm == 0)
  }' "$folder/all.csv"
