#!/bin/sh
# No strike of a result that is computed twice gets through: rise.sh REDOUBT FOLDER [STRIKES]. One run each, as many at a time as there are
# processors; a sample is in `make test`. See src/device/test_rise.c.
set -eu
proof="$(dirname "$1")/device_test_rise"
folder=$2
strikes=${3:-24000} # more than 20,000, and those of schemes that find nothing to do in a program
[ -x "$proof" ] || {
  echo "rise.sh: $proof is not there: build with -DREDOUBT_TESTS=ON"
  exit 1
}
shards=$(nproc)
i=0
pids=
while [ $i -lt "$shards" ]; do
  "$proof" "$strikes" $i "$shards" >"$folder/rise-$i.txt" 2>&1 &
  pids="$pids $!"
  i=$((i + 1))
done
for pid in $pids; do wait "$pid" || {
  cat "$folder"/rise-*.txt
  exit 1
}; done
cat "$folder"/rise-*.txt | awk '/^struck / { for (i = 1; i < NF; i += 2) n[$i] += $(i + 1) }
  END {
    printf "RESULT rise: %d strikes of one or three bits of results of SPs that are computed twice, under dmr and four forms of rise on 8 programs: ", n["struck"]
    printf "%d corrected, %d detected, %d without effect, %d wrong results\n", n["corrected"], n["detected"], n["unseen"], n["wrong"]
    exit n["struck"] == 0 || n["wrong"] != 0
  }'
