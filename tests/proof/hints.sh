#!/bin/sh
# A broken SM that sends hints never makes a wrong result: hints.sh REDOUBT FOLDER [FAULTS]. Random permanent faults in any structure of the
# faulty SM, over the programs of @hints, as many at a time as there are processors; every tenth is run again under ASan and UBSan if that build is there.
set -eu
proof="$(dirname "$1")/device_test_hints"
careful="$(dirname "$1")/../build-asan/device_test_hints"
folder=$2
faults=${3:-2000}
shards=$(nproc)
mkdir -p "$folder"
# run PROGRAM FAULTS NAME: in as many shards
run() {
  part=$(($2 / shards))
  pids=
  i=0
  while [ $i -lt "$shards" ]; do
    REDOUBT_FAULTS=$part REDOUBT_FIRST=$((i * part)) "$1" >"$folder/$3-$i.txt" 2>&1 &
    pids="$pids $!"
    i=$((i + 1))
  done
  for pid in $pids; do wait "$pid" || { cat "$folder/$3"-*.txt; exit 1; }; done
  cat "$folder/$3"-*.txt | awk -v name="$3" '/permanent faults: no wrong result/ { n += $1; traps += $8; copies += $13 }
    END { printf "RESULT %s: %d random permanent faults in faulty SMs that send hints: no wrong result; in %d runs a mirrored block trapped, %d resynchronisations\n", name, n, traps, copies; exit n == 0 }'
}
run "$proof" "$faults" hints
[ ! -x "$careful" ] || run "$careful" $((faults / 10)) hints-asan
