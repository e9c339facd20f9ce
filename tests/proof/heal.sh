#!/bin/sh
# A machine that heals itself: heal.sh REDOUBT FOLDER [LANES [TRANSIENTS [WORKLOAD...]]]. Every workload with 20 lanes that break for good, 20 that break now and then,
# and 20 that break for good where only idle time looks for them, and 10,000 transients at each of four thresholds; see heal_proof.c.
set -eu
proof="$(dirname "$1")/heal_proof"
folder=$2
lanes=${3:-20}
transients=${4:-10000}
shift 2
[ $# -eq 0 ] || shift
[ $# -eq 0 ] || shift
shards=$(nproc)
mkdir -p "$folder"
rm -f "$folder"/heal-*.txt
for mode in permanent intermittent idle; do
  i=0
  pids=
  while [ $i -lt "$shards" ]; do
    "$proof" $mode "$lanes" $i/"$shards" "$@" >"$folder/heal-$mode-$i.txt" &
    pids="$pids $!"
    i=$((i + 1))
  done
  for pid in $pids; do wait "$pid"; done
  cat "$folder"/heal-$mode-*.txt | awk -v mode=$mode '{ for (i = 1; i < NF; i += 2) if ($i ~ /^most/) { if ($(i + 1) > n[$i]) n[$i] = $(i + 1) } else n[$i] += $(i + 1) }
    END {
      if (mode == "idle") {
        printf "RESULT heal-idle: %d runs with a lane that breaks, found by RISE in idle time: of %d in which the lane gave a wrong result %d were detected, after %.0f cycles (at most %d), %d mapped, after %.0f cycles (at most %d), with %d false entries; %d first runs were wrong or ended early; %d wrong of those that began with the lane in the map and kept it there; time of the run in which it breaks %.3f, of the next %.3f times that before\n", \
          n["runs"], n["met"], n["found"], n["detection"] / n["found"], n["most-detection"], n["mapped"], n["entry"] / n["mapped"], n["most-entry"], n["false"], n["let"], n["wrong"], \
          n["during"] / n["healthy"], n["after"] / n["healthy"]
        exit n["runs"] == 0 || n["wrong"] > 0 || n["mapped"] == 0 || n["false"] > 0
      }
      printf "RESULT heal-%s: %d runs with a lane that breaks: %d wrong outputs; of %d in which the lane gave a wrong result %d were detected, after %.1f cycles (at most %d), %d mapped, after %.0f cycles (at most %d), with %d false entries; found permanent %d, intermittent %d, still on trial %d, back in use %d; time of the run in which it breaks %.3f, of the next %.3f times that before\n", \
        mode, n["runs"], n["wrong"], n["met"], n["found"], n["detection"] / n["found"], n["most-detection"], n["mapped"], n["entry"] / n["mapped"], n["most-entry"], n["false"], \
        n["permanent"], n["intermittent"], n["trial"], n["back"], n["during"] / n["healthy"], n["after"] / n["healthy"]
      exit n["runs"] == 0 || n["wrong"] > 0 || n["found"] < n["met"] || n["mapped"] == 0 || n["false"] > 0 || n[mode] == 0
    }'
done
bad=0 # the results of all thresholds are told before that
for threshold in 1 2 3 4; do
  "$proof" transient "$transients" $threshold >"$folder/heal-transient-$threshold.txt" &
  pid=$!
  if [ $((threshold % 2)) -eq 0 ] || [ "$shards" -lt 2 ]; then wait $pid || bad=1; else other=$pid; fi
  [ $((threshold % 2)) -ne 0 ] || [ "$shards" -lt 2 ] || wait "$other" || bad=1
done
cat "$folder"/heal-transient-*.txt | awk '{ printf "RESULT heal-transient-%d: threshold %d: after %d transients %d wrong outputs, %d false entries, of which %d came back into use; %d runs of %d ended as detected, since two transients met one thread of one instruction\n", $2, $2, $4, $8, $10, $12, $14, $6
    if ($2 == 1) low = $10
    if ($2 == 4) high = $10 }
  END { exit low == 0 || high > 0 }'
[ $bad -eq 0 ]
