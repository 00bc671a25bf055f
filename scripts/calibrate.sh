#: calibrate [REPEATS_AT_100 REPEATS_AT_360] | how often the spatial test of networks errs; writes results/calibration
# About 10 core-minutes at its defaults (1000 and 100); stopped, it goes on where it was. Regions come from ../shared/data.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need build
configure "$(release_preset)"
build_targets build/release space_null_calibration
mkdir -p results/calibration
nice -n 10 build/release/space_null_calibration ../shared/data "${1:-1000}" "${2:-100}" results/calibration/space_null.csv
say "results/calibration/space_null.csv is complete"
