#!/bin/sh
# However a run of a CUDA program with faults ends, users have their files again, and no process and no temporary file is left:
# ends.sh REDOUBT app.cu. Exit code 77 (skipped) where there is no nvcc.
set -eu
. "$(dirname "$0")/wait.sh"
redoubt=$(realpath "$1")
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || exit 77
folder=$(mktemp -d)
mark=31$$ # in the arguments of every process that programs leave in the background
trap 'pkill -KILL -f "^sleep $mark" || true; rm -rf "$folder"' EXIT
"$nvcc" -std=c++17 -arch=sm_75 -cudart shared -o "$folder/app" "$2"
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
cd "$folder"
if [ -n "$asan" ]; then # for redoubt and its programs alone: pgrep hangs with it
  printf '#!/bin/sh\nexec env LD_PRELOAD=%s ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" %s "$@"\n' "$asan" "$redoubt" >redoubt
  chmod +x redoubt
  redoubt=$folder/redoubt
fi
mkdir temporary
export TMPDIR="$folder/temporary"
machine="--machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2"
faults="--structure dram --window cycles:300-1200 --faults 40"

fail() {
  echo "ends: FAILED: $*"
  [ ! -e out ] || cat out
  exit 1
}
none_left() { ! pgrep -f "^sleep $mark|^$folder/app" >/dev/null; }

# Programs. Each says what it finds in its file, so that two runs differ unless they find the same, and changes it in place.
cat >updates <<END
#!/bin/sh
cat result.txt
echo changed >>result.txt
exec $folder/app table.txt
END
# The same with a process in the background, in a session of its own.
cat >server <<END
#!/bin/sh
setsid sleep $mark.1 >/dev/null &
exec ./updates
END
# Changes its file, says that it is there, and does not end by itself: at its first start, or the third, which is not without faults.
cat >stays <<END
#!/bin/sh
echo changed >>result.txt
echo x >>starts
[ "\$(wc -l <starts)" -ge \$1 ] || exec $folder/app table.txt
(sleep $mark.2 >/dev/null) &
echo here >here
sleep $mark.3
END
chmod +x updates server stays

have_files() { # as the user left them
  echo mine >kept.txt
  rm -f result.txt table.txt twin.txt here starts
  cp kept.txt result.txt
  ln result.txt twin.txt
  ln -s target.txt table.txt
  echo target >target.txt
}
check_files() { # after what
  cmp -s kept.txt result.txt || fail "$1: the file is not what it was"
  [ result.txt -ef twin.txt ] || fail "$1: the file is another"
  [ "$(readlink table.txt)" = target.txt ] || fail "$1: the link is gone"
  [ "$(cat target.txt)" = target ] || fail "$1: what the link leads to is not what it was"
  [ ! -e result.txt.redoubt ] && [ ! -e table.txt.redoubt ] && [ ! -e target.txt.redoubt ] || fail "$1: folders are left"
  [ -z "$(ls temporary)" ] || fail "$1: temporary files are left"
  within_a_minute none_left || fail "$1: processes are left: $(pgrep -af "^sleep $mark|^$folder/app")"
}
outputs="--output result.txt --output table.txt"

# To the end, forked and not.
for how in "" --no-snapshot; do
  have_files
  # shellcheck disable=SC2086
  "$redoubt" campaign $machine $faults $outputs $how -o end$how.db -- ./server >out 2>&1 || fail "a campaign $how"
  check_files "a campaign $how"
done
have_files
# shellcheck disable=SC2086
"$redoubt" run $machine $outputs --fault 'flip:dram[row=1,word=1,bit=3]@500' -- ./server >out 2>&1 || fail "a single fault"
check_files "a single fault"

# A program that is not there.
have_files
# shellcheck disable=SC2086
if "$redoubt" campaign $machine $outputs -o none.db -- ./nothing >out 2>&1; then fail "it runs nothing"; fi
grep -q "cannot run './nothing'" out || fail "does not say what is wrong"
check_files "no program"

# A file of the user's where the others would be kept.
have_files
echo notes >notes.redoubt
# shellcheck disable=SC2086
if "$redoubt" campaign $machine $outputs --output notes -o none.db -- ./updates >out 2>&1; then fail "it takes the place of a file"; fi
grep -q 'notes.redoubt: error: is in the way' out || fail "does not say what is in the way"
[ "$(cat notes.redoubt)" = notes ] || fail "a file in the way is gone"
check_files "a file in the way"

