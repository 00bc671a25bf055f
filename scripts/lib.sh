# Shared by the commands of ./run: messages, packages, configure and build. Sourced, never run.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Debian 12 packages by purpose, the only list there is. "oracles" and "peers" are foreign programs that tests measure
# or compare with; tests skip what is absent, except in CI, which installs both.
declare -A LOCUS_PACKAGES=(
  [build]="g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libeigen3-dev zlib1g-dev libpng-dev libhdf5-dev libboost-dev
           libpugixml-dev libtomlplusplus-dev libcli11-dev"
  [test]="libgtest-dev"
  [oracles]="python3 python3-numpy python3-scipy python3-h5py python3-sklearn python3-pyte python3-crc32c protobuf-compiler
             valgrind"
  [peers]="python3-nibabel python3-torch libopenblas0-pthread"
  [lint]="clang-format clang-tidy shellcheck git"
  [bench]="libdnnl-dev libopenblas0-pthread python3 python3-numpy python3-torch"
  [fuzz]="clang-14 libclang-rt-14-dev"
  [clang]="clang-14"
  [isa]="qemu-user g++-aarch64-linux-gnu"
  [slurm]="slurm-wlm munge python3 time"
  [mpi]="openmpi-bin libopenmpi-dev"
  [python]="python3-dev python3-venv python3-pip python3-setuptools python3-wheel pybind11-dev python3-numpy python3-pandas
            python3-sklearn python3-matplotlib"
  [python-tests]="mypy python3-pytest python3-nbclient python3-nbformat python3-ipykernel python3-torch libopenblas0-pthread"
  [shells]="fish zsh"
  [pictures]="librsvg2-bin fonts-dejavu-core"
  [browser]="chromium nodejs npm fonts-dejavu-core"
)

if [[ -t 2 && -z ${NO_COLOR:-} ]]; then
  BOLD=$'\e[1m' RED=$'\e[31m' PLAIN=$'\e[0m'
else
  BOLD='' RED='' PLAIN=''
fi
say() { printf '%s==> %s%s\n' "$BOLD" "$*" "$PLAIN" >&2; }
fail() {
  printf '%serror: %s%s\n' "$RED" "$*" "$PLAIN" >&2
  exit 1
}

cores() { nproc 2>/dev/null || echo 2; }

# Prints those of the given packages that are not installed. A program of the package's name counts as well: it may have come
# with another package (npm with some builds of nodejs, which conflict with Debian's npm).
missing_packages() {
  local package
  for package in "$@"; do
    command -v "$package" >/dev/null ||
      [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] || echo "$package"
  done
}

# install_packages NAME...: apt-get, as root or through sudo; fails when it cannot.
install_packages() {
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || return 1
    as_root=(sudo)
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
  if [[ -z ${LOCUS_LISTS_FRESH:-} ]]; then
    "${apt[@]}" update >&2 || say "the package lists could not be refreshed; trying with those at hand"
    LOCUS_LISTS_FRESH=1
  fi
  "${apt[@]}" install --no-install-recommends "$@" >&2
}

# need PURPOSE...: has every package of these purposes installed, or stops and says which are wanted.
need() {
  local purpose wanted=() missing=()
  for purpose in "$@"; do
    local names=()
    read -r -d '' -a names <<<"${LOCUS_PACKAGES[$purpose]}" || true
    wanted+=("${names[@]}")
  done
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "no apt here; these must be present (Debian 12 names): ${wanted[*]}"
    return
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  [[ ${#missing[@]} -eq 0 ]] && return
  if [[ -n ${LOCUS_NO_INSTALL:-} ]]; then
    fail "missing packages (not installed because LOCUS_NO_INSTALL is set): ${missing[*]}"
  fi
  say "installing for $*: ${missing[*]}"
  install_packages "${missing[@]}" ||
    fail "could not install them. Ask an administrator for: apt-get install ${missing[*]}"
}

# want PURPOSE...: the same, but going on without them is possible.
want() { (need "$@") || say "going on without $*"; }

# Configures a preset of CMakePresets.json; quick when nothing changed.
configure() {
  local preset=$1 log
  shift
  command -v cmake >/dev/null || fail "cmake is missing"
  mkdir -p build
  log=build/configure-$preset.log
  cmake --preset "$preset" "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    fail "cmake could not configure the preset $preset"
  }
}

# build_targets FOLDER [TARGET...]: all targets without a name.
build_targets() {
  local folder=$1
  shift
  say "building $folder: ${*:-all}"
  cmake --build "$folder" -j "$(cores)" --target "${@:-all}" >&2
}

release_preset() { [[ -n ${CI:-} ]] && echo ci || echo release; }

# Builds build/release/locus.
build_release() {
  need build
  configure "$(release_preset)"
  build_targets build/release locus
}
