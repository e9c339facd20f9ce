#!/bin/sh
# Programs on broken lanes are right: shield.sh REDOUBT FOLDER [MAPS [WORKLOAD...]]. Every workload on 200 random maps, as many at a time as
# there are processors; see shield_proof.c.
set -eu
proof="$(dirname "$1")/shield_proof"
folder=$2
maps=${3:-200}
shift 2
[ $# -eq 0 ] || shift
shards=$(nproc)
mkdir -p "$folder"
i=0
pids=
while [ $i -lt "$shards" ]; do
  "$proof" "$maps" $i/"$shards" "$@" >"$folder/shield-$i.txt" &
  pids="$pids $!"
  i=$((i + 1))
done
for pid in $pids; do wait "$pid"; done
cat "$folder"/shield-*.txt | awk '{ for (i = 1; i < NF; i += 2) n[$i] += $(i + 1) }
  END {
    printf "RESULT shield: %d runs on random maps of broken lanes: all outputs right bit for bit, no result on a broken lane; %d further sub-warps, %d with moved threads, %d on a chosen SP\n", n["runs"], n["parts"], n["moved"], n["bound"]
    printf "RESULT shield-without: the same %d runs unprotected: %d touched a broken lane; %d wrong, %d ended early or hung, %d right\n", n["unprotected"], n["touched"], n["wrong"], n["ended"], n["right"]
    exit n["runs"] == 0 || n["touched"] == 0 || n["wrong"] == 0
  }'
