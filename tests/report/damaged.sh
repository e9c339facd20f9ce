#!/bin/sh
# Damaged and foreign journals: damaged.sh REDOUBT [ROUNDS]. Each round overwrites a byte of a journal, always the same ones, and gives it
# to every command that takes journals. They may find nothing wrong, for texts have no check sums; but they must end by
# themselves, and an error is one line.
set -eu
redoubt=$(realpath "$1")
rounds=${2:-40}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
failed=0
fail() {
  echo "damaged: FAILED: $*"
  failed=1
}
size="--size tiny --machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2"
campaign="$redoubt campaign vecadd $size --structure rf --faults 40"
$campaign -o whole.db >/dev/null 2>&1
$campaign --shard 0/2 -o s0.db >/dev/null 2>&1
$campaign --shard 1/2 -o s1.db >/dev/null 2>&1

# Ends with a code that commands have, and an error with one line that begins as errors do.
ends_well() { # WHAT COMMAND...
  what=$1
  shift
  code=0
  "$@" >out 2>err || code=$?
  case $code in
  0) return ;;
  2 | 4) ;;
  *) fail "$what: exit code $code: $* $(head -5 err)" ;;
  esac
  grep -av 'cycles, .* for a run without faults\|still need a simulation\|^Try ' err >said || true
  [ "$(wc -l <said)" -eq 1 ] || fail "$what: not one line: $* $(head -5 said)"
  grep -aq 'error: \|^redoubt: ' said || fail "$what: $(cat said)"
}
all_commands() { # WHAT
  ends_well "$1" "$redoubt" report bad.db
  ends_well "$1" "$redoubt" report bad.db --csv x.csv --json x.json -o x.html
  ends_well "$1" "$redoubt" compare bad.db whole.db
  ends_well "$1" "$redoubt" compare whole.db bad.db
  ends_well "$1" "$redoubt" merge merged.db bad.db s1.db
  ends_well "$1" "$redoubt" replay bad.db 3
  cp bad.db resumed.db
  ends_well "$1" $campaign -o resumed.db
  rm -f merged.db resumed.db* bad.db*
}
refused_by_all() { # WHAT SAID: nobody takes it, and everybody says why
  cp bad.db kept.db
  for command in "report bad.db" "compare bad.db whole.db" "compare whole.db bad.db" "merge m.db bad.db s1.db" "replay bad.db 3" "${campaign#"$redoubt"} -o bad.db"; do
    # shellcheck disable=SC2086
    "$redoubt" $command >out 2>err && fail "$1: '$command' takes it"
    grep -v 'cycles, .* for a run without faults\|still need a simulation' err >said || true
    [ "$(wc -l <said)" -eq 1 ] && grep -q "bad.db: error: $2" said || fail "$1: $command: $(cat said)"
  done
  cmp -s bad.db kept.db || fail "$1: the file was changed"
  rm -f bad.db*
}

echo "no database, but long enough to be one" >bad.db
refused_by_all "text" "is not a journal of Redoubt"
head -c 5000 whole.db >bad.db
refused_by_all "cut short" "is damaged"
"$redoubt" list machines >bad.db
refused_by_all "another file" "is not a journal of Redoubt"
mkdir bad.db
"$redoubt" report bad.db >out 2>err && fail "a folder"
[ "$(wc -l <err)" -eq 1 ] || fail "a folder: $(cat err)"
rmdir bad.db

bytes=$(stat -c %s whole.db)
state=1
round=0
while [ $round -lt "$rounds" ]; do
  state=$(((state * 1103515245 + 12345) % 2147483648))
  # Every third in the head of the file, every third in the texts and numbers of the first pages.
  case $((round % 3)) in
  0) at=$((state / 8 % 200)) ;;
  1) at=$((state / 8 % bytes)) ;;
  *) at=$((bytes - 1 - state / 8 % (bytes / 3))) ;;
  esac
  value=$((state / 4096 % 256))
  if [ $((round % 2)) -eq 0 ]; then cp whole.db bad.db; else cp s0.db bad.db; fi
  # shellcheck disable=SC2059
  printf "\\$(printf %03o $value)" | dd of=bad.db bs=1 seek=$at conv=notrunc 2>/dev/null
  all_commands "byte $at = $value, round $round"
  round=$((round + 1))
done
exit $failed
