// locus check: what was read as what in a user's data, and what is doubtful, before anything is trained.
#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/own_data.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/json.h"
#include "data/own_series.h"
#include "data/table/dataset.h"

namespace locus::cli {

int run_check(const DataOptions& options) {
  OwnData data = own_data(options, "check");
  data.is_table = data.is_table || !are_region_series(data.files);
  if (!data.is_table) {
    DataCommandOptions series;
    static_cast<CommonOptions&>(series) = options;
    series.files = data.files;
    series.overrides = data.settings;
    series.atlas = options.labels;
    series.dataset = options.dataset;
    return run_fmri_check(series);
  }
  DataAudit audit;
  std::string error;
  try {
    const RunConfig config = own_config(data, options);
    read_table_data(config, audit);
  } catch (const Error& e) {
    error = e.what();
  }
  const bool settled = error.empty() && !audit.has_doubts();
  if (options.json) {
    Json json;
    json["findings"] = audit.to_json();
    if (!error.empty()) json["error"] = error;
    json["ready"] = settled;
    print_line(json.dump(1));
    return settled ? kExitDone : kExitUsage;
  }
  for (const std::string& line : audit.lines()) print_line(line);
  if (!error.empty()) {
    message_line("error: " + error);
  } else {
    print_line(settled ? "ready: locus fit takes these data as they are"
                       : "not ready: each ? changes the result and needs a word from you");
  }
  return settled ? kExitDone : kExitUsage;
}

}  // namespace locus::cli
