#!/bin/sh
# First contact: first.sh REDOUBT. Every command under "Try first" of 'redoubt help' runs and shows something within seconds; a campaign says what happened
# before any figure, and its last lines are commands that work.
set -eu
redoubt=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir bin
ln -s "$redoubt" bin/redoubt
PATH=$folder/bin:$PATH
fail() {
  echo "first: FAILED: $*"
  exit 1
}

redoubt help | sed -n '/^Try first:/,/^$/s/^  //p' >commands
[ "$(wc -l <commands)" -ge 3 ] || fail "no commands to try first: $(redoubt help)"
campaigns=0
while IFS= read -r command; do
  began=$(date +%s)
  sh -c "$command" >out 2>err </dev/null || fail "$command: exit code $?: $(cat err)"
  [ "$(wc -l <out)" -ge 2 ] || fail "$command shows nothing"
  [ $(($(date +%s) - began)) -le 60 ] || fail "$command takes a minute and more" # seconds, but for sanitizers on a busy machine
  case $command in 'redoubt campaign '*) ;; *) continue ;; esac
  campaigns=$((campaigns + 1))
  grep -Eq '^(sdc|due)[a-z-]* +[1-9]' out || fail "$command: no fault does harm: $(cat out)"
  said=$(grep -n '^Of [0-9,]* bit flips in ' out | cut -d: -f1)
  figures=$(grep -nE '^structure |FIT|MTBF|energy' out | head -n 1 | cut -d: -f1)
  [ -n "$said" ] && [ "$said" -lt "$figures" ] || fail "$command: figures come before what happened: $(cat out)"
  grep -q settled out && fail "$command: says what is for developers: $(cat out)"
  sed -n '/^Next:/,$s/.*  redoubt /redoubt /p' err >next
  [ "$(wc -l <next)" -eq 3 ] || fail "$command: not three commands come next: $(cat err)"
  sh -c "$command --protect secded:rf -o PROTECTED.db" >protected 2>err || fail "with a protection: $(cat err)"
  grep -q '(at most [0-9.]*%) make a wrong' protected || fail "a protection: $(cat protected)"
  while IFS= read -r next; do
    sh -c "$next" >out 2>err </dev/null || fail "$next: exit code $?: $(cat err)"
  done <next
  replay=$(grep ' replay ' next)
  sh -c "$replay" | grep -q '^outcome  *sdc' || fail "$replay shows no wrong result"
done <commands
[ "$campaigns" -ge 1 ] || fail "no campaign to try first"

# What is quiet says nothing more, and developers see the shortcuts when they ask.
small="redoubt campaign vecadd --size tiny --machine fermi-gtx480 --set sm.count=2 --faults 60"
$small -q -o quiet.db >out 2>err
[ ! -s err ] || fail "--quiet: $(cat err)"
$small -v -o verbose.db >out 2>/dev/null
grep -q '^settled: ' out || fail "-v: $(cat out)"
redoubt report verbose.db >out
grep -q settled out && fail "report: $(cat out)"
redoubt report -v verbose.db | grep -q '^settled: ' || fail "report -v"
redoubt replay verbose.db 3 | grep -q '^the journal says the same$' || fail "replay"
redoubt replay -v verbose.db 3 | grep -q '^the journal says the same; settled there by: ' || fail "replay -v"

# A name that a shell would take apart; a part of a campaign; several programs.
$small -o 'a b.db' 2>err >/dev/null
grep -q "redoubt report 'a b.db' -o 'a b.html'" err || fail "a name with a space: $(cat err)"
$small --shard 1/2 -o part.db 2>err >/dev/null
grep -q 'redoubt merge ALL.db part.db OTHER.db' err || fail "a part: $(cat err)"
redoubt campaign vecadd,scan --size tiny --machine fermi-gtx480 --set sm.count=2 --faults 60 -o many 2>err >/dev/null
[ "$(grep -c '^Next:' err)" -eq 1 ] || fail "several programs: $(cat err)"
next=$(sed -n '/^Next:/,$s/.*  redoubt /redoubt /p' err)
sh -c "$next" | grep -q scan || fail "$next"
echo "first: $campaigns campaigns to try first show harm"
