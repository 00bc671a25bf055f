// What was run, warnings, per-run details and how to reproduce, as HTML.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "config/load.h"
#include "core/text.h"
#include "report/markup.h"
#include "report/page_html.h"
#include "run/layout.h"

namespace locus::report {
namespace {

constexpr std::size_t kMaxListed = 12;

std::string manifest_text(const Run& run, const char* key) {
  if (!run.manifest.contains(key)) return "";
  const Json& value = run.manifest[key];
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

// Distinct values over runs, most frequent first, as one text.
std::string distinct(const Inputs& inputs, const char* key, std::size_t limit = 3) {
  std::map<std::string, int> counts;
  for (const Run& run : inputs.runs) {
    const std::string text = manifest_text(run, key);
    if (!text.empty()) ++counts[text];
  }
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [text, n] : counts) order.push_back({-n, text});
  std::sort(order.begin(), order.end());
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < order.size() && i < limit; ++i) shown.push_back(shorten(order[i].second, 200));
  std::string out = join(shown, "; ");
  if (order.size() > limit) out += fmt::format(" and {} more", order.size() - limit);
  return out;
}

void fact(std::string& out, const std::string& name, const std::string& value) {
  if (!value.empty()) out += "<dt>" + escape(name) + "</dt><dd>" + escape(value) + "</dd>\n";
}

std::string list_of(const std::set<std::string>& values) {
  std::vector<std::string> shown;
  for (const std::string& v : values) {
    if (shown.size() == kMaxListed) break;
    shown.push_back(shorten(v, 60));
  }
  std::string out = join(shown, ", ");
  if (values.size() > kMaxListed) out += fmt::format(" and {} more", values.size() - kMaxListed);
  return out;
}

std::string data_text(const Inputs& inputs) {
  for (const Run& run : inputs.runs) {
    if (!run.manifest.contains("data")) continue;
    const Json& data = run.manifest["data"];
    if (data.is_string()) return shorten(data.get<std::string>(), 600);
    if (!data.is_object()) continue;
    std::vector<std::string> keys = {"source", "train", "validation", "test", "heldout"};
    std::erase_if(keys, [&](const std::string& key) { return !data.contains(key); });
    for (const auto& [key, value] : data.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
    std::vector<std::string> parts;
    for (const std::string& key : keys) {
      const Json& value = data[key];
      std::string text = value.is_string() ? value.get<std::string>() : value.is_number() ? value.dump() : "";
      if (text.ends_with('.')) text.pop_back();
      if (!text.empty()) parts.push_back(key + ": " + text);
    }
    return shorten(join(parts, "; "), 800);
  }
  return "";
}

std::string shell_quote(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                          "_-./=,:@%+") == std::string::npos;
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_of(const Run& run) {
  if (!run.manifest.contains("command")) return "";
  const Json& command = run.manifest["command"];
  if (command.is_string()) return command.get<std::string>();
  if (!command.is_array()) return "";
  std::vector<std::string> words;
  for (const Json& word : command) {
    if (word.is_string()) words.push_back(shell_quote(word.get<std::string>()));
  }
  return join(words, " ");
}

// "learned σ 0.2, seed 3": what a reader knows a run by; its folder's name where there is no configuration.
std::string run_words(const Inputs& inputs, int id) {
  const Run& run = inputs.run(id);
  if (run.group < 0 || !run.config) return shorten(run.name, 60);
  return shorten(fmt::format("{}, seed {}", inputs.groups[static_cast<std::size_t>(run.group)].label, run.config->seed), 80);
}

std::string run_details(const Inputs& inputs, int id) {
  const Run& run = inputs.run(id);
  std::string result = inputs.measure && run.measures.count(inputs.measure->key())
                           ? inputs.measure->show(run.measures.at(inputs.measure->key()))
                           : "no result";
  std::string out =
      fmt::format("<details id=\"run-{}\"><summary>{} · {} · {} · {}</summary><div>", id, escape(run_words(inputs, id)),
                  escape(run.status), escape(result), escape(shorten(run.name, 120)));
  out += "<dl class=\"facts\">";
  fact(out, "folder", run.path);
  if (run.group >= 0) fact(out, "setting", inputs.groups[static_cast<std::size_t>(run.group)].label);
  if (run.config) fact(out, "seed", std::to_string(run.config->seed));
  fact(out, "reason it ended", run.reason);
  fact(out, "length",
       fmt::format("{} epochs, {} steps, {}", pretty(run.epochs, 6), pretty(run.steps, 9), human_seconds(run.seconds)));
  std::vector<std::string> values;
  for (const auto& [key, value] : run.measures) {
    if (values.size() < 60) values.push_back(key + " " + pretty(value, 4));
  }
  fact(out, "last values", join(values, " · "));
  fact(out, "config hash", manifest_text(run, "config_hash"));
  if (run.complete() && !run.verified) fact(out, "summary", "unverified: written before summaries named their run");
  for (const std::string& problem : run.problems) fact(out, "problem", problem);
  fact(out, "command", command_of(run));
  return out + "</dl></div></details>\n";
}

}  // namespace

std::string verdict_html(const Verdict& verdict) {
  std::string out = "<div class=\"verdict\">\n";
  for (const std::string& sentence : verdict.sentences) out += "<p>" + escape(sentence) + "</p>\n";
  out += "</div>\n";
  if (verdict.may_say.empty() && verdict.not_yet.empty()) return out;
  const auto box = [&](const char* css, const char* head, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    out += fmt::format("<div class=\"{}\"><h3>{}</h3><ul>\n", css, head);
    for (const std::string& line : lines) out += "<li>" + escape(line) + "</li>\n";
    out += "</ul></div>\n";
  };
  out += "<div class=\"sayings\">\n";
  box("may", "You may say", verdict.may_say);
  box("not-yet", "You may not say yet", verdict.not_yet);
  return out + "</div>\n";
}

std::string answer_html(const std::vector<Claim>& claims) {
  std::string out = "<details class=\"tests\"><summary>The tests behind it</summary><div><ul class=\"answer\">\n";
  for (const Claim& claim : claims) {
    const char* css = claim.evidence == Evidence::kClear ? "clear" : claim.evidence == Evidence::kWeak ? "weak" : "none";
    const char* words = claim.evidence == Evidence::kClear  ? "clear"
                        : claim.evidence == Evidence::kWeak ? "weak evidence"
                                                            : "no test";
    out += fmt::format(
        "<li><span class=\"claim\">{}</span> <span class=\"test\"><span class=\"badge {}\">{}</span>{}</span></li>\n",
        escape(claim.text), css, words, escape(claim.test));
  }
  return out + "</ul></div></details>\n";
}

std::string warnings_html(const Inputs& inputs) {
  if (inputs.warnings.empty()) return "";
  std::map<std::string, std::vector<int>> by_text;
  std::vector<std::string> order;
  for (const Warning& w : inputs.warnings) {
    if (by_text.find(w.text) == by_text.end()) order.push_back(w.text);
    by_text[w.text].push_back(w.run);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto& a, const auto& b) { return by_text[a][0] < 0 && by_text[b][0] >= 0; });
  std::string out = "<section class=\"warnings\" aria-label=\"Warnings\"><h3>Before you believe it</h3><ul>\n";
  std::size_t listed = 0;
  for (const std::string& text : order) {
    if (++listed > 40) {
      out += fmt::format("<li>and {} more kinds of warning; see the table of runs</li>", order.size() - 40);
      break;
    }
    std::string who;
    const std::vector<int>& runs = by_text[text];
    for (std::size_t i = 0; i < runs.size() && i < 3 && runs[i] >= 0; ++i) {
      who += fmt::format("{}<a href=\"#run-{}\">{}</a>", i == 0 ? "" : "; ", runs[i], escape(run_words(inputs, runs[i])));
    }
    if (runs.size() > 3) who += fmt::format(" and {} more", runs.size() - 3);
    out += "<li>" + escape(shorten(text, 400)) + (who.empty() ? "" : ": " + who) + "</li>\n";
  }
  return out + "</ul></section>\n";
}

