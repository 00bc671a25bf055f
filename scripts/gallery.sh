#: gallery | train small studies, draw every figure from them into docs/gallery/
# Runs are kept in build/gallery; a second call trains nothing and writes the same bytes.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/samples.sh
source scripts/samples.sh
LOCUS=${LOCUS:-build/release/locus}
[[ -x $LOCUS ]] || build_release
runs=build/gallery
pictures=docs/gallery
mkdir -p "$pictures"
current_samples "$runs"

say "Latin squares"
sample_lst "$runs/lst" 0.1,0.5,2 model.width=64 model.mlp_width=256 optim.lr=1e-3 stop.epochs=20 watch.eval_every=1
say "σ by number of layers, in brief"
"$LOCUS" sweep configs/lst/default.toml pe.sigma=0.1,0.5,2 model.layers=1,2 seed=0 model.width=32 model.mlp_width=128 \
  optim.lr=1e-3 lst.per_difficulty=500 stop.epochs=4 --quiet --out "$runs/depth" >&2
say "a simulated network"
sample_nmar "$runs/nmar" 0.1,0.5,2 model.width=32 model.layers=2 optim.lr=1e-3 stop.steps=600 watch.eval_steps=100
say "made-up regions in space"
sample_regions "$runs/regions" 0.1,2 model.width=32 model.layers=2 optim.lr=1e-3 stop.steps=600 watch.eval_steps=100

# draw NAME FOLDER [OPTION...]
draw() { "$LOCUS" plot "$1" "$runs/$2" "${@:3}" --out "$pictures/$1.svg"; }
for figure in accuracy_vs_sigma training_curves by_difficulty similarity tiled_similarity position_map recovery agreement \
  interventions kernel identifiability; do
  draw "$figure" lst
done
draw attention lst --choose layer=1 "example=puzzle 1"
draw sweep_heatmap depth
draw modules nmar
draw brain regions/runs
du -sh "$pictures" >&2
