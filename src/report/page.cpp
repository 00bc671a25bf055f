#include "report/page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "config/tasks.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/nan.h"
#include "core/text.h"
#include "io/codec.h"
#include "report/answer.h"
#include "report/assets/assets.h"
#include "report/markup.h"
#include "report/page_html.h"
#include "report/theme.h"
#include "report/verdict.h"

namespace locus::report {
namespace {

// The base64 SHA-256 of an inline block, as a content security policy names it.
std::string csp_hash(std::string_view content) {
  const std::string digest = sha256_hex(content);
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i + 1 < digest.size(); i += 2) {
    bytes.push_back(static_cast<unsigned char>(std::stoi(digest.substr(i, 2), nullptr, 16)));
  }
  return "'sha256-" + base64(bytes) + "'";
}

void add_cell(std::vector<std::string>& row, std::vector<double>& keys, std::string text, double key = kNan) {
  row.push_back(std::move(text));
  keys.push_back(key);
}

std::string head_html(const std::string& title, const std::string& css) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; script-src {}; style-src {}; "
      "img-src "
      "data:; base-uri &#39;none&#39;; form-action &#39;none&#39;\">\n",
      escape(csp_hash(kReport_js)), escape(csp_hash(css)));
  out +=
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" "
      "content=\"no-referrer\">\n";
  return out + fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n", escape(title), css);
}

// The words a reader from elsewhere needs.
std::string terms(const Inputs& inputs) {
  std::string out;
  if (std::any_of(inputs.groups.begin(), inputs.groups.end(), [](const Group& g) { return g.sigma.has_value(); }))
    out += "A learned encoding starts as random numbers of spread σ and is trained with the model. ";
  if (inputs.measure && inputs.measure->split == "heldout") out += "Held-out examples are unlike every training example. ";
  if (const MeasureRow* row = inputs.measure ? measure_of(inputs.measure->name) : nullptr) out += row->note;
  return out;
}

constexpr std::string_view kNavigation =
    "<nav class=\"bar\" aria-label=\"Sections\"><div><a href=\"#answer\">Answer</a>"
    "<a href=\"#figures\">Figures</a><a href=\"#tables\">Settings</a><a href=\"#runs\">Runs</a><a "
    "href=\"#run\">What was run</a><a href=\"#reproduce\">Reproduce</a>"
    "<span class=\"spacer\"></span><label id=\"run-choice\" class=\"off\">Run shown <select></select></label>"
    "<button type=\"button\" id=\"show-all\">Show all</button><button type=\"button\" "
    "id=\"theme\">"
    "Dark</button></div></nav>\n";

// The contents at the side of a wide page: every figure by its title.
std::string index_html(const PageParts& parts) {
  std::string out = "<nav class=\"index\" aria-label=\"Contents\"><a href=\"#answer\">Answer</a>\n";
  if (!parts.figures.empty()) out += "<a href=\"#figures\">Figures</a><ul>\n";
  for (const Figure& figure : parts.figures)
    out += fmt::format("<li><a href=\"#fig-{}\">{}</a></li>\n", escape(figure.name), escape(figure.title));
  if (!parts.figures.empty()) out += "</ul>\n";
  return out +
         "<a href=\"#tables\">Settings</a><a href=\"#runs\">Runs</a><a href=\"#run\">What was run</a>"
         "<a href=\"#reproduce\">How to reproduce</a></nav>\n";
}

std::string figures_html(const PageParts& parts) {
  std::string out = "<h2 id=\"figures\">Figures</h2>\n";
  if (parts.figures.empty()) out += "<p>No figure can be drawn from these runs yet.</p>\n";
  out += "<div class=\"figs\">\n";
  for (const Figure& figure : parts.figures) out += figure_html(figure, parts.files_folder);
  out += "</div>\n";
  if (!parts.missing.empty()) {
    out += fmt::format("<details><summary>{} figures are not drawn: what they need</summary><div><dl class=\"facts\">\n",
                       parts.missing.size());
    for (const MissingFigure& m : parts.missing) out += "<dt>" + escape(m.title) + "</dt><dd>" + escape(m.why) + "</dd>\n";
    out += "</dl></div></details>\n";
  }
  return out;
}

// The runs table has a switch in front of every row.
std::string run_switches(const Inputs& inputs, const Table& table) {
  std::string html = table_html(table, "Runs");
  std::string out;
  std::size_t at = 0, row = 0;
  const std::string head = "<thead><tr>", body = "<tbody>\n", open = "<tr><td";
  at = html.find(head) + head.size();
  out = html.substr(0, at) + "<th scope=\"col\">Show</th>";
  const std::size_t rows_from = html.find(body);
  out += html.substr(at, rows_from - at);
  at = rows_from;
  for (std::size_t next = html.find(open, at); next != std::string::npos; next = html.find(open, at)) {
    out += html.substr(at, next + 4 - at);
    out += fmt::format("<td><input type=\"checkbox\" checked data-toggle-run=\"{}\" aria-label=\"show {}\"></td>", row,
                       escape(shorten(inputs.run(static_cast<int>(row)).name, 80)));
    at = next + 4;
    ++row;
  }
  return out + html.substr(at);
}

}  // namespace