std::string facts_html(const Inputs& inputs) {
  std::set<std::string> seeds, studies, encodings;
  std::map<std::string, int> statuses;
  double seconds = 0;
  for (const Run& run : inputs.runs) {
    ++statuses[run.status];
    seconds += std::isfinite(run.seconds) ? run.seconds : 0;
    if (!run.config) continue;
    seeds.insert(std::to_string(run.config->seed));
    studies.insert(run.config->study);
    encodings.insert(encoding_words(*run.config));
  }
  std::vector<std::string> status_parts;
  for (const auto& [status, n] : statuses) status_parts.push_back(fmt::format("{} {}", n, status));
  std::string out = "<dl class=\"facts\">\n";
  fact(out, "Runs",
       fmt::format("{} in {} settings ({})", inputs.runs.size(), inputs.groups.size(), join(status_parts, ", ")));
  fact(out, "Study", list_of(studies));
  fact(out, "Encodings", list_of(encodings));
  fact(out, "Seeds", list_of(seeds));
  fact(out, "What varies", inputs.varying.empty() ? "only the seed" : join(inputs.varying, ", "));
  fact(out, "Data", data_text(inputs));
  fact(out, "Data hash", distinct(inputs, "data_hash"));
  fact(out, "Version", distinct(inputs, "version"));
  fact(out, "Commit", distinct(inputs, "commit"));
  fact(out, "Compiler", distinct(inputs, "compiler"));
  fact(out, "Machine",
       distinct(inputs, "cpu") + (distinct(inputs, "host").empty() ? "" : " (" + distinct(inputs, "host") + ")"));
  fact(out, "Training time", human_seconds(seconds) + " in all");
  out += "</dl>\n";
  const auto first = std::find_if(inputs.runs.begin(), inputs.runs.end(), [](const Run& r) { return r.config.has_value(); });
  if (first != inputs.runs.end()) {
    out += fmt::format(
        "<details class=\"config\"><summary>Configuration of {}{}</summary><div><pre>{}</pre></div></details>\n",
        escape(shorten(first->name, 80)), inputs.runs.size() > 1 ? " (the others differ in the keys named above)" : "",
        escape(to_toml(*first->config)));
  }
  return out;
}

