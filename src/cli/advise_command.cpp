// locus advise.
#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "cli/tune_question.h"
#include "core/json.h"
#include "data/datasets.h"
#include "tune/advise.h"

namespace locus::cli {
namespace {

void print_json(const SigmaAdvice& a) {
  Json json = {{"sigma", a.sigma},
               {"range", Json::array({a.lo, a.hi})},
               {"content_rms", a.content_rms},
               {"low_reason", a.low_reason},
               {"high_reason", a.high_reason}};
  json["facts"] = Json::array();
  for (const SigmaFacts& f : a.facts)
    json["facts"].push_back({{"sigma", f.sigma},
                             {"to_content", f.to_content},
                             {"position_spread", f.position_spread},
                             {"content_spread", f.content_spread},
                             {"entropy", f.entropy},
                             {"first_step", f.first_step}});
  print_line(json.dump(1));
}

}  // namespace

int run_advise(const TuneCommandOptions& options) {
  const TuneQuestion question = tune_question(options, "locus advise");
  const Dataset dataset = make_dataset(question.base, cache_folder());
  const SigmaAdvice a = advise_sigma(question.base, dataset);
  if (options.json) {
    print_json(a);
    return kExitDone;
  }
  print_wrapped(fmt::format("Begin with pe.sigma {:.2g}; a range to look at: {:.2g} to {:.2g}.", a.sigma, a.lo, a.hi));
  print_wrapped(fmt::format("{:.2g}: {}.", a.lo, a.low_reason));
  print_wrapped(fmt::format("{:.2g}: {}.", a.hi, a.high_reason));
  std::vector<std::vector<std::string>> rows;
  for (const SigmaFacts& f : a.facts)
    rows.push_back({fmt::format("{:.2g}", f.sigma), fmt::format("{:.2f}", f.to_content),
                    fmt::format("{:.3g}", f.position_spread), fmt::format("{:.3g}", f.content_spread),
                    fmt::format("{:.4f}", f.entropy), fmt::format("{:.2g}", f.first_step)});
  print_line(
      text_table({"sigma", "positions / content", "logits by positions", "by content", "entropy", "step / sigma"}, rows));
  print_wrapped("This is a rule about the untrained model, not a result: `locus tune` finds out.");
  return kExitDone;
}

}  // namespace locus::cli
