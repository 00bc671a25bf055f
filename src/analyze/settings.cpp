#include "analyze/settings.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace locus {

FieldList describe(AnalyzeSettings& s) {
  FieldList list;
  list.integer("seed", s.seed, {0}, "of permutations, surrogates, random interventions and the probe set");
  list.integer("permutations", s.permutations, {1, 1e6}, "of every permutation test");
  list.integer("surrogates", s.surrogates, {0, 1e5}, "spatial surrogates; 0: none");
  list.integer("community_starts", s.community_starts, {1, 1e5}, "of Louvain");
  list.number("resolution", s.resolution, {0, 100}, "of Louvain; 0: where the communities persist over the widest range");
  list.flag("snapshots", s.snapshots, "also analyse snapshots taken during training");
  list.text("split", s.split, "for attention; empty: heldout, else test");
  list.integer("examples", s.examples, {1}, "at most so many of a split, for attention and masked prediction");
  list.integer("kept_examples", s.kept_examples, {0}, "whose attention maps are stored one by one");
  list.texts("references", s.references, "run folders whose attention is the standard (2-D models)");
  list.texts("others", s.others, "run folders whose positions are put into this model");
  list.texts("matrices", s.matrices, "name=file: a matrix of tokens x tokens as a further truth");
  list.numbers("alphas", s.alphas, {-1e6, 1e6}, "places between init (0) and final (1) of interpolated positions");
  list.numbers("scales", s.scales, {-1e6, 1e6}, "factors of scaled positions");
  list.integer("repeats", s.repeats, {1, 1e4}, "of random interventions");
  list.integer("most_lesions", s.most_lesions, {0}, "with more tokens, whole labels are lesioned instead of positions");
  list.integer("probe", s.probe, {2, 2e4}, "examples of the kernel's probe set");
  list.integer("probe_outputs", s.probe_outputs, {1}, "at most so many outputs");
  list.number("array_mb", s.array_mb, {0, 1e6},
              "megabytes of arrays that no report shows, kept of each analysis, smallest first");
  return list;
}

void apply_setting(AnalyzeSettings& settings, std::string_view assignment) {
  constexpr const char* kWhere = "--set";
  const std::size_t at = assignment.find('=');
  if (at == std::string_view::npos) {
    throw ConfigError(
        {.what = "not an assignment", .where = kWhere, .got = std::string(assignment), .expected = "key=value"});
  }
  const FieldList list = describe(settings);
  const std::vector<std::string> keys = list.names();
  const std::string key(trim(assignment.substr(0, at)));
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
    const std::string near = nearest_name(key, keys);
    throw ConfigError({.what = "unknown setting of analyses",
                       .where = kWhere,
                       .got = key,
                       .expected = join(keys, ", "),
                       .hint = near.empty() ? "" : "did you mean " + near + "?"});
  }
  list.find(key, kWhere).set_text(trim(assignment.substr(at + 1)), kWhere);
}

}  // namespace locus
