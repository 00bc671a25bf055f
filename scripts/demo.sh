#: demo [OPTION...] | build, then a small study with a result to look at
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if [[ -x build/release/locus ]]; then
  say "about 2 minutes on two cores: four small models are trained"
else
  say "about $((7 / $(cores) + 3)) minutes: 7 core-minutes to build the program ($(cores) cores here), then 2 minutes to train four small models"
fi
build_release
exec build/release/locus demo "$@"
