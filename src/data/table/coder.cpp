#include "data/table/coder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

constexpr std::int64_t kMostWords = 32000;  // ids are 16-bit numbers
constexpr double kMostCells = 1e9;          // of samples x tokens x channels, 4 bytes each

// How often the commonest value is there among the values that are.
struct Commonest {
  std::int64_t count = 0, present = 0;
};

Commonest commonest(const RawTokens& raw, std::size_t token, std::span<const std::int64_t> samples) {
  std::map<std::string, std::int64_t> texts;
  std::map<std::vector<double>, std::int64_t> numbers;
  Commonest out;
  const RawToken& t = raw.tokens[token];
  for (const std::int64_t i : samples) {
    if (raw.is_missing(i, token)) continue;
    ++out.present;
    const auto begin = t.numbers.begin() + (t.is_category() ? 0 : i * raw.features);
    const std::int64_t n = t.is_category() ? ++texts[t.texts[static_cast<std::size_t>(i)]]
                                           : ++numbers[std::vector<double>(begin, begin + raw.features)];
    out.count = std::max(out.count, n);
  }
  return out;
}

void refuse_infinite(const RawTokens& raw) {
  for (const RawToken& t : raw.tokens) {
    for (std::size_t k = 0; k < t.numbers.size(); ++k) {
      if (!std::isinf(t.numbers[k]) && !(std::abs(t.numbers[k]) > 1e30)) continue;
      throw DataError(
          {.what = fmt::format("the token '{}' holds a value that is no measure of anything", t.name),
           .where = fmt::format("{}, {}", raw.source, raw.sample_names[k / static_cast<std::size_t>(raw.features)]),
           .got = shortest(t.numbers[k]),
           .expected = "a finite number below 1e30, or an empty cell for a missing value"});
    }
  }
}

void judge_missing(const RawTokens& raw, const TableConfig& config, DataAudit& audit) {
  std::int64_t missing = 0;
  std::vector<std::string> names;
  std::string first;
  for (std::size_t t = 0; t < raw.tokens.size(); ++t) {
    std::int64_t here = 0;
    for (std::int64_t i = 0; i < raw.samples; ++i) {
      if (!raw.is_missing(i, t)) continue;
      if (first.empty()) first = raw.sample_names[static_cast<std::size_t>(i)];
      ++here;
    }
    if (here > 0) names.push_back(fmt::format("'{}' ({})", raw.tokens[t].name, here));
    missing += here;
  }
  if (missing == 0) return;
  const std::string text = fmt::format(
      "{} of {} values ({:.2g} %) in {}", missing, raw.samples * static_cast<std::int64_t>(raw.tokens.size()),
      100.0 * static_cast<double>(missing) / static_cast<double>(raw.samples) / static_cast<double>(raw.tokens.size()),
      few_of(names));
  if (config.missing == MissingValues::kMask) {
    audit.note("missing", text + ": hidden from the model");
    return;
  }
  audit.doubt("missing", fmt::format("{}, first in {}", text, first),
              "--missing mask hides them from the model, which learns what hidden means; or fill or remove them");
}

void scale_tokens(const CoderInput& in, const TableConfig& config, const std::vector<std::size_t>& kept, TableCoder& coder) {
  const auto f = static_cast<std::size_t>(in.raw.features);
  double all_sum = 0, all_squares = 0, all_count = 0;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    TokenCode& code = coder.tokens[k];
    if (in.raw.tokens[kept[k]].is_category()) continue;
    code.mean.assign(f, 0.0);
    code.sd.assign(f, 1.0);
    for (std::size_t j = 0; j < f; ++j) {
      double sum = 0, count = 0;
      const auto value = [&](std::int64_t i) { return in.raw.tokens[kept[k]].numbers[static_cast<std::size_t>(i) * f + j]; };
      for (const std::int64_t i : in.train) {
        if (in.raw.is_missing(i, kept[k])) continue;
        sum += value(i);
        count += 1;
      }
      const double mean = count > 0 ? sum / count : 0.0;
      double squares = 0;
      for (const std::int64_t i : in.train) {
        if (!in.raw.is_missing(i, kept[k])) squares += (value(i) - mean) * (value(i) - mean);
      }
      all_sum += sum;
      all_count += count;
      all_squares += squares + count * mean * mean;
      if (config.scale == TokenScale::kNone) continue;
      code.mean[j] = mean;
      const double sd = count > 0 ? std::sqrt(squares / count) : 0.0;
      code.sd[j] = sd > 1e-12 * std::abs(mean) && sd > 0 ? sd : 1.0;
    }
  }
  if (config.scale != TokenScale::kAll || all_count == 0) return;
  const double mean = all_sum / all_count;
  const double sd = std::sqrt(std::max(0.0, all_squares / all_count - mean * mean));
  for (TokenCode& code : coder.tokens) {
    std::fill(code.mean.begin(), code.mean.end(), mean);
    std::fill(code.sd.begin(), code.sd.end(), sd > 0 ? sd : 1.0);
  }
}

