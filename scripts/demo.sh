#: demo [OPTION...] | build, then a small study with a result to look at
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build_release
exec build/release/locus demo "$@"
