#!/bin/sh
# Exports of a journal: exports.sh REDOUBT JOURNAL_MAKER. CSV and JSON hold every fault and agree; damage and full disks are told.
set -eu
redoubt=$(realpath "$1")
maker=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
fail() {
  echo "exports: FAILED: $*"
  failed=1
}
is() { # WHAT EXPECTED FOUND
  [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}
refuses() { # PATTERN COMMAND...: must end with an error that says it
  pattern=$1
  shift
  if "$@" >"$folder/said" 2>&1; then fail "$* must fail"; fi
  grep -q "$pattern" "$folder/said" || fail "$*: expected '$pattern', found '$(cat "$folder/said")'"
}

cd "$folder"
"$maker" a.db 5000
"$maker" b.db 4000 secded:rf
"$maker" odd.db 70 odd
mkdir tables
"$redoubt" report a.db --csv tables --json a.json
"$redoubt" report a.db --csv a.csv
cmp a.csv tables/faults.csv || fail "--csv FILE is not the table of faults"
is "rows of faults.csv" 5001 "$(wc -l <a.csv)"
is "errors that are infinite" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "worst") at = i } $at == "inf" { n++ } END { print n }' a.csv)" "$(grep -c '"worst":"infinite"' a.json)"
is "faults in a.json" 5000 "$(grep -c '^  {"id":' a.json)"
is "tables" "breakdown.csv campaign.csv faults.csv kernels.csv launches.csv lines.csv severity.csv structures.csv time.csv" "$(ls tables | tr '\n' ' ' | sed 's/ $//')"

# Summaries are sums of the faults: by structure, kernel, both, and time.
faults_in() { # TABLE: in the rows of standard input
  is "faults in $1" 5000 "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "faults") at = i } NR > 1 { sum += $at } END { print sum }')"
}
for table in structures launches time; do faults_in $table.csv <tables/$table.csv; done
{ head -1 tables/kernels.csv; grep ',all,' tables/kernels.csv; } | faults_in "kernels.csv, all"
grep -v ',all,' tables/kernels.csv | faults_in "kernels.csv, by structure"
is "faults in rf of the second kernel" "$(grep -c '^[0-9]*,rf,.*,second_kernel,' a.csv)" \
  "$(awk -F, '/^"second_kernel",rf,/ { print $5 }' tables/kernels.csv)"
for group in sdc due; do
  is "$group in a.json" "$(grep -c ",$group," a.csv)" "$(awk -v name="\"$group\": {" 'index($0, "\"all\": {") { all = 1 } all && index($0, name) { inside = 1 } inside && /"faults"/ { gsub(/[^0-9]/, ""); print; exit }' a.json)"
done
is "AVF of rf" "$(awk -F, '/"flip:rf/ { n++ } /"flip:rf/ && /,(sdc|due),(run|class)/ { k++ } END { printf "%.6f", k / n }' a.csv)" \
  "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "avf") at = i } $1 == "rf" { printf "%.6f", $at }' tables/structures.csv)"

# Faults of several structures count by the bits of these, however many were drawn of each.
is "AVF of all" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "avf") at = i; if ($i == "bits") size = i } }
  NR > 1 { bits += $size; sum += $size * $at } END { printf "%.6f", sum / bits }' tables/structures.csv)" \
  "$(sed -n 's/^weighted_avf,//p' tables/campaign.csv | awk '{ printf "%.6f", $1 }')"
is "AVF in the row of all" "$(sed -n 's/^weighted_avf,//p' tables/campaign.csv | awk '{ printf "%.2f", 100 * $1 }')" \
  "$("$redoubt" report a.db | awk '$1 == "all," { print $(NF - 3); exit }')"

# SDC-AVF and DUE-AVF add up to the AVF; the sum of FIT is that of the structures.
is "measures add up" yes "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
  NR > 1 { d = $at["sdc_avf"] + $at["due_avf"] - $at["avf"]; bad += d > 1e-8 || d < -1e-8; fit += $at["fit_sdc_avf"] }
  END { print bad ? "no" : "yes"; printf "%.6g\n", fit >"fit" }' tables/structures.csv)"
is "FIT by SDCs" "$(cat fit)" "$(sed -n 's/^fit_sdc_avf,//p' tables/campaign.csv | awk '{ printf "%.6g", $1 }')"

is "keys that come twice" "" "$(cut -d, -f1 tables/campaign.csv | grep '^[a-z_ ]*$' | sort | uniq -d)"

# The outcomes of a group add up to its share of all structures.
"$redoubt" report a.db >a.txt
is "DUEs by cause" yes "$(awk '$1 == "all," && all == "" { all = $9 } /^(due-|timeout|detected)/ { sum += $3 }
  END { print (sum > 1 && sum - all < 0.05 && all - sum < 0.05 ? "yes" : sum " for " all) }' a.txt)"

