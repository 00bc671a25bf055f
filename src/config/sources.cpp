#include "config/sources.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/run_config.h"
#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

std::deque<SourceRow>& known_sources() {
  static std::deque<SourceRow> all = [] {
    std::vector<SourceRow> known = built_in_sources();
    return std::deque<SourceRow>(known.begin(), known.end());
  }();
  return all;
}

}  // namespace

bool SourceRow::serves(std::string_view task) const { return std::find(tasks.begin(), tasks.end(), task) != tasks.end(); }

const std::deque<SourceRow>& source_rows() { return known_sources(); }

std::vector<std::string> study_names() {
  std::vector<std::string> names;
  for (const SourceRow& row : known_sources()) {
    if (std::find(names.begin(), names.end(), row.study) == names.end()) names.push_back(row.study);
  }
  return names;
}

const SourceRow& source_of(const RunConfig& config) {
  for (const SourceRow& row : known_sources()) {
    if (row.study == config.study && (row.chosen == nullptr || row.chosen(config))) return row;
  }
  throw no_such_choice({"study", "the configuration"}, config.study, study_names(), "`locus config` lists every key");
}

void register_source(SourceRow row) {
  LOCUS_CHECK(row.make != nullptr && !row.tasks.empty(), "a source has a function that makes its data, and a task");
  for (const SourceRow& there : known_sources()) {
    if (there.name == row.name || (there.study == row.study && row.chosen == nullptr))
      throw ConfigError({.what = "there is a source of this name", .where = "register_source", .got = row.name});
  }
  adopt_sections(row.sections);
  known_sources().push_back(std::move(row));
}

std::string study_help() {
  std::vector<std::string> parts;
  for (const std::string& study : study_names()) {
    std::vector<std::string> summaries;
    for (const SourceRow& row : source_rows()) {
      if (row.study == study) summaries.push_back(row.summary);
    }
    parts.push_back(fmt::format("{} ({})", study, join(summaries, ", or ")));
  }
  return join(parts, ", ");
}

}  // namespace locus
