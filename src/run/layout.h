// Names of the files in a run directory (docs/run_directory.md) and in the folder of a sweep, each of them here alone, and
// small helpers that every part of `run` shares.
#pragma once

#include <cstdint>
#include <filesystem>
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
inline constexpr const char* kLive = "live.json";
inline constexpr const char* kCheckpoints = "checkpoints";
inline constexpr const char* kSnapshots = "snapshots";
inline constexpr const char* kTensorBoard = "tensorboard";
inline constexpr const char* kInit = "init";
inline constexpr const char* kFinal = "final";
inline constexpr const char* kModel = "model.safetensors";
inline constexpr const char* kModelConfig = "config.json";
inline constexpr const char* kState = "state.safetensors";
inline constexpr const char* kAnalysis = "analysis";
}  // namespace run_files

namespace sweep_files {
inline constexpr const char* kPlans = "plans";
inline constexpr const char* kCells = "cells";
inline constexpr const char* kResultsCsv = "results.csv";
inline constexpr const char* kResultsJson = "results.json";
inline constexpr const char* kJobs = "jobs";
inline constexpr const char* kCellList = "cells.txt";
}  // namespace sweep_files

inline constexpr int kRunFormat = 1;

// Names of models as results of analyses give them: "snapshots/10", "checkpoints/0000000120".
std::string snapshot_model(std::int64_t epoch);
bool is_snapshot(std::string_view model);
bool is_checkpoint(std::string_view model);

// The folder of the sweep that a run directory is a cell of; empty when it is none.
std::filesystem::path sweep_of(const std::filesystem::path& run);

std::string checkpoint_name(std::int64_t step);                     // "0000000120"
std::optional<std::int64_t> number_of_name(std::string_view name);  // the reverse, for any number of digits

std::string utc_now();                     // "2025-01-31T12:00:00Z"
std::string one_line(const Error& error);  // place, what and got of an error, for a warning

}  // namespace locus
