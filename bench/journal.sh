#!/bin/sh
# Reports of a journal of a million faults: journal.sh REDOUBT [FAULTS]. Time and peak memory against 10 s and 500 MB for tables,
# page and comparison, 3 s and 100 MB for exports.
# The journal is made by journal_maker, which lies beside redoubt; its own time is not counted.
set -eu
redoubt=$(realpath "$1")
maker=$(dirname "$redoubt")/journal_maker
faults=${2:-1000000}
[ -x "$maker" ] || { echo "journal: skipped, $maker is not built"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$maker" a.db "$faults"
"$maker" b.db "$faults" secded:rf

missed=0
measure() { # SECONDS MEGABYTES NAME COMMAND...: wall time by the clock, peak memory from the kernel's high-water mark
  seconds=$1
  megabytes=$2
  name=$3
  shift 3
  start=$(date +%s%N)
  "$@" >out.txt &
  child=$!
  peak=0
  while [ -r "/proc/$child/status" ]; do
    now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$child/status" 2>/dev/null || true)
    [ -n "$now" ] || break
    [ "$now" -gt "$peak" ] && peak=$now
    sleep 0.02
  done
  wait "$child"
  end=$(date +%s%N)
  awk -v name="$name" -v most="$seconds" -v most_mb="$megabytes" -v ns=$((end - start)) -v kb="$peak" 'BEGIN {
    seconds = ns / 1e9; megabytes = kb / 1024; good = seconds < most && megabytes < most_mb
    printf "%-40s %8.2f s %8d s %8.1f MB %6d MB %8s\n", name, seconds, most, megabytes, most_mb, good ? "met" : "MISSED"
    exit !good }' || missed=1
}
echo "a journal of $faults faults: $(($(stat -c %s a.db) / 1000000)) MB"
measure 10 500 "report, tables" "$redoubt" report a.db
measure 10 500 "report, page" "$redoubt" report a.db -o page.html
measure 3 100 "report, CSV" "$redoubt" report a.db --csv faults.csv
measure 3 100 "report, JSON" "$redoubt" report a.db --json all.json
measure 10 500 "compare" "$redoubt" compare a.db b.db
exit $missed
