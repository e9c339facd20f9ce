#!/bin/sh
# Campaigns and studies on a real Slurm of two nodes: slurm.sh REDOUBT. The result is that of one process, row for row, although one task is killed with
# -9, one node is drained, one journal is cut off, the command is stopped by Ctrl-C, and the controller disappears and has forgotten every job when it
# comes back. Needs root and the packages slurm-wlm and munge; else it is skipped.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../campaign/wait.sh"
. "$here/slurm-up.sh"
redoubt=$(realpath "$1")
[ "$(id -u)" -eq 0 ] || { echo "slurm: skipped: a Slurm for tests needs root"; exit 77; }
slurm_has_packages || { echo "slurm: skipped"; exit 77; }
folder=$(mktemp -d)
trap 'slurm_down; rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
export TMPDIR="$folder"
mkdir slurm
slurm_up "$folder/slurm" || { tail -n 5 slurm/*.log; echo "slurm: skipped: it does not start here"; exit 77; }
fail() {
  echo "slurm: FAILED: $*"
  exit 1
}
same() { python3 "$here/same.py" "$1" "$2" || fail "$2 is not the journal of one process"; }
results() { [ "$(ls all.db.cluster/results 2>/dev/null | grep -c '\.ok$')" -ge "$1" ]; }
running() { pgrep -f "redoubt task $folder/all.db.cluster" >pids; }

campaign="$redoubt campaign vecadd --size tiny --machine fermi-gtx480 --set sm.count=2 --structure rf,shared --faults 240 --no-prune --no-snapshot"
$campaign -o one.db -j2 -q >one.txt
on_slurm="$campaign -o all.db --cluster slurm:tasks=10,poll=1,limit=9"

# Ctrl-C: the jobs go on.
env --default-signal=INT $on_slurm >all.txt 2>&1 &
command=$!
within_a_minute grep -q '^submitted 10 of 10 missing tasks in 3 arrays' all.txt || fail "$(cat all.txt)"
kill -INT $command
code=0
wait $command || code=$?
[ $code -eq 130 ] || fail "Ctrl-C: exit code $code: $(cat all.txt)"
grep -q 'The same command comes back' all.txt || fail "does not say how to come back: $(cat all.txt)"

# Nobody watches: a task is killed, a node is drained, a result is cut off.
within_a_minute running || fail "no task runs: $(squeue)"
kill -9 "$(head -n 1 pids)"
within_a_minute results 1 || fail "no result: $(squeue)"
cut=$(ls all.db.cluster/results/*.ok | head -n 1)
truncate -s -4096 "${cut%.ok}.db"
scontrol update NodeName=n2 State=DRAIN Reason=test
"$redoubt" status all.db.cluster >status.txt || true
grep -q 'in the queue as redoubt-.*running.*waiting' status.txt || fail "$(cat status.txt)"
grep -q ' 1 damaged' status.txt || fail "a cut result is not seen: $(cat status.txt)"

# The controller is gone, and knows nothing when it comes back.
$on_slurm >again.txt 2>&1 &
command=$!
slurm_end "$slurm_folder/ctld.pid"
within_a_minute grep -q 'Slurm does not answer; waiting' again.txt || fail "$(cat again.txt)"
slurmctld -c -L "$slurm_folder/ctld.log"
code=0
wait $command || code=$?
[ $code -eq 0 ] || fail "exit code $code: $(cat again.txt all.db.cluster/logs/gather.log)"
grep -q 'Slurm answers again' again.txt || fail "$(cat again.txt)"
cat again.txt all.db.cluster/logs/gather.log | grep -q 'its result is damaged or was cut off; it is done again' || fail "the cut result: $(cat again.txt)"
same one.db all.db
sed -n '/^Of /,$p' again.txt | head -n "$(wc -l <one.txt)" >end.txt # what happened, as one process says it
cmp one.txt end.txt
"$redoubt" status all.db.cluster | grep -q ': done$' || fail "status"

# A study, and nobody needs to watch: the last job judges it.
scontrol update NodeName=n2 State=RESUME 2>/dev/null || true
cp "$here/../study/made-up.ini" "$here/../study/published.csv" .
"$redoubt" study made-up.ini -o study-one -q >study-one.txt
"$redoubt" study made-up.ini -o study-all -q --cluster slurm:poll=1,tasks=3 >study-all.txt || fail "the study: $(cat study-all/cluster/logs/*)"
cmp study-one.txt study-all.txt
for file in study.json index.html all.csv bars.csv; do cmp "study-one/$file" "study-all/$file"; done
grep -q 'all 7 tasks are done' study-all/cluster/logs/gather.log || fail "no job has judged the study: $(cat study-all/cluster/logs/gather.log)"
