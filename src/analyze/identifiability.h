// Do other seeds, layers and times give the same positions? docs/analyses/identifiability.md
#pragma once

#include <filesystem>
#include <vector>

#include "analyze/results/identifiability.h"
#include "analyze/settings.h"
#include "core/matrix.h"

namespace locus {

// DataError for fewer than two runs, other token counts, or encodings without a table.
IdentifiabilityResult analyze_identifiability(const std::vector<std::filesystem::path>& runs,
                                              const AnalyzeSettings& settings, const AnalyzeProgress& progress = {});

// A code with everything that pairwise comparison needs, computed once.
class ComparableCode {
 public:
  explicit ComparableCode(const MatrixD& code);  // (T, C)
  std::int64_t tokens() const { return centred_.rows(); }

  // Fills the measures of a row: this code against another of the same tokens; widths may differ.
  void compare(const ComparableCode& other, CodePairRow& row) const;

 private:
  double overlap(const ComparableCode& other) const;  // nuclear norm of the product of the two centred codes
  MatrixD centred_, gram_, root_;                     // code; its Gram matrix and that one's square root
  std::vector<double> cosine_, centred_cosine_, distance_;
  double norm_ = 0, gram_norm_ = 0;
};

}  // namespace locus
