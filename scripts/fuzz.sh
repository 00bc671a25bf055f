#: fuzz [SECONDS] [TARGET...] | random hostile files against the readers (libFuzzer), SECONDS (60) for each target
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
status=0
for target in "${targets[@]}"; do
  program=build/fuzz/fuzz_$target
  [[ -x $program ]] || fail "there is no fuzz target $target"
  work=build/fuzz/work/$target
  mkdir -p "$work"
  say "fuzzing $target for $seconds s; what it finds stays in $work"
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 -verbosity=0 \
    -artifact_prefix="$work/" "$work" "fuzz/corpus/$target" || {
    status=1
    say "$target: FAILED"
  }
done
if [[ $status -eq 0 ]]; then say "fuzz: nothing found in ${targets[*]}"; fi
exit "$status"
