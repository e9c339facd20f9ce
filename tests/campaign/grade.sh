#!/bin/sh
# Grading equals a run of every fault by itself, and the chosen set has the coverage claimed; a standing first fault gives the same outcomes with
# and without shortcuts: grade.sh REDOUBT
set -eu
redoubt=$(realpath "$1")
command -v python3 >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
  echo "grade: FAILED: $*"
  exit 1
}
chip="--size tiny --machine fermi-gtx480 --set sm.count=1 --set dram.controllers=2"
kernels="vecadd transpose scalarprod"
$redoubt grade vecadd,transpose scalarprod $chip --structure 'unit.sp,unit.agu,rf[sm=0,reg=2]' --faults 15 --quiet -o journals --json grade.json --csv grade.csv ||
  fail "it does not run"
for model in stuck0 stuck1; do
  $redoubt export journals/vecadd-$model.db | sed 's/.*"\(stuck[01]:[^"]*\)".*/\1/' | grep '^stuck' >$model.txt
  [ "$(wc -l <$model.txt)" -eq 15 ] || fail "not 15 faults"
  for kernel in $kernels; do
    while read -r fault; do
      $redoubt run $kernel $chip --fault "$fault" --json | sed -n "s/.*\"outcome\": \"\([^\"]*\)\".*/$kernel $fault \1/p"
    done <$model.txt
  done
done >outcomes.txt
[ "$(wc -l <outcomes.txt)" -eq 90 ] || fail "not an outcome for each fault and kernel: $(head -3 outcomes.txt)"

$redoubt grade journals/*.db --coverage 0.6 --json some.json
python3 - <<'PYTHON' || fail "figures differ"
import csv, itertools, json

detected, faults, kernels = {}, [], []
for line in open("outcomes.txt"):
    kernel, fault, outcome = line.split()
    if fault not in faults: faults.append(fault)
    if kernel not in kernels: kernels.append(kernel)
    if outcome not in ("masked", "performance", "corrected"): detected.setdefault(kernel, set()).add(fault)
stratum = lambda f: (f.split("[")[0].split(":")[1], f.split(":")[0])
data = json.load(open("grade.json"))
strata = {(s["structure"], s["model"]): s for s in data["structures"]}
of = {s: [f for f in faults if stratum(f) == s] for s in strata}
assert sum(map(len, of.values())) == len(faults) == 30
hits = lambda s, chosen: sum(any(f in detected.get(k, ()) for k in chosen) for f in of[s])
bits = sum(s["bits"] for s in strata.values())
covered = lambda chosen: sum(strata[s]["bits"] * hits(s, chosen) / len(of[s]) for s in strata) / bits
for s, item in strata.items():
    assert item["faults"] == len(of[s])
    assert abs(item["coverage"]["value"] - hits(s, kernels) / len(of[s])) < 1e-12, (s, item)
for k in data["kernels"]:
    assert abs(k["coverage"]["value"] - covered([k["kernel"]])) < 1e-12, k
    others = [o for o in kernels if o != k["kernel"]]
    assert abs(k["alone"] - (covered(kernels) - covered(others))) < 1e-9
assert 0 < covered(kernels) <= 1
for name in ("grade.json", "some.json"): # all that can be had; 60%
    data = json.load(open(name))
    goal, choice = data["choice"]["goal"], [k["kernel"] for k in data["kernels"] if k["chosen"]]
    good = [c for n in range(4) for c in itertools.combinations(kernels, n) if covered(c) >= goal - 1e-9]
    assert data["choice"]["reached"] == bool(good)
    if not good: continue
    assert covered(choice) >= goal - 1e-9 and abs(data["choice"]["coverage"]["value"] - covered(choice)) < 1e-12
    assert len(choice) == min(map(len, good)) == data["choice"]["kernels"]
for r in csv.DictReader(open("grade.csv")):
    chosen = kernels if r["kernels"] == "all kernels" else [r["kernels"]] if r["kernels"] in kernels else None
    if chosen is None: continue
    share = covered(chosen) if r["structure"] == "all" else hits((r["structure"], r["model"]), chosen) / int(r["faults"])
    assert abs(float(r["coverage"]) - share) < 1e-8, r
PYTHON

# A first fault that ECC puts right again and again: what it corrects is not counted for the second.
first='stuck1:rf[sm=0,reg=1,lane=0,bit=3]@0-'
strike() { # journal options...
  journal=$1
  shift
  $redoubt campaign scalarprod $chip --structure 'rf[sm=0,reg=1,lane=0],stack.pc,stack.mask,collector' --protect secded:rf --faults 90 --quiet -o "$journal" "$@" >/dev/null || fail "$*"
}
strike fast.db --with-fault "$first"
strike slow.db --with-fault "$first" --no-prune --no-snapshot
strike alone.db
for journal in fast slow alone; do
  $redoubt export $journal.db | awk -F '"' '{ for (i = 2; i <= NF; i += 2) gsub(",", ";", $i); print }' OFS='"' | awk -F , '
    NR == 1 { for (i = 1; i <= NF; i++) skip[i] = $i ~ /^(settled|class_of|block|pc|opcode|line|read)$/ }
    { for (i = 1; i <= NF; i++) if (!skip[i]) printf "%s,", $i; print "" }' >$journal.txt
done
cmp fast.txt slow.txt || fail "a standing fault: shortcuts change outcomes"
grep -q ',masked,' fast.txt || fail "every fault counts as corrected beside one that is"
grep -q ',detected,' fast.txt || fail "no second fault in the same word is detected"
! grep -q ',detected,' alone.txt || fail "a single fault is detected, not corrected"
id=$(grep ',detected,' fast.txt | head -n 1 | sed 's/,.*//')
$redoubt replay fast.db "$id" | grep -q 'the journal says the same' || fail "the replay of fault $id differs"
$redoubt campaign scalarprod $chip --structure rf --faults 5 --with-fault 'stuck1:unit.sp[sm=0,sp=0,lane=0,bit=30]@0-' -o bad.db >out 2>&1 && fail "a first fault that shows by itself is taken"
grep -q 'alone ends the run or spoils its outputs' out || fail "$(cat out)"
echo "grade: equal to every fault by itself; a standing fault gives the same outcomes with and without shortcuts"