Table settings_table(const Inputs& inputs) {
  Table table;
  table.columns = {"Setting", "σ", "Runs"};
  if (inputs.measure) {
    const std::string words = inputs.measure->words();
    table.columns.insert(table.columns.end(), {words, "95 % from", "to", "Spread (sd)", "Training loss"});
  }
  for (const Group& g : inputs.groups) {
    std::vector<std::string> row;
    std::vector<double> keys;
    add_cell(row, keys, g.label);
    add_cell(row, keys, g.sigma ? pretty(*g.sigma, 4) : "–", g.sigma.value_or(kNan));
    add_cell(row, keys, std::to_string(g.runs.size()), static_cast<double>(g.runs.size()));
    if (inputs.measure) {
      const std::vector<double> values = values_of(inputs, g, inputs.measure->key());
      const Estimate e = mean_over_runs(values, 0);
      for (const double v : {e.value, e.lo, e.hi}) add_cell(row, keys, std::isfinite(v) ? inputs.measure->show(v) : "–", v);
      double squares = 0;
      for (const double v : values) squares += (v - e.value) * (v - e.value);
      const double sd = values.size() < 2 ? kNan : std::sqrt(squares / static_cast<double>(values.size() - 1));
      add_cell(row, keys, std::isfinite(sd) ? inputs.measure->show_difference(sd) : "–", sd);
      const Estimate loss = mean_over_runs(values_of(inputs, g, "train.loss"), 0);
      add_cell(row, keys, std::isfinite(loss.value) ? pretty(loss.value, 3) : "–", loss.value);
    }
    table.rows.push_back(std::move(row));
    table.sort_keys.push_back(std::move(keys));
  }
  return table;
}

Table runs_table(const Inputs& inputs) {
  Table table;
  table.columns = {"Run", "Setting", "Seed", "Status", "Epochs", "Time"};
  if (inputs.measure) table.columns.push_back(inputs.measure->words());
  table.columns.push_back("Training loss");
  for (const Run& run : inputs.runs) {
    std::vector<std::string> row;
    std::vector<double> keys;
    add_cell(row, keys, shorten(run.name, 120));
    add_cell(row, keys, run.group >= 0 ? inputs.groups[static_cast<std::size_t>(run.group)].label : "–");
    add_cell(row, keys, run.config ? std::to_string(run.config->seed) : "–",
             run.config ? static_cast<double>(run.config->seed) : kNan);
    add_cell(row, keys, run.status);
    add_cell(row, keys, pretty(run.epochs, 6), run.epochs);
    add_cell(row, keys, human_seconds(run.seconds), run.seconds);
    const auto value = [&](const std::string& key) {
      const auto it = run.measures.find(key);
      return it == run.measures.end() ? kNan : it->second;
    };
    if (inputs.measure) {
      const double v = value(inputs.measure->key());
      add_cell(row, keys, std::isfinite(v) ? inputs.measure->show(v) : "–", v);
    }
    add_cell(row, keys, std::isfinite(value("train.loss")) ? pretty(value("train.loss"), 3) : "–", value("train.loss"));
    table.rows.push_back(std::move(row));
    table.sort_keys.push_back(std::move(keys));
  }
  return table;
}

std::string table_csv(const Table& table) {
  std::string out = csv_row(table.columns);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    std::vector<std::string> cells;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const double key = table.sort_keys[r][c];
      cells.push_back(std::isnan(key) ? table.rows[r][c] : shortest(key));
    }
    out += csv_row(cells);
  }
  return out;
}

std::string make_page(const Inputs& inputs, const PageParts& parts) {
  const std::string css = page_theme_css() + std::string(kReport_css);
  std::string out = head_html(parts.title, css) + "<body>\n" + std::string(kNavigation);
  out += "<div class=\"layout\">\n" + index_html(parts) + "<div class=\"content\">\n";
  out +=
      fmt::format("<header class=\"top\"><h1>{}</h1><p class=\"lead\">{} run{} in {} setting{}. {}</p></header>\n<main>\n",
                  escape(parts.title), inputs.runs.size(), inputs.runs.size() == 1 ? "" : "s", inputs.groups.size(),
                  inputs.groups.size() == 1 ? "" : "s", escape(terms(inputs)));
  out += "<section id=\"answer\" aria-label=\"Answer\">\n" + verdict_html(make_verdict(inputs)) +
         answer_html(make_claims(inputs)) + warnings_html(inputs) + "</section>\n";
  out += figures_html(parts);
  out += "<h2 id=\"tables\">Settings</h2>\n" + table_html(settings_table(inputs), "Settings");
  out +=
      "<h2 id=\"runs\">Runs</h2>\n<p class=\"missing\">A switched-off run disappears from the figures; means and intervals "
      "keep "
      "every run.</p>\n<p class=\"filter\"><label>Find runs <input type=\"search\" id=\"filter\" "
      "placeholder=\"words of a row, such as 0.1 finished\"></label> <span id=\"filtered\" "
      "aria-live=\"polite\"></span></p>\n" +
      run_switches(inputs, runs_table(inputs));
  out += drill_down_html(inputs);
  out += "<h2 id=\"run\">What was run</h2>\n" + facts_html(inputs);
  out += "<h2 id=\"reproduce\">How to reproduce</h2>\n" + reproduce_html(inputs);
  out +=
      "</main>\n<footer>Made by <code>locus report</code> from files only; nothing was recomputed but the summaries shown."
      "</footer>\n</div></div>\n<div id=\"tip\" role=\"tooltip\"></div><div id=\"live\" class=\"visually-hidden\" "
      "aria-live=\"polite\"></div>\n";
  out += "<script type=\"application/json\" id=\"data\">" + script_json(figure_data(parts.figures)) + "</script>\n";
  return out + "<script>" + std::string(kReport_js) + "</script>\n</body>\n</html>\n";
}

}  // namespace locus::report
