#: build | build/release/locus
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build_release
say "ready: build/release/locus"