void make_vocabularies(const CoderInput& in, const std::vector<std::size_t>& kept, TableCoder& coder) {
  std::int64_t words = 0;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const RawToken& token = in.raw.tokens[kept[k]];
    if (!token.is_category()) continue;
    std::map<std::string, std::int64_t> seen;
    for (const std::int64_t i : in.train) {
      if (!token.texts[static_cast<std::size_t>(i)].empty()) ++seen[token.texts[static_cast<std::size_t>(i)]];
    }
    for (const auto& [word, count] : seen) coder.tokens[k].vocabulary.push_back(word);
    coder.tokens[k].channel = words;  // moved behind the numbers' channels when it is known whether there are any
    words += static_cast<std::int64_t>(seen.size());
  }
  const bool categories_alone =
      words > 0 && std::all_of(coder.tokens.begin(), coder.tokens.end(), [](const TokenCode& c) { return c.is_category(); });
  coder.ids = categories_alone && in.target.is_given();
  coder.value_features = categories_alone ? 0 : in.raw.features;
  coder.features = coder.value_features + words;
  for (TokenCode& c : coder.tokens) c.channel += c.is_category() ? coder.value_features : 0;
  const double cells = static_cast<double>(in.raw.samples) * static_cast<double>(kept.size()) *
                       static_cast<double>(coder.ids ? 1 : coder.features);
  if (words <= kMostWords && cells <= kMostCells) return;
  throw DataError({.what = "the categories have too many different values",
                   .where = in.raw.source,
                   .got = fmt::format("{} in training", words),
                   .expected = fmt::format("at most {}, and less than 4 GB of numbers", kMostWords),
                   .hint = "leave columns of names out (table.skip), or join rare values"});
}

void fit_target(const CoderInput& in, TableCoder& coder) {
  coder.classes = in.target.classes;
  if (in.target.task != TableTask::kRegress) return;
  coder.outputs = in.target.names;
  for (std::ptrdiff_t o = 0; o < in.target.values.cols(); ++o) {
    double mean = 0, squares = 0;
    for (const std::int64_t i : in.train) mean += in.target.values(i, o) / static_cast<double>(in.train.size());
    for (const std::int64_t i : in.train) squares += (in.target.values(i, o) - mean) * (in.target.values(i, o) - mean);
    const double sd = std::sqrt(squares / static_cast<double>(in.train.size()));
    if (!(sd > 0)) {
      throw DataError({.what = fmt::format("the target '{}' is the same in all of training",
                                           in.target.names[static_cast<std::size_t>(o)]),
                       .where = in.raw.source,
                       .got = shortest(mean),
                       .expected = "numbers that differ",
                       .hint = "table.split=random mixes the samples"});
    }
    coder.target_mean.push_back(mean);
    coder.target_sd.push_back(sd);
  }
}

// Places of the tokens that vary enough to be learned from.
std::vector<std::size_t> varying_tokens(const CoderInput& in, const TableConfig& config, DataAudit& audit) {
  std::vector<std::size_t> kept;
  std::vector<std::string> constant, empty;
  for (std::size_t t = 0; t < in.raw.tokens.size(); ++t) {
    const Commonest c = commonest(in.raw, t, in.train);
    const bool is_constant =
        static_cast<double>(c.count) >= config.constant_share * static_cast<double>(c.present) || c.count == c.present;
    if (c.present == 0) {
      empty.push_back(in.raw.tokens[t].name);
    } else if (is_constant) {
      constant.push_back(in.raw.tokens[t].name);
    }
    if (c.present > 0 && (!is_constant || config.constant == ConstantTokens::kKeep)) kept.push_back(t);
  }
  if (!empty.empty())
    audit.note("tokens", fmt::format("{} without any value in training, left out: {}", empty.size(), few_of(empty)));
  if (!constant.empty()) {
    audit.note("tokens",
               fmt::format("{} constant or almost, {}: {}", constant.size(),
                           config.constant == ConstantTokens::kKeep ? "kept" : "left out (table.constant=keep keeps them)",
                           few_of(constant)));
  }
  if (!kept.empty()) return kept;
  throw DataError({.what = "every token is constant",
                   .where = in.raw.source,
                   .got = few_of(constant.empty() ? empty : constant),
                   .expected = "tokens whose values differ between samples"});
}

Json numbers_json(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double v : values) out.push_back(v);
  return out;
}

}  // namespace

