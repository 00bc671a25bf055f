#: torture [KILLS] [SEED] | disturb every call that changes files, kill trainings KILLS (100) times and a sweep 20 times; all must end in the same bytes
# First every mutating call of train, extend, sweep, fit, analyze, results keep and gc fails, is killed, cut short or
# interrupted in turn (tests/faults); then SIGKILL at random moments; last scripts/sweep-torture.sh.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
kills=${1:-100}
seed=${2:-$$}
[[ $kills =~ ^[0-9]+$ && $seed =~ ^[0-9]+$ ]] || fail "usage: ./run torture [KILLS] [SEED], both whole numbers"
need build test
configure "$(release_preset)" -DLOCUS_TESTS=ON
build_targets build/release locus test_faults_slow
say "every call disturbed in every way"
before=$(date +%s)
LOCUS_TORTURE=full build/release/test_faults_slow || fail "a disturbed call was not made good"
say "done in $(($(date +%s) - before)) s; the counts stand above"
work=$(mktemp -d "${TMPDIR:-/tmp}/locus_torture.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp build/release/locus "$work/locus" # a build in the meantime must not change the program
locus=$work/locus
RANDOM=$seed

# Everything that resuming must carry on: dropout, moments, clipping, a schedule, snapshots, an epoch's running sums.
cat >"$work/tiny.toml" <<'TOML'
study = "lst"
seed = 3
[model]
layers = 2
width = 32
heads = 2
attention_dropout = 0.1
residual_dropout = 0.1
[pe]
sigma = 0.1
dropout = 0.1
[optim]
kind = "adamw"
lr = 2e-3
weight_decay = 0.01
clip_norm = 1.0
schedule = "cosine"
warmup_steps = 20
schedule_steps = 400
[train]
batch = 64
shards = 4
[stop]
epochs = 40
[watch]
checkpoint_every = 1
checkpoint_seconds = 0.02
snapshots = [1, 20]
[lst]
per_difficulty = 200
heldout_items = 2
TOML

# milliseconds
now() { date +%s%3N; }
start_training() { # FOLDER THREADS [OVERRIDE...]
  local folder=$1 threads=$2
  shift 2
  "$locus" train "$work/tiny.toml" "$@" --out "$folder" --threads "$threads" --quiet >"$work/log" 2>&1
}

# What must be equal, byte for byte; times are in metrics.jsonl, summary.json, log.txt and manifest.json only.
fingerprint() {
  local folder=$1 last
  last=$(find "$folder/checkpoints" -mindepth 1 -maxdepth 1 -name '[0-9]*' | sort | tail -n 1)
  (cd "$folder" && find "${last#"$folder/"}" init final snapshots metrics.csv predictions.csv dataset.safetensors config.toml -type f |
    sort | xargs sha256sum)
}
compare() { # FOLDER WHAT
  fingerprint "$1" >"$work/got"
  diff "$work/want" "$work/got" >&2 || fail "$2 differs from the uninterrupted run (seed $seed)"
  local left
  left=$(find "$1" -name '.*' -not -name '.lock' | head -n 3)
  [[ -z $left ]] || fail "$2 left temporary files: $left"
}

say "uninterrupted runs with 1 and 2 threads"
before=$(now)
start_training "$work/one" 1 || { cat "$work/log" >&2; fail "the uninterrupted run failed"; }
whole=$(($(now) - before))
fingerprint "$work/one" >"$work/want"
start_training "$work/two" 2 || { cat "$work/log" >&2; fail "the run with 2 threads failed"; }
compare "$work/two" "the run with 2 threads"
before=$(now)
start_training "$work/short" 1 stop.steps=1 || fail "a run of one step failed"
startup=$(($(now) - before))
# Late enough to get on a little each time, early enough to hit the start and every kind of write.
longest=$((startup + whole / 12 + 100))

say "$kills kills within $longest ms of each start (a start takes $startup ms, a whole run $whole ms); seed $seed"
done_kills=0 runs=0 starts=0 folder=$work/run0
while true; do
  threads=$((RANDOM % 2 + 1))
  starts=$((starts + 1))
  if [[ $done_kills -ge $kills ]]; then
    start_training "$folder" "$threads" || { cat "$work/log" >&2; fail "a run could not be finished (seed $seed)"; }
    compare "$folder" "run $runs"
    runs=$((runs + 1))
    break
  fi
  "$locus" train "$work/tiny.toml" --out "$folder" --threads "$threads" --quiet >"$work/log" 2>&1 &
  program=$!
  delay=$(((RANDOM * 32768 + RANDOM) % longest))
  sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
  kill -KILL "$program" 2>/dev/null || true
  { wait "$program" && code=0 || code=$?; } 2>/dev/null
  if [[ $code -eq 137 ]]; then
    done_kills=$((done_kills + 1))
    continue
  fi
  [[ $code -eq 0 ]] || { cat "$work/log" >&2; fail "a restarted run failed with code $code after $done_kills kills (seed $seed)"; }
  compare "$folder" "run $runs"
  runs=$((runs + 1))
  folder=$work/run$runs
done
say "torture: $done_kills kills, $starts starts, $runs runs, none lost; all equal to the uninterrupted one, for 1 and 2 threads"
bash scripts/sweep-torture.sh
