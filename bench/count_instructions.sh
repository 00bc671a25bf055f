#!/usr/bin/env bash
# Instructions of one small training step under valgrind: (2K steps - K steps) / K, so that start-up cancels out.
# Usage: bench/count_instructions.sh [--write] [BINARY]: prints the number; --write keeps it in bench/instructions.json for
# this compiler, instruction set and build type. Not a timed test: the count is the same on a busy machine.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
write=0
if [[ ${1:-} == --write ]]; then
  write=1
  shift
fi
binary=${1:-$root/build/release/locus}
steps=10
export LOCUS_ISA=${LOCUS_ISA:-avx2}  # valgrind knows no AVX-512

# count STEPS: instructions of the whole process.
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" bench --alone guard --mode train --threads 1 \
    --steps "$1" 2>&1 >/dev/null | sed -n 's/^==[0-9]*== Collected : \([0-9]*\).*/\1/p'
}

command -v valgrind >/dev/null || {
  echo "valgrind is missing" >&2
  exit 77
}
once=$(count "$steps")
twice=$(count $((2 * steps)))
[[ -n $once && -n $twice ]] || {
  echo "valgrind gave no count for $binary" >&2
  exit 1
}
number=$(((twice - once) / steps))
echo "$number"
if [[ $write -eq 1 ]]; then
  "$binary" version --json | python3 -c '
import json, sys
build, path, number = json.load(sys.stdin), sys.argv[1], int(sys.argv[2])
key = " ".join((build["compiler"], build["isa"], build["build"]))
try:
    with open(path, encoding="utf-8") as file:
        kept = json.load(file)
except FileNotFoundError:
    kept = {}
kept[key] = number
with open(path, "w", encoding="utf-8") as file:
    json.dump(kept, file, indent=1, sort_keys=True)
    file.write("\n")
' "$root/bench/instructions.json" "$number"
fi
