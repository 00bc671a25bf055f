#: test-browser [PAGE...] | open reports of small real runs and of made-up ones in Chromium, check and photograph them
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/samples.sh
source scripts/samples.sh
need build test browser
configure "$(release_preset)" -DLOCUS_TESTS=ON
build_targets build/release locus test_report
LOCUS=build/release/locus
folder=$PWD/build/browser
runs=$PWD/build/browser-runs
rm -rf "$folder"
mkdir -p "$folder"
current_samples "$runs"

# Real runs, as short as they may be; finished ones are kept between calls.
say "training small models into $runs"
small=(model.width=32 model.layers=2 optim.lr=1e-3)
sample_lst "$runs/lst" 0.1,2 "${small[@]}" model.mlp_width=64 model.heads=2 lst.per_difficulty=300 stop.epochs=3 watch.eval_every=1
sample_nmar "$runs/nmar" 0.1,2 "${small[@]}" nmar.train_samples=2000 stop.steps=120 watch.eval_steps=40
sample_regions "$runs/regions" 0.1,2 "${small[@]}" stop.steps=120 watch.eval_steps=40
pages=(lst nmar regions)
if compgen -G '../shared/data/hcp_glasser360/rest/*.h5' >/dev/null; then
  "$LOCUS" sweep configs/fmri/default.toml pe.sigma=0.1,2 seed=0 "${small[@]}" stop.steps=40 watch.eval_steps=20 --quiet \
    --out "$runs/fmri" >&2
  "$LOCUS" analyze "$runs/fmri" --quiet --only recovery networks movement attention >&2
  pages+=(fmri)
else
  say "no recordings here: the page of brain regions is made from made-up signals only"
fi
for page in "${pages[@]}"; do "$LOCUS" report "$runs/$page" --quiet --out "$folder/real-$page.html" >&2; done

say "writing sample reports to $folder"
LOCUS_SAMPLE_DIR=$folder build/release/test_report --gtest_brief=1 --gtest_filter='SamplePages.*' >&2
(cd tests/browser && npm install --no-audit --no-fund --loglevel=error >&2)
say "opening them; pictures go to $folder/pictures"
exec node tests/browser/run.mjs "$folder" "$folder/pictures" "$@"
