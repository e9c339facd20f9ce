#!/bin/bash
#SBATCH --job-name=redoubt
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --time=4:00:00
# A campaign on two nodes from a container. The job's first step plans it, each task of Slurm takes every second part of what is missing, and
# gather puts the journal together, or says that more is to be done. Started again after a time limit, it goes on where it was.
#   sbatch slurm.sh IMAGE JOURNAL TARGET [OPTIONS OF redoubt campaign...]
#   sbatch slurm.sh redoubt.sif matmul.db matmul --machine fermi-gtx480 --structure rf --faults 100000
# The folder of JOURNAL must be one that all nodes see. Without a container (the tarball, unpacked): redoubt campaign ... --cluster slurm.
set -u
image=$1 journal=$2
shift 2
inside() { apptainer exec --bind "$PWD" "$image" redoubt "$@"; }

# shellcheck disable=SC2016
each='awk -v all="$SLURM_NTASKS" -v mine="$SLURM_PROCID" "NR % all == mine" "$2.missing" | while read -r task; do
  apptainer exec --bind "$PWD" "$1" redoubt task "$2.cluster" "$task" </dev/null
done'

[ -f "$journal.cluster/plan.json" ] || inside campaign "$@" -o "$journal" --cluster "folder:tasks=$((8 * SLURM_NTASKS))" # 5: unfinished, as it is
[ -f "$journal.cluster/plan.json" ] || exit 1
for ((tries = 0; tries < 20; tries++)); do
  inside status "$journal.cluster" --missing >"$journal.missing"
  srun --kill-on-bad-exit=0 bash -c "$each" each "$image" "$journal"
  inside gather "$journal.cluster"
  code=$?
  [ $code = 5 ] || exit $code # 0: the journal is there; 4: a task leaves no result; 5: more is to be done
done
echo "20 rounds were not enough; sbatch the same again" >&2
exit 5
