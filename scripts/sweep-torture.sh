#: sweep-torture [KILLS] | a 60-cell sweep killed again and again ends like an undisturbed one
# Parent and workers get SIGKILL at random moments; afterwards results.csv must be equal byte for byte (it holds no times),
# and no cell may have come to its end twice. Fails as well when the kills met no cell at work.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
kills=${1:-20}
LOCUS=${LOCUS:-build/release/locus}
[[ -x $LOCUS ]] || build_release
RANDOM=${SEED:-7}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/sweep.toml" <<'TOML'
[set]
model.layers = 1
model.width = 8
train.batch = 16
stop.epochs = 300
watch.eval_every = 50
watch.checkpoint_every = 10
lst.per_difficulty = 20
lst.heldout_items = 2
lst.min_distance = 0.3

[grid]
pe.sigma = [0.1, 0.5, 2.0]
optim.lr = [1e-3, 1e-4]
seed = "0..9"
TOML

# A subshell that becomes the program: in the background its id is that of the sweep itself.
sweep() (exec "$LOCUS" sweep "$work/sweep.toml" --out "$work/$1" --jobs 2 --quiet)
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
nap() { sleep "$(($1 / 1000)).$(printf '%03d' $(($1 % 1000)))"; }
# count PATTERN FILES: how often it stands in each, one number a line.
count() { grep -hc -- "$@" || true; }
sum() { awk '{ n += $1 } END { print n + 0 }'; }
# Workers of a sweep that are past their start: they have files of their run open.
at_work() {
  local worker folder
  for worker in $(pgrep -P "$1" || true); do
    folder=$(tr '\0' '\n' 2>/dev/null <"/proc/$worker/cmdline" | tail -1) || continue
    [[ -n $(find "/proc/$worker/fd" -lname "$folder/*" 2>/dev/null) ]] && echo "$worker"
  done
  return 0
}

say "60 cells undisturbed"
start=$(milliseconds)
sweep calm >/dev/null
calm=$(($(milliseconds) - start))

# All kills together take less time than the undisturbed sweep, so that it is never done before the last of them.
longest=$((6 * calm / 5 / kills + 1))
say "60 cells again ($((calm / 1000)) s undisturbed), $kills kills"
killed=0 parents=0 workers=0 working=0
while ((killed < kills)); do
  sweep torn >"$work/torn.out" 2>&1 &
  parent=$!
  nap $(((RANDOM * 32768 + RANDOM) % longest))
  kill -0 "$parent" 2>/dev/null || fail "the sweep came to its end after $killed kills: $(cat "$work/torn.out")"
  children=$(pgrep -P "$parent" || true)
  working=$((working + $(at_work "$parent" | wc -l)))
  what=$((RANDOM % 3))
  if ((what != 1)); then
    kill -KILL "$parent" && parents=$((parents + 1))
  fi
  if ((what != 0)); then
    for child in $children; do kill -KILL "$child" 2>/dev/null && workers=$((workers + 1)); done
  fi
  killed=$((killed + 1))
  # A parent that lost only its workers goes on with other cells for a moment before it is killed too.
  nap $((RANDOM % 500))
  kill -KILL "$parent" 2>/dev/null || true
  { wait "$parent" || true; } 2>/dev/null
done
left=$((60 - $(find "$work/torn/cells" -name summary.json -exec grep -lE '"status": "(finished|converged)"' {} + | wc -l)))
until sweep torn >"$work/torn.out"; do
  code=$?
  [[ $code -eq 75 ]] || fail "the last sweep ended with $code: $(cat "$work/torn.out")"
done

cells=$(($(cut -d, -f1 "$work/torn/results.csv" | sort -u | wc -l) - 1))
[[ $cells -eq 60 ]] || fail "$cells cells instead of 60"
cmp <(sort "$work/calm/results.csv") <(sort "$work/torn/results.csv") || fail "the results differ"
starts=$(count '^== ' "$work"/torn/cells/*.log | sum)
resumed=$(count 'resumed from' "$work"/torn/cells/*/log.txt | sum)
ends=$(count ' finished: ' "$work"/torn/cells/*/log.txt | sum)
most=$({
  count ' finished: ' "$work"/torn/cells/*/log.txt
  count '^finished after ' "$work"/torn/cells/*.log
} | sort -n | tail -1)
say "$killed kills: $parents parents and $workers workers by hand, $working workers were training; $left cells were left then"
say "$starts starts of 60 cells, $resumed of them went on from a checkpoint, $ends ends told of, at most $most of one cell"
[[ $most -eq 1 ]] || fail "a cell ran to its end $most times"
[[ $resumed -gt 0 && $working -gt 0 ]] || fail "the kills met no cell at work"
say "results.csv is the same, $(wc -l <"$work/torn/results.csv") lines"
