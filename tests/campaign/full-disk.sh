#!/bin/sh
# A campaign on a full disk: full-disk.sh REDOUBT. It ends with one line that says so, loses nothing, and goes on when there is room
# again. A limit on the size of files stands for the disk: writes fail as on a full one, and it needs no privileges. Its signal is not
# ignored here: the campaign has to live through it.
set -eu
redoubt=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
  echo "full-disk: FAILED: $*"
  exit 1
}
campaign() { # JOURNAL
  echo "$redoubt campaign vecadd --size tiny --machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2 --structure rf --faults 6000 --progress -o $1"
}
faults() { # JOURNAL
  code=0
  "$redoubt" report "$1" --csv rows.csv || code=$?
  [ $code -eq 0 ] || [ $code -eq 5 ] || return 1 # 5: unfinished
  echo $(($(wc -l <rows.csv) - 1))
}
$(campaign whole.db) >whole.out 2>&1 || fail "$(cat whole.out)"
"$redoubt" report whole.db --csv whole.csv

# From no room at all to room for most of it; 1 block is 512 bytes.
before=0
for blocks in 0 8 64 160 320 500 700; do
  { # what it says goes through a pipe, which has no limit
    code=0
    (
      ulimit -f $blocks
      exec $(campaign part.db)
    ) 2>&1 >/dev/null || code=$?
    echo $code >code
  } | cat >part.err
  code=$(cat code)
  [ $code -eq 2 ] || fail "$blocks blocks: exit code $code: $(cat part.err)"
  [ "$(grep -c 'error: ' part.err)" -eq 1 ] || fail "$blocks blocks: not one line: $(cat part.err)"
  grep -q 'part.db: error: .*\(the disk is full\|may not become larger\)' part.err || fail "$blocks blocks: $(cat part.err)"
  if ! now=$(faults part.db 2>unread.err); then # not even its tables had room: then nothing was there to lose
    [ "$before" -eq 0 ] && [ $blocks -lt 160 ] || fail "$blocks blocks: the journal cannot be read: $(cat unread.err)"
    now=0
  fi
  [ "$now" -ge "$before" ] || fail "$blocks blocks: $now faults after $before"
  shown=$(sed -n 's/^\([0-9]*\) of .* faults.*/\1/p' part.err | tail -1)
  [ "$now" -ge "${shown:-0}" ] || fail "$blocks blocks: $shown faults were reported done, $now are there"
  before=$now
done
[ "$before" -gt 0 ] || fail "nothing was kept"

$(campaign part.db) >part.out 2>&1 || fail "with room again: $(cat part.out)"
"$redoubt" report part.db --csv part.csv
cmp whole.csv part.csv
