#!/bin/sh
# A campaign ends cleanly on Ctrl-C, loses nothing when killed, and goes on where it was: interrupt.sh REDOUBT
set -eu
redoubt=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "$@"
  exit 1
}

campaign() { # journal
  echo "$redoubt campaign scalarprod --size tiny --machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2" \
    "--structure rf --faults 600 -j2 --no-prune --no-snapshot -o $folder/$1.db"
}

$(campaign whole) >"$folder/whole.out" 2>&1 || fail "$(cat "$folder/whole.out")"
grep -q 'of which about 600 (100.0%) still need a simulation' "$folder/whole.out" || fail "no estimate: $(cat "$folder/whole.out")"
"$redoubt" report "$folder/whole.db" --csv "$folder/whole.csv" >/dev/null

code=0
timeout --preserve-status -s INT 0.6 $(campaign part) >"$folder/part.out" 2>&1 || code=$?
[ $code -eq 130 ] || fail "interrupted: exit code $code: $(cat "$folder/part.out")"
grep -q 'run the same command again' "$folder/part.out" || fail "does not say how to go on"
timeout -s KILL 0.6 $(campaign part) >/dev/null 2>&1 || true

$(campaign part) >"$folder/part.out" 2>&1 || fail "$(cat "$folder/part.out")"
"$redoubt" report "$folder/part.db" --csv "$folder/part.csv" >/dev/null
cmp "$folder/whole.csv" "$folder/part.csv"

code=0
$(campaign part) --seed 2 >"$folder/other.out" 2>&1 || code=$?
[ $code -eq 2 ] || fail "another campaign's journal: exit code $code"
grep -q "belongs to another campaign: its .*seed" "$folder/other.out" || fail "$(cat "$folder/other.out")"

# A campaign that is killed takes its simulations with it; these are long ones.
"$redoubt" campaign scalarprod --machine fermi-gtx480 --faults 8 -j2 --no-prune --no-snapshot -o "$folder/long.db" >/dev/null 2>&1 &
parent=$!
tries=0
until simulations=$(pgrep -P $parent) || [ $tries -ge 600 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
[ -n "$simulations" ] || fail "no simulations were found"
kill -KILL $parent
wait $parent 2>/dev/null || true
sleep 0.2
for simulation in $simulations; do
  case $(ps -o stat= -p "$simulation" || true) in
  '' | Z*) ;;
  *) fail "simulation $simulation outlives its campaign" ;;
  esac
done
