#!/bin/sh
# What people see of a campaign on a terminal: terminal.sh REDOUBT, at several widths, at the end and on Ctrl-C. A frame of progress
# is drawn over the one before it, so the cursor must go up by as many lines as that one had, and no line may wrap.
set -eu
redoubt=$(realpath "$1")
command -v script >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export TERM=xterm
fail() {
  echo "terminal: FAILED: $*"
  exit 1
}
campaign="$redoubt campaign scalarprod --size tiny --machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2 --structure rf,shared"
slow="--no-prune --no-snapshot -j2"

# Plays the bytes on a terminal that is COLUMNS wide, with no end downwards; prints what can be read there in the end.
play() { # COLUMNS FILE
  awk -v columns="$1" '
    function put(text,  i) {
      if (text ~ /of [0-9]+ fault/) framed = 1
      if (text ~ /^(cost|Next:)/) ended = 1 # what comes last, commands to type next, may be longer than the terminal is wide
      for (i = 1; i <= length(text); i++) {
        if (column >= columns) { row++; column = 0; if (!ended) wrapped = 1; if (framed && !ended) frame_wrapped = 1 }
        line[row] = substr(sprintf("%-" column "s", line[row]), 1, column) substr(text, i, 1) substr(line[row], column + 2)
        column++
        if (row > last) last = row
      }
    }
    BEGIN { RS = "\n"; row = column = last = 0 }
    {
      while (length($0) > 0) {
        if (match($0, /^\033\[[0-9]*[A-Z]/)) {
          code = substr($0, RLENGTH, 1); count = substr($0, 3, RLENGTH - 3) + 0
          if (code == "A") row -= count
          if (code == "K") line[row] = substr(line[row], 1, column)
          if (code == "J") { line[row] = substr(line[row], 1, column); for (i = row + 1; i <= last; i++) line[i] = ""; last = row }
          $0 = substr($0, RLENGTH + 1)
        } else if (match($0, /^\r/)) { column = 0; $0 = substr($0, 2) }
        else { match($0, /^[^\033\r]+/); if (RLENGTH < 1) RLENGTH = 1; put(substr($0, 1, RLENGTH)); $0 = substr($0, RLENGTH + 1) }
      }
      row++
    }
    END { for (i = 0; i <= last; i++) print line[i]; if (wrapped) print "WRAPPED"; if (frame_wrapped) print "FRAME" }' "$2"
}
on_terminal() { # COLUMNS FILE COMMAND...: what it writes there; standard input is the keyboard
  columns=$1 file=$2
  shift 2
  SHELL=/bin/sh script -qefc "trap : INT; stty cols $columns rows 24 -echo; $*; echo \"code \$?\"" bytes >/dev/null ||
    fail "script: $*: $(cat bytes)"
  sed '1d' bytes | sed '/^Script done/d' >"$file"
}
seen_within_a_minute() { # TEXT: on the terminal that is being written
  tries=0
  until grep -q "$1" bytes 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || return 1
    sleep 0.1
  done
}
on_terminal_interrupted() { # TEXT FILE COMMAND...: by Ctrl-C when the text is seen; the keyboard stays till the command has ended
  text=$1
  shift
  rm -f bytes
  {
    seen_within_a_minute "$text" && printf '\003'
    seen_within_a_minute '^code '
  } | on_terminal 80 "$@"
}

# A whole campaign: progress on the standard error alone, so that nothing but progress is looked at.
for columns in 80 44 20; do
  rm -f a.db
  on_terminal $columns seen "$campaign --faults 250 $slow -o a.db >report" </dev/null
  play $columns seen >screen
  frames=$(grep -c 'of 250 faults' seen) || true
  [ "$frames" -ge 2 ] || fail "$columns columns: $frames frames"
  [ "$(grep -c 'of 250 fault' screen)" -eq 1 ] || fail "$columns columns: frames are not drawn over: $(cat screen)"
  grep -q '^code 0' screen || fail "$columns columns: $(cat screen)"
  grep -q '^FRAME' screen && fail "$columns columns: lines of a frame wrap: $(cat screen)"
  [ $columns -lt 80 ] && continue
  grep -q WRAPPED screen && fail "wraps at 80 columns: $(cat screen)"
  grep -Eq '^250 of 250 faults \(100\.0%\), [0-9]+/s, took [0-9]+ s *$' screen || fail "the end: $(cat screen)"
  grep -Eq '^  masked +[0-9]+  [0-9.]+ \([0-9.]+ to [0-9.]+\) % *$' screen || fail "no interval: $(cat screen)"
  grep -Eq 'of 250 faults .*, [0-9]+/s, about [0-9]+ s left' seen || fail "no time left: $(cat seen)"
  awk 'length($0) > 80 && !/ on fermi-gtx480, /' report | grep . && fail "lines of the report are longer than 80"
done

# Ctrl-C, as the keyboard sends it: says that it stops, what to do, and what is there.
rm -f a.db
on_terminal_interrupted 'of 2000 faults' seen "$campaign --faults 2000 $slow -o a.db"
play 80 seen >screen
grep -q '^stopping when what is running has ended' screen || fail "Ctrl-C: $(cat screen)"
tr -d '\r\n' <seen | grep -q 'run the same command again to go on' || fail "Ctrl-C: $(cat screen)"
grep -q '^code 130' screen || fail "Ctrl-C: $(cat screen)"
shown=$(sed -n 's/^\([0-9]*\) of 2000 faults.*/\1/p' screen)
"$redoubt" report a.db --csv a.csv || [ $? -eq 5 ] # unfinished
[ "$(($(wc -l <a.csv) - 1))" -ge "$shown" ] || fail "$shown faults were shown, $(wc -l <a.csv) lines are there"

# Before the first fault there is nothing to lose: it ends at once, before it makes a journal.
on_terminal_interrupted 'running without faults' seen \
  "$redoubt campaign matmul --size large --machine fermi-gtx480 --faults 10 -o long.db"
play 80 seen >screen
grep -q '^matmul: running without faults' screen || fail "the run without faults is not shown: $(cat screen)"
grep -q '^code 130' screen || fail "Ctrl-C in a run without faults is not heeded: $(cat screen)"
[ ! -e long.db ] || fail "Ctrl-C in a run without faults leaves a journal: $(cat screen)"

# Without a terminal there are no escape sequences.
rm -f a.db
$campaign --faults 50 $slow --progress -o a.db >report 2>log
grep -q "$(printf '\033')" log && fail "escape sequences in a log"
grep -q '^50 of 50 faults' log || fail "no progress: $(cat log)"
