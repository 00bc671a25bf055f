// What a user may choose about analyses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace locus {

struct AnalyzeSettings {
  std::int64_t seed = 0;                // of permutations, surrogates, random interventions, the probe set
  std::int64_t permutations = 1999;     // of every permutation test: p < 0.001 can be seen
  std::int64_t surrogates = 1999;       // spatial surrogates; 0: none
  std::int64_t community_starts = 50;   // of Louvain
  double resolution = 0;                // of Louvain; 0: where the communities persist over the widest range
  bool snapshots = true;                // also analyse snapshots taken during training
  std::string split;                    // for attention; empty: heldout, else test
  std::int64_t examples = 256;          // at most so many of a split, for attention and masked prediction
  std::int64_t kept_examples = 12;      // whose attention maps are stored one by one
  std::vector<std::string> references;  // run folders whose attention is the standard (2-D models)
  std::vector<std::string> others;      // run folders whose positions are put into this model
  std::vector<std::string> matrices;    // name=file: a published connectivity, or any tokens x tokens, as a further truth
  std::vector<double> alphas = {0, 0.25, 0.5, 0.75, 1.25};  // init -> final
  std::vector<double> scales = {0.5, 2};
  std::int64_t repeats = 5;        // of random interventions
  std::int64_t most_lesions = 64;  // with more tokens, whole labels are lesioned instead of single positions
  std::int64_t probe = 256;        // examples of the kernel's probe set
  std::int64_t probe_outputs = 8;  // at most so many outputs
  double kernel_memory = 1.3e9;    // bytes for gradients
  double array_mb = 1;             // of arrays that no report shows, kept of each analysis of a run, smallest first
  int threads = 1;                 // results are the same for any number
};

// The settings that a user may give, with limits and help. All of them may enter the hash under which results are kept.
FieldList describe(AnalyzeSettings& settings);

// One "key=value" as typed on a command line; lists as a,b or [a,b]. ConfigError for unknown keys and bad values.
void apply_setting(AnalyzeSettings& settings, std::string_view assignment);

// Called with what is being done and how far it is, in [0, 1]; may throw to stop.
using AnalyzeProgress = std::function<void(const std::string& what, double done)>;

}  // namespace locus
