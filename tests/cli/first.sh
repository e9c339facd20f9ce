#!/bin/sh
# First contact: first.sh REDOUBT. Every command under "Try first" of 'redoubt help' runs and shows something within seconds; a campaign says in a few lines what
# happened, on a machine that is not nearly empty, and what it cost; its last lines are commands that work.
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
  head -n 1 out | grep -Eq '^Of [0-9,]* bit flips in ' || fail "$command: what happened does not come first: $(cat out)"
  [ "$(wc -l <out)" -le 5 ] || fail "$command: it ends with more than a few lines: $(cat out)"
  tr '\n' ' ' <out | grep -Eq '[1-9][0-9.]*% \([^)]*\) make a wrong result' || fail "$command: no fault does harm: $(cat out)"
  grep -Eq '^occupancy  [0-9.]+ of 15 SMs with blocks, [0-9.]+% of warps, [0-9.]+% of registers$' out || fail "$command: no occupancy: $(cat out)"
  grep -q LOW out && fail "$command: most of the machine is empty: $(cat out)"
  grep -Eq '^cost  *[0-9.]+ s for 500 faults with -j [0-9]+$' err || fail "$command: what it cost is not said: $(cat err)"
  grep -q settled out && fail "$command: says what is for developers: $(cat out)"
  sed -n '/^Next:/,$s/.*  redoubt /redoubt /p' err >next
  [ "$(wc -l <next)" -eq 4 ] || fail "$command: not four commands come next: $(cat err)"
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
grep -q '^structure .*SDC-AVF' out || fail "-v has no tables: $(cat out)"
$small -o verbose.db 2>&1 >/dev/null | grep -Eq '^cost .* for 0 faults with .*; the other 60 were there already$' || fail "a campaign that was done: $(cat out)"
redoubt report verbose.db >out
grep -q settled out && fail "report: $(cat out)"
redoubt report -v verbose.db | grep -q '^settled: ' || fail "report -v"
redoubt replay verbose.db 3 | grep -q '^the journal says the same$' || fail "replay"
redoubt replay -v verbose.db 3 | grep -q '^the journal says the same; settled there by: ' || fail "replay -v"

# Nearly empty: said in text, in JSON and on the page; what an old journal does not say is said, too.
redoubt campaign vecadd --size tiny --machine fermi-gtx480 --faults 20 -q -o empty.db >out
grep -q '^LOW OCCUPANCY, under 33%' out || fail "a nearly empty machine: $(cat out)"
redoubt report empty.db | grep -q '^LOW OCCUPANCY, under 33%' || fail "a nearly empty machine, report"
redoubt report -q empty.db --json empty.json
grep -q '"low": true' empty.json || fail "a nearly empty machine, JSON"
redoubt campaign vecadd --size small --machine fermi-gtx480 --faults 20 -q -o full.db >out
redoubt report -q full.db --json full.json
grep -q '"low": false' full.json || fail "a full machine, JSON"

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
