# A real Slurm of two nodes on this machine, in a folder of its own, for tests. Sourced after lib.sh, never run.
# shellcheck shell=bash

# start_cluster FOLDER CPUS: munge, the controller and two nodes; exports SLURM_CONF. They end with stop_cluster.
start_cluster() {
  local base=$1 cpus=$2 node
  [[ $(id -u) -eq 0 ]] || fail "the daemons of Slurm start jobs for users and must run as root"
  command -v slurmctld >/dev/null || fail "slurmctld is missing"
  mkdir -p "$base"/{ctld,log,spool,tmp/n1,tmp/n2}
  cat >"$base/slurm.conf" <<CONF
ClusterName=toy
SlurmctldHost=localhost
SlurmUser=root
SlurmctldPort=16817
AuthType=auth/munge
AuthInfo=socket=$base/munge.socket,cred_expire=5
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$base/jobcomp.log
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=0,defer_batch
ReturnToService=2
SlurmdTimeout=20
MinJobAge=3600
MaxArraySize=1001
MaxJobCount=30000
KillWait=5
SlurmdParameters=config_overrides
StateSaveLocation=$base/ctld
SlurmdSpoolDir=$base/spool/%n
TmpFS=$base/tmp/%n
SlurmctldPidFile=$base/slurmctld.pid
SlurmdPidFile=$base/slurmd.%n.pid
SlurmctldLogFile=$base/log/slurmctld.log
SlurmdLogFile=$base/log/slurmd.%n.log
NodeName=n1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=17001 CPUs=$cpus RealMemory=2000
NodeName=n2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=17002 CPUs=$cpus RealMemory=2000
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
  dd if=/dev/urandom of="$base/munge.key" bs=128 count=1 status=none
  chmod 600 "$base/munge.key"
  munged --key-file="$base/munge.key" --socket="$base/munge.socket" --pid-file="$base/munged.pid" \
    --log-file="$base/log/munged.log" --seed-file="$base/munged.seed" --force 2>>"$base/log/start.log"
  export SLURM_CONF=$base/slurm.conf
  slurmctld 2>>"$base/log/start.log"
  for node in n1 n2; do slurmd -N "$node" 2>>"$base/log/start.log"; done
  wait_until 60 "two idle nodes" cluster_is_idle
}

cluster_is_idle() { [[ $(sinfo -N -h -o %T | grep -c '^idle$') -eq 2 ]]; }

# Cancels what is queued, then ends the daemons by the numbers that they wrote, then what is left of their jobs.
stop_cluster() {
  local base=$1 file pid
  [[ -f $base/slurm.conf ]] || return 0
  scancel --me 2>/dev/null || true
  for _ in $(seq 100); do
    [[ -z $(squeue -h 2>/dev/null) ]] && break
    sleep 0.2
  done
  for file in slurmd.n1 slurmd.n2 slurmctld munged; do
    pid=$(cat "$base/$file.pid" 2>/dev/null) || continue
    kill "$pid" 2>/dev/null || continue
    for _ in $(seq 100); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
  done
  for pid in $(processes_of "$base"); do kill -KILL "$pid" 2>/dev/null || true; done
}

# The processes that were started with the configuration of this cluster, and no others.
processes_of() {
  local base=$1 file
  for file in /proc/[0-9]*; do
    grep -qzFx "SLURM_CONF=$base/slurm.conf" "$file/environ" 2>/dev/null && echo "${file##*/}"
  done
  return 0
}

# wait_until SECONDS WHAT COMMAND...
wait_until() {
  local seconds=$1 what=$2 end
  shift 2
  end=$((SECONDS + seconds))
  until "$@"; do
    ((SECONDS < end)) || fail "no $what after $seconds s"
    sleep 0.2
  done
}
