# A Slurm of one machine with two nodes, for tests: its own munge, ports and folders. To be sourced; needs root.
#   slurm_up FOLDER    starts it and sets SLURM_CONF; 1: it cannot be had
#   slurm_control      starts the controller alone (again)
#   slurm_down         ends what was started, by process number
# Without accounting: what has become of a job is not kept.

slurm_has_packages() {
  for program in munged slurmctld slurmd sbatch squeue scontrol; do
    command -v "$program" >/dev/null 2>&1 || { echo "$program is not installed (packages slurm-wlm, munge)"; return 1; }
  done
}

# Ports that nobody listens on, from a number that depends on this process.
slurm_free_port() { # offset
  port=$((20000 + ($$ % 5000) * 4 + $1))
  while ss -ltn 2>/dev/null | grep -q ":$port "; do port=$((port + 20000 % 9973)); done
  echo "$port"
}

slurm_config() {
  host=$(hostname -s)
  cat <<CONFIG
ClusterName=lab
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$slurm_folder/munge.sock
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$slurm_folder/state
SlurmdSpoolDir=$slurm_folder/spool-%n
SlurmctldPidFile=$slurm_folder/ctld.pid
SlurmdPidFile=$slurm_folder/slurmd-%n.pid
SlurmctldPort=$(slurm_free_port 0)
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0,bf_interval=2
MinJobAge=10
MaxArraySize=${MAX_ARRAY:-4}
KillWait=2
MessageTimeout=2
TCPTimeout=1
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$(slurm_free_port 1) CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$(slurm_free_port 2) CPUs=2 State=UNKNOWN
PartitionName=debug Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
CONFIG
}

slurm_control() { slurmctld -L "$slurm_folder/ctld.log"; }

slurm_up() {
  slurm_folder=$1
  mkdir -p "$slurm_folder/state" "$slurm_folder/spool-n1" "$slurm_folder/spool-n2"
  SLURM_CONF=$slurm_folder/slurm.conf
  export SLURM_CONF
  slurm_config >"$SLURM_CONF"
  head -c 64 /dev/urandom >"$slurm_folder/munge.key"
  chmod 400 "$slurm_folder/munge.key"
  munged --force --key-file="$slurm_folder/munge.key" --socket="$slurm_folder/munge.sock" --pid-file="$slurm_folder/munge.pid" \
    --log-file="$slurm_folder/munge.log" --seed-file="$slurm_folder/munge.seed" 2>"$slurm_folder/munge.err" || return 1
  slurm_control || return 1
  for node in n1 n2; do slurmd -N "$node" -L "$slurm_folder/slurmd-$node.log" || return 1; done
  for _ in $(seq 100); do
    [ "$(sinfo -h -N -o '%T' 2>/dev/null | grep -c idle)" -eq 2 ] && return 0
    sleep 0.1
  done
  sinfo -N
  return 1
}

slurm_end() { # pid files: tells them all, then waits
  pids=""
  for file in "$@"; do
    [ ! -s "$file" ] || pids="$pids $(cat "$file")"
    rm -f "$file"
  done
  for pid in $pids; do kill "$pid" 2>/dev/null || true; done
  for pid in $pids; do
    for _ in $(seq 100); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || true
  done
}

# A step that cannot tell a controller of its end goes on trying: it is ended, too. Ours work in our folder.
slurm_down() {
  slurm_end "$slurm_folder/ctld.pid" "$slurm_folder/slurmd-n1.pid" "$slurm_folder/slurmd-n2.pid" "$slurm_folder/munge.pid"
  for step in $(pgrep -x slurmstepd || true); do
    case $(readlink "/proc/$step/cwd") in
    "$slurm_folder"*) kill -9 "$step" 2>/dev/null || true ;;
    esac
  done
}
