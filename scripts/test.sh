#: test [--sanitize|--clang] [CTEST OPTION...] | all tests; with --sanitize under ASan+UBSan, the threaded ones under TSan; with --clang as clang builds them
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mode=release
case ${1:-} in
  --sanitize | --clang)
    mode=${1#--}
    shift
    ;;
esac

closing_lines=()
status=0
# run_tests NAME FOLDER [CTEST OPTION...]: runs ctest and keeps its closing line.
run_tests() {
  local name=$1 folder=$2 log=$2/ctest.log
  shift 2
  say "testing $folder"
  "${runner[@]}" ctest --test-dir "$folder" -j "$(cores)" --output-on-failure --no-tests=error "$@" 2>&1 | tee "$log" || status=1
  closing_lines+=("$name: $(grep -E 'tests passed|No tests' "$log" | tail -n 1)")
}

runner=()
need build test
if [[ -n ${CI:-} ]]; then
  need oracles peers pictures shells
else
  want oracles pictures # tests that need what is absent are skipped and say so
fi
if [[ $mode == clang ]]; then
  need clang
  configure clang
  build_targets build/clang
  run_tests "tests, by clang" build/clang -LE slow "$@"
elif [[ $mode == release ]]; then
  configure "$(release_preset)" -DLOCUS_TESTS=ON
  build_targets build/release
  run_tests "tests" build/release "$@"
else
  export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
  export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
  export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}
  configure asan
  build_targets build/asan
  run_tests "address and undefined behaviour" build/asan -LE slow "$@"
  # The thread sanitizer of g++ 12 cannot place its shadow memory under strong address randomisation.
  setarch "$(uname -m)" -R true 2>/dev/null && runner=(setarch "$(uname -m)" -R)
  configure tsan
  say "building build/tsan threaded_tests"
  "${runner[@]}" cmake --build build/tsan -j "$(cores)" --target threaded_tests >&2
  run_tests "threads" build/tsan -L threaded -LE slow "$@"
fi
printf '%s\n' "${closing_lines[@]}"
exit "$status"
