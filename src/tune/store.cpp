#include "tune/store.h"

#include <cmath>
#include <map>

#include "core/error.h"
#include "core/nan.h"
#include "io/codec.h"
#include "io/file.h"
#include "run/files.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
constexpr int kFormat = 1;

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(); }
double number(const Json& json) { return json.is_null() ? kNan : json.get<double>(); }

Json candidate_json(const TuneCandidate& c) {
  Json settings = Json::object();
  for (const auto& [key, value] : c.settings) settings[key] = plain_text(value);
  return {{"name", candidate_name(c)}, {"rival", c.rival}, {"set", std::move(settings)}};
}

Json stage_json(const StoredStage& stage) {
  Json runs = Json::array();
  for (std::size_t i = 0; i < stage.scores.size(); ++i) {
    const TuneScore& s = stage.scores[i];
    runs.push_back({{"candidate", s.task.candidate},
                    {"seed", s.task.seed},
                    {"run", stage.runs[i]},
                    {"steps", s.steps},
                    {"diverged", s.diverged},
                    {"score", number(s.diverged ? kNan : s.score)},
                    {"agreement", number(stage.agreement[i])}});
  }
  return {{"level", stage.stage.level}, {"runs", std::move(runs)}};
}

Json answer_json(const TuneAnswer& a, const Search& search) {
  Json json = {{"best", candidate_name(search.candidates()[a.best])},
               {"steps", a.steps},
               {"score", number(a.score)},
               {"score_lo", number(a.score_lo)},
               {"score_hi", number(a.score_hi)},
               {"noise", number(a.noise)},
               {"key", a.key},
               {"value", number(a.value)},
               {"lo", number(a.lo)},
               {"hi", number(a.hi)},
               {"alike_lo", number(a.alike_lo)},
               {"alike_hi", number(a.alike_hi)},
               {"effect", a.effect},
               {"seen", number(a.seen)}};
  json["rivals"] = Json::array();
  for (const RivalAnswer& r : a.rivals)
    json["rivals"].push_back({{"name", r.name},
                              {"steps", r.steps},
                              {"score", number(r.score)},
                              {"behind", number(r.behind)},
                              {"lo", number(r.lo)},
                              {"hi", number(r.hi)},
                              {"verdict", r.verdict}});
  json["sentences"] = a.sentences;
  json["curve"] = Json::array();
  for (const CurvePoint& p : a.curve)
    json["curve"].push_back(Json::array({number(p.value), number(p.mean), number(p.lo), number(p.hi)}));
  return json;
}

Json read_json(const fs::path& file) {
  Json json = Json::parse(read_text_file(file));
  if (json.is_object() && json.value("format", 0) == kFormat) return json;
  throw IoError({.what = "the file of a search is damaged or of another version",
                 .where = file.string(),
                 .hint = "search again in another folder; its runs are as they were"});
}

}  // namespace

void write_search(const fs::path& folder, const StoredSearch& stored, const Search& search, const TuneAnswer* answer) {
  Json json;
  json["format"] = kFormat;
  json["question"] = stored.question;
  json["budget_steps"] = stored.budget_steps;
  if (stored.steps_per_second > 0) json["steps_per_second"] = stored.steps_per_second;
  json["levels"] = search.plan().levels;
  json["spent_steps"] = search.spent();
  json["candidates"] = Json::array();
  for (const TuneCandidate& c : search.candidates()) json["candidates"].push_back(candidate_json(c));
  json["stages"] = Json::array();
  for (const StoredStage& s : stored.stages) json["stages"].push_back(stage_json(s));
  if (answer != nullptr) json["answer"] = answer_json(*answer, search);
  write_file_atomic(folder / tune_files::kSearch, json.dump(1) + "\n");
}

std::optional<StoredSearch> read_search(const fs::path& folder) {
  const fs::path file = folder / tune_files::kSearch;
  if (!is_there(file)) return std::nullopt;
  const Json json = read_json(file);
  StoredSearch out;
  out.question = json.at("question");
  out.budget_steps = json.at("budget_steps").get<std::int64_t>();
  out.steps_per_second = json.value("steps_per_second", 0.0);
  for (const Json& stage : json.at("stages").items_of_array()) {
    StoredStage s;
    s.stage.level = stage.at("level").get<std::size_t>();
    for (const Json& run : stage.at("runs").items_of_array()) {
      TuneScore score;
      score.task = {run.at("candidate").get<std::size_t>(), run.at("seed").get<std::int64_t>()};
      score.level = s.stage.level;
      score.steps = run.at("steps").get<std::int64_t>();
      score.diverged = run.at("diverged").get<bool>();
      score.score = score.diverged ? 0 : run.at("score").get<double>();
      s.stage.tasks.push_back(score.task);
      s.scores.push_back(score);
      s.runs.push_back(run.at("run").text());
      s.agreement.push_back(number(run.at("agreement")));
    }
    out.stages.push_back(std::move(s));
  }
  return out;
}

std::optional<SearchPicture> read_search_picture(const fs::path& folder) {
  const fs::path file = folder / tune_files::kSearch;
  if (!is_there(file)) return std::nullopt;
  const Json json = read_json(file);
  if (!json.contains("answer")) return std::nullopt;
  const Json& answer = json.at("answer");
  SearchPicture out;
  out.metric = json.at("question").at("metric").text();
  out.key = answer.at("key").text();
  out.steps = answer.at("steps").get<std::int64_t>();
  out.best = number(answer.at("value")), out.lo = number(answer.at("lo")), out.hi = number(answer.at("hi"));
  out.alike_lo = number(answer.at("alike_lo")), out.alike_hi = number(answer.at("alike_hi"));
  out.effect = answer.at("effect").text();
  out.sentences = answer.at("sentences").get<std::vector<std::string>>();
  for (const Json& p : answer.at("curve").items_of_array())
    out.curve.push_back({number(p.at(0)), number(p.at(1)), number(p.at(2)), number(p.at(3))});
  if (!out.key.empty()) out.log = json.at("question").at("keys").at(out.key).text().ends_with(":log");
  std::map<std::string, std::size_t> places;
  for (const Json& stage : json.at("stages").items_of_array()) {
    for (const Json& run : stage.at("runs").items_of_array()) {
      const Json& c = json.at("candidates").at(run.at("candidate").get<std::size_t>());
      SearchPicture::Run r;
      r.candidate = c.at("name").text(), r.rival = c.at("rival").text(), r.run = run.at("run").text();
      r.seed = run.at("seed").get<std::int64_t>(), r.steps = run.at("steps").get<std::int64_t>();
      r.diverged = run.at("diverged").get<bool>();
      r.score = number(run.at("score"));
      const Json& set = c.at("set");
      r.value = r.rival.empty() && set.contains(out.key) ? std::stod(set.at(out.key).text()) : kNan;
      const auto [it, fresh] = places.try_emplace(r.run, out.runs.size());
      if (fresh) {
        out.runs.push_back(std::move(r));
      } else {
        out.runs[it->second] = std::move(r);
      }
    }
  }
  return out;
}

}  // namespace locus
