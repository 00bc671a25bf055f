#include "config/encodings.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/run_config.h"
#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

std::vector<std::function<std::string(const RunConfig&)>>& own_names() {
  static std::vector<std::function<std::string(const RunConfig&)>> labels;
  return labels;
}

}  // namespace

bool EncodingRow::uses(std::string_view field) const {
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

std::string EncodingRow::field_list() const { return join(std::vector<std::string>(fields.begin(), fields.end()), ", "); }

const EncodingRow& encoding_row(PeKind kind) {
  for (const EncodingRow& row : encoding_rows()) {
    if (row.kind == kind) return row;
  }
  check_failed("a row for every encoding", __FILE__, __LINE__, std::string(pe_kind_name(kind)));
}

bool sigma_counts(const PeConfig& pe) {
  return encoding_row(pe.kind).uses("sigma") && (pe.init == PeInit::kNormal || pe.init == PeInit::kUniform);
}

std::string encoding_name(const RunConfig& c) {
  for (const auto& own : own_names()) {
    if (std::string label = own(c); !label.empty()) return label;
  }
  const EncodingRow& row = encoding_row(c.pe.kind);
  std::string label = row.label(c.pe);
  if (row.uses("positions")) label += fmt::format(" {}-D", c.position_axes());
  if (c.model.attention_mask == AttentionMask::kCausal) label += ", causal";
  return label;
}

void register_encoding_name(std::function<std::string(const RunConfig&)> label) { own_names().push_back(std::move(label)); }

}  // namespace locus
