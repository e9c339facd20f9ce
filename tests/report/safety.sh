#!/bin/sh
# The example of docs/safety.md runs, and its figures are those that other code counts in the same journals: safety.sh REDOUBT
set -eu
redoubt=$(realpath "$1")
cd "$(dirname "$0")/../.."
page=$(realpath docs/safety.md)
command -v python3 >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
  echo "safety: FAILED: $*"
  exit 1
}
mkdir bin
ln -s "$redoubt" bin/redoubt
PATH=$folder/bin:$PATH
sed -n '/^```sh$/,/^```$/p' "$page" | grep -v '^```' >example.sh
[ "$(grep -c '^ *redoubt' example.sh)" -ge 10 ] || fail "no commands found in docs/safety.md"
sh -eu example.sh >out 2>&1 || fail "the example: $(tail -5 out)"
[ "$(awk 'length > 80 && !/^\[/' fmeda.txt | wc -l)" -eq 0 ] || fail "wider than 80 columns: $(awk 'length > 80' fmeda.txt)"
for what in 'Transient faults' 'Permanent faults' 'SPFM' 'LFM' 'PMHF' 'all together' 'test scan' 'FTTI' '3 unnoticed faults were tried'; do
  grep -q "$what" fmeda.txt || fail "no '$what' in: $(cat fmeda.txt)"
done
grep -q '"metrics":' fmeda.html || fail "the page holds no data"

python3 - <<'PYTHON' || fail "figures differ"
import csv, io, json, subprocess, sys

def rows(journal):
    text = subprocess.run(["redoubt", "export", journal], check=True, capture_output=True, text=True).stdout
    return {int(r["id"]): r for r in csv.DictReader(io.StringIO(text))}

def tables(name):
    with open("tables/" + name + ".csv", newline="") as file:
        lines = list(csv.reader(file))
    assert len({len(line) for line in lines}) == 1, name + " is not rectangular"
    return [dict(zip(lines[0], line)) for line in lines[1:]]

data = json.load(open("fmeda.json"))
trapped = lambda r: r["outcome_group"] == "due" and r["outcome"] not in ("due-hang", "timeout")
bad = lambda r: r["outcome_group"] in ("sdc", "due")
left = lambda r: r["outcome_group"] == "sdc" # traps and hangs are taken care of
for model, plain, ecc in (("flip", "flip.db", "flip-ecc.db"), ("stuck0", "stuck0.db", "stuck0-ecc.db"), ("stuck1", "stuck1.db", "stuck1-ecc.db")):
    a, b = rows(plain), rows(ecc)
    assert all(a[i]["fault"] == b[i]["fault"] for i in a), "not the same faults"
    for cell in (c for c in data["structures"] if c["model"] == model and not c["own_state"]):
        of = [i for i in a if a[i]["structure"] == cell["structure"]]
        dangerous = sum(bad(a[i]) for i in of)
        assert cell["union"]["dangerous"] == dangerous
        assert cell["union"]["left"] == sum(bad(a[i]) and left(b[i]) for i in of), cell
        by_name = {c["mechanism"]: c for c in cell["coverages"]}
        assert by_name["secded:rf,shared"]["left"] == sum(bad(a[i]) and bad(b[i]) for i in of)
        assert by_name["platform: traps"]["left"] == dangerous - sum(trapped(a[i]) for i in of)
        assert cell["faults"] == len(of)
        assert abs(sum(cell[k]["value"] for k in ("safe", "detected", "residual", "latent")) - 1) < 1e-12
        assert abs(cell["residual"]["value"] * len(of) - sum(left(b[i]) for i in of if bad(a[i])) - sum(left(b[i]) for i in of if not bad(a[i]))) < 1e-6
rated = [c for c in data["structures"] if c["raw_fit"]]
raw = sum(c["raw_fit"] for c in rated)
residual = sum(c["raw_fit"] * c["residual"]["value"] for c in rated)
latent = sum(c["raw_fit"] * c["latent"]["value"] for c in rated)
metrics = {(m["metric"], m["faults"]): m["estimate"] for m in data["metrics"]}
assert abs(metrics["SPFM", "together"]["value"] - (1 - residual / raw)) < 1e-12
assert abs(metrics["LFM", "together"]["value"] - (1 - latent / (raw - residual))) < 1e-12
unit = sum(c["raw_fit"] for c in data["structures"] if c["structure"] == "unit.sp")
assert abs(unit - 3) < 1e-12
modes, manifest = tables("fmeda"), tables("manifest")
assert sum(r["failure_mode"] == "all" for r in modes) == len(data["structures"])
assert len(tables("metrics")) >= 9 and len(tables("coverage")) > 0
assert [r["journal"] for r in manifest] == [m["journal"] for m in data["manifest"]]
for r in manifest:
    assert r["command"].startswith("redoubt campaign") and len(r["binary_hash"]) == 16 and len(r["content_hash"]) == 16
assert sum(r["first_fault"] != "" for r in manifest) == 3
assert len({r["content_hash"] for r in manifest}) == len(manifest), "two journals have the same content"
PYTHON
echo "safety: the example of docs/safety.md runs, its figures are those counted by other code"
