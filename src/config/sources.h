// The sources of data: one row each, which tells its settings and their checks, how its data set is made and of which
// files, which tasks it serves, and what is known of its tokens. Rows stand in src/data/sources.cpp.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/sections.h"
#include "core/matrix.h"

namespace locus {

struct AnswerTokens;
struct Dataset;
struct RunConfig;

struct SourceRow {
  std::string name = {};                     // "nmar"
  std::string study = {};                    // value of the key study that names it; several rows may share one
  std::string title = {};                    // over a report: "Network simulation"
  std::string summary = {};                  // in help: "a simulated network"
  std::vector<std::string> tasks = {};       // names of rows of config/tasks.h; task = auto takes the first
  std::vector<ConfigSection> sections = {};  // its settings
  std::string split = "test";                // its measure answers the question
  int axes = 0;                              // of the coordinates of tokens; 0: they have none
  bool grid = false;                         // the coordinates are rows and columns of a grid
  std::string no_labels = {};                // what to do where an analysis needs labels of tokens and there are none

  Dataset (*make)(const RunConfig&, const std::string& cache_folder) = nullptr;
  bool (*chosen)(const RunConfig&) = nullptr;  // where rows share a study: whether it is this one
  void (*check)(const RunConfig&) = nullptr;   // ConfigError where its settings make no sense
  // The files it reads: a sweep's cell is new when their contents change. Not set: data made of the settings alone.
  std::vector<std::filesystem::path> (*files)(const RunConfig&) = nullptr;
  void (*forget_places)(RunConfig&) = nullptr;         // clears names of files and folders, for results that are kept
  MatrixD (*coordinates)(const RunConfig&) = nullptr;  // of its tokens, where the settings alone tell them
  AnswerTokens (*answer_tokens)(std::span<const std::int16_t> ids) = nullptr;  // where the answer can be derived

  bool serves(std::string_view task) const;
};

const std::deque<SourceRow>& source_rows();
std::vector<std::string> study_names();
std::string study_help();  // "lst (Latin-square puzzles), masked (samples x tokens of files, or a simulated network)"
const SourceRow& source_of(const RunConfig& config);  // ConfigError with the nearest name for an unknown study

// A program's own, before its first configuration is made. ConfigError when the name is taken.
void register_source(SourceRow row);

std::vector<SourceRow> built_in_sources();

}  // namespace locus