TableCoder fit_coder(const CoderInput& in, const TableConfig& config, DataAudit& audit) {
  refuse_infinite(in.raw);
  judge_missing(in.raw, config, audit);
  const std::vector<std::size_t> kept = varying_tokens(in, config, audit);
  TableCoder coder;
  for (const std::size_t t : kept) coder.tokens.push_back({.name = in.raw.tokens[t].name});
  make_vocabularies(in, kept, coder);
  scale_tokens(in, config, kept, coder);
  fit_target(in, coder);
  return coder;
}

CodedTokens TableCoder::encode(const RawTokens& raw, std::span<const std::int64_t> samples) const {
  std::map<std::string, std::size_t> place;
  for (std::size_t t = 0; t < raw.tokens.size(); ++t) place[raw.tokens[t].name] = t;
  CodedTokens out;
  const std::size_t t_count = tokens.size(), f = static_cast<std::size_t>(features);
  if (ids) out.ids.assign(samples.size() * t_count, -1);
  if (!ids) out.values.assign(samples.size() * t_count * f, 0.0f);
  bool any_missing = false;
  std::vector<std::uint8_t> hidden(samples.size() * t_count);
  for (std::size_t t = 0; t < t_count; ++t) {
    const TokenCode& code = tokens[t];
    const auto found = place.find(code.name);
    if (found == place.end() || raw.tokens[found->second].is_category() != code.is_category()) {
      throw DataError({.what = fmt::format("the samples lack the token '{}'", code.name),
                       .where = raw.source,
                       .got = found == place.end() ? "no such column"
                              : code.is_category() ? "numbers"
                                                   : "texts",
                       .expected = code.is_category() ? "texts, as in training" : "numbers, as in training"});
    }
    const RawToken& token = raw.tokens[found->second];
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const std::int64_t i = samples[s];
      if (raw.is_missing(i, found->second)) {
        hidden[s * t_count + t] = 1;
        any_missing = true;
      } else if (code.is_category()) {
        const std::string& word = token.texts[static_cast<std::size_t>(i)];
        const auto at = std::lower_bound(code.vocabulary.begin(), code.vocabulary.end(), word);
        if (at == code.vocabulary.end() || *at != word) continue;
        const auto channel = static_cast<std::size_t>(code.channel + (at - code.vocabulary.begin()));
        if (ids) {
          out.ids[s * t_count + t] = static_cast<std::int16_t>(channel);
        } else {
          out.values[(s * t_count + t) * f + channel] = 1.0f;
        }
      } else {
        for (std::size_t j = 0; j < static_cast<std::size_t>(value_features); ++j) {
          const double v = token.numbers[static_cast<std::size_t>(i * raw.features) + j];
          out.values[(s * t_count + t) * f + j] = static_cast<float>((v - code.mean[j]) / code.sd[j]);
        }
      }
    }
  }
  if (any_missing) out.missing = std::move(hidden);
  return out;
}

Json TableCoder::to_json() const {
  Json out = Json::object();
  Json list = Json::array();
  for (const TokenCode& t : tokens) {
    Json row = Json::object();
    row["name"] = t.name;
    if (t.is_category()) {
      row["vocabulary"] = t.vocabulary;
      row["channel"] = t.channel;
    } else {
      row["mean"] = numbers_json(t.mean);
      row["sd"] = numbers_json(t.sd);
    }
    list.push_back(row);
  }
  out["tokens"] = list;
  out["value_features"] = value_features;
  out["features"] = features;
  out["ids"] = ids;
  if (!classes.empty()) out["classes"] = classes;
  if (!outputs.empty()) {
    out["outputs"] = outputs;
    out["target_mean"] = numbers_json(target_mean);
    out["target_sd"] = numbers_json(target_sd);
  }
  return out;
}

TableCoder TableCoder::from_json(const Json& json) {
  TableCoder out;
  for (const Json& row : json.at("tokens").items_of_array()) {
    TokenCode t;
    t.name = row.at("name").text();
    if (row.contains("vocabulary")) {
      t.vocabulary = row.at("vocabulary").get<std::vector<std::string>>();
      t.channel = row.at("channel").get<std::int64_t>();
    } else {
      t.mean = row.at("mean").get<std::vector<double>>();
      t.sd = row.at("sd").get<std::vector<double>>();
    }
    out.tokens.push_back(std::move(t));
  }
  out.value_features = json.at("value_features").get<std::int64_t>();
  out.features = json.at("features").get<std::int64_t>();
  out.ids = json.at("ids").get<bool>();
  if (json.contains("classes")) out.classes = json.at("classes").get<std::vector<std::string>>();
  if (json.contains("outputs")) {
    out.outputs = json.at("outputs").get<std::vector<std::string>>();
    out.target_mean = json.at("target_mean").get<std::vector<double>>();
    out.target_sd = json.at("target_sd").get<std::vector<double>>();
  }
  return out;
}

}  // namespace locus
