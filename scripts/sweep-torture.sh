#: sweep-torture [KILLS] | a 60-cell sweep killed again and again ends like an undisturbed one
# Parent and workers get SIGKILL at random moments; afterwards results.csv must be equal byte for byte, and no cell may
# have come to its end twice.
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
stop.epochs = 150
watch.checkpoint_every = 5
lst.per_difficulty = 20
lst.heldout_items = 2
lst.min_distance = 0.3

[grid]
pe.sigma = [0.1, 0.5, 2.0]
optim.lr = [1e-3, 1e-4]
seed = "0..9"
TOML

# A subshell that becomes the program: in the background its id is that of the sweep itself.
sweep() (exec "$LOCUS" sweep "$work/sweep.toml" --out "$work/$1" --quiet)

say "60 cells undisturbed"
SECONDS=0
sweep calm >/dev/null
# Moments between the start and a twelfth of the whole, so that start, training, checkpoints and ends are all hit.
longest=$((SECONDS * 1000 / 12 + 500))

say "60 cells, $kills kills"
killed=0
while ((killed < kills)); do
  sweep torn >"$work/torn.out" 2>&1 &
  parent=$!
  moment=$((RANDOM % longest))
  sleep "$((moment / 1000)).$(printf '%03d' $((moment % 1000)))"
  if ! kill -0 "$parent" 2>/dev/null; then
    wait "$parent" && break # finished before all kills were dealt
    continue
  fi
  workers=$(pgrep -P "$parent" || true)
  case $((RANDOM % 3)) in
    0) kill -KILL "$parent" ;;
    1) for w in $workers; do kill -KILL "$w" 2>/dev/null || true; done ;;
    *)
      kill -KILL "$parent"
      for w in $workers; do kill -KILL "$w" 2>/dev/null || true; done
      ;;
  esac
  killed=$((killed + 1))
  # A parent that lost workers only goes on a little and is stopped like the others.
  sleep 0.2
  kill -KILL "$parent" 2>/dev/null || true
  { wait "$parent" || true; } 2>/dev/null
done
until sweep torn >"$work/torn.out"; do
  code=$?
  [[ $code -eq 75 ]] || fail "the last sweep ended with $code: $(cat "$work/torn.out")"
done

cells=$(($(cut -d, -f1 "$work/torn/results.csv" | sort -u | wc -l) - 1))
[[ $cells -eq 60 ]] || fail "$cells cells instead of 60"
cmp <(sort "$work/calm/results.csv") <(sort "$work/torn/results.csv") || fail "the results differ"
most=0 ends=0
for log in "$work"/torn/cells/*/log.txt; do
  n=$(grep -c ' finished: ' "$log" || true)
  ends=$((ends + n))
  ((n > most)) && most=$n
done
[[ $most -le 1 ]] || fail "a cell ran to its end $most times"
resumed=$(cat "$work"/torn/cells/*/log.txt | grep -c 'resumed from' || true)
say "equal after $killed kills: $cells cells, $ends ends told of, none twice, $resumed resumes"
