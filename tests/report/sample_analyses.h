// Analysis files beside sample runs, with the fields of src/analyze/results and numbers a test can name.
#pragma once

#include "io/npy.h"
#include "tests/support/fake_run.h"

namespace locus::testing_support {

struct FakeAnalysis {
  double quality = 0.9;  // what "good" measures are near
  int tokens = 16, layers = 2, heads = 1;
  bool labels = false;
};

inline Json analysis_head(const std::string& name) {
  return {{"name", name}, {"inputs_hash", "hash"}, {"available", true}, {"files", Json::array()}};
}

inline void write_fake_tables(const fs::path& dir, const FakeAnalysis& a) {
  Json recovery = analysis_head("recovery"), networks = analysis_head("networks");
  for (const char* name : {"truths", "layers"}) recovery[name] = Json::array();
  networks["rows"] = Json::array();
  for (const std::string model : {"init", "snapshots/10", "final"}) {
    const double q = model == "final" ? a.quality : 0.02;
    for (int l = 0; l < a.layers; ++l) {
      const double own = q / (1 + 0.2 * l);
      recovery["truths"].push_back({{"model", model},
                                    {"layer", l},
                                    {"code", "raw"},
                                    {"similarity", "cosine"},
                                    {"truth", a.labels ? "correlation" : "sinusoid"},
                                    {"pearson", own},
                                    {"mantel_p", own > 0.1 ? 0.001 : 0.6}});
      recovery["layers"].push_back({{"model", model},
                                    {"layer", l},
                                    {"procrustes_matched", 1.3 - own},
                                    {"procrustes_null", 1.28},
                                    {"readout_r2", a.labels ? Json("nan") : Json(own)},
                                    {"label_accuracy", a.labels ? Json(own) : Json("nan")}});
      networks["rows"].push_back({{"model", model},
                                  {"layer", l},
                                  {"code", "centred"},
                                  {"q_signed", 0.5 * own},
                                  {"q_signed_p", 0.001},
                                  {"difference", 0.4 * own},
                                  {"difference_p", 0.002},
                                  {"segregation", model == "final" ? Json(0.8 * own) : Json("nan")},
                                  {"adjusted_rand", own},
                                  {"adjusted_rand_p", 0.003}});
    }
  }
  write_text(dir / "analysis" / "recovery.json", recovery.dump());
  if (a.labels) write_text(dir / "analysis" / "networks.json", networks.dump());
  Json kernel = analysis_head("kernel"), movement = analysis_head("movement");
  kernel["kernels"] = kernel["taylor"] = movement["rows"] = Json::array();
  double share = 1;
  for (const char* part : {"all", "pe", "rest"}) {
    kernel["kernels"].push_back(
        {{"model", "final"}, {"part", part}, {"change", 0.6 * a.quality * share}, {"alignment", 0.5 * a.quality}});
    movement["rows"].push_back({{"model", "final"}, {"level", "part"}, {"name", part}, {"relative", a.quality * share}});
    share *= 0.7;
  }
  kernel["taylor"].push_back({{"model", "final"}, {"r2", 1 - a.quality}});
  write_text(dir / "analysis" / "kernel.json", kernel.dump());
  write_text(dir / "analysis" / "movement.json", movement.dump());
}

inline void write_fake_interventions(const fs::path& dir, const FakeAnalysis& a, const std::string& split) {
  Json out = analysis_head("interventions");
  const std::string measure = a.labels ? "mse" : "accuracy";
  out["measure"] = measure;
  out["rows"] = Json::array();
  const auto add = [&](const char* kind, Json amount, int token, int repeat, double change) {
    out["rows"].push_back({{"kind", kind},
                           {"layer", -1},
                           {"amount", amount},
                           {"token", token},
                           {"repeat", repeat},
                           {"split", split},
                           {measure, a.quality + change},
                           {"change", change}});
  };
  add("none", "nan", -1, 0, 0);
  if (!a.labels) add("true2d", "nan", -1, 0, 0.9 * (1 - a.quality));
  for (int r = 0; r < 3; ++r) add("shuffled", "nan", -1, r, -0.5 - 0.01 * r);
  add("zeroed", "nan", -1, 0, -0.4);
  add("scaled", 0.5, -1, 0, -0.1);
  add("lesion", "nan", 3, 0, -0.05);
  write_text(dir / "analysis" / "interventions.json", out.dump());
}

inline void write_fake_attention(const fs::path& dir, const FakeAnalysis& a, bool agreement) {
  Json out = analysis_head("attention");
  out["agreement"] = Json::array();
  for (const char* form : {"plain", "centred"}) {
    for (const char* model : {"init", "final"}) {
      const double cosine = std::string(model) == "init" ? 0.4 : 0.4 + 0.5 * a.quality;
      if (agreement)
        out["agreement"].push_back(
            {{"model", model}, {"map", "mean"}, {"form", form}, {"reference", "example"}, {"cosine", cosine}});
    }
  }
  write_text(dir / "analysis" / "attention.json", out.dump());
  const int T = a.tokens, maps = a.layers * a.heads, K = 2;
  std::vector<float> mean, kept, ids, used;
  const auto map = [&](std::vector<float>& to, int k) {
    for (int q = 0; q < T; ++q) {
      std::vector<double> row;
      double sum = 0;
      for (int c = 0; c < T; ++c) row.push_back(std::exp(2 * std::cos(0.7 * (q - c) + k))), sum += row.back();
      for (const double v : row) to.push_back(static_cast<float>(v / sum));
    }
  };
  for (int k = 0; k < maps; ++k) map(mean, k);
  for (int e = 0; e < K; ++e) {
    for (int k = 0; k < maps; ++k) map(kept, k + e + 1);
    for (int t = 0; t < T; ++t) {
      ids.push_back(static_cast<float>(t == 5 ? 4 : (t * 7 + e) % 6 - 1 > 3 ? -1 : (t * 7 + e) % 6 - 1));
      used.push_back(t % 5 == 0 ? 1.0f : 0.0f);
    }
  }
  std::vector<TensorView> views = {tensor_view<float>("maps.final", {a.layers, a.heads, T, T}, mean)};
  if (!a.labels) {
    views.push_back(tensor_view<float>("examples.final", {K, a.layers, a.heads, T, T}, kept));
    views.push_back(tensor_view<float>("example_tokens", {K, T}, ids));
    views.push_back(tensor_view<float>("example_used", {K, T}, used));
  }
  write_npz(dir / "analysis" / "attention.npz", views);
}

inline void write_fake_communities(const fs::path& dir, const FakeAnalysis& a, const std::vector<std::int32_t>& labels) {
  std::vector<float> communities;
  for (std::size_t t = 0; t < labels.size(); ++t)
    communities.push_back(static_cast<float>(t % 9 == 0 ? 1 : (labels[t] + 3) % 8));
  std::vector<TensorView> views;
  for (int l = 0; l < a.layers; ++l) {
    views.push_back(tensor_view<float>(fmt::format("communities.final.{}.centred", l),
                                       {static_cast<std::int64_t>(labels.size())}, communities));
  }
  write_npz(dir / "analysis" / "networks.npz", views);
}

// Analyses of several runs; relations of hostile names when `name` is one.
inline void write_fake_group_analyses(const fs::path& dir, const std::vector<std::string>& runs, const std::string& name) {
  Json same = analysis_head("identifiability"), relations = analysis_head("relations");
  same["runs"] = runs;
  for (const char* list : {"pairs", "summary"}) same[list] = Json::array();
  for (int r = 0; r + 1 < static_cast<int>(runs.size()); r += 2) {
    for (const char* model : {"init", "final"}) {
      const double value = std::string(model) == "init" ? 0.02 : 0.8 - 0.02 * r;
      same["pairs"].push_back({{"comparison", "seeds"},
                               {"run_a", r},
                               {"run_b", r + 1},
                               {"model_a", model},
                               {"model_b", model},
                               {"layer_a", 0},
                               {"layer_b", 0},
                               {"cosine_pearson", value},
                               {"procrustes_matched", 1.3 - value}});
      same["summary"].push_back({{"comparison", "seeds"},
                                 {"setting", name},
                                 {"model", model},
                                 {"layer", 0},
                                 {"pairs", 1},
                                 {"cosine_pearson", value},
                                 {"procrustes_matched", 1.3 - value}});
    }
  }
  relations["relations"] = Json::array();
  for (int k = 0; k < 6; ++k) {
    relations["relations"].push_back({{"measure", fmt::format("{} {}", name, k)},
                                      {"outcome", "heldout.accuracy"},
                                      {"runs", 18},
                                      {"spearman", 0.9 - 0.3 * k},
                                      {"p", k == 0 ? 0.0002 : 0.01 * k},
                                      {"low", 0.7 - 0.3 * k},
                                      {"high", 0.95 - 0.3 * k},
                                      {"sigmas", 6},
                                      {"spearman_sigma", 1},
                                      {"spearman_within", k == 1 ? Json("nan") : Json(0.1)}});
  }
  write_text(dir / "analysis" / "identifiability.json", same.dump());
  write_text(dir / "analysis" / "relations.json", relations.dump());
}

// All analyses of one run.
inline void write_fake_analyses(const fs::path& dir, const FakeAnalysis& a, const std::string& split,
                                const std::vector<std::int32_t>& labels) {
  write_fake_tables(dir, a);
  write_fake_interventions(dir, a, split);
  write_fake_attention(dir, a, !a.labels);
  if (!labels.empty()) write_fake_communities(dir, a, labels);
}

}  // namespace locus::testing_support
