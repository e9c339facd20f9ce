#!/bin/sh
# The check of the golden record finds what has moved: test.sh REDOUBT. Copies of the record are changed, then a few commands are checked against them.
set -eu
redoubt=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "golden: skipped, no Python"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
few='^run (vecadd|scan|gone) --size tiny --machine fermi-gtx480$|^run vecadd --dump|^campaign vecadd .*dmr'

check() { "$here/golden.py" check "$redoubt" "$@" --record copy.txt >out.txt 2>&1; }
fail() { echo "golden: FAILED: $*"; cat out.txt; exit 1; }
# finds WHAT SED LINE...: after this change of the record the check fails, and says these lines
finds() {
  what=$1
  sed "$2" "$here/record.txt" >copy.txt
  ! cmp -s copy.txt "$here/record.txt" || fail "$what: the record has no such line"
  shift 2
  ! check "$few" || fail "$what is not found"
  for line in "$@"; do grep -qE -- "$line" out.txt || fail "$what: no line '$line'"; done
}

cp "$here/record.txt" copy.txt
check "$few" || fail "the record itself"
check "$few" -j1 || fail "with one job"
vecadd='run vecadd --size tiny --machine fermi-gtx480'
finds "a statistic" "/^== $vecadd\$/,/^\$/s/^cycles=1/cycles=9/" '^golden: .*: 1 numbers of 1 commands' "^$vecadd\$" '^  cycles +91[0-9]* -> 11[0-9]*$' 'In how many commands: cycles 1$' 'make golden' 'docs/develop/golden.md'
finds "a lane" "/^== $vecadd\$/,/^\$/s/^lane_\*=0-7:\([0-9]*\),8/lane_*=0-6:\1,7:9,8/" '1 numbers of 1 commands' '^  lane_7 +9 -> [0-9]+$'
finds "a zero" "/^== $vecadd\$/,/^\$/s/^cycles=/barriers=3 cycles=/" '^  barriers +3 -> -$'
finds "a fault" "/^== campaign vecadd .*dmr/,/^\$/s/^faults_100=./faults_100=e/" '1 numbers of 1 commands' '^  fault 100 +e -> .$'
finds "the same in two commands" "s/^instructions_alu=/instructions_alu=1/" '2 numbers of 2 commands' 'In how many commands: instructions_alu 2$'
finds "a command that is gone" "s/^== $vecadd\$/== run gone --size tiny --machine fermi-gtx480/" '^In the record alone, 1:' '^run gone ' '^Not in the record, 1:' "^$vecadd\$"

# Each change of the record has its row in the page.
sed 's/^cycles=/cycles=1/' "$here/record.txt" >copy.txt
! check || fail "a record that the page does not name"
grep -q 'docs/develop/golden.md: the last row' out.txt || fail "it does not ask for a row"
! check '^run nothing' || fail "a pattern that nothing matches"
grep -q "no command has '^run nothing'" out.txt || fail "it does not say that nothing matches"
