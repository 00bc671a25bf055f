#!/usr/bin/env bash
# Instructions of small training steps under valgrind: (2K steps - K steps) / K, so that start-up cancels out; small forms of
# the workloads and every encoding. Usage: bench/count_instructions.sh [--write] [BINARY]: prints a name and a number a line;
# --write keeps them in bench/instructions.json for this compiler, instruction set and build type. Not a timed test: the count
# is the same on a busy machine.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
write=0
if [[ ${1:-} == --write ]]; then
  write=1
  shift
fi
binary=${1:-$root/build/release/locus}
steps=2
names=(lst nmar fmri wide none learned sinusoidal laplacian rotary relative t5 alibi)
export LOCUS_ISA=${LOCUS_ISA:-avx2} # valgrind knows no AVX-512

# count NAME STEPS: instructions of the whole process.
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" bench --alone "guard/$1" --mode train --threads 1 \
    --steps "$2" 2>&1 >/dev/null | sed -n 's/^==[0-9]*== Collected : \([0-9]*\).*/\1/p'
}

command -v valgrind >/dev/null || {
  echo "valgrind is missing" >&2
  exit 77
}
lines=()
for name in "${names[@]}"; do
  once=$(count "$name" "$steps")
  twice=$(count "$name" $((2 * steps)))
  [[ -n $once && -n $twice ]] || {
    echo "valgrind gave no count for $binary, $name" >&2
    exit 1
  }
  lines+=("$name $(((twice - once) / steps))")
done
printf '%s\n' "${lines[@]}"
if [[ $write -eq 1 ]]; then
  "$binary" version --json | python3 -c '
import json, sys
build, path = json.load(sys.stdin), sys.argv[1]
key = " ".join((build["compiler"], build["isa"], build["build"]))
try:
    with open(path, encoding="utf-8") as file:
        kept = json.load(file)
except FileNotFoundError:
    kept = {}
kept[key] = {name: int(number) for name, number in (line.split() for line in sys.argv[2:])}
with open(path, "w", encoding="utf-8") as file:
    json.dump(kept, file, indent=1, sort_keys=True)
    file.write("\n")
' "$root/bench/instructions.json" "${lines[@]}"
fi
