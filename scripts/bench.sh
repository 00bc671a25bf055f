#: bench [OPTION...] | speed of this machine, of Locus and of PyTorch side by side
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need build bench
build_release
exec build/release/locus bench "$@"
