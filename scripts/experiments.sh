#: experiments PAGE [OPTION of sweep...] | the sweeps behind docs/experiments/PAGE.md in order; stop it any time, it goes on
# The queue is configs/sweeps/PAGE/queue: a line a sweep, "FILE FOLDER ANALYSES". Cells go to runs/PAGE/FOLDER, what they gave to
# results/PAGE/FOLDER, every ten minutes and after each sweep. TERM or INT stops it with exit code 75: cells write a checkpoint, and
# the same command goes on. LOCUS names another program than build/release/locus.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
page=${1:-}
queue=configs/sweeps/$page/queue
[[ -n $page && -f $queue ]] || fail "usage: ./run experiments PAGE, where configs/sweeps/PAGE/queue exists"
shift
locus=${LOCUS:-build/release/locus}
[[ -x $locus ]] || fail "no program at $locus: run ./run build"

sweep=0
stopped=0
stop() {
  stopped=1
  [[ $sweep -eq 0 ]] || kill -TERM "$sweep" 2>/dev/null || true
}
trap stop TERM INT

# keep FOLDER ANALYSES: what finished cells gave, analysed first.
keep() {
  [[ -d runs/$page/$1/cells ]] || return 0
  if [[ -n $2 ]]; then
    # Names are words on purpose.
    # shellcheck disable=SC2086
    nice -n 19 "$locus" analyze "runs/$page/$1" --only ${2//,/ } --quiet || true
  fi
  "$locus" results keep "runs/$page/$1" --to "results/$page/$1" >/dev/null 2>&1 || true
}

while read -r file folder analyses; do
  [[ -z $file || $file == \#* ]] && continue
  say "$file"
  nice -n 19 "$locus" sweep "configs/sweeps/$page/$file" --out "runs/$page/$folder" --quiet "$@" </dev/null &
  sweep=$!
  waited=0
  while kill -0 "$sweep" 2>/dev/null; do
    sleep 5 &
    wait $! || true
    waited=$((waited + 5))
    [[ $((waited % 600)) -eq 0 ]] && keep "$folder" ""
  done
  code=0
  wait "$sweep" || code=$?
  sweep=0
  if [[ $stopped -eq 1 || $code -eq 75 ]]; then
    keep "$folder" ""
    exit 75
  fi
  keep "$folder" "$analyses"
  # 3: some cells failed or diverged; they are named above, the others count.
  [[ $code -eq 0 || $code -eq 3 ]] || fail "$file ended with exit code $code"
done <"$queue"
