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
is "faults in a.json" 5000 "$(grep -c '^  {"id":' a.json)"
is "tables" "campaign.csv faults.csv kernels.csv launches.csv lines.csv structures.csv time.csv" "$(ls tables | tr '\n' ' ' | sed 's/ $//')"

# Summaries are sums of the faults: by structure, kernel, both, and time.
faults_in() { # TABLE: in the rows of standard input
  is "faults in $1" 5000 "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "faults") at = i } NR > 1 { sum += $at } END { print sum }')"
}
for table in structures launches time; do faults_in $table.csv <tables/$table.csv; done
{ head -1 tables/kernels.csv; grep ',all,' tables/kernels.csv; } | faults_in "kernels.csv, all"
grep -v ',all,' tables/kernels.csv | faults_in "kernels.csv, by structure"
is "faults in rf of the second kernel" "$(grep -c '"flip:rf.*,rf,[0-9]*,[24],' a.csv)" \
  "$(awk -F, '/^"second_kernel",rf,/ { print $5 }' tables/kernels.csv)"
for group in sdc due detected; do
  is "$group in a.json" "$(grep -c ",$group," a.csv)" "$(awk -v name="\"$group\": {" 'index($0, "\"all\": {") { all = 1 } all && index($0, name) { inside = 1 } inside && /"faults"/ { gsub(/[^0-9]/, ""); print; exit }' a.json)"
done
is "AVF of rf" "$(awk -F, '/"flip:rf/ { n++ } /"flip:rf/ && /,(sdc|due|detected),run/ { k++ } END { printf "%.6f", k / n }' a.csv)" \
  "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "avf") at = i } $1 == "rf" { printf "%.6f", $at }' tables/structures.csv)"

# Faults of several structures count by the bits of these, however many were drawn of each.
is "AVF of all" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "avf") at = i; if ($i == "bits") size = i } }
  NR > 1 { bits += $size; sum += $size * $at } END { printf "%.6f", sum / bits }' tables/structures.csv)" \
  "$(sed -n 's/^weighted_avf,//p' tables/campaign.csv | awk '{ printf "%.6f", $1 }')"
is "AVF in the row of all" "$(sed -n 's/^weighted_avf,//p' tables/campaign.csv | awk '{ printf "%.2f%%", 100 * $1 }')" \
  "$("$redoubt" report a.db | awk '$1 == "all" { print $(NF - 3); exit }')"

# Odd texts: quotes are doubled in CSV; the JSON is UTF-8.
"$redoubt" report odd.db --csv odd.csv --json odd.json
grep -q '""quoted"", ' odd.csv || fail "quotes in CSV"
iconv -f UTF-8 -t UTF-8 odd.json >/dev/null || fail "odd.json is not UTF-8"
is "faults in odd.json" 70 "$(grep -c '^  {"id":' odd.json)"

# Two journals side by side.
"$redoubt" compare a.db b.db >compared
grep -q '^4000 faults in both$' compared || fail "compare: $(cat compared)"
grep -q '^1000 in A alone, 0 in B alone' compared || fail "compare: $(cat compared)"
grep -q 'AVF falls by 0.000%' compared || fail "compare: $(cat compared)"

# The interval of the difference narrows with the confidence, and is said for which.
"$redoubt" compare a.db b.db --confidence 0.9 >narrow
grep -q 'at 99%' compared && grep -q 'at 90%' narrow || fail "compare does not say the confidence: $(cat narrow)"
widths=$(sed -n 's/.*(\(.*\) to \(.*\) at.*/\1 \2/p' narrow compared | awk '{ print $2 - $1 }' | tr '\n' ' ')
is "a narrower interval at 90%" yes "$(echo "$widths" | awk '{ print ($1 > 0 && $1 < $2 ? "yes" : "no: " $0) }')"
refuses 'confidence 1: must be a number between 0.5 and 1' "$redoubt" compare a.db b.db --confidence 1
refuses 'confidence 0.9x: must be a number' "$redoubt" report a.db --confidence 0.9x
refuses 'name two journals' "$redoubt" compare a.db
refuses "'c.db' is one too many" "$redoubt" compare a.db b.db c.db

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
