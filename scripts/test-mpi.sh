#: test-mpi | 1, 2 and 4 MPI ranks x 1 and 2 threads train the same bytes, also after a kill; how much faster two ranks are
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need build mpi
LOCUS=$(realpath -m "${LOCUS:-build/release/locus}")
if [[ ! -x $LOCUS || ! -e $(dirname "$LOCUS")/locus-mpi.so ]]; then
  configure "$(release_preset)" -DLOCUS_MPI=ON
  build_targets build/release locus
fi
ldd "$LOCUS" | grep -q libmpi && fail "the program itself needs MPI"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LOCUS_CACHE=$work/cache
# More ranks than cores must not spin.
export OMPI_MCA_mpi_yield_when_idle=1
ranks() {
  local count=$1
  shift
  mpirun --allow-run-as-root --oversubscribe --bind-to none -n "$count" "$@"
}
common=(stop.epochs=0 watch.eval_limit=16 eval.input_noise=0 watch.checkpoint_every=1 train.shards=4 --quiet --no-baselines)
# Few samples: the measures at the end of a run would take longer than its steps.
small="nmar.train_samples=256 nmar.validation_samples=32 nmar.test_samples=32"
declare -A shape=(
  [lst]="configs/lst/default.toml lst.per_difficulty=60 lst.heldout_items=2 train.batch=64 model.layers=2 model.width=64 stop.steps=80 watch.eval_steps=10"
  [nmar]="configs/nmar/default.toml $small model.layers=2 stop.steps=80 watch.eval_steps=10"
  [fmri]="configs/nmar/default.toml $small nmar.sizes=[60,60,60,60,60,60] train.batch=8 stop.steps=16 watch.eval_steps=4"
)
# train NAME OUT RANKS THREADS [OPTION...]
train() {
  local words=()
  read -r -a words <<<"${shape[$1]}"
  ranks "$3" "$LOCUS" train "${words[@]}" "${common[@]}" --threads "$4" --out "$work/$2" "${@:5}" >"$work/$2.out" 2>&1
}
# The name of a run's newest checkpoint; nothing before its first.
newest_checkpoint() { find "$work/$1/checkpoints" -mindepth 1 -maxdepth 1 -name '[0-9]*' 2>/dev/null | sort | tail -1 || true; }
hash_of() { sha256sum "$work/$1/final/model.safetensors" "$work/$1/predictions.csv" | cut -d' ' -f1 | sha256sum | cut -c1-16; }

for name in lst nmar fmri; do
  first_hash=
  for count in 1 2 4; do
    for threads in 1 2; do
      train "$name" "$name-$count-$threads" "$count" "$threads" || fail "$name: $(cat "$work/$name-$count-$threads.out")"
      hash=$(hash_of "$name-$count-$threads")
      first_hash=${first_hash:-$hash}
      [[ $hash == "$first_hash" ]] || fail "$name: $count ranks with $threads threads train other bytes ($hash, $first_hash)"
    done
  done
  # A rank is killed in the middle; the run goes on with another number of ranks, twice.
  for count in 2 4; do
    before=$(newest_checkpoint "$name-torn")
    train "$name" "$name-torn" "$count" 1 &
    launcher=$!
    for _ in $(seq 3000); do
      [[ $(newest_checkpoint "$name-torn") != "$before" ]] && break
      sleep 0.05
    done
    pgrep -P "$(pgrep -P "$launcher" -x mpirun)" | tail -1 | xargs kill -KILL
    wait "$launcher" && fail "$name: a rank was killed, and nobody noticed"
    # Rank 0 says for whom it waited; mpirun may be faster, and says which rank is gone.
    grep -q 'did not answer\|between ranks failed\|exited on signal 9' "$work/$name-torn.out" "$work/$name-torn/log.txt" ||
      fail "$name: a rank was killed, and nobody told of it: $(cat "$work/$name-torn.out")"
  done
  train "$name" "$name-torn" 3 1 || fail "$name after kills: $(cat "$work/$name-torn.out")"
  [[ $(hash_of "$name-torn") == "$first_hash" ]] || fail "$name: other bytes after kills and resumes on other numbers of ranks"
  say "$name: one hash for 1, 2, 4 ranks x 1, 2 threads, and after kills of ranks: $first_hash"
done

# Two ranks on the shape of fMRI: predicted by docs/scaling.md from one rank and a ping-pong, then measured. Processor time of the
# busiest rank counts, so that other work on this machine does not; two lengths of a run, so that start and end cancel out.
step_seconds() {
  local count=$1 batch=$2 words=() steps times=()
  read -r -a words <<<"${shape[fmri]}"
  for steps in 15 75; do
    rm -rf "$work/timed" "$work"/time.*
    # shellcheck disable=SC2016 # for the shell of each rank
    ranks "$count" bash -c 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null 2>&1; } 2>"$0.$OMPI_COMM_WORLD_RANK"' "$work/time" \
      "$LOCUS" train "${words[@]}" "${common[@]}" train.batch="$batch" stop.steps="$steps" watch.eval_steps=100000 --threads 1 \
      --out "$work/timed"
    times+=("$(awk '{ print $1 + $2 }' "$work"/time.* | sort -n | tail -1)")
  done
  awk -v a="${times[0]}" -v b="${times[1]}" 'BEGIN { print (b - a) / 60 }'
}
mpicc -O2 -o "$work/pingpong" bench/mpi_pingpong.c
read -r latency bandwidth < <(ranks 2 "$work/pingpong")
gradients=$(stat -c %s "$work/fmri-1-1/final/model.safetensors")
one=$(step_seconds 1 8)
twice=$(step_seconds 1 16)
say "one rank: $one s a step with 8 examples, $twice with 16; ping-pong: $latency s, $bandwidth bytes/s; gradients: $gradients bytes"
# t(P) = c ceil(S/P)/S + r + chain + broadcast; r = 2 t(8) - t(16), the part that does not grow with the batch.
predicted=$(awk -v one="$one" -v twice="$twice" -v alpha="$latency" -v beta="$bandwidth" -v g="$gradients" 'BEGIN {
  r = 2 * one - twice; if (r < 0) r = 0; c = one - r; b = 131072; pieces = int((g + b - 1) / b); m = 1e10
  print c / 2 + r + pieces * (alpha + b / beta + 2 * b / m) + alpha + g / beta }')
say "predicted for two ranks: $predicted s"
# Three rounds of one rank and two, one after the other, so that a change of the machine's load meets both; the median counts.
speeds=() steps=()
for round in 1 2 3; do
  alone=$(step_seconds 1 8)
  two=$(step_seconds 2 8)
  steps+=("$two")
  speeds+=("$(awk -v a="$alone" -v b="$two" 'BEGIN { printf "%.3f", a / b }')")
  say "round $round: one rank $alone s, two ranks $two s, ${speeds[-1]} times as fast"
done
median() { printf '%s\n' "$@" | sort -g | sed -n 2p; }
two=$(median "${steps[@]}")
speed=$(median "${speeds[@]}")
say "measured: $two s, $(awk -v p="$predicted" -v m="$two" 'BEGIN { printf "%+.1f %%", 100 * (m / p - 1) }') of the prediction;" \
  "two ranks are $speed times as fast as one (median of ${speeds[*]})"
awk -v s="$speed" 'BEGIN { exit !(s >= 1.8) }' || fail "two ranks are less than 1.8 times as fast as one"
