#!/bin/sh
# Faults are drawn by structure: draws.sh REDOUBT
# A structure has the same faults whatever else is struck; a protection's own structures get faults beyond those that were asked for; shards,
# parts, tasks and resumed campaigns come to the same rows; compare pairs by structure and number.
set -eu
redoubt=$(realpath "$1")
same=$(realpath "$(dirname "$0")/../cluster/same.py")
command -v python3 >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
  echo "draws: FAILED: $*"
  exit 1
}
campaign() { # journal options...
  journal=$1
  shift
  "$redoubt" campaign vecadd --size tiny --machine fermi-gtx480 --set sm.count=2 -o "$journal.db" "$@" >"$journal.out" 2>&1 ||
    fail "$journal: $(cat "$journal.out")"
}
campaign alone --structure rf --faults 50
campaign three --structure rf,shared,unit.sp --faults 150
campaign turned --structure unit.sp,pred,rf --faults 150
campaign two --structure rf,shared --faults 101
campaign with --structure rf,shared,parity.rf --protect parity --faults 101
campaign own --structure parity.rf --protect parity --faults 50
grep -q '^151 faults' with.out || fail "not 101 and 50 faults: $(cat with.out)"
grep -q "^50 of the campaign's faults are beyond --faults 101: each structure that the protection adds" with.out || fail "it is not said which are beyond: $(cat with.out)"
grep -q beyond own.out && fail "faults of the protection alone are what was asked for"

# The same campaign in other ways.
campaign more --structure rf,shared,parity.rf --protect parity --faults 31
campaign more --structure rf,shared,parity.rf --protect parity --faults 101
python3 "$same" with.db more.db || fail "a campaign that was extended"
for i in 0 1 2; do campaign "shard$i" --structure rf,shared,parity.rf --protect parity --faults 101 --shard $i/3; done
"$redoubt" merge shards.db shard0.db shard1.db shard2.db >/dev/null
python3 "$same" with.db shards.db || fail "shards"
campaign part0 --structure rf,shared,parity.rf --protect parity --faults 101 --part 0-40
campaign part1 --structure rf,shared,parity.rf --protect parity --faults 101 --part 40-151
"$redoubt" merge parts.db part1.db part0.db >/dev/null
python3 "$same" with.db parts.db || fail "parts"
"$redoubt" campaign vecadd --size tiny --machine fermi-gtx480 --set sm.count=2 --structure rf,shared,parity.rf --protect parity --faults 101 \
  --part 40-152 -o bad.db >bad.out 2>&1 && fail "a part beyond the last fault"
[ ! -e bad.db ] || fail "a refused campaign leaves a journal"
grep -q 'have the numbers 0 to 150 (faults 101)' bad.out || fail "the part: $(cat bad.out)"
campaign tasks --structure rf,shared,parity.rf --protect parity --faults 101 --cluster local:2,tasks=3
python3 "$same" with.db tasks.db || fail "tasks"

# Which faults there are.
python3 - <<'PYTHON' || fail "draws"
import sqlite3
def faults(name):
    rows = sqlite3.connect(name + ".db").execute("SELECT structure, number, fault FROM results ORDER BY id").fetchall()
    found = {(structure, number): fault for structure, number, fault in rows}
    assert len(found) == len(rows), name + ": a number twice"
    for structure in {r[0] for r in rows}:
        numbers = [r[1] for r in rows if r[0] == structure]
        assert numbers == list(range(len(numbers))), (name, structure)
    return found
def count(name, structure): return sum(key[0] == structure for key in faults(name))
all_of = {name: faults(name) for name in ("alone", "three", "turned", "two", "with", "own")}
for a in all_of.values():
    for b in all_of.values():
        assert all(a[key].split("@")[0] == b[key].split("@")[0] for key in a if key in b)
for a, b in (("alone", "three"), ("alone", "turned"), ("three", "turned"), ("alone", "two")): # runs of one length
    assert all(all_of[a][key] == all_of[b][key] for key in all_of[a] if key in all_of[b])
assert count("alone", "rf") == count("three", "rf") == count("turned", "rf") == 50
assert {s: count("two", s) for s in ("rf", "shared")} == {s: count("with", s) for s in ("rf", "shared")}
assert count("with", "rf") + count("with", "shared") == 101 and count("with", "parity.rf") == count("own", "parity.rf") == 50
PYTHON

# Pairs: of the structures that both have, all of them.
check() { # pairs line a b
  "$redoubt" compare "$3.db" "$4.db" >compared 2>&1 || fail "compare $3 $4: $(cat compared)"
  grep -q "^$1 pairs$" compared || fail "$3 and $4: not $1 pairs: $(cat compared)"
  [ -z "$2" ] || grep -q "^$2" compared || fail "$3 and $4: not '$2': $(cat compared)"
}
check 50 '0 faults in A alone, 100 in B alone' alone three
check 100 '50 faults in A alone, 50 in B alone' three turned
check 101 '0 faults in A alone, 50 in B alone' two with
check 50 '0 faults in A alone, 101 in B alone' alone with
echo "draws: by structure, whatever is beside it, in shards, parts, tasks and resumed"
