#!/bin/sh
# Campaigns in many tasks: cluster.sh REDOUBT FOLDER [FAULTS [KILLS]]. A million faults in 1,000 journals are merged in less than 60 s and 500 MB; a campaign whose
# tasks are killed and whose results are cut off again and again ends with the journal of one process, row for row; and the test on Slurm, where there is one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
redoubt=$(realpath "$1")
maker=$(dirname "$redoubt")/journal_maker
mkdir -p "$2"
folder=$(realpath "$2")
faults=${3:-1000000}
kills=${4:-60}
cd "$folder"
export TMPDIR="$folder"

"$maker" whole.db "$faults"
for kind in parts shards; do
  rm -rf pieces merged.db
  mkdir pieces
  "$maker" pieces "$faults" "$kind" 1000
  python3 - "$redoubt" "$kind" "$faults" <<'PYTHON'
import glob, resource, subprocess, sys, time
began = time.monotonic()
subprocess.run([sys.argv[1], "merge", "-q", "merged.db", *glob.glob("pieces/*.db")], check=True)
seconds, used = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
megabytes = used.ru_maxrss / 1024
print(f"RESULT merge-{sys.argv[2]}: {sys.argv[3]} faults in 1000 {sys.argv[2]}: {seconds:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of a processor, {megabytes:.0f} MB")
sys.exit(seconds > 60 or megabytes > 500)
PYTHON
  python3 "$here/../cluster/same.py" whole.db merged.db
done
rm -rf pieces whole.db merged.db

campaign="$redoubt campaign vecadd --size tiny --machine fermi-gtx480 --set sm.count=2 --structure rf,shared --faults 600 --no-prune --no-snapshot"
rm -rf storm.db storm.db.cluster
$campaign -o calm.db -q >calm.txt
$campaign -o storm.db --cluster local:2,tasks=20,tries=100 >storm.txt 2>&1 &
command=$!
killed=0 cut=0
while kill -0 $command 2>/dev/null; do
  task=$(pgrep -f "redoubt task $folder/storm.db.cluster" | head -n 1 || true)
  if [ -n "$task" ] && [ $((killed + cut)) -lt "$kills" ]; then
    kill -9 "$task" 2>/dev/null && killed=$((killed + 1))
    result=$(ls storm.db.cluster/results/*.ok 2>/dev/null | head -n 1 || true)
    if [ -n "$result" ] && [ "$killed" -ge $((8 * (cut + 1))) ]; then truncate -s -1000 "${result%.ok}.db" && cut=$((cut + 1)); fi
  fi
  sleep 0.2
done
wait $command || { cat storm.txt; exit 1; }
python3 "$here/../cluster/same.py" calm.db storm.db
echo "RESULT cluster-storm: $killed tasks killed with -9 and $cut results cut off during a campaign of 20 tasks: every row as of one process"

code=0
"$here/../cluster/slurm.sh" "$redoubt" >slurm.txt 2>&1 || code=$?
case $code in
0) echo "RESULT cluster-slurm: campaign and study on a Slurm of two nodes, with a task killed, a node drained, a journal cut off and the controller gone: every row as of one process" ;;
77) echo "RESULT cluster-slurm: skipped: $(tail -n 1 slurm.txt)" ;;
*) cat slurm.txt; exit 1 ;;
esac
