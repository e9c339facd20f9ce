#!/bin/sh
# The example of docs/safety.md runs, and its figures are those that other code counts in the same journals: safety.sh REDOUBT
set -eu
redoubt=$(realpath "$1")
cd "$(dirname "$0")/../.."
page=$(realpath docs/safety.md)
readme=$(realpath README.md)
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
for what in 'Transient faults' 'Permanent faults' 'SPFM' 'LFM' 'PMHF' 'all together' 'test scan' 'FTTI' 'were tried with second ones: 4, with 400'; do
  grep -q "$what" fmeda.txt || fail "no '$what' in: $(cat fmeda.txt)"
done
grep -q '"metrics":' fmeda.html || fail "the page holds no data"
# What the page shows of the output is there.
sed -n '/^From its output:$/,/^The test kernel finds/{/^    /s/^    //p}' "$page" >shown.txt
[ "$(wc -l <shown.txt)" -gt 15 ] || fail "docs/safety.md shows no output"
while IFS= read -r line; do
  grep -qxF -- "$line" fmeda.txt || fail "docs/safety.md shows '$line', which is not in: $(cat fmeda.txt)"
done <shown.txt

# The same as the files, as text.
sed -n '/^redoubt fmeda .*watchdog \\$/,/fmeda.html$/p' example.sh | sed 's/--csv .*/>same.txt/' >same.sh
[ "$(grep -c '' same.sh)" -eq 2 ] || fail "the command of the files is another one: $(cat same.sh)"
sh -eu same.sh

# README's own commands: registers alone are no chip, and no scope is declared. No form holds a figure against an ASIL.
grep -E '^redoubt (campaign matmul .* -o (plain|ecc).db|fmeda )' "$readme" | sed 's/ *#.*//' >readme.sh
[ "$(wc -l <readme.sh)" -eq 3 ] || fail "README's commands are other ones: $(cat readme.sh)"
mkdir readme readme-tables
cp readme.sh readme
(cd readme && sh -eu readme.sh >readme.txt 2>/dev/null) || fail "README's commands"
redoubt fmeda -q readme/plain.db readme/ecc.db --json readme.json --csv readme-tables -o readme.html
redoubt fmeda -q flip.db stuck?.db stuck?-*.db --csv unrated.csv --json unrated.json # unit.sp has no rate

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
trapped = lambda r: r["outcome_group"] == "due" and r["outcome"] not in ("due-hang", "timeout", "detected")
bad = lambda r: r["outcome_group"] in ("sdc", "due") and r["outcome"] != "detected" # what a mechanism detects is its own class
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
        assert abs(sum(cell[k]["value"] for k in ("not_used", "harmless", "detected", "residual", "latent")) - 1) < 1e-12
        harmless = [i for i in of if not bad(a[i]) and not left(b[i])]
        assert abs(cell["not_used"]["value"] * len(of) - sum(a[i]["read"] != "1" for i in harmless)) < 1e-6
        assert cell["use_not_recorded"] == sum(a[i]["read"] == "" for i in harmless)
        assert abs(cell["residual"]["value"] * len(of) - sum(left(b[i]) for i in of if bad(a[i])) - sum(left(b[i]) for i in of if not bad(a[i]))) < 1e-6
metrics = {(m["metric"], m["faults"]): m for m in data["metrics"]}
value = lambda metric, type: metrics[metric, type]["estimate"]["value"]
rate = lambda key, type: sum(c["raw_fit"] * c[key]["value"] for c in data["structures"] if c["type"] in type)
both = ("transient", "permanent")
for type in both:
    used = sum(c["raw_fit"] * (1 - c["not_used"]["value"]) for c in data["structures"] if c["type"] == type)
    assert abs(value("SPFM", type) - (1 - rate("residual", type) / used)) < 1e-12
    if type == "permanent": assert abs(value("LFM", type) - (1 - rate("latent", type) / (used - rate("residual", type)))) < 1e-12
