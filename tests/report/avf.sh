#!/bin/sh
# ACE analysis as a journal: avf.sh REDOUBT. What 'redoubt avf' shows is what 'redoubt report' shows of its journal; tables of launches, kernels, lines and
# time add up to those of structures; 'redoubt compare' sets two runs side by side.
set -eu
redoubt=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
fail() {
  echo "avf: FAILED: $*"
  failed=1
}
cd "$folder"
run="bfs --size tiny --machine gt200-rise --set sm.count=2 --structure rf,unit.sp,ibuffer"
mkdir said told
# shellcheck disable=SC2086
"$redoubt" avf $run -o a.db --csv=said --json=said.json -q
"$redoubt" report a.db --csv told --json told.json -q
for table in structures kernels launches lines slices causes; do
  cmp "said/$table.csv" "told/$table.csv" || fail "$table differ"
done
cmp said.json told.json || fail "the JSON differs"
# Column of a table by its name; rows of one structure.
sum() { # TABLE COLUMN STRUCTURE
  awk -F, -v column="$2" -v structure="$3" 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == column) at = i; if ($i == "structure") by = i } }
    NR > 1 && $by == structure { all += $at } END { printf "%.0f", all }' "told/$1.csv"
}
ace() { awk -F, -v structure="$1" 'NR > 1 && $1 == structure && $4 { all += $5 } END { printf "%.0f", all }' told/causes.csv; }
for structure in rf ibuffer; do
  [ "$(ace $structure)" -gt 0 ] || fail "$structure has no ACE bit-cycles"
  for table in launches slices; do
    [ "$(sum $table bit_cycles $structure)" = "$(ace $structure)" ] || fail "$table of $structure: $(sum $table bit_cycles $structure), not $(ace $structure)"
  done
done
[ "$(sum lines bit_cycles rf)" = "$(ace rf)" ] || fail "lines of rf: $(sum lines bit_cycles rf), not $(ace rf)"
[ "$(awk -F, 'NR > 1 { print $1 }' told/launches.csv | sort -un | tail -1)" -gt 2 ] || fail "fewer launches than bfs has"
# shellcheck disable=SC2086
"$redoubt" avf $run --protect dmr -o b.db -q >/dev/null
"$redoubt" compare a.db b.db >both || fail "compare"
grep -q '^unit.sp ' both || fail "compare says nothing of unit.sp: $(cat both)"
exit $failed
