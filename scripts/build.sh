#: build | build/release/locus
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build_release
want pictures # locus plot -o figure.png and .pdf; SVG needs nothing
say "ready: build/release/locus"