assert {k for k in metrics if k[1] == "together"} == {("PMHF", "together")}, "one type would hide the other"
dual = rate("latent", "permanent") * rate("detected", both) * 1e4 * 1e-9
assert dual > 0 and abs(value("PMHF", "together") - rate("residual", both) - dual) < 1e-12
for m in data["metrics"]: # the interval decides
    e = m["estimate"]
    for asil, target in zip("BCD", {"SPFM": (.9, .97, .99), "LFM": (.6, .8, .9), "PMHF": (100, 100, 10)}[m["metric"]]):
        whole, some = (e["low"] >= target, e["high"] >= target) if m["is_share"] else (e["high"] < target, e["low"] < target)
        expected = "shown" if whole else "not shown" if some else "missed"
        assert m[asil] == (None if m["metric"] == "PMHF" and m["faults"] != "together" else expected), m
assert data["scope"]["declared"] and data["scope"]["text"] == "transient faults of rf, shared; permanent faults of rf, shared, unit.sp"
unit = sum(c["raw_fit"] for c in data["structures"] if c["structure"] == "unit.sp")
assert abs(unit - 3) < 1e-12
modes, manifest = tables("fmeda"), tables("manifest")
assert sum(r["failure_mode"] == "all" for r in modes) == len(data["structures"])
assert len(tables("metrics")) >= 6 and len(tables("coverage")) > 0
found = tables("findings")
assert [(f["severity"], f["finding"]) for f in found] == [(f["severity"], f["text"]) for f in data["findings"]] and len(found) > 5
words = " ".join(open("same.txt").read().split())
page = open("fmeda.html").read()
for f in found: assert f["finding"] in words and f["finding"] in page, f

# README: of the registers alone, and of flips alone.
text, readme = open("readme/readme.txt").read(), json.load(open("readme.json"))
judged = [m[asil] for m in readme["metrics"] for asil in "BCD" if m[asil] is not None]
assert set(judged) == {"withheld"} and len(judged) == 6, judged
share = readme["scope"]["transient_share_of_chip"]
assert 0.335 < share < 0.345 and not readme["scope"]["declared"]
with open("readme-tables/metrics.csv", newline="") as file: rows_of = list(csv.DictReader(file))
assert {r["asil_b"] for r in rows_of} == {"", "withheld"} and all(r["withheld_because"] for r in rows_of if r["asil_b"])
for form in (" ".join(text.split()), open("readme.html").read(), open("readme-tables/findings.csv").read()):
    assert "Transient faults struck 34.0% of the chip's raw rate" in form and "No campaign has permanent faults" in form
assert not any(line.split()[0] in ("SPFM", "LFM", "PMHF") and "shown" in line for line in text.splitlines() if line.strip())

# unit.sp without a rate beside its residual faults: no figure of permanent faults, and the reason in each form.
unrated = json.load(open("unrated.json"))
for m in unrated["metrics"]:
    if m["faults"] != "transient": assert m["estimate"] is None and m["B"] == "withheld" and "No rate of permanent faults is known for unit.sp" in m["withheld_because"], m
with open("unrated.csv", newline="") as file: rows_of = [r for r in csv.DictReader(file) if r["structure"] == "unit.sp"]
assert rows_of and all(r["in_figures"] == "no: no rate" and "No rate of permanent faults is known for unit.sp" in r["findings"] for r in rows_of)
assert [r["journal"] for r in manifest] == [m["journal"] for m in data["manifest"]]
for r in manifest:
    assert r["command"].startswith("redoubt campaign") and len(r["binary_hash"]) == 16 and len(r["content_hash"]) == 16
assert sum(r["first_fault"] != "" for r in manifest) == 4
assert len({r["content_hash"] for r in manifest}) == len(manifest), "two journals have the same content"
PYTHON
echo "safety: the example of docs/safety.md runs, its figures are those counted by other code"
