#!/bin/sh
# CUDA programs that start processes in unusual ways: a campaign ends, and says what is the matter: processes.sh REDOUBT PROGRAM FATBIN
set -eu
redoubt=$(realpath "$1")
program=$(realpath "$2")
fatbin=$(realpath "$3")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
machine="--machine fermi-gtx480 --set sm.count=1 --set dram.controllers=1"

fail() {
  echo "processes: FAILED: $*"
  cat out
  exit 1
}
campaign() { # FAULTS HOW: its output in out, its exit code in code. A hang fails soon.
  rm -f journal.db*
  code=0
  # shellcheck disable=SC2086  # the options are words
  timeout -k 2 100 "$redoubt" campaign $machine --structure unit.sp --model stuck1 --window cycles:0-1 --faults "$1" -j 2 -o journal.db -- \
    "$program" "$fatbin" "$2" >out 2>&1 </dev/null || code=$?
}
avf() { "$redoubt" report journal.db | sed -n 's/^unit\.sp  *//p' | head -1; }

# Whatever a program does without its device changes nothing.
campaign 12 plain
[ "$code" = 0 ] || fail "plain: exit code $code"
plain=$(avf)
[ -n "$plain" ] || fail "no result"
for how in spawn-true vfork-true clone-true thread adopt close close-all; do
  campaign 12 $how
  [ "$code" = 0 ] || fail "$how: exit code $code"
  [ "$(avf)" = "$plain" ] || fail "$how: not as plain: $plain"
done

# Two programs with a device: one line, at once.
campaign 12 exec
[ "$code" = 2 ] || fail "exec: exit code $code"
[ "$(grep -c '^redoubt: .*processes starts a program in its own place (exec) after it has used the device' out)" = 1 ] || fail "exec: no line"
for how in spawn vfork clone; do
  campaign 12 $how
  [ "$code" = 2 ] || fail "$how: exit code $code"
  [ "$(grep -c '^redoubt: .*processes uses the device in two processes' out)" = 1 ] || fail "$how: no line"
done

# If only a fault makes it do so, that is what the fault does; so it is if it makes the program wait for ever.
notes() { "$redoubt" export journal.db | tee -a out; }
campaign 12 restart
[ "$code" = 0 ] || fail "restart: exit code $code"
notes | grep -q "has started itself again" || fail "restart: another outcome"
campaign 2 sleep
[ "$code" = 0 ] || fail "sleep: exit code $code"
notes | grep -q "waits without end" || fail "sleep: another outcome"
