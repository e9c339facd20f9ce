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
check 101 '  over rf, shared; and what B alone has: parity.rf$' two with
grep -q 'alone: not compared' compared && fail "the scheme's own cells count as left out: $(cat compared)"
check 50 '0 faults in A alone, 51 in B alone' alone with

# 'all' of a protected campaign takes the protection's own cells, with the list of the unprotected one for the rest; one without them says so, and names them.
campaign chip --structure all --faults 200
campaign guarded --structure all --protect parity --faults 200
campaign bare --structure rf --protect parity --faults 50
check 200 '  over blocks.next, .* more; and what B alone has: parity.rf$' chip guarded
grep -q 'NOT IN IT\|left out' compared && fail "'all' lacks something: $(cat compared)"
check 50 '  NOT IN IT: parity.rf (65536 bits), which B adds and its campaign did not strike' alone bare
[ "$(sed -n '4p' compared | cut -c1-19)" = 'net, per 10^9 hours' ] || fail "the net change does not come first: $(cat compared)"
"$redoubt" compare alone.db bare.db --csv bare.csv --json bare.json -q
[ "$(grep -c ',all,.*,"without cells of parity that were not struck: parity.rf"$' bare.csv)" = 4 ] || fail "CSV: $(cat bare.csv)"
[ "$(grep -c '"note": "without cells of parity that were not struck: parity.rf"' bare.json)" = 4 ] || fail "JSON: $(cat bare.json)"

# 'report' of the two has the same numbers.
"$redoubt" report two.db with.db --json both.json -q
"$redoubt" compare two.db with.db --json pair.json -q
python3 - <<'PYTHON' || fail "report and compare have two intervals"
import json
cell = [c for c in json.load(open("both.json"))["cells"] if "lacks" in c][0]
rows = {(c["measure"], c["structure"]): c for c in json.load(open("pair.json"))[0]["changes"]}
for name in ("sdc", "due"):
    row = rows[name + "_avf", "all"]
    assert cell[name + "_removed"] == row["removed"] and cell[name + "_fit_removed"] == row["fit_removed"], (cell, row)
PYTHON

# Drawn from what is used: the same in every way that a campaign can be carried out; pairs only where both use the same.
campaign used --structure rf,l2,parity.rf --protect parity --faults 101 --draw used
campaign resumed --structure rf,l2,parity.rf --protect parity --faults 31 --draw used
campaign resumed --structure rf,l2,parity.rf --protect parity --faults 101 --draw used -j2
python3 "$same" used.db resumed.db || fail "used: a campaign that was extended"
for i in 0 1; do campaign "lot$i" --structure rf,l2,parity.rf --protect parity --faults 101 --draw used --shard $i/2; done
"$redoubt" merge merged.db lot0.db lot1.db >/dev/null
python3 "$same" used.db merged.db || fail "used: shards"
campaign dealt --structure rf,l2,parity.rf --protect parity --faults 101 --draw used --cluster local:2,tasks=3
python3 "$same" used.db dealt.db || fail "used: tasks"
"$redoubt" campaign vecadd --size tiny --machine fermi-gtx480 --set sm.count=2 --structure rf,l2,parity.rf --protect parity --faults 101 -o used.db \
  >bad.out 2>&1 && fail "a campaign with --draw all goes on with one of --draw used"
grep -q "its draw is 'used', not 'all'" bad.out || fail "the draw: $(cat bad.out)"
campaign plain --structure rf,l2 --faults 101 --draw used
campaign slower --structure rf,l2 --faults 101 --draw used --protect dmr
check 101 'drawn from what is used, the same in both' plain used
"$redoubt" compare plain.db slower.db | grep -q '^faults were drawn from what each run uses, which is not the same' || fail "pairs of other draws"
"$redoubt" compare plain.db two.db | grep -q '^not paired' || fail "pairs of faults from all and of faults from what is used"
campaign sure --structure rf,l2 --margin 0.002 --draw used
campaign unsure --structure rf,l2 --margin 0.002 --cluster local:2,tasks=2 --draw used
python3 "$same" sure.db unsure.db || fail "used: tasks with a margin"
campaign stuck --structure rf --model stuck1 --window cycles:0-1 --faults 20 --draw used
"$redoubt" grade stuck.db >bad.out 2>&1 && fail "grade takes faults drawn from what is used"
grep -q 'repeat the campaigns with --draw all' bad.out || fail "grade: $(cat bad.out)"
python3 - <<'PYTHON' || fail "used"
import sqlite3
db = sqlite3.connect("used.db")
drawn = dict(db.execute("SELECT name, drawn FROM structures"))
assert 0 < drawn["rf"] < 0.1 and 0 < drawn["l2"] < 0.1 and drawn["parity.rf"] == 1
assert db.execute("SELECT min(read) FROM results WHERE structure IN ('rf', 'l2')").fetchone() == (1,)
# Of launches and slices: their mean over cycles is that of all.
for structure, region in db.execute("SELECT name, region FROM structures WHERE drawn < 1"):
    launches = db.execute("SELECT sum(share * cycles), sum(cycles) FROM drawn JOIN launches USING (launch) WHERE region = ?", (region,)).fetchone()
    assert abs(launches[0] / launches[1] - drawn[structure]) < 1e-12, structure
    slices = [row[0] for row in db.execute("SELECT share FROM drawn WHERE region = ? AND launch = 0 ORDER BY slice", (region,))]
    cycles = db.execute("SELECT max(began_at + cycles) FROM launches").fetchone()[0]
    widths = [cycles * (i + 1) // 50 - cycles * i // 50 for i in range(50)]
    assert len(slices) == 50 and abs(sum(s * w for s, w in zip(slices, widths)) / cycles - drawn[structure]) < 1e-12, structure
PYTHON
"$redoubt" report -q used.db --json used.json --csv used.csv
python3 - <<'PYTHON' || fail "reports of faults drawn from what is used"
import json, sqlite3
db = sqlite3.connect("used.db")
report = json.load(open("used.json"))
bits = {s["name"]: s["bits"] for s in report["structures"]}
views = {row[0]: row for row in db.execute("SELECT structure, faults, sdc_avf, due_avf, avf FROM avf")}
for s in report["structures"]:
    _, faults, sdc, due, avf = views[s["name"]]
    for key, value in (("sdc_avf", sdc), ("due_avf", due), ("avf", avf)):
        assert abs(s[key]["value"] - value) < 1e-12 and s[key]["high"] <= s["drawn"] + 1e-12, (s["name"], key)
    assert abs(sum(g["share"] for g in s["groups"].values()) - 1) < 1e-9
    if s["drawn"] < 1:
        assert s["groups"]["masked"]["share"] >= 1 - s["drawn"] and abs(s["used"]["value"] - s["drawn"]) < 1e-12
        assert abs(s["used_avf"]["value"] - avf / s["drawn"]) < 1e-9
whole = sum(bits[name] * row[4] for name, row in views.items()) / sum(bits.values())
assert abs(report["chip"]["avf"]["value"] - whole) < 1e-12
assert abs(report["kernels"][0]["avf"]["value"] - whole) < 1e-9  # one kernel, all of the time
assert abs(sum(g["share"] for g in report["all"]["groups"].values()) - 1) < 1e-9
PYTHON
echo "draws: by structure, whatever is beside it, in shards, parts, tasks and resumed"
