#!/bin/sh
# Campaigns and studies as tasks of this computer: local.sh REDOUBT [SLOW]. The result is that of one process, row for row: after kill -9 of a task and of
# the command, after Ctrl-C, with a result cut off, in rounds with a margin. Also: the folder for other schedulers, failures, scripts.
set -eu
. "$(dirname "$0")/../campaign/wait.sh"
here=$(cd "$(dirname "$0")" && pwd)
redoubt=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export TMPDIR="$folder"
fail() {
  echo "cluster: FAILED: $*"
  exit 1
}
same() { python3 "$here/same.py" "$1" "$2" || fail "$2 is not the journal of one process"; }
target="vecadd --size tiny --machine fermi-gtx480 --set sm.count=2 --structure rf,shared"

# As one process would have done it, and as it says it.
"$redoubt" campaign $target --faults 3000 -o one.db -q >one.txt
"$redoubt" campaign $target --faults 3000 -o all.db --cluster local:2,tasks=5 >all.txt 2>all.err || fail "$(cat all.err)"
same one.db all.db
cmp one.txt all.txt
grep -q '^3000 faults in 5 tasks' all.err || fail "no word of the tasks: $(cat all.err)"
"$redoubt" status all.db.cluster >status.txt || fail "status: $(cat status.txt)"
grep -q '^5 of 5 tasks done, 3000 faults$' status.txt || fail "$(cat status.txt)"
"$redoubt" status all.db | cmp - status.txt || fail "status by the journal's name"
grep -q '^rf  *1500  ' status.txt || fail "no outcomes: $(cat status.txt)"
python3 -c "import sqlite3; (command,), = sqlite3.connect('all.db').execute(\"SELECT value FROM meta WHERE key = 'command'\"); \
assert '--part' not in command and '--cluster' in command, command" || fail "the journal's command is that of a task"
before=$(stat -c '%Y %i' all.db)
"$redoubt" campaign $target --faults 3000 -o all.db --cluster local:2,tasks=5 -q >again.txt # nothing to do
cmp one.txt again.txt
[ "$before" = "$(stat -c '%Y %i' all.db)" ] || fail "a finished campaign was put together again"

# How long tasks take is measured: all of this is less than a minute of work.
"$redoubt" campaign $target --faults 3000 -o measured.db --cluster local:1,minutes=1 >/dev/null 2>all.err
grep -q '^3000 faults in 1 tasks, of about' all.err || fail "$(cat all.err)"
same one.db measured.db