# Breakdowns are sums of the faults, too.
is "faults by bit" 5000 "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "faults") at = i } $1 == "bit" { sum += $at } END { print sum }' tables/breakdown.csv)"
is "SDCs by pattern" "$(grep -c ',sdc,run,' a.csv)" "$(awk -F, '$1 == "pattern" { sum += $4 } END { print sum }' tables/severity.csv)"
"$redoubt" report a.db --by bit,pattern >by.txt
is "rows by bit" 32 "$(awk '/^l2, by bit/ { on = 1; next } /^$/ { on = 0 } on && /^[0-9]/ { n++ } END { print n }' by.txt)"
for list in colour bit,colour '' bit,; do
  refuses 'must be one of bit, opcode' "$redoubt" report a.db --by "$list"
  is "lines beside the error for --by '$list'" 1 "$(wc -l <said)"
done

# An export is the same table; a query of SQLite's own sees the same rows.
"$redoubt" export a.db >exported.csv
cmp exported.csv a.csv || fail "export differs from report --csv"
"$redoubt" export a.db --table structures -o structures.csv
cmp structures.csv tables/structures.csv || fail "export of structures differs"
"$redoubt" export a.db --json | cmp - a.json || fail "export --json differs from report --json"
refuses "did you mean 'structures'?" "$redoubt" export a.db --table structure

# An unfinished journal: counts, no shares, a code of its own; a part on request, which is that of a campaign of as many faults.
"$maker" part.db 5000 none 1200
"$maker" small.db 1200
code=0
"$redoubt" report part.db >part.txt || code=$?
is "code of an unfinished journal" 5 $code
grep -q '^unfinished: 1200 of 5000 faults, biased' part.txt || fail "unfinished: $(cat part.txt)"
sed 1d part.txt | grep -q '[0-9]%\|[0-9] (' && fail "an unfinished journal shows shares: $(cat part.txt)"
"$redoubt" report part.db --csv part.csv --json part.json && fail "export of an unfinished journal says nothing"
grep -q '"shares_withheld": true' part.json || fail "the JSON does not say that it is unfinished"
grep -q '"avf": null' part.json || fail "the JSON of an unfinished journal has shares"
"$redoubt" report part.db --partial >part.txt || fail "--partial: $(cat part.txt)"
grep -q 'over the first 1200, which are complete' part.txt || fail "--partial: $(cat part.txt)"
"$redoubt" report small.db >small.txt
is "a part and a small campaign" "$(grep '^rf ' small.txt)" "$(grep '^rf ' part.txt)"
refuses 'part.db: error: is unfinished: 1200 of 5000' "$redoubt" compare a.db part.db
refuses 'part.db: error: is unfinished: 1200 of 5000' "$redoubt" report a.db part.db
for command in compare report; do
  code=0
  "$redoubt" $command a.db part.db >/dev/null 2>&1 || code=$?
  is "code of $command with an unfinished journal" 5 $code
done

# Of a part without its first fault nothing can be said.
"$maker" none.db 5000 none 0
code=0
"$redoubt" report none.db --partial >none.txt || code=$?
is "code of a part that is empty" 5 $code
grep -q 'partial cannot help yet' none.txt || fail "a part that is empty: $(cat none.txt)"
refuses 'none.db: error: is unfinished: 0 of 5000 faults, and a part is biased; finish the campaign$' "$redoubt" compare a.db none.db --partial

# Many journals: programs by protections.
"$redoubt" report a.db b.db >matrix.txt
grep -q '^2 campaigns: 1 program, 2 columns' matrix.txt || fail "matrix: $(cat matrix.txt)"
"$redoubt" report a.db b.db --csv matrix.csv --json matrix.json -o matrix.html
is "rows of the matrix" 5 "$(wc -l <matrix.csv)"
is "AVF in the matrix" "$(sed -n 's/^weighted_avf,//p' tables/campaign.csv)" \
  "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "avf") at = i } NR == 2 { print $at }' matrix.csv)"
grep -q '^made-up  *secded:rf  *+0.00%  *-  *-  ' matrix.txt || fail "cost and gain: $(cat matrix.txt)"
grep -q '"sdc_removed": {' matrix.json || fail "the matrix's JSON has no gains"
refuses 'is of the same program and protection as a.db' "$redoubt" report a.db a.db

# Odd texts: quotes are doubled in CSV; the JSON is UTF-8.
"$redoubt" report odd.db --csv odd.csv --json odd.json
grep -q '""quoted"", ' odd.csv || fail "quotes in CSV"
iconv -f UTF-8 -t UTF-8 odd.json >/dev/null || fail "odd.json is not UTF-8"
is "faults in odd.json" 70 "$(grep -c '^  {"id":' odd.json)"

