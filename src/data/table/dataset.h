// From a user's table or pictures to a data set: read, judged, split, and coded with what training samples say alone.
#pragma once

#include <string>

#include "config/run_config.h"
#include "data/examples.h"
#include "data/table/audit.h"
#include "data/table/coder.h"

namespace locus {

// Keys of Dataset::description under which a run keeps what raw data need to be read the same way again.
inline constexpr const char* kAuditKey = "audit";
inline constexpr const char* kCoderKey = "coder";

// Samples as their files have them: tokens, and what else is known of each sample.
struct RawData {
  RawTable outside;
  RawTokens tokens;
};

// The settings of section table with the task that the key `task` names.
TableConfig table_settings(const RunConfig& config);

// study = table or images. ConfigError and DataError in the user's words.
RawData read_raw_data(const RunConfig& config, DataAudit& audit);

// What the target asks for, told from its values: "classify", "regress" or "masked".
std::string task_of_target(const RunConfig& config);

struct TableData {
  Dataset dataset;
  TableCoder coder;
};

// `audit` gets what was read as what, also where an error ends it; doubts do not stop it.
TableData read_table_data(const RunConfig& config, DataAudit& audit);

// The same; DataError with the first doubt that is left.
Dataset make_table_dataset(const RunConfig& config, const std::string& cache_folder);

// Samples coded as a trained model reads them, without a target.
Examples code_samples(const TableCoder& coder, const RawTokens& raw, const std::vector<std::int64_t>& samples);

}  // namespace locus
