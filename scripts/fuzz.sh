#: fuzz [SECONDS] [TARGET...] | random hostile files against the readers (libFuzzer), SECONDS (60) for each target, one a core at a time
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
seconds=60
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
  seconds=$1
  shift
fi
need build fuzz
configure fuzz
build_targets build/fuzz fuzz

targets=("$@")
if [[ $# -eq 0 ]]; then
  for folder in fuzz/corpus/*/; do targets+=("$(basename "$folder")"); done
fi
for target in "${targets[@]}"; do
  [[ -x build/fuzz/fuzz_$target ]] || fail "there is no fuzz target $target"
done

# fuzz_one TARGET: says how many inputs were tried; a finding stays in the work folder, what led to it in the log beside it.
fuzz_one() {
  local target=$1 work=build/fuzz/work/$1 log=build/fuzz/work/$1.log tried
  mkdir -p "$work"
  say "fuzzing $target for $seconds s; what it finds stays in $work"
  if "build/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$work/" "$work" "fuzz/corpus/$target" >"$log" 2>&1; then
    tried=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    say "$target: nothing found in $tried inputs"
  else
    tail -n 40 "$log" >&2
    say "$target: FAILED, see $log"
    return 1
  fi
}

status=0
running=0
for target in "${targets[@]}"; do
  if ((running == $(cores))); then
    wait -n || status=1
    running=$((running - 1))
  fi
  fuzz_one "$target" &
  running=$((running + 1))
done
while ((running > 0)); do
  wait -n || status=1
  running=$((running - 1))
done
if [[ $status -eq 0 ]]; then say "fuzz: nothing found in ${targets[*]}"; fi
exit "$status"
