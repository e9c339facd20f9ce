#!/bin/sh
# The baseline GPU of RISE, beside the paper: how idle its SPs are and why, and what full redundancy costs.
#   redundancy.sh REDOUBT [SIZE [SET]]
# Tan and Fu, PACT 2012: 35% of the time all SPs of an SM are idle, of which 65% because requests are pending and 35% for want of a
# block (section 3.1); 11% of the time some are (section 1); full redundancy takes 1.58 times as long (section 5.1).
# Simulated time: the same on every host. JOBS workloads run at one time.
set -eu
redoubt=$1
size=${2:-default}
set=${3:-@rise}
machine=gt200-rise
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

measure() { "$redoubt" run "$set" --size "$size" --machine $machine --jobs "${JOBS:-$(nproc)}" --csv "$@"; }
failed=0 # those that fail are told and left out
measure >"$scratch/plain.csv" || failed=1
measure --protect dmr >"$scratch/twice.csv" || failed=1

# Idle time is what neither issues nor works. "pending" is its part in which most warps wait for memory, "no block" that without a
# block, "other" the rest: barriers, instruction fetch, results of arithmetic. The paper knows the first two.
awk -F , '
  function of(name) { return $(column[name]) }
  FNR == 1 { files++; for (i = 1; i <= NF; i++) column[$i] = i; next }
  $1 ~ /mean$/ || of("check") != "passed" { next }
  files == 1 { order[++count] = $1; cycles[$1] = of("cycles"); idle[$1] = of("idle_full_share"); pending[$1] = of("idle_memory_share")
    empty[$1] = of("idle_empty_share"); partial[$1] = of("partial_slot_share"); occupancy[$1] = of("occupancy"); next }
  { twice[$1] = of("cycles") }
  function percent(x) { return sprintf("%.1f%%", 100 * x) }
  END {
    heading = "%-14s %12s %10s %10s %12s %10s %10s %10s %12s\n"
    printf heading, "workload", "cycles", "slow-down", "occupancy", "fully idle", "pending", "no block", "other", "partly idle"
    for (k = 1; k <= count; k++) {
      name = order[k]
      if (!(name in twice)) continue
      slow = twice[name] / cycles[name]; other = idle[name] - pending[name] - empty[name]
      printf heading, name, cycles[name], sprintf("%.3f", slow), percent(occupancy[name]), percent(idle[name]), percent(pending[name]),
        percent(empty[name]), percent(other), percent(partial[name])
      n++; s += slow; l += log(slow); a += idle[name]; p += pending[name]; e += empty[name]; o += other; t += partial[name]; c += occupancy[name]
    }
    if (n == 0) { print "no workload ran to its end"; exit 1 }
    printf heading, "mean", "", sprintf("%.3f", s / n), percent(c / n), percent(a / n), percent(p / n), percent(e / n), percent(o / n), percent(t / n)
    printf heading, "the paper", "", "1.58", "", "35%", "23%", "12%", "", "11%"
    printf "\n%d workloads. Of the idle time %.0f%% pending, %.0f%% no block, %.0f%% other (the paper: 65%%, 35%%); geometric mean of the slow-downs %.3f\n",
      n, 100 * p / a, 100 * e / a, 100 * o / a, exp(l / n)
  }' "$scratch/plain.csv" "$scratch/twice.csv"
exit $failed
