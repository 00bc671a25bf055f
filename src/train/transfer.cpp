#include "train/transfer.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "config/init_config.h"
#include "config/tasks.h"
#include "core/error.h"
#include "core/text.h"
#include "data/table/dataset.h"
#include "run/checkpoint.h"
#include "run/run_reader.h"
#include "train/optimizer.h"

namespace locus {
namespace {

bool is_encoding(const std::string& name) { return matches_pattern("*pe.*", name); }
bool is_head(const std::string& name) { return name.starts_with("head"); }

// Classes or numbers that the runs answer with, where a table tells them.
std::vector<std::string> answers_of(const RunReader& run) {
  const Json& manifest = run.manifest();
  if (!manifest.contains("data") || !manifest.at("data").contains(kCoderKey)) return {};
  const TableCoder coder = TableCoder::from_json(Json::parse(manifest.at("data").at(kCoderKey).text()));
  return coder.classes.empty() ? coder.outputs : coder.classes;
}

class Taker {
 public:
  Taker(const ModelStructure& s, const Dataset& d, const RunReader& run, const TensorFile& file)
      : s_(s), d_(d), file_(file), there_(run.tokens().value_or(TokenInfo()).names) {
    const std::optional<RunConfig>& config = run.config();
    const std::vector<std::string> here = d.class_names.empty() ? d.output_names : d.class_names;
    const auto same = [](const std::string& a, const std::string& b) { return a == b; };
    same_question_ = config && same(task_of(*config).name, d.task) && answers_of(run) == here &&
                     (same(config->study, s.config.study) || !here.empty());
  }

  Transfer take(float* params) {
    Transfer out;
    const bool all = s_.config.own.of<InitConfig>().take == InitTake::kWeights;
    for (const TensorSlot& slot : s_.layout.slots()) {
      std::string why;
      if (!all && !is_encoding(slot.name)) {
        continue;
      } else if (const Tensor* t = file_.find(slot.name); t == nullptr) {
        why = "the other run has none";
      } else if (is_head(slot.name) && !same_question_) {
        why = "the other run answers another question";
      } else if (is_rows_of_tokens(slot)) {
        why = take_rows(slot, *t, params + slot.offset);
      } else if (t->shape != slot.shape) {
        why = "the other run's has another shape";
      } else {
        const std::span<const float> values = t->as<float>();
        std::copy(values.begin(), values.end(), params + slot.offset);
      }
      (why.empty() ? out.taken : out.left).push_back(why.empty() ? slot.name : slot.name + ": " + why);
    }
    return out;
  }

 private:
  bool is_rows_of_tokens(const TensorSlot& slot) const {
    return slot.name.ends_with("pe.table") && slot.shape.size() == 2 && slot.shape[0] == s_.shape.tokens;
  }

  // By name; a token that the other run did not have keeps its initial row.
  std::string take_rows(const TensorSlot& slot, const Tensor& t, float* to) const {
    if (t.shape.size() != 2 || t.shape[1] != slot.shape[1]) return "the other run's has another shape";
    const std::vector<std::string>& here = d_.tokens_info.names;
    const bool named = !here.empty() && static_cast<std::int64_t>(there_.size()) == t.shape[0];
    if (!named && t.shape != slot.shape) return "the other run has another number of tokens, without names";
    const std::span<const float> values = t.as<float>();
    std::map<std::string, std::int64_t> row;
    for (std::size_t i = 0; named && i < there_.size(); ++i) row[there_[i]] = static_cast<std::int64_t>(i);
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < slot.shape[0]; ++i) {
      std::int64_t from = i;
      if (named) {
        const auto at = row.find(here[static_cast<std::size_t>(i)]);
        if (at == row.end()) continue;
        from = at->second;
      }
      ++found;
      std::copy_n(values.begin() + from * slot.shape[1], slot.shape[1], to + i * slot.shape[1]);
    }
    return found > 0 ? "" : "no token of this run is in the other";
  }

  const ModelStructure& s_;
  const Dataset& d_;
  const TensorFile& file_;
  std::vector<std::string> there_;
  bool same_question_ = false;
};

}  // namespace

std::vector<std::string> Transfer::lines(const std::string& run) const {
  if (taken.empty()) return {};
  std::vector<std::string> out = {fmt::format("begins from {}: took {}", run, join(taken, ", "))};
  for (const std::string& l : left) out.push_back("left " + l);
  return out;
}

Transfer take_from_run(const ModelStructure& s, const Dataset& dataset, float* params) {
  const std::string& folder = s.config.own.of<InitConfig>().folder;
  if (folder.empty()) return {};
  std::error_code code;
  const ModelEntry* model = nullptr;
  std::optional<RunReader> run;
  if (std::filesystem::is_directory(folder, code)) {
    run.emplace(folder);
    model = run->best_model();
  }
  if (model == nullptr || model->kind == ModelEntry::Kind::kInit) {
    throw ConfigError({.what = "train.init names no run with a trained model",
                       .where = "train.init",
                       .got = folder,
                       .expected = "the folder of a run that was trained"});
  }
  const LoadedModel file = load_model_file(model->path);
  Transfer out = Taker(s, dataset, *run, file.tensors).take(params);
  if (!out.taken.empty()) return out;
  throw ConfigError({.what = "nothing of the other run fits this model",
                     .where = "train.init = " + folder,
                     .got = join(out.left, "; "),
                     .expected = "a run with the same encoding, width and layers"});
}

}  // namespace locus
