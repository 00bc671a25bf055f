#: test-browser [PAGE...] | open sample reports in Chromium, check and photograph them
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need build test browser
configure "$(release_preset)" -DLOCUS_TESTS=ON
build_targets build/release test_report
folder=$PWD/build/browser
rm -rf "$folder"
mkdir -p "$folder"
say "writing sample reports to $folder"
LOCUS_SAMPLE_DIR=$folder build/release/test_report --gtest_brief=1 --gtest_filter='SamplePages.*' >&2
(cd tests/browser && npm install --no-audit --no-fund --loglevel=error >&2)
say "opening them; pictures go to $folder/pictures"
exec node tests/browser/run.mjs "$folder" "$folder/pictures" "$@"
