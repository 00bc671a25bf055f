# Small real studies for pictures and for the browser: Latin squares, a simulated network, regions in space. Sourced.
# shellcheck shell=bash

# current_samples FOLDER: an empty folder, or the runs of an earlier call when settings and scripts are still the same: a page
# must not mix them with those of another version.
current_samples() {
  local stamp
  stamp=$({ "$LOCUS" config --json && cat configs/*/*.toml "${BASH_SOURCE[0]}" "$0"; } | sha256sum)
  [[ -f $1/stamp && $(<"$1/stamp") == "$stamp" ]] && return
  rm -rf "$1"
  mkdir -p "$1"
  echo "$stamp" >"$1/stamp"
}

# made_up_regions FOLDER: 60 regions on two half ellipsoids in six networks and 500 frames of their signals, as CSV. The
# numbers come from a generator written out here, so that every machine gets the same.
made_up_regions() {
  mkdir -p "$1"
  awk -v labels="$1/labels.csv" -v samples="$1/samples.csv" '
    function uniform() { state = (state * 16807) % 2147483647; return state / 2147483647 }
    function normal(  i, sum) { sum = -6; for (i = 0; i < 12; i++) sum += uniform(); return sum }
    BEGIN {
      state = 20240612
      print "name,network,x,y,z" > labels
      for (r = 0; r < 60; r++) {
        i = r % 30; side = r < 30 ? -1 : 1
        up = 1 - 2 * (i + 0.5) / 30; ring = sqrt(1 - up * up); turn = i * 2.399963
        front = ring * cos(turn); out = ring * sin(turn); if (out < 0) out = -out
        sector = int(6 * (atan2(up, front) + 3.14159266) / 6.28318532)
        if (!(sector in number)) number[sector] = networks++
        network[r] = number[sector]
        printf "%s%d,network %d,%.1f,%.1f,%.1f\n", side < 0 ? "L" : "R", i + 1, network[r] + 1, \
          side * (8 + 52 * out), 78 * front - 18, 48 * up + 16 > labels
      }
      for (r = 0; r < 60; r++) printf "%s%s%d", r ? "," : "", r < 30 ? "L" : "R", r % 30 + 1 > samples
      printf "\n" > samples
      for (t = 0; t < 500; t++) {
        for (k = 0; k < 6; k++) signal[k] = 0.7 * signal[k] + 0.7 * normal()
        for (r = 0; r < 60; r++) printf "%s%.3f", r ? "," : "", signal[network[r]] + 0.9 * normal() > samples
        printf "\n" > samples
      }
    }'
}

# sample_lst FOLDER SIGMAS SETTING...: learned encodings of two seeds, the true 2-D code and none, analysed.
sample_lst() {
  local folder=$1 sigmas=$2
  shift 2
  "$LOCUS" sweep configs/lst/default.toml "pe.sigma=$sigmas" seed=0,1 "$@" --quiet --out "$folder/learned" >&2
  "$LOCUS" sweep configs/lst/sinusoidal_2d.toml seed=0,1 "$@" --quiet --out "$folder/sinusoidal_2d" >&2
  "$LOCUS" sweep configs/lst/none.toml seed=0,1 "$@" --quiet --out "$folder/none" >&2
  local references=() run
  for run in "$folder"/sinusoidal_2d/cells/*/; do references+=(--reference "$run"); done
  "$LOCUS" analyze "$folder" "${references[@]}" --quiet >&2
}

# sample_nmar FOLDER SIGMAS SETTING...: learned encodings of two seeds on the simulated network, analysed.
sample_nmar() {
  local folder=$1 sigmas=$2
  shift 2
  "$LOCUS" sweep configs/nmar/default.toml "pe.sigma=$sigmas" seed=0,1 "$@" --quiet --out "$folder" >&2
  "$LOCUS" analyze "$folder" --quiet >&2
}

# sample_regions FOLDER SIGMAS SETTING...: the same on made-up regions with places in space.
sample_regions() {
  local folder=$1 sigma seed
  local sigmas=${2//,/ }
  shift 2
  made_up_regions "$folder/data"
  for sigma in $sigmas; do
    for seed in 0 1; do
      "$LOCUS" fit "$folder/data/samples.csv" --labels "$folder/data/labels.csv" "pe.sigma=$sigma" "seed=$seed" "$@" --quiet \
        --out "$folder/runs/sigma-$sigma-seed-$seed" >&2
    done
  done
  "$LOCUS" analyze "$folder/runs" --quiet >&2
}
