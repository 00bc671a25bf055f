// Names of the files in a run directory (docs/run_directory.md), and small helpers that every part of `run` shares.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace locus {

namespace run_files {
inline constexpr const char* kConfig = "config.toml";
inline constexpr const char* kManifest = "manifest.json";
inline constexpr const char* kDataset = "dataset.safetensors";
inline constexpr const char* kMetricsJsonl = "metrics.jsonl";
inline constexpr const char* kMetricsCsv = "metrics.csv";
inline constexpr const char* kPredictions = "predictions.csv";
inline constexpr const char* kSummary = "summary.json";
inline constexpr const char* kLog = "log.txt";
inline constexpr const char* kLock = "lock";
inline constexpr const char* kCheckpoints = "checkpoints";
inline constexpr const char* kSnapshots = "snapshots";
inline constexpr const char* kInit = "init";
inline constexpr const char* kFinal = "final";
inline constexpr const char* kModel = "model.safetensors";
inline constexpr const char* kModelConfig = "config.json";
inline constexpr const char* kState = "state.safetensors";
}  // namespace run_files

inline constexpr int kRunFormat = 1;

std::string checkpoint_name(std::int64_t step);                     // "0000000120"
std::optional<std::int64_t> number_of_name(std::string_view name);  // the reverse, for any number of digits

// A number as JSON text: shortest that reads back; nan and infinities as the texts "nan", "inf", "-inf".
std::string json_number(double value);
nlohmann::json json_value(double value);
std::optional<double> number_of_json(const nlohmann::json& value);  // accepts those texts
std::string json_text(std::string_view text);                       // quoted; broken UTF-8 is replaced

// A CSV field, quoted where its content asks for it.
std::string csv_field(std::string_view text);

std::string utc_now();                     // "2025-01-31T12:00:00Z"
std::string one_line(const Error& error);  // place, what and got of an error, for a warning

}  // namespace locus