# SLOW faults in slow tasks: one is killed, then the command; then it is stopped by Ctrl-C and a result is cut off.
slow="$target --faults ${2:-200} --no-prune --no-snapshot"
"$redoubt" campaign $slow -o slow.db -j2 -q >/dev/null
on_cluster="$redoubt campaign $slow -o killed.db --cluster local:2,tasks=8"
running() { pgrep -f "redoubt task $folder/killed.db.cluster" >pids; }
results() { [ "$(ls killed.db.cluster/results 2>/dev/null | grep -c '\.ok$')" -ge "$1" ]; }
$on_cluster >killed.txt 2>&1 &
command=$!
within_a_minute running || fail "no task was started: $(cat killed.txt)"
victim=$(head -n 1 pids)
kill -9 "$victim"
within_a_minute results 2 || fail "no results: $(cat killed.txt)"
kill -9 $command
wait $command 2>/dev/null || true
have_ended() { ! pgrep -f "redoubt task $folder/killed.db.cluster" >pids; }
within_a_minute have_ended || fail "tasks outlive the command: $(cat pids)"
code=0
"$redoubt" status killed.db.cluster >status.txt || code=$?
[ $code -eq 5 ] || fail "status of an unfinished campaign: exit code $code"
env --default-signal=INT $on_cluster >stopped.txt 2>&1 &
command=$!
within_a_minute running || fail "it does not go on: $(cat stopped.txt)"
kill -INT $command
code=0
wait $command || code=$?
[ $code -eq 130 ] || fail "Ctrl-C: exit code $code: $(cat stopped.txt)"
grep -q 'the same command goes on' stopped.txt || fail "does not say how to come back: $(cat stopped.txt)"
cut=$(ls killed.db.cluster/results/*.ok | head -n 1)
truncate -s -4096 "${cut%.ok}.db"
"$redoubt" status killed.db.cluster | grep -q '1 damaged' || fail "a cut result is not seen"
$on_cluster >killed.txt 2>&1 || fail "$(cat killed.txt)"
grep -q 'its result is damaged or was cut off; it is done again' killed.txt || fail "$(cat killed.txt)"
same slow.db killed.db
[ "$(ls "$folder" | grep -c '^redoubt-\(merge\|sample\)')" -eq 0 ] || fail "temporary folders are left: $(ls "$folder")"

# A margin: rounds of tasks, until every structure is sure enough.
margin="vecadd --size tiny --machine fermi-gtx480 --set sm.count=2 --structure rf,unit.sp --margin 0.008 --window cycles:700-900"
"$redoubt" campaign $margin -o margin.db -q >/dev/null
"$redoubt" campaign $margin -o rounds.db --cluster local:2,tasks=2 >/dev/null 2>rounds.err || fail "$(cat rounds.err)"
grep -q '^round 2: ' rounds.err || fail "one round: $(cat rounds.err)"
same margin.db rounds.db

# A study.
cp "$here/../study/made-up.ini" "$here/../study/published.csv" .
"$redoubt" study made-up.ini -o study-one -q >study-one.txt
"$redoubt" study made-up.ini -o study-all -q --cluster local:2 >study-all.txt || fail "the study"
cmp study-one.txt study-all.txt
for file in study.json index.html all.csv bars.csv; do cmp "study-one/$file" "study-all/$file"; done
for cell in study-one/cells/*.db; do same "$cell" "study-all/cells/$(basename "$cell")"; done
rm "$(ls study-all/cells/*.json | head -n 1)" # a cell that is lost afterwards
"$redoubt" study made-up.ini -o study-all -q --cluster local:2 >study-all.txt || fail "the study again"
cmp study-one.txt study-all.txt

# The folder for other schedulers.
code=0
"$redoubt" campaign $target --faults 3000 -o own.db --cluster folder:tasks=3 >/dev/null 2>own.err || code=$?
[ $code -eq 5 ] || fail "folder: exit code $code: $(cat own.err)"
for task in $("$redoubt" status own.db.cluster --missing); do "$redoubt" task own.db.cluster "$task" -q; done
handed_out_again() { # FOLDER WHAT: task 1 has the result of task 0
  code=0
  "$redoubt" gather "$1" -q >gather.txt 2>&1 || code=$?
  [ $code -eq 5 ] || fail "$2: exit code $code: $(cat gather.txt)"
  grep -q 'task 1: its result is of another task, or was changed; it is done again' gather.txt || fail "$2: $(cat gather.txt)"
  [ "$("$redoubt" status "$1" --missing)" = 1 ] || fail "$2: it is not handed out again"
  "$redoubt" task "$1" 1 -q
}
unnamed() { # RECEIPT: as earlier versions wrote it
  python3 -c "import json, sys; receipt = json.load(open(sys.argv[1])); [receipt.pop(key) for key in ('plan', 'task', 'first', 'end')]; json.dump(receipt, open(sys.argv[1], 'w'))" "$1"
}
for kind in db ok; do cp own.db.cluster/results/000000.$kind own.db.cluster/results/000001.$kind; done
handed_out_again own.db.cluster "another task's result and receipt"
for kind in db ok; do cp own.db.cluster/results/000000.$kind own.db.cluster/results/000001.$kind; done
unnamed own.db.cluster/results/000001.ok
handed_out_again own.db.cluster "another task's result and a receipt without a name"
"$redoubt" gather own.db.cluster -q || fail "gather"
same one.db own.db

# Cells of a study likewise: also with the seal of the other.
"$redoubt" study made-up.ini -o study-own -q --cluster folder >/dev/null 2>&1 || [ $? -eq 5 ] || fail "a study for other schedulers"
"$redoubt" task study-own/cluster $("$redoubt" status study-own/cluster --missing) -q || fail "tasks of a study"
cell() { python3 -c "import json, sys; print(json.load(open('study-own/cluster/plan.json'))['outputs'][int(sys.argv[1])]['file'])" "$1"; }
cp "$(cell 0)" "$(cell 1)"
cp "$(cell 0).seal" "$(cell 1).seal"
cp study-own/cluster/results/000000.ok study-own/cluster/results/000001.ok
handed_out_again study-own/cluster "another cell's result and receipt"
cp "$(cell 0)" "$(cell 1)"
cp study-own/cluster/results/000000.ok study-own/cluster/results/000001.ok
unnamed study-own/cluster/results/000001.ok
handed_out_again study-own/cluster "another cell's result and a receipt without a name"
"$redoubt" gather study-own/cluster -q || fail "gather of a study"
cmp study-one.txt study-own/study.txt
sed -i 's/"program_hash": "./"program_hash": "z/' own.db.cluster/plan.json
code=0
"$redoubt" task own.db.cluster 0 2>own.err || code=$?
[ $code -eq 2 ] && grep -q 'another build of Redoubt' own.err || fail "another build: $(cat own.err)"

# What always fails is tried three times, and named with its log. The first command tries again.
refused() { # MESSAGE EXIT_CODE OPTIONS...
  message=$1
  wanted=$2
  shift 2
  code=0
  "$redoubt" campaign $target --faults 100 "$@" >refused.txt 2>&1 || code=$?
  [ $code -eq "$wanted" ] || fail "$*: exit code $code: $(cat refused.txt)"
  grep -q -e "$message" refused.txt || fail "$*: $(cat refused.txt)"
}
refused 'task 0 has left no result after 3 tries' 4 -o bad.db --cluster local:2,tasks=2,scratch=/none
"$redoubt" status bad.db.cluster >status.txt && fail "status of a failed campaign"
grep -q 'task 1, try 3 of 3: .*log .*bad.db.cluster/logs/003-1.log' status.txt || fail "$(cat status.txt)"
grep -q '/none: error: no folder can be made there' bad.db.cluster/logs/003-1.log || fail "no log"
refused 'it belongs to another command' 2 -o killed.db --cluster local:2
refused "no structure 'nothing'" 2 -o wrong.db --structure nothing --cluster local:2
[ ! -e wrong.db.cluster/plan.json ] || fail "a plan for what cannot be run"
refused 'is there already' 2 -o one.db --cluster local:2
refused 'makes parts itself' 2 -o x.db --shard 0/2 --cluster local:2
refused "did you mean 'cpus'" 2 -o x.db --cluster local:2,cpu=3

# Without Slurm nothing is planned. (The folder of commands has all but Slurm's.)
mkdir commands
for command in /usr/bin/* /bin/*; do ln -sf "$command" commands/; done
rm -f commands/sbatch commands/squeue
no_slurm() { # COMMAND...
  code=0
  timeout 30 env PATH="$folder/commands" "$redoubt" "$@" >slurm.txt 2>&1 || code=$?
  [ $code -eq 2 ] || fail "$1 without Slurm: exit code $code: $(cat slurm.txt)"
  [ "$(wc -l <slurm.txt)" -eq 1 ] || fail "$1 without Slurm: $(cat slurm.txt)"
  grep -q "there is no 'sbatch' here: .*--cluster local:N" slurm.txt || fail "$1 without Slurm: $(cat slurm.txt)"
}
no_slurm campaign $target --faults 100 -o none.db --cluster slurm
[ ! -e none.db.cluster ] || fail "a plan for Slurm without Slurm"
no_slurm study made-up.ini -o none --cluster slurm:partition=long
sed 's/"cluster": *"folder[^"]*"/"cluster": "slurm"/; s/"state": *"done"/"state": "running"/' own.db.cluster/plan.json >plan.json
mv plan.json own.db.cluster/plan.json
rm own.db.cluster/results/000001.ok
no_slurm gather own.db.cluster

# Scripts.
"$redoubt" campaign $target --faults 3000 -o "with space.db" --cluster slurm:dry-run,tasks=1500,throttle=20,partition=long,minutes=5 >scripts.txt
[ ! -e "with space.db.cluster" ] || fail "dry-run makes a folder"
[ "$(grep -c '^#SBATCH --array=' scripts.txt)" -eq 2 ] || fail "1,500 tasks are not two arrays: $(cat scripts.txt)"
grep -q '^#SBATCH --array=0-1000%20$' scripts.txt || fail "$(cat scripts.txt)"
"$redoubt" study made-up.ini -o dry --cluster slurm:dry-run,tasks=2 >study-scripts.txt
grep -q '^#SBATCH --array=0-1$' study-scripts.txt || fail "$(cat study-scripts.txt)"
if command -v shellcheck >/dev/null; then
  for scripts in scripts.txt study-scripts.txt; do
    csplit -s -z -f script- "$scripts" '/^# ----/' '{*}'
    for script in script-*; do
      sed -i 1d "$script"
      shellcheck "$script" || fail "shellcheck: $script"
    done
    rm script-*
  done
else
  echo "cluster: no shellcheck: the scripts were not looked at"
fi
