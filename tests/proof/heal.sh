#!/bin/sh
# A machine that heals itself: heal.sh REDOUBT FOLDER [LANES [TRANSIENTS [WORKLOAD...]]]. Every workload with 20 lanes that break for good, 20 that break now and then,
# 20 that break for good where others are lost already, and 20 that do where only idle time looks for them; as many pairs of transients that meet one thread; and 10,000
# transients at each of four thresholds. See heal_proof.c.
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
for mode in permanent intermittent second idle pairs; do
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
      if (mode == "pairs") {
        printf "RESULT heal-pairs: %d pairs of transients, each in two of the three copies of one thread of one instruction: %d gave the same bits, %d of them in a predicate alone: of these %d were written, and %d outputs wrong; %d gave others: of these %d ended as detected; %d ended otherwise\n", \
          n["pairs"], n["agreed"], n["predicates"], n["written"], n["wrong"], n["differed"], n["stopped"], n["strange"]
        exit n["pairs"] == 0 || n["strange"] > 0 || n["written"] < n["agreed"] || n["stopped"] < n["differed"]
      }
      if (mode == "idle") {
        printf "RESULT heal-idle: %d runs with a lane that breaks, found by RISE in idle time: of %d in which the lane gave a wrong result %d were detected, after %.0f cycles (at most %d), %d mapped, after %.0f cycles (at most %d), with %d false entries; %d first runs were wrong or ended early; %d wrong of those that began with the lane in the map and kept it there; time of the run in which it breaks %.3f, of the next %.3f times that before\n", \
          n["runs"], n["met"], n["found"], n["detection"] / n["found"], n["most-detection"], n["mapped"], n["entry"] / n["mapped"], n["most-entry"], n["false"], n["let"], n["wrong"], \
          n["during"] / n["healthy"], n["after"] / n["healthy"]
        exit n["runs"] == 0 || n["wrong"] > 0 || n["mapped"] == 0 || n["false"] > 0
      }
      printf "RESULT heal-%s: %d runs with a lane that breaks%s: %d wrong outputs; of %d in which the lane gave a wrong result %d were detected, after %.1f cycles (at most %d), %d mapped, after %.0f cycles (at most %d), with %d false entries; found permanent %d, intermittent %d, still on trial %d, back in use %d; time of the run in which it breaks %.3f, of the next %.3f times that before\n", \
        mode, n["runs"], mode == "second" ? ", up to three of each cluster being lost already" : "", n["wrong"], n["met"], n["found"], n["detection"] / n["found"], n["most-detection"], n["mapped"], n["entry"] / n["mapped"], n["most-entry"], n["false"], \
        n["permanent"], n["intermittent"], n["trial"], n["back"], n["during"] / n["healthy"], n["after"] / n["healthy"]
      exit n["runs"] == 0 || n["wrong"] > 0 || n["found"] < n["met"] || n["mapped"] == 0 || n["false"] > 0 || n[mode == "second" ? "permanent" : mode] == 0
    }'
done
bad=0 # the results of all thresholds are told before that
for threshold in 1 2 3 4; do
  "$proof" transient "$transients" $threshold >"$folder/heal-transient-$threshold.txt" &
  pid=$!
  if [ $((threshold % 2)) -eq 0 ] || [ "$shards" -lt 2 ]; then wait $pid || bad=1; else other=$pid; fi
  [ $((threshold % 2)) -ne 0 ] || [ "$shards" -lt 2 ] || wait "$other" || bad=1
done
cat "$folder"/heal-transient-*.txt | awk '{ for (i = 1; i < NF; i += 2) n[$i] = $(i + 1)
    printf "RESULT heal-transient-%d: threshold %d: after %d transients in %d runs %d false entries, of which %d came back into use; %d times two met one thread of one instruction (expected %.2f): %d of these gave two copies the same bits (expected in predicates %.2f) and %d outputs wrong; %d runs ended as detected; %d outputs wrong or runs ended for another reason\n", \
      n["threshold"], n["threshold"], n["transients"], n["runs"], n["false"], n["back"], n["met"], n["expected"], n["agreed"], n["predicates"], n["wrong"], n["stopped"], n["strange"]
    strange += n["strange"]
    if (n["threshold"] == 1) low = n["false"]
    if (n["threshold"] == 4) high = n["false"] }
  END { exit low == 0 || high > 0 || strange > 0 }'
[ $bad -eq 0 ]