std::string drill_down_html(const Inputs& inputs) {
  std::string out =
      fmt::format("<details id=\"each-run\"><summary>Each run in detail ({})</summary><div>\n", inputs.runs.size());
  for (std::size_t i = 0; i < inputs.runs.size(); ++i) out += run_details(inputs, static_cast<int>(i));
  return out + "</div></details>\n";
}

std::string reproduce_html(const Inputs& inputs) {
  std::vector<std::string> commands;
  for (const Run& run : inputs.runs) {
    // Cells of a sweep were each started by it with a file of its own; the folder of the sweep stands for all of them.
    const std::string sweep = sweep_of(run.path).string();
    const std::string command =
        sweep.empty()
            ? command_of(run)
            : fmt::format("for run in {}/{}/*/; do locus train \"$run/{}\" --out again/\"$(basename \"$run\")\"; done",
                          shell_quote(sweep), sweep_files::kCells, run_files::kConfig);
    if (!command.empty() && std::find(commands.begin(), commands.end(), command) == commands.end())
      commands.push_back(command);
  }
  if (commands.empty()) {
    return fmt::format(
        "<p>No manifest names the command. A run can be repeated from its folder: <code>locus train --config "
        "RUN/{} --out NEW</code>.</p>\n",
        run_files::kConfig);
  }
  std::string out = fmt::format(
      "<p>{} The same version on the same data gives the same weights; each run's folder holds its "
      "complete <code>{}</code>.</p>\n<pre>",
      commands.size() == 1 ? "This command makes the runs." : "These commands make the runs.", run_files::kConfig);
  for (std::size_t i = 0; i < commands.size() && i < 20; ++i) out += escape(commands[i]) + "\n";
  out += "</pre>\n";
  if (commands.size() > 20)
    out += fmt::format("<p>… and {} more, one in each run's details above.</p>\n", commands.size() - 20);
  return out;
}

}  // namespace locus::report
