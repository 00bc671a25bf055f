// Sample studies with planted structure, for tests and for the pages the browser tests open.
#pragma once

#include "tests/report/sample_analyses.h"
#include "tests/support/fake_run.h"

namespace locus::testing_support {

struct SampleOptions {
  int seeds = 3;
  std::vector<double> sigmas = {0.1, 0.2, 0.5, 1.0, 1.5, 2.0};
  bool fixed = true;
  int epochs = 60;
  bool tables = true;
  bool analyses = false;
};

// A (T, C) table of noise of spread sigma plus `strength` times a code of the coordinates (sines of each axis).
inline MatrixD planted_table(const MatrixD& coordinates, int channels, double sigma, double strength, Rng& rng) {
  MatrixD table(coordinates.rows(), channels);
  for (std::ptrdiff_t t = 0; t < table.rows(); ++t) {
    for (std::ptrdiff_t c = 0; c < channels; ++c) {
      const auto axis = c % coordinates.cols();
      const double frequency = 0.9 / (1 + static_cast<double>(c / coordinates.cols() % 4));
      table(t, c) = sigma * rng.normal() + strength * std::sin(frequency * coordinates(t, axis) + static_cast<double>(c));
    }
  }
  return table;
}

inline MatrixD grid_coordinates(int n) {
  MatrixD grid(n * n, 2);
  for (int i = 0; i < n * n; ++i) {
    grid(i, 0) = i / n;
    grid(i, 1) = i % n;
  }
  return grid;
}

inline void write_lst_study(const fs::path& dir, const SampleOptions& options) {
  const auto write = [&](const std::string& name, FakeRun run, double sigma, double strength) {
    run.epochs = options.epochs;
    run.command =
        fmt::format("locus sweep --config configs/lst/paper.toml pe.sigma=0.1,0.2,0.5,1,1.5,2 seed=0..{} --out runs/lst",
                    options.seeds - 1);
    run.coordinates = grid_coordinates(4);
    for (int t = 0; t < 16; ++t) run.token_names.push_back(fmt::format("row {} column {}", t / 4 + 1, t % 4 + 1));
    Rng rng(static_cast<std::uint64_t>(run.config.seed), "sample/" + name);
    for (int l = 0; l < 4 && options.tables; ++l) {
      run.initial.push_back(planted_table(run.coordinates, 32, sigma, 0, rng));
      run.learned.push_back(planted_table(run.coordinates, 32, sigma, strength / (1 + l), rng));
    }
    write_fake_run(dir / name, run);
    if (options.analyses) write_fake_analyses(dir / name, {.quality = run.final_accuracy, .layers = 4}, "heldout", {});
  };
  for (const double sigma : options.sigmas) {
    for (int seed = 0; seed < options.seeds; ++seed) {
      FakeRun run;
      run.config.pe.sigma = sigma;
      run.config.seed = seed;
      Rng rng(static_cast<std::uint64_t>(seed), fmt::format("sample/accuracy/{}", sigma));
      const double spread = sigma > 1 ? 0.08 : 0.02;
      run.final_accuracy = std::min(1.0, 0.955 - 0.15 * sigma * sigma + spread * rng.normal());
      write(fmt::format("sigma-{}_seed-{}", sigma, seed), run, sigma, 0.5);
    }
  }
  for (int seed = 0; seed < options.seeds && options.fixed; ++seed) {
    FakeRun run;
    run.config.seed = seed;
    run.config.pe.kind = PeKind::kSinusoidal;
    run.config.pe.positions = PePositions::kGrid;
    run.final_accuracy = 0.97 + 0.005 * seed;
    write(fmt::format("sinusoid-2d_seed-{}", seed), run, 0, 1);
    run.config.pe.positions = PePositions::kIndex;
    run.final_accuracy = 0.71 + 0.02 * seed;
    write(fmt::format("sinusoid-1d_seed-{}", seed), run, 0, 1);
    run.config.pe.kind = PeKind::kNone;
    run.final_accuracy = 0.30 + 0.01 * seed;
    write(fmt::format("none_seed-{}", seed), run, 0, 1);
  }
  std::vector<std::string> pairs;
  for (const double sigma : options.sigmas) {
    for (int seed = 0; seed < 2; ++seed) pairs.push_back((dir / fmt::format("sigma-{}_seed-{}", sigma, seed)).string());
  }
  if (options.analyses && options.seeds > 1) write_fake_group_analyses(dir, pairs, "recovery.sinusoid.cosine");
}

// Tokens in `modules` groups (and, with `brain`, places in space): tables whose rows share a module's direction.
struct MaskedSample {
  int tokens = 50;
  int modules = 5;
  bool brain = false;
  int seeds = 2;
};

inline void write_masked_study(const fs::path& dir, const MaskedSample& sample) {
  for (const double sigma : {0.1, 0.5, 2.0}) {
    for (int seed = 0; seed < sample.seeds; ++seed) {
      FakeRun run;
      run.config.study = "masked";
      run.config.model.readout = Readout::kMasked;
      run.config.model.width = 64;
      if (sample.brain) run.config.series.source = SeriesSource::kFiles;
      if (sample.brain) run.config.series.files = {"rest/*.h5"};
      run.config.pe.sigma = sigma;
      run.config.seed = seed;
      run.final_accuracy = 0.66 + 0.02 * sigma + 0.002 * seed;
      Rng rng(static_cast<std::uint64_t>(seed), fmt::format("sample/masked/{}", sigma));
      const int T = sample.tokens;
      MatrixD correlation(T, T), centres(sample.modules, 64);
      for (double& v : centres.values()) v = rng.normal();
      if (sample.brain) run.coordinates = MatrixD(T, 3);
      for (int t = 0; t < T; ++t) {
        const int module = (t * 7) % sample.modules;
        run.labels.push_back(module);
        run.token_names.push_back(fmt::format("{} {}", sample.brain ? "region" : "node", t + 1));
        if (!sample.brain) continue;
        const double turn = 6.283 * t / T;
        run.coordinates(t, 0) = (t < T / 2 ? -1 : 1) * (15 + 40 * std::abs(std::sin(3 * turn)));
        run.coordinates(t, 1) = 70 * std::cos(5 * turn) - 15;
        run.coordinates(t, 2) = 45 * std::sin(7 * turn) + 15;
      }
      for (int m = 0; m < sample.modules; ++m)
        run.label_names.push_back(fmt::format("{} {}", sample.brain ? "network" : "module", m + 1));
      for (int i = 0; i < T; ++i) {
        for (int j = 0; j < T; ++j) {
          const bool same = run.labels[static_cast<std::size_t>(i)] == run.labels[static_cast<std::size_t>(j)];
          correlation(i, j) = i == j ? 1 : (same ? 0.5 : 0.05) + 0.1 * std::sin(i * j * 0.37);
        }
      }
      run.truths[sample.brain ? "connectivity" : "correlation"] = correlation;
      for (int l = 0; l < 4; ++l) {
        MatrixD first(T, 64), last(T, 64);
        for (int t = 0; t < T; ++t) {
          for (int c = 0; c < 64; ++c) {
            first(t, c) = sigma * rng.normal();
            last(t, c) = first(t, c) + 0.4 / (1 + l) * centres(run.labels[static_cast<std::size_t>(t)], c);
          }
        }
        run.initial.push_back(first);
        run.learned.push_back(last);
      }
      const fs::path place = dir / fmt::format("sigma-{}_seed-{}", sigma, seed);
      write_fake_run(place, run);
      write_fake_analyses(place, {.quality = 0.8 - 0.3 * sigma, .tokens = T, .layers = 4, .labels = true}, "test",
                          run.labels);
    }
  }
}

// σ by width, one cell left out.
inline void write_sweep_study(const fs::path& dir) {
  for (const std::int64_t width : {32, 64, 160}) {
    for (const double sigma : {0.1, 0.5, 2.0}) {
      if (width == 32 && sigma == 0.5) continue;
      for (int seed = 0; seed < 2; ++seed) {
        FakeRun run;
        run.config.model.width = width;
        run.config.pe.sigma = sigma;
        run.config.seed = seed;
        run.final_accuracy = 0.9 - 0.2 * sigma + 0.0005 * static_cast<double>(width) + 0.01 * seed;
        write_fake_run(dir / fmt::format("w{}_s{}_{}", width, sigma, seed), run);
      }
    }
  }
}

// Names and texts meant to break a page, and runs that broke.
inline void write_broken_study(const fs::path& dir) {
  const std::string evil = "\"'><script>window.hacked=1</script><img src=x onerror=\"window.hacked=1\">";
  FakeRun run;
  run.command = "locus train " + evil;
  run.host = evil;
  run.extra["heldout.accuracy." + evil] = 0.5;
  run.coordinates = grid_coordinates(3);
  for (int t = 0; t < 9; ++t) run.token_names.push_back(evil);
  Rng rng(1, "hostile");
  run.initial = run.learned = {planted_table(run.coordinates, 8, 0.2, 0.5, rng)};
  write_fake_run(dir / "<img src=x onerror=window.hacked=1>", run);
  run.config.lst.dir = evil;
  run.config.seed = 1;
  write_fake_run(
      dir / "a_very_long_name_without_any_place_to_break_it_that_goes_on_and_on_and_on_and_on_and_on_and_on_until_it_ends",
      run);
  FakeRun diverged;
  diverged.config.pe.sigma = 2;
  diverged.final_accuracy = std::nan("");
  diverged.status = "diverged";
  write_fake_run(dir / "diverged", diverged);
  write_fake_run(dir / "unfinished", FakeRun{});
  fs::remove(dir / "unfinished" / "summary.json");
  write_text(dir / "nothing" / "manifest.json", "{");
  write_text(dir / "nothing" / "metrics.jsonl", "");
  write_fake_group_analyses(dir, {(dir / "diverged").string(), (dir / "unfinished").string()}, evil);
}

}  // namespace locus::testing_support