# Signals while a run without faults goes on, and after that: then the first one waits for what is running, the second does not.
start() { # COMMAND...: till the program is there
  env --default-signal=INT,HUP "$@" >out 2>&1 &
  pid=$!
  within_a_minute test -e here || fail "no start: $*"
  rm here
}
ended_by() { # number what
  code=0
  wait "$pid" || code=$?
  [ $code -eq $((128 + $1)) ] || fail "$2: exit code $code"
  check_files "$2"
}
was_heard() { # the first signal: no more of them are waiting
  case $(sed -n 's/^ShdPnd:\t*//p' "/proc/$pid/status") in *[!0]*) return 1 ;; esac
}
for signal in INT.2 TERM.15 HUP.1; do
  have_files
  # shellcheck disable=SC2086
  start "$redoubt" campaign $machine $faults $outputs -o signal.db -- ./stays 1
  kill "-${signal%.*}" "$pid"
  ended_by "${signal#*.}" "$signal without faults"
  grep -q 'stopped before the first fault' out || fail "$signal: does not say so"
  have_files
  # shellcheck disable=SC2086
  start "$redoubt" campaign $machine $faults $outputs --no-prune --no-snapshot -o $signal.db -- ./stays 3
  kill "-${signal%.*}" "$pid"
  within_a_minute was_heard || fail "$signal is not heard"
  pgrep -f "^sleep $mark.3" >/dev/null || fail "$signal: the first one ends what is running"
  kill "-${signal%.*}" "$pid"
  ended_by "${signal#*.}" "$signal with faults"
  grep -q 'run the same command again' out || fail "$signal: does not say how to go on"
  have_files
  # shellcheck disable=SC2086
  start "$redoubt" run $machine $outputs --fault 'flip:dram[row=1,word=1,bit=3]@500' -- ./stays 1
  kill "-${signal%.*}" "$pid"
  ended_by "${signal#*.}" "$signal and a single fault"
done

# Killed: the next run puts everything back, and says so.
for at in 1 3; do
  have_files
  # shellcheck disable=SC2086
  start "$redoubt" campaign $machine $faults $outputs --no-prune --no-snapshot -o kill.db -- ./stays $at
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null || true
  [ -z "$(ls temporary)" ] || fail "killed: temporary files are left"
  [ "$(cat result.txt.redoubt/original)" = mine ] || fail "killed: the user's file is lost"
  # shellcheck disable=SC2086
  if "$redoubt" campaign $machine $outputs -o none.db -- ./nothing >out 2>&1; then fail "it runs nothing"; fi
  grep -q 'result.txt: put back; a run that was killed had moved it away. What stood in its place is kept as .*/result.txt.left' out ||
    fail "killed: does not say what it puts back"
  [ "$(tail -1 result.txt.left)" = changed ] || fail "killed: what stood there is lost"
  rm result.txt.left
  check_files "killed, and the next one"
done

# While processes are forked, with files that stand aside.
for signal in TERM KILL; do
  have_files
  # shellcheck disable=SC2086
  "$redoubt" campaign $machine $faults --faults 20000 $outputs --no-prune -o fork-$signal.db -- ./updates >out 2>&1 &
  pid=$!
  within_a_minute test -e result.txt.redoubt/aside || fail "nothing is forked"
  kill -$signal "$pid"
  [ $signal = KILL ] || ended_by 15 "TERM while processes are forked"
  wait "$pid" 2>/dev/null || true
done
# shellcheck disable=SC2086
if "$redoubt" campaign $machine $outputs -o none.db -- ./nothing >out 2>&1; then fail "it runs nothing"; fi
grep -q 'result.txt: put back' out || fail "killed while forking: does not say what it puts back"
check_files "killed while processes are forked"

# A program that is only run: it hears the signals, and nothing of it is left, deaf or not.
cat >deaf <<END
#!/bin/sh
trap '' TERM HUP INT
(sleep $mark.4) &
echo here >here
sleep $mark.5
sleep $mark.6
END
cat >hears <<END
#!/bin/sh
trap 'echo heard >heard; exit 7' TERM HUP INT
(sleep $mark.4) &
echo here >here
while :; do sleep 0.05; done
END
chmod +x deaf hears
for signal in TERM HUP; do
  start "$redoubt" run -- ./hears
  kill -$signal "$pid"
  wait "$pid" || true
  rm heard || fail "run: $signal is not passed on"
  within_a_minute none_left || fail "run, $signal: processes are left"
  start "$redoubt" run -- ./deaf
  kill -$signal "$pid"
  within_a_minute was_heard || fail "run: $signal is not heard"
  kill -TERM "$pid" # once more: at once
  wait "$pid" || true
  within_a_minute none_left || fail "run, $signal: a deaf program is left"
done
start "$redoubt" run -- ./hears
kill -INT "$pid"
wait "$pid" || true
rm heard || fail "run: INT is not passed on"
pkill -KILL -f "^sleep $mark" || true
start "$redoubt" run -- ./stays 1
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
is_alone() { ! pgrep -f 'sh ./stays 1$' -s 0 >/dev/null; }
within_a_minute is_alone || fail "run: the program outlives a killed redoubt"
[ -z "$(ls temporary)" ] || fail "run: temporary files are left"
