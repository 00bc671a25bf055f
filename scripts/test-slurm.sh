#: test-slurm [many [CELLS]] | a 60-cell sweep on a real two-node Slurm: limits, scancel, requeue, a lost node; many: 10000 tiny cells
# Ends with the same results.csv as a local sweep, or fails; no cell may come to its end twice. Stops all that it started.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/slurm-cluster.sh
source scripts/slurm-cluster.sh
need build slurm
LOCUS=$(realpath -m "${LOCUS:-build/release/locus}")
[[ -x $LOCUS ]] || build_release

work=$(mktemp -d)
finish() {
  local code=$? left
  trap - EXIT
  stop_cluster "$work/slurm"
  left=$(processes_of "$work/slurm" | wc -l)
  rm -rf "$work"
  ((left == 0)) || fail "$left processes of the cluster do not end"
  exit "$code"
}
trap finish EXIT
export LOCUS_CACHE=$work/cache

status_of() { "$LOCUS" status "$work/$1" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["count"][sys.argv[1]])' "$2"; }
# Not when squeue does not answer.
queue_is_empty() {
  local left
  left=$(squeue -h) && [[ -z $left ]]
}
# at_least N FOLDER STATE: so many cells are in that state.
at_least() { (($(status_of "$2" "$3") >= $1)); }
sum() { awk '{ n += $1 } END { print n + 0 }'; }
# How often a line stands in each file, one number a line.
count() { grep -hc -- "$@" || true; }

torture() {
  local started=$SECONDS job element restarts
  cat >"$work/sweep.toml" <<'TOML'
[set]
model.layers = 1
model.width = 8
train.batch = 16
stop.epochs = 1500
watch.eval_every = 150
watch.checkpoint_every = 25
lst.per_difficulty = 20
lst.heldout_items = 2
lst.min_distance = 0.3

[grid]
pe.sigma = [0.1, 0.5, 2.0]
optim.lr = [1e-3, 1e-4]
seed = "0..9"
TOML
  say "60 cells on this machine"
  "$LOCUS" sweep "$work/sweep.toml" --jobs 2 --quiet --out "$work/local" >/dev/null
  local calm=$((SECONDS - started))

  say "a cluster of two nodes (the local sweep took $calm s)"
  start_cluster "$work/slurm" 4
  cd "$work"
  # Limits of a minute, which strike: the warning comes up to half a minute early. One task a node, as each asks for three of
  # its four cores.
  local submit=("$LOCUS" submit sweep.toml --out cluster --time 1 --warning 20 --cells-per-task 30 --threads 3 --mem 100M)
  "${submit[@]}" --dry-run >script.sh 2>/dev/null
  bash -n script.sh || fail "the script of --dry-run is none"
  [[ ! -e cluster ]] || fail "--dry-run left something"
  "${submit[@]}" >&2
  "${submit[@]}" >/dev/null 2>refused.txt && fail "cells were submitted twice"
  grep -q 'in the queue already' refused.txt || fail "$(cat refused.txt)"
  wait_until 60 "running cells" at_least 2 cluster running
  wait_until 60 "finished cells" at_least 2 cluster finished

  say "cancelled, and submitted again"
  "$LOCUS" cancel cluster >&2
  wait_until 60 "empty queue" queue_is_empty
  [[ $(status_of cluster running) -eq 0 ]] || fail "cells run after the cancellation"
  "$LOCUS" status cluster >&2
  "${submit[@]}" >&2
  job=$(python3 -c 'import json; print(json.load(open("cluster/jobs/0002/job.json"))["array"])')
  wait_until 60 "running cells" at_least 2 cluster running

  say "one task requeued, one node lost"
  sleep 3
  element=$(squeue -h -r -t RUNNING -j "$job" -o '%F_%K' | head -1)
  scontrol requeue "$element"
  sleep 2
  scontrol update nodename=n2 state=down reason=test
  kill -KILL "$(cat slurm/slurmd.n2.pid)"
  sleep 5
  slurmd -N n2
  scontrol update nodename=n2 state=resume 2>/dev/null || true # it may be back by itself
  "$LOCUS" status cluster >&2
  wait_until 400 "empty queue" queue_is_empty
  [[ -s cluster/results.csv ]] || fail "the dependent job gathered nothing: $(cat cluster/jobs/*/collect.log)"
  "$LOCUS" status cluster >&2

  cmp local/results.csv cluster/results.csv || fail "the results differ: $("$LOCUS" status cluster)"
  restarts=$(for i in 0 1; do scontrol -o show job "${job}_$i" | grep -o 'Restarts=[0-9]*' | cut -d= -f2; done | sum)
  local starts resumed ends most limits
  starts=$(count '^== ' cluster/cells/*.log | sum)
  resumed=$(count 'resumed from' cluster/cells/*/log.txt | sum)
  limits=$(count 'stopped; the same command goes on' cluster/jobs/*/*.log | sum)
  ends=$(count ' finished: ' cluster/cells/*/log.txt | sum)
  most=$(count ' finished: ' cluster/cells/*/log.txt | sort -n | tail -1)
  [[ $ends -eq 60 && $most -eq 1 ]] || fail "$ends ends of 60 cells, $most of one of them"
  ((resumed > 0)) || fail "no cell went on from a checkpoint"
  ((restarts > 0)) || fail "no task was started again"
  ((limits > 0)) || fail "no time limit struck"
  say "results.csv is the same; $starts starts of 60 cells, $resumed of them from a checkpoint; $restarts restarts of tasks," \
    "$limits stopped in time; $((SECONDS - started)) s in all"
}

many() {
  local cells=${1:-10000} started=$SECONDS tasks=50 line
  cat >"$work/sweep.toml" <<TOML
[set]
model.layers = 1
model.width = 8
train.batch = 16
stop.epochs = 0
stop.steps = 1
lst.per_difficulty = 20
lst.heldout_items = 2
lst.min_distance = 0.3

[grid]
pe.sigma = { from = 0.01, to = 4, steps = 100 }
seed = "0..$((cells / 100 - 1))"
TOML
  start_cluster "$work/slurm" $((tasks / 2))
  cd "$work"
  "$LOCUS" submit sweep.toml --out cluster --cells-per-task $((cells / tasks)) --mem 100M --time 120 >&2
  say "$cells cells in $tasks tasks at once"
  while ! queue_is_empty; do
    sleep 20
    "$LOCUS" status cluster | sed -n 1p >&2
  done
  [[ $(cut -d, -f1 cluster/results.csv | sort -u | wc -l) -eq $((cells + 1)) ]] || fail "cells are missing in results.csv"
  say "trained in $((SECONDS - started)) s; gathered: $(tail -n 1 cluster/jobs/0001/collect.log)"
  line=$(/usr/bin/env time -f '%e s, peak memory %M kB' "$LOCUS" collect cluster --afresh 2>&1 | tr '\n' ' ')
  say "gathered afresh: $line"
  line=$(/usr/bin/env time -f '%e s, peak memory %M kB' "$LOCUS" collect cluster 2>&1 | tr '\n' ' ')
  say "gathered again: $line"
  say "$(find cluster | wc -l) files, $(du -sh cluster | cut -f1)"
}

case ${1:-torture} in
  torture) torture ;;
  many) many "${2:-10000}" ;;
  *) fail "unknown: $1 (nothing, or many [CELLS])" ;;
esac
