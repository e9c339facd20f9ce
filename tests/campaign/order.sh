#!/bin/sh
# Wrong outputs that only another order of additions has made: order.sh REDOUBT. Under dmr no wrong value comes through, but what is repeated comes later. Kernels: sums.ptx.
set -eu
. "$(dirname "$0")/columns.sh"
redoubt=$(realpath "$1") kernels=$(realpath "$(dirname "$0")/sums.ptx")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cp "$kernels" .
fail() {
  echo "order: FAILED: $*"
  exit 1
}
sums='--grid 8 --block 64' values='--arg in:f32[512]=random'
campaign() { # name kernel options...
  name=$1 kernel=$2
  shift 2
  "$redoubt" campaign sums.ptx --kernel "$kernel" --machine fermi-gtx480 --set sm.count=3 -o "$name.db" "$@" >"$name.out" 2>&1 || fail "$(cat "$name.out")"
  "$redoubt" report -q "$name.db" --csv "$name.csv"
  "$redoubt" report "$name.db" >"$name.txt"
}
count() { # journal outcome
  grep -c ",$2," "$1.csv" || true
}
expect() { # journal outcome -eq|-gt number
  [ "$(count "$1" "$2")" "$3" "$4" ] || fail "$1: $(count "$1" "$2") of $2, not $3 $4: $(cat "$1.out")"
}

# By hand: 1 with the 1 first or second, 1 + 2^-23 with the 1 last.
campaign three three --grid 3 --block 32 --arg 'out:f32[1]' --protect dmr --structure 'unit.sp[sm=1]' --faults 400
expect three sdc -eq 0
expect three sdc-order -gt 0
for id in $(sed -n 's/^\([0-9]*\),.*,sdc-order,.*/\1/p' three.csv | head -2); do
  "$redoubt" replay three.db "$id" >replay.out 2>&1 || fail "replay of $id: $(cat replay.out)"
  grep -q 'is 1.00000012 instead of 1$' replay.out || fail "another sum: $(cat replay.out)"
  grep -q '^outcome *sdc-order:' replay.out || fail "replay: $(cat replay.out)"
done

# Every headline has SDCs without and with it.
tr '\n' ' ' <three.txt | grep -q 'only add in another order (with the wrong results: ' || fail "no word of it in the sentence: $(cat three.txt)"
grep -q '^SDC-AVF with order of additions in unit.sp' three.txt || fail "no line of it: $(cat three.txt)"
"$redoubt" report -q three.db --json three.json
command -v python3 >/dev/null || exit 77
python3 - <<'END' || fail "JSON"
import json
chip = json.load(open("three.json"))["chip"]
assert chip["sdc_avf"]["value"] == 0 and chip["sdc_avf_with_order"]["value"] > 0.005, chip
END
"$redoubt" compare three.db three.db >compare.out
grep -q '^SDC-AVF with order' compare.out || fail "compare: $(cat compare.out)"

# shellcheck disable=SC2086
for kernel in floats unread integers kept looked; do
  campaign $kernel $kernel $sums --arg "out:$([ $kernel = integers ] && echo u32 || echo f32)[4]" $values --protect dmr --structure unit.sp --faults 300
done
for kernel in floats unread; do
  expect $kernel sdc -eq 0
  expect $kernel sdc-order -gt 0
done
expect integers sdc -eq 0
expect integers sdc-order -eq 0
# Where it cannot be carried out it is SDC.
for kernel in kept looked; do
  expect $kernel sdc -gt 0
  expect $kernel sdc-order -eq 0
done

# Wrong values stay SDCs; all ways to settle a fault say the same.
for protect in none dmr; do
  # shellcheck disable=SC2086
  campaign fast-$protect floats $sums --arg 'out:f32[4]' $values --protect $protect --structure rf,unit.sp --set sm.registers=2048 --faults 300
  # shellcheck disable=SC2086
  campaign slow-$protect floats $sums --arg 'out:f32[4]' $values --protect $protect --structure rf,unit.sp --set sm.registers=2048 --faults 300 --no-prune --no-snapshot
  outcomes fast-$protect.csv >one.txt
  outcomes slow-$protect.csv >two.txt
  diff one.txt two.txt || fail "$protect: outcomes differ"
  expect fast-$protect sdc -gt 0
done
echo "order: sums by hand, and all ways alike"
