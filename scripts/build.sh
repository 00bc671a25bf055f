#: build | build/release/locus
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build_release
want pictures # locus plot -o figure.png and .pdf; SVG needs nothing
say "ready: build/release/locus"
case ":$PATH:" in
  *":$PWD/build/release:"*) ;;
  *) say "to call it by its name here: export PATH=\"$PWD/build/release:\$PATH\"" ;;
esac
