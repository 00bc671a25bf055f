// locus train in several processes.
#include <fmt/core.h>

#include <exception>

#include "cli/commands.h"
#include "cli/ranks.h"
#include "cli/terminal.h"
#include "config/load.h"
#include "core/error.h"
#include "data/datasets.h"
#include "infer/model_files.h"
#include "run/run_directory.h"
#include "train/step.h"

namespace locus::cli {
namespace {

// Rank 0 failed and tells about it; the others have nothing to add.
struct LeaderFailed {};

// Work that every rank does for itself. What fails on rank 0 is told by rank 0 alone, also when the others met the same.
template <class Work>
void together(MpiRanks& ranks, const Work& work) {
  std::exception_ptr problem;
  try {
    work();
  } catch (...) {
    problem = std::current_exception();
  }
  unsigned char good = problem == nullptr ? 1 : 0;
  ranks.broadcast(0, std::as_writable_bytes(std::span(&good, 1)));
  if (problem != nullptr && (good != 0 || ranks.rank() == 0)) std::rethrow_exception(problem);
  if (good == 0) throw LeaderFailed();
}

int train_rank(const TrainOptions& options, const std::string& command_line, MpiRanks& ranks) {
  TrainOptions mine = options;
  RunConfig config;
  Dataset dataset;
  const bool leads = ranks.rank() == 0;
  if (!leads) mine.quiet = mine.no_baselines = true;
  together(ranks, [&] {
    config = train_config(mine);
    if (leads) RunDirectory::probe(mine.out, config);
  });
  ranks.agree_on_isa();
  together(ranks, [&] {
    dataset = make_dataset(config, cache_folder());
    shards_of(&ranks, shard_count(config, structure_for(config, dataset).tokens));
  });
  if (leads && !mine.quiet) message_line(fmt::format("{} ranks with {} threads each", ranks.size(), thread_count(mine)));
  return train_in(config, dataset, mine, command_line, &ranks);
}

}  // namespace

int train_in_ranks(const TrainOptions& options, const std::string& command_line, MpiRanks& ranks) {
  const std::atomic<int>& signal = install_stop_signals();
  int code = kExitFailed;
  try {
    code = train_rank(options, command_line, ranks);
  } catch (const LeaderFailed&) {
    code = kExitFailed;
  } catch (const RankError& e) {
    message_line(std::string("error: ") + e.what());
    ranks.abort(signal != 0 ? kExitAgain : kExitFailed);
  } catch (const std::exception& e) {
    if (ranks.rank() != 0) {
      message_line(fmt::format("error: rank {}: {}", ranks.rank(), e.what()));
      ranks.abort(kExitFailed);
    }
    // train() and together() have told the others.
    ranks.end();
    throw;
  }
  ranks.end();
  return code;
}

}  // namespace locus::cli
