#!/bin/sh
# A campaign ends cleanly on Ctrl-C, SIGTERM and SIGHUP, loses nothing when killed, and goes on where it was: interrupt.sh REDOUBT FAULTS
set -eu
. "$(dirname "$0")/wait.sh"
redoubt=$1 faults=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "$@"
  exit 1
}
have_ended() { # those in the file simulations
  for simulation in $(cat "$folder/simulations"); do
    case $(ps -o stat= -p "$simulation" || true) in
    '' | Z*) ;;
    *) return 1 ;;
    esac
  done
}

campaign() { # journal
  echo "$redoubt campaign scalarprod --size tiny --machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2" \
    "--structure rf --faults $faults -j2 --no-prune --no-snapshot -o $folder/$1.db"
}

$(campaign whole) >"$folder/whole.out" 2>&1 || fail "$(cat "$folder/whole.out")"
grep -q "of which about $faults (100.0%) still need a simulation" "$folder/whole.out" || fail "no estimate: $(cat "$folder/whole.out")"
"$redoubt" report "$folder/whole.db" --csv "$folder/whole.csv" >/dev/null

# Sends the signal as soon as a fault has been settled; a shell's background job would not hear INT without env.
stop() { # SIGNAL: sets code, the exit code
  : >"$folder/part.out"
  env --default-signal=INT,HUP $(campaign part) --progress >"$folder/part.out" 2>&1 &
  within_a_minute grep -q "^[0-9]* of $faults faults" "$folder/part.out" || fail "no progress: $(cat "$folder/part.out")"
  kill "-$1" $!
  code=0
  wait $! 2>/dev/null || code=$?
}
for signal in INT.130 TERM.143 HUP.129; do
  stop "${signal%.*}"
  [ $code -eq "${signal#*.}" ] || fail "$signal: exit code $code: $(cat "$folder/part.out")"
  grep -q 'run the same command again' "$folder/part.out" || fail "$signal: does not say how to go on"
done
stop KILL
[ $code -eq 137 ] || fail "killed: exit code $code: $(cat "$folder/part.out")"

$(campaign part) >"$folder/part.out" 2>&1 || fail "$(cat "$folder/part.out")"
"$redoubt" report "$folder/part.db" --csv "$folder/part.csv" >/dev/null
cmp "$folder/whole.csv" "$folder/part.csv"

code=0
$(campaign part) --seed 2 >"$folder/other.out" 2>&1 || code=$?
[ $code -eq 2 ] || fail "another campaign's journal: exit code $code"
grep -q "belongs to another campaign: its .*seed" "$folder/other.out" || fail "$(cat "$folder/other.out")"

# A program of its own process, in its run without faults, ends at once: nothing was there to lose.
env --default-signal=INT "$redoubt" campaign --machine fermi-gtx480 --faults 8 -o "$folder/sleep.db" -- sleep 300 >"$folder/sleep.out" 2>&1 &
within_a_minute pgrep -P $! >"$folder/simulations" || fail "the program was not started: $(cat "$folder/sleep.out")"
kill -INT $!
code=0
wait $! || code=$?
[ $code -eq 130 ] || fail "interrupted without faults: exit code $code: $(cat "$folder/sleep.out")"
grep -q 'stopped before the first fault: nothing is lost' "$folder/sleep.out" || fail "$(cat "$folder/sleep.out")"
[ ! -e "$folder/sleep.db" ] || fail "a journal was made before the first fault"
have_ended || fail "the program outlives its campaign"

# A campaign that is killed takes its simulations with it, and Ctrl-C is heard while they run, be they ever so long: stopped ones stand for those.
start_long() {
  env --default-signal=INT "$redoubt" campaign scalarprod --machine fermi-gtx480 --faults 8 -j2 --no-prune --no-snapshot \
    -o "$folder/long.db" >/dev/null 2>&1 &
  parent=$!
  within_a_minute pgrep -P $parent >"$folder/simulations" || fail "no simulations were found"
}
start_long
kill -KILL $parent
wait $parent 2>/dev/null || true
within_a_minute have_ended || fail "simulations outlive their campaign: $(cat "$folder/simulations")"

start_long
stop_simulations() { # one that has just ended makes room for the next: then once more
  pgrep -P $parent >"$folder/simulations"
  # shellcheck disable=SC2046
  kill -STOP $(cat "$folder/simulations") 2>/dev/null
}
within_a_minute stop_simulations || fail "simulations cannot be stopped"
interrupt_again() {
  kill -INT $parent 2>/dev/null
  have_ended
}
echo $parent >>"$folder/simulations"
# shellcheck disable=SC2046
within_a_minute interrupt_again || { kill -KILL $(cat "$folder/simulations"); fail "a second Ctrl-C is not heard"; }
