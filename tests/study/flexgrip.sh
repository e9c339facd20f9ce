#!/bin/sh
# The FlexGripPlus study: flexgrip.sh REDOUBT [FOLDER]. Its faults end as they did in an engine of its own that was checked against simulations
# from beginning to end: flexgrip-outcomes.txt, a letter a fault (. masked, p another time, s SDC, S SDC at another time, h hang,
# t timeout). With FOLDER the whole study; without it the same with the first 100 faults of each campaign, which is not the quick form: that judges nothing.
set -eu
redoubt=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
fail() {
  echo "flexgrip: FAILED: $*"
  exit 1
}
if [ $# -gt 1 ]; then
  folder=$2
  few=
  "$redoubt" reproduce flexgrip -o "$folder/results" -q >"$folder/said.txt"
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  few=yes
  cp "$here"/../../studies/flexgrip/* "$folder"
  sed -i '/^faults = /d; s/^quick\.faults/faults/' "$folder/study.ini"
  "$redoubt" study "$folder/study.ini" -o "$folder/results" -q >"$folder/said.txt"
fi
sqlite3 "$folder/results/study.db" "SELECT program || ',' || sms || ',' || blocks || ',' || group_concat(letter, '') FROM
  (SELECT program, sms, blocks, CASE WHEN class = 'masked' THEN '.' WHEN class = 'performance' THEN 'p' WHEN class = 'sdc' AND late = 0 THEN 's'
   WHEN class = 'sdc' THEN 'S' WHEN outcome = 'due-hang' THEN 'h' WHEN outcome = 'timeout' THEN 't' ELSE '?' END AS letter
   FROM faults ORDER BY rowid) GROUP BY program, sms, blocks" | sort >"$folder/found.txt"
[ "$(wc -l <"$folder/found.txt")" -eq 16 ] || fail "not 16 campaigns: $(cat "$folder/said.txt")"
length=$(awk -F , 'NR == 1 { print length($4) }' "$folder/found.txt")
awk -F , -v n="$length" '{ print $1 "," $2 "," $3 "," substr($4, 1, n) }' "$here/flexgrip-outcomes.txt" | sort >"$folder/known.txt"
cmp "$folder/found.txt" "$folder/known.txt" || fail "outcomes differ"
claims='flexgrip.table1:agrees flexgrip.table2:agrees flexgrip.tables3to6:agrees flexgrip.starts:agrees flexgrip.time.sms:agrees flexgrip.speedup2:agrees.in.part'
[ -n "$few" ] || claims="$claims flexgrip.avf.sms:agrees.in.part flexgrip.avf.blocks:agrees.in.part flexgrip.profile.phases:differs flexgrip.profile.signals:agrees
  flexgrip.profile.sdc:agrees flexgrip.profile.due:agrees flexgrip.mtbf.sms:differs flexgrip.faults:agrees"
for claim in $claims; do
  grep -q "^${claim%%:*}: ${claim#*:}" "$folder/said.txt" || fail "${claim%%:*} is not as it was: $(grep "^${claim%%:*}:" "$folder/said.txt")"
done
echo "flexgrip: $((16 * length)) faults as they were"