# Two journals side by side.
"$redoubt" compare a.db b.db >compared
grep -q '^paired: the same faults in both' compared || fail "compare: $(cat compared)"
grep -q '^4000 pairs$' compared || fail "compare: $(cat compared)"
grep -q '^1000 faults in A alone, 0 in B alone' compared || fail "compare: $(cat compared)"
"$redoubt" compare a.db b.db --csv compared.csv --json compared.json -q
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
  { d = $at["a"] - $at["b"] - $at["removed"]; bad += d > 1e-8 || d < -1e-8 }
  { for (key in at) if (key ~ /_low$/) { name = substr(key, 1, length(key) - 4); bad += $at[key] > $at[name] || $at[name] > $at[name "_high"] } }
  $4 == "rf" && $3 == "avf" { printf "rf %#.3g (%#.3g to %#.3g) %#.3g (%#.3g to %#.3g)\n", 100 * $5, 100 * $6, 100 * $7, 100 * $8, 100 * $9, 100 * $10 }
  END { exit bad || NR != 21 }' compared.csv >shares || fail "compare --csv: $(cat compared.csv)"
awk '/AVF/ { on = /^AVF / } on && $1 == "rf" { print $1, $2, $3, $4, $5, $6, $7, $8, $9 }' compared | cmp - shares || fail "compare's text and CSV differ: $(cat shares compared)"
is "rows of compared.json" 20 "$(grep -c '"measure":' compared.json)"
is "intervals of A and B in compared.json" 40 "$(grep -A 1 '"[ab]": {' compared.json | grep -c '"high": 0')"
grep -q '^  rf .* 0 (-' compared || fail "compare: $(cat compared)"
grep -q 'time: 100000 instead of 100000 cycles (+0.00%)' compared || fail "compare: $(cat compared)"

# What else the two differ in is said, and other models have no FIT in common.
for model in flip stuck1; do
  "$redoubt" campaign vecadd --size tiny --structure rf --faults 60 --model $model --window cycles:0-500 -o $model.db >/dev/null 2>&1
done
"$redoubt" campaign vecadd --size tiny --structure rf --faults 60 -o all.db >/dev/null 2>&1
"$redoubt" report all.db | grep -q '^cycles per SDC' || fail "no cycles per SDC"
"$redoubt" report flip.db | grep -q '^cycles per SDC' && fail "cycles per SDC of a part of the run"
"$redoubt" compare all.db flip.db >differ
grep -q '^they differ in: window$' differ && grep -q 'FIT removed' differ || fail "compare with another window: $(cat differ)"
"$redoubt" compare flip.db stuck1.db >differ
grep -q '^they differ in: model$' differ || fail "compare of two models: $(cat differ)"
grep -q 'FIT' differ && fail "compare of two models has a FIT: $(cat differ)"

# The interval of the difference narrows with the confidence, and is said for which.
"$redoubt" compare a.db b.db --confidence 0.9 >narrow
grep -q 'at 99%' compared && grep -q 'at 90%' narrow || fail "compare does not say the confidence: $(cat narrow)"
widths=$(awk '/^  rf / { sub(/.* 0 \(/, ""); print $3 - $1; nextfile }' narrow compared | tr '\n' ' ')
is "a narrower interval at 90%" yes "$(echo "$widths" | awk '{ print ($1 > 0 && $1 < $2 ? "yes" : "no: " $0) }')"
refuses 'confidence 1: must be a number between 0.5 and 1' "$redoubt" compare a.db b.db --confidence 1
refuses 'confidence 0.9x: must be a number' "$redoubt" report a.db --confidence 0.9x
refuses 'name two journals' "$redoubt" compare a.db

# Bad input.
refuses 'cannot be written: No space left on device' "$redoubt" report a.db --csv /dev/full
refuses 'cannot be written: No space left on device' "$redoubt" report a.db --json /dev/full
refuses 'cannot be written: No space left on device' "$redoubt" report a.db -o /dev/full
refuses 'cannot be written: No such file' "$redoubt" report a.db -o nowhere/page.html
refuses 'no such file' "$redoubt" report nowhere.db
echo "no journal at all, just text that is long enough to be looked at as a database" >text.db
refuses 'not a journal' "$redoubt" report text.db
dd if=/dev/urandom of=a.db bs=4096 seek=60 count=20 conv=notrunc 2>/dev/null
for wish in "" "--csv x.csv" "--json x.json" "-o x.html"; do
  # shellcheck disable=SC2086
  refuses 'is damaged' "$redoubt" report a.db $wish
done
refuses 'is damaged' "$redoubt" compare b.db a.db
exit $failed
