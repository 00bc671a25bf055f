#: package [--test] | build/package/locus-VERSION-MACHINE.tar.gz: runs from any folder, without root, on nodes that have nothing installed
# The program with all its libraries, the C library and the loader too, and the configurations. No MPI: that must be the
# cluster's own. --test unpacks it in an empty root, where nothing else is, and trains there.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
LOCUS=${LOCUS:-build/release/locus}
[[ -n ${LOCUS_AS_IT_IS:-} && -x $LOCUS ]] || build_release

version=$("$LOCUS" version --json | sed -n 's/.*"version": "\([^"]*\)".*/\1/p')
name=locus-$version-$(uname -m)
folder=build/package/$name
rm -rf "$folder"
mkdir -p "$folder"/{bin,lib}
cp "$LOCUS" "$folder/lib/locus"
strip --strip-unneeded "$folder/lib/locus"
# "libz.so.1 => /lib/.../libz.so.1 (0x...)", and the loader as a plain path.
ldd "$LOCUS" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | while read -r library; do cp -L "$library" "$folder/lib/"; done
cp -L "$(ldd "$LOCUS" | awk '$1 ~ /ld-linux/ { print $1 }')" "$folder/lib/loader"
gcc -static -O2 -Wall -Wextra -Werror -o "$folder/bin/locus" scripts/package-launcher.c
strip "$folder/bin/locus"
cp -r configs "$folder/configs"
cp LICENSE README.md "$folder/"
mkdir -p "$folder/docs"
cp docs/cluster.md docs/sweeps.md "$folder/docs/"
tar -C build/package -czf "build/package/$name.tar.gz" "$name"
say "build/package/$name.tar.gz: $(du -h "build/package/$name.tar.gz" | cut -f1)"
[[ ${1:-} == --test ]] || exit 0

[[ $(id -u) -eq 0 ]] || fail "the test enters an empty root, which needs root"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/some/where" "$root/tmp"
tar -C "$root/some/where" -xzf "build/package/$name.tar.gz"
inside() { env -i PATH="/some/where/$name/bin" LOCUS_CACHE=/tmp/cache chroot "$root" "$@"; }
inside locus version >&2 || fail "it does not start in an empty root"
tiny=("/some/where/$name/configs/lst/default.toml" lst.per_difficulty=20 lst.heldout_items=2 lst.min_distance=0.3 model.layers=1
  model.width=8 train.batch=16 stop.epochs=1)
inside locus train "${tiny[@]}" seed=0 --isa baseline --quiet --out /tmp/run >&2 || fail "it does not train in an empty root"
inside locus sweep "${tiny[@]}" seed=0..1 --isa baseline --quiet --out /tmp/sweep >&2 || fail "it does not sweep in an empty root"
here=$(mktemp -d -p "$root")
"$LOCUS" train "configs/lst/default.toml" "${tiny[@]:1}" seed=0 --isa baseline --quiet --out "$here/run" >/dev/null
cmp "$root/tmp/run/final/model.safetensors" "$here/run/final/model.safetensors" || fail "it trains another model than the program here"
say "the package trains in an empty root, and the same bytes as the program here"
