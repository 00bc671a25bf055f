// Masked prediction: where samples x tokens come from, what is hidden, and the network simulation.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace locus {

enum class SeriesSource { kNmar, kFiles };
inline constexpr std::array<std::string_view, 2> kSeriesSourceNames = {"nmar", "files"};

enum class Orientation { kAuto, kTokensByTime, kTimeByTokens };
inline constexpr std::array<std::string_view, 3> kOrientationNames = {"auto", "tokens_by_time", "time_by_tokens"};

enum class Detrend { kNone, kLinear };
inline constexpr std::array<std::string_view, 2> kDetrendNames = {"none", "linear"};

enum class ZScore { kNone, kRun, kTrain };
inline constexpr std::array<std::string_view, 3> kZScoreNames = {"none", "run", "train"};

enum class Coverage { kError, kDrop };
inline constexpr std::array<std::string_view, 2> kCoverageNames = {"error", "drop"};

enum class SplitBy { kSubject, kRun, kTime, kSample };
inline constexpr std::array<std::string_view, 4> kSplitByNames = {"subject", "run", "time", "sample"};

enum class TokenMatching { kNames, kOrder };
inline constexpr std::array<std::string_view, 2> kTokenMatchingNames = {"names", "order"};

enum class HeaderRow { kAuto, kYes, kNo };
inline constexpr std::array<std::string_view, 3> kHeaderRowNames = {"auto", "yes", "no"};

struct SeriesConfig {
  SeriesSource source = SeriesSource::kNmar;
  std::vector<std::string> files;       // globs
  std::vector<std::string> test_files;  // globs of further runs, for the test split only
  std::string manifest;                 // CSV subject,run,path
  std::string dataset;                  // HDF5 data set or MATLAB variable
  std::string subject_pattern;          // regular expression whose first group names the subject; empty: see series.h
  Orientation orientation = Orientation::kAuto;
  std::int64_t skip_frames = 0;
  Detrend detrend = Detrend::kNone;
  ZScore zscore = ZScore::kRun;
  Coverage coverage = Coverage::kError;
  std::string atlas;        // CSV/TSV: name, network, hemisphere, x, y, z
  std::string atlas_names;  // column of the atlas with the names; empty: the one that holds the tokens' names
  TokenMatching match = TokenMatching::kNames;
  HeaderRow header = HeaderRow::kAuto;    // of text tables
  std::vector<std::string> skip_columns;  // columns that are no tokens, beside those found; "none": none are looked for
  std::string hemisphere;                 // keep only regions of this hemisphere
  std::int64_t window = 1;
  SplitBy split_by = SplitBy::kSubject;
  std::vector<std::string> test_subjects;
  std::int64_t test_last = 0;
  std::int64_t leave_out = -1;  // >= 0: the subject of this rank by id, for leave-one-out
  double test_fraction = 0.2;
  double validation_fraction = 0.0;
  std::int64_t graph_neighbours = 10;  // of the connectivity graph behind Laplacian eigenvectors
};

enum class MaskKind { kRandom, kFixed, kNetwork, kHemisphere };
inline constexpr std::array<std::string_view, 4> kMaskKindNames = {"random", "fixed", "network", "hemisphere"};

enum class MaskLoss { kMasked, kAll };
inline constexpr std::array<std::string_view, 2> kMaskLossNames = {"masked", "all"};

enum class MaskVector { kLearned, kZero };
inline constexpr std::array<std::string_view, 2> kMaskVectorNames = {"learned", "zero"};

struct MaskConfig {
  MaskKind kind = MaskKind::kRandom;
  double ratio = 0.5;
  std::int64_t count = 0;  // > 0: exactly so many tokens instead of the ratio
  std::vector<double> tokens;
  MaskLoss loss = MaskLoss::kMasked;
  MaskVector vector = MaskVector::kLearned;
  std::int64_t eval_seed = 12345;
};

enum class Nonlinearity { kTanh, kSigmoid, kRelu, kIdentity };
inline constexpr std::array<std::string_view, 4> kNonlinearityNames = {"tanh", "sigmoid", "relu", "identity"};

struct NmarConfig {
  std::vector<double> sizes = {10, 10, 10, 10, 10};
  double p_in = 0.5;
  double p_out = 0.02;
  std::int64_t hub_module = -1;
  double hub_p_out = 0.2;
  double weight_mean = 1.0;
  double weight_sd = 0.2;
  double gain = 0.8;
  double noise = 0.3;
  double drive = 0.0;
  double drive_period = 0;            // > 0: the input is a sine of this many steps instead of a constant
  std::vector<double> drive_modules;  // modules that get the input; empty: all
  double module_drive = 0;            // > 0: each module also gets a slow random input of its own, of this deviation
  double module_drive_time = 20;      // its correlation time in steps
  Nonlinearity nonlinearity = Nonlinearity::kTanh;
  std::int64_t average = 5;
  double hrf_tr = 0;  // > 0: convolve with a haemodynamic response sampled at this many seconds a step
  std::int64_t burn_in = 500;
  std::int64_t train_samples = 20000;
  std::int64_t validation_samples = 2000;
  std::int64_t test_samples = 2000;
  std::int64_t graph_seed = 1;
  bool shuffle_nodes = true;
};

void describe(SeriesConfig& config, FieldList& list);
void describe(MaskConfig& config, FieldList& list);
void describe(NmarConfig& config, FieldList& list);

}  // namespace locus
