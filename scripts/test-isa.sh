#: test-isa [x86|arm64] | a small training, kernel and model tests under qemu: on a Nehalem without AVX, and a build for ARM
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What runs under qemu, which is 10 to 50 times slower: every kernel, and forward and backward of every encoding.
kernel_tests='GemmTest.*:*AttentionTest.*:*AttentionDropoutTest*:SimdTest.*ends:SimdTest.*nan*:GeluTest.*:LayerNormTest.*:SoftmaxTest.*:DropoutTest.*:ElementwiseTest.*:*AdamTest.*:*SgdTest.*:SumOfSquaresTest.*'
model_tests='*EngineGoldenTest.exact_savings*'
training=(train configs/lst/default.toml lst.per_difficulty=60 lst.heldout_items=2 model.layers=2 model.width=32 model.mlp_width=64
  train.batch=32 stop.epochs=0 stop.steps=10 watch.eval_limit=16 --threads 1 --quiet)

status=0
# check WHAT COMMAND...: says how it ended and how long it took.
check() {
  local what=$1 log started=$SECONDS
  shift
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then
    say "$what: passed in $((SECONDS - started)) s"
  else
    tail -n 30 "$log" >&2
    say "$what: FAILED after $((SECONDS - started)) s"
    status=1
  fi
  rm -f "$log"
}

# run_all NAME FOLDER EMULATOR...: the training and the tests of a build.
run_all() {
  local name=$1 folder=$2 run
  shift 2
  say "$name: $("$@" "$folder/locus" version)"
  run=$(mktemp -d)
  check "$name, training" "$@" "$folder/locus" "${training[@]}" --out "$run/a"
  rm -rf "$run"
  check "$name, kernels" "$@" "$folder/test_kernels" --gtest_brief=1 --gtest_filter="$kernel_tests"
  check "$name, model" "$@" "$folder/test_model" --gtest_brief=1 --gtest_filter="$model_tests"
}

# The oldest 64-bit processors in use: no AVX. An instruction that it lacks ends the program.
test_x86() {
  [[ $(uname -m) == x86_64 ]] || fail "the x86-64 program is tested on an x86-64 machine"
  configure "$(release_preset)" -DLOCUS_TESTS=ON
  build_targets build/release locus test_kernels test_model
  run_all "Nehalem" build/release qemu-x86_64 -cpu Nehalem
}

# The arm64 packages of the libraries, unpacked in a folder: nothing of another architecture is installed.
make_sysroot() {
  local sysroot=$1 work=build/arm64-packages link names=() name
  [[ -e $sysroot/complete ]] && return
  command -v apt-get >/dev/null || fail "the arm64 libraries are taken from Debian's packages, and there is no apt here"
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$sysroot"
  : >"$work/status"
  for name in ${LOCUS_PACKAGES[build]} ${LOCUS_PACKAGES[test]}; do
    [[ $name == lib* || $name == *-dev ]] && names+=("$name")
  done
  local apt=(apt-get -q -y -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o "Dir::State=$PWD/$work/state"
    -o "Dir::State::status=$PWD/$work/status" -o "Dir::Cache=$PWD/$work/cache")
  say "fetching the arm64 packages of ${names[*]}"
  "${apt[@]}" update >&2 || fail "the package lists for arm64 could not be fetched"
  "${apt[@]}" install --no-install-recommends --download-only libc6-dev libstdc++-12-dev "${names[@]}" >&2 ||
    fail "the arm64 packages could not be fetched"
  for name in "$work"/cache/archives/*.deb; do dpkg-deb -x "$name" "$sysroot"; done
  # Links to absolute paths would lead out of the folder.
  find "$sysroot" -lname '/*' -print0 | while IFS= read -r -d '' link; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$sysroot$(readlink "$link")")" "$link"
  done
  touch "$sysroot/complete"
}

test_arm64() {
  make_sysroot build/arm64-sysroot
  configure arm64
  build_targets build/arm64 locus test_kernels test_model
  run_all "arm64" build/arm64 qemu-aarch64 -L build/arm64-sysroot
}

need build test isa
case ${1:-all} in
  x86) test_x86 ;;
  arm64) test_arm64 ;;
  all)
    test_x86
    test_arm64
    ;;
  *) fail "unknown: $1 (x86, arm64, or nothing for both)" ;;
esac
exit "$status"
