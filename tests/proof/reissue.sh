#!/bin/sh
# Blocks that run twice: reissue.sh REDOUBT FOLDER [FAULTS [WORKLOAD...]]. Without faults every workload gives the same bytes on every SIMT machine, and nothing is
# reissued. Then so many transients in results of SPs, latches and operand collectors of each of some kernels, among them two that update in place (fwt, needleman):
# none makes a wrong result. The machine has two SMs, so that most of its latches are in use. With workloads: the transients alone, in those.
set -eu
redoubt=$1
folder=$2
faults=${3:-20000}
shift 2
[ $# -eq 0 ] || shift
mkdir -p "$folder"

# same WORKLOAD MACHINE: with and without; what was counted goes to counts.txt
same() {
  "$redoubt" run "$1" --size tiny --machine "$2" --dump outputs >"$folder/plain.txt" 2>/dev/null
  "$redoubt" run "$1" --size tiny --machine "$2" --protect reissue --dump outputs --csv="$folder/counts.csv" >"$folder/twice.txt" 2>/dev/null
  sed -i '/^kernel  /,$d' "$folder/plain.txt" "$folder/twice.txt"
  cmp "$folder/plain.txt" "$folder/twice.txt" || {
    echo "reissue.sh: $1 on $2: other results than without"
    exit 1
  }
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    $1 != "total" { print "blocks", $column["reissue_blocks"], "reissued", $column["reissue_reissues"], "alone", $column["reissue_overflows"], "refused", $column["reissue_refused"], "launches", 1 }' \
    "$folder/counts.csv" >>"$folder/counts.txt"
}

if [ $# -eq 0 ]; then
  rm -f "$folder/counts.txt"
  for machine in fermi-gtx480 turing-rtx2060 gt200-rise tesla-hints; do
    for workload in $("$redoubt" list workloads | sed -n 's/^\([a-z0-9]\{1,\}\) .*/\1/p'); do
      "$redoubt" run "$workload" --size tiny --machine $machine --quiet >/dev/null 2>&1 || continue # of another kind of machine
      same "$workload" $machine
    done
  done
  awk '{ for (i = 1; i < NF; i += 2) n[$i] += $(i + 1) }
    END {
      printf "RESULT reissue-plain: without faults, all workloads on four machines: %d launches, %d of them not covered, %d blocks compared, %d blocks alone for want of room, %d reissued; all outputs equal byte for byte\n", \
        n["launches"], n["refused"], n["blocks"], n["alone"], n["reissued"]
      exit n["blocks"] == 0 || n["reissued"] > 0
    }' "$folder/counts.txt"
  set -- fwt needleman matmul scan reduction
fi

rm -f "$folder"/reissue-*.db "$folder/outcomes.txt"
for workload in "$@"; do
  "$redoubt" campaign "$workload" --size tiny --machine fermi-gtx480 --set sm.count=2 --protect reissue --structure unit.sp,latch,collector \
    --faults "$faults" -o "$folder/reissue-$workload.db" >/dev/null
  "$redoubt" export "$folder/reissue-$workload.db" -o "$folder/faults.csv" >/dev/null
  awk -F, -v workload="$workload" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "outcome") at = i; next } { print workload, $at }' "$folder/faults.csv" >>"$folder/outcomes.txt"
done
awk '{ n[$2]++; all++; programs[$1] = 1 } $2 ~ /^sdc/ { wrong++ } $2 ~ /^due/ { ended++ }
  END {
    for (i in programs) count++
    printf "RESULT reissue: %d transients in unit.sp, latches and collectors of %d programs whose blocks run twice: %d wrong results, %d ended early, %d detected, %d corrected, the others without effect\n", \
      all, count, wrong, ended, n["detected"], n["corrected"]
    exit all == 0 || wrong > 0 || n["corrected"] == 0
  }' "$folder/outcomes.txt"
