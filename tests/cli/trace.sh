#!/bin/sh
# Time lines: curves, marks of faults, and files that are whole however the run ended. trace.sh REDOUBT
set -eu
redoubt=$(realpath "$1")
cd "$(dirname "$0")/data"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() {
  echo "$1"
  exit 1
}
run() { "$redoubt" run loop.ptx --machine fermi-gtx480 --arg out:u32[1] --arg u32:50 "$@" >"$out/log" 2>&1; }
count() { grep -c -- "$1" "$out/trace.json" || true; }
whole() { case $(tail -c 8 "$out/trace.json" | tr -d ' \n') in *'}') ;; *) fail "$1: the time line is cut off" ;; esac; }

# Curves, which change nothing: the same statistics as without.
run --trace "$out/trace.json" --csv="$out/traced.csv"
whole plain
for name in IPC 'active warps' 'L1 miss registers' 'interconnect packets' 'DRAM queue' 'L2 hit rate in %'; do
  [ "$(count "\"ph\":\"C\".*\"$name\"")" -gt 0 ] || fail "no curve: $name"
done
[ "$(count '"s":"g"')" = 0 ] || fail "a mark without a fault"
run --csv="$out/plain.csv"
cut -d, -f1-6,8- "$out/traced.csv" >"$out/a"
cut -d, -f1-6,8- "$out/plain.csv" >"$out/b" # without the host's seconds
cmp "$out/a" "$out/b" || fail "the trace changed the run"
curves=$(wc -c <"$out/trace.json")
run --trace "$out/trace.json" --trace-every never
[ "$(count '"ph":"C"')" = 0 ] || fail "curves that nobody wanted"
[ $((curves - $(wc -c <"$out/trace.json"))) -lt $((curves / 5)) ] || fail "curves take too much of the file"
run --trace "$out/trace.json" --trace-every 20
[ "$(count '"ph":"C".*IPC')" -gt 20 ] || fail "few samples"

# The time line of a run with a fault is that run's, with the fault in it.
run --trace "$out/trace.json" --fault 'flip:rf[sm=0,warp=0,reg=1,lane=0,bit=30]@900'
grep -q 'due-address' "$out/log" || fail "another outcome"
whole trap
[ "$(count '"s":"g".*"ts":900.*"fault: flip:rf\[.*@900"')" = 1 ] || fail "the fault is not marked once"
[ "$(count '"ph":"i".*"trap"')" = 1 ] || fail "not the run with the fault"
# Ended at the limit, and explained: several runs, one time line.
run --trace "$out/trace.json" --explain --timeout 3 --fault 'flip:rf[sm=0,warp=0,reg=2,lane=0,bit=30]@700' --fault 'flip:rf[sm=0,warp=0,reg=3,lane=0,bit=1]@800'
grep -q '^outcome *timeout' "$out/log" || fail "another outcome"
whole limit
[ "$(count '"s":"g"')" = 2 ] || fail "two faults, two marks"
[ "$(count '"ph":"M".*"process_name".*"kernels"')" = 2 ] || fail "more than one run" # named once, and at the end
# What cannot be written is told.
! run --trace "$out/no/trace.json" --fault 'flip:rf[sm=0,warp=0,reg=2,lane=0,bit=30]@700' || fail "no folder, no complaint"
grep -q 'cannot be written' "$out/log" || fail "no reason"
! run --trace /dev/full --fault 'flip:rf[sm=0,warp=0,reg=2,lane=0,bit=30]@700' || fail "a full disk, no complaint"
grep -q 'cannot be written to its end' "$out/log" || fail "no reason"
