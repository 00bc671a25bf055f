#: bench [OPTION...] | speed of this machine, of Locus and of PyTorch side by side
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# Without libopenblas0-pthread Debian's PyTorch runs on a BLAS that is many times slower; `locus bench` refuses that.
need build
want bench
configure "$(release_preset)"
build_targets build/release bench_programs
# The system's interpreter: packages of Debian are not seen by others.
python=${LOCUS_BENCH_PYTHON:-/usr/bin/python3}
peer=()
if "$python" -c "import torch" 2>/dev/null; then
  peer=(--python "$python" --peer python/locus/bench_peer.py)
else
  say "no PyTorch in $python: measuring Locus alone"
fi
exec build/release/locus bench "${peer[@]}" "$@"
