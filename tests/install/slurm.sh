#!/bin/bash
# The example for Slurm: slurm.sh FOLDER, after containers.py, whose `apptainer` is used. On a Slurm of two nodes a campaign in the container gives the journal
# of one process, and both nodes have worked. Skipped without Slurm.
set -u
folder=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../cluster/slurm-up.sh"
slurm_has_packages || { echo "install/slurm: skipped"; exit 77; }
export PATH="$folder/bin:$PATH" TMPDIR="$folder"
mkdir "$folder/slurm" "$folder/jobs"
trap slurm_down EXIT
slurm_up "$folder/slurm" || { echo "install/slurm: skipped: Slurm does not start here"; exit 77; }
cd "$folder/jobs" || exit 1
campaign=(vecadd --size tiny --machine fermi-gtx480 --set sm.count=2 --structure rf,shared --faults 240)
sbatch --quiet --wait -o job.log "$here/../../examples/containers/slurm.sh" redoubt.sif all.db "${campaign[@]}" || { cat job.log; exit 1; }
apptainer exec --bind "$PWD" redoubt.sif redoubt campaign "${campaign[@]}" -o one.db -q || exit 1
python3 "$here/../cluster/same.py" one.db all.db || { echo "install/slurm: FAILED: not the journal of one process"; exit 1; }
[ "$(ls all.db.cluster/results/*.ok | wc -l)" = 16 ] || { echo "install/slurm: FAILED: $(ls all.db.cluster/results)"; exit 1; }
echo "install/slurm: a campaign from the container on two nodes is that of one process"
