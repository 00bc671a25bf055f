#: lint [--all] [FILE...] | clang-format, shellcheck; clang-tidy on files changed since main, on all, or on those named
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need build test lint

mapfile -t sources < <(git ls-files --cached --others --exclude-standard -- '*.cpp' '*.h' | while read -r f; do [[ -f $f ]] && echo "$f"; done)
mapfile -t shell_files < <(git ls-files --cached --others --exclude-standard -- run .ci/run '*.sh' | sort -u)

# Files that differ from the branch point with main, committed or not.
changed_files() {
  local base
  base=$(git merge-base HEAD "${LOCUS_LINT_BASE:-$(git rev-parse -q --verify origin/main >/dev/null && echo origin/main || echo main)}")
  git diff --name-only --diff-filter=d "$base" -- '*.cpp'
  git ls-files --others --exclude-standard -- '*.cpp'
}

status=0
say "clang-format: ${#sources[@]} files"
clang-format --dry-run -Werror "${sources[@]}" || status=1
say "shellcheck: ${#shell_files[@]} files"
shellcheck -x -s bash "${shell_files[@]}" || status=1

case ${1:-} in
  --all) mapfile -t tidy < <(printf '%s\n' "${sources[@]}" | grep '\.cpp$') ;;
  "") mapfile -t tidy < <(changed_files | sort -u) ;;
  *) tidy=("$@") ;;
esac
configure dev
cmake --build build/dev --target locus_build_info >/dev/null
# Only files that the build knows have flags to be read with.
mapfile -t tidy < <(for f in "${tidy[@]}"; do grep -qF "\"$PWD/$f\"" build/dev/compile_commands.json && echo "$f"; done)
say "clang-tidy: ${#tidy[@]} files"
if [[ ${#tidy[@]} -gt 0 ]]; then
  printf '%s\0' "${tidy[@]}" | xargs -0 -n 1 -P "$(cores)" clang-tidy --quiet -p build/dev 2> >(grep -v 'warnings generated\|^Suppressed\|^Use -header' >&2) || status=1
fi
if [[ $status -eq 0 ]]; then say "lint: clean"; else say "lint: see above"; fi
exit "$status"
