// Figures, legends and tables as HTML.
#include <fmt/core.h>

#include <cmath>
#include <set>

#include "core/json.h"
#include "core/text.h"
#include "report/markup.h"
#include "report/page_html.h"
#include "report/png.h"

namespace locus::report {
namespace {

std::string key_svg(const LegendEntry& e) {
  Svg svg;
  if (e.mark == LegendMark::kPoint) {
    svg.shape(e.shape, {10, 6}, 4.5, e.css);
  } else {
    const char* style = e.mark == LegendMark::kDash  ? "line dash s-"
                        : e.mark == LegendMark::kDot ? "line dot s-"
                                                     : "line s-";
    svg.line({0, 6}, {20, 6}, style + e.css);
  }
  return "<svg class=\"fig\" aria-hidden=\"true\" viewBox=\"0 0 20 12\">" + svg.body() + "</svg>";
}

std::string choice_selects(const Figure& figure) {
  if (figure.variants.empty() || (figure.variants[0].choices.empty() && figure.matrices.empty())) return "";
  std::string out = "<div class=\"choices\">";
  const auto& keys = figure.variants[0].choices;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    std::vector<std::string> values;
    for (const Variant& v : figure.variants) {
      const std::string& value = v.choices[k].second;
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    if (values.size() == 1)
      out += fmt::format("<span class=\"only\">{}: {}</span>", escape(keys[k].first), escape(values[0]));
    // The page's script counts selects, so one without a choice is hidden, not left out.
    out += fmt::format("<label{}>{} <select data-choice=\"{}\">", values.size() < 2 ? " class=\"off\"" : "",
                       escape(keys[k].first), escape(keys[k].first));
    for (const std::string& value : values) out += fmt::format("<option>{}</option>", escape(value));
    out += "</select></label>";
  }
  if (!figure.orders.empty()) {
    out += "<label>order <select data-order>";
    std::vector<std::string> names;
    for (const TokenOrders& set : figure.orders) {
      for (const auto& [name, order] : set.orders) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
    for (const std::string& name : names) out += fmt::format("<option>{}</option>", escape(name));
    out += "</select></label>";
  }
  if (!figure.matrices.empty()) out += "<button type=\"button\" data-zoom>Enlarge</button>";
  return out + "</div>\n";
}

// How wide a panel that stands alone may grow: text should keep about its size.
const char* width_class(double width) { return width < 340 ? " tiny" : width < 440 ? " small" : width > 560 ? " wide" : ""; }

std::string variant_html(const Figure& figure, std::size_t index) {
  const Variant& variant = figure.variants[index];
  Json choices = Json::array();
  for (const auto& [key, value] : variant.choices) choices.push_back(clean_utf8(value));
  std::string out = fmt::format("<div class=\"variant{}\" data-choices=\"{}\">\n<div class=\"panels n{}{}\">\n",
                                index == 0 ? "" : " off", escape(choices.dump()),
                                variant.panels.size() % 3 == 0 ? 3 : std::min<std::size_t>(variant.panels.size(), 4),
                                variant.panels.size() == 1 ? width_class(variant.panels[0].width) : "");
  for (const Panel& panel : variant.panels) out += inline_svg(panel);
  return out + "</div>\n" + legend_html(variant.legend) + "</div>\n";
}

// A folder's name as part of a link.
std::string url_path(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string download_links(const Figure& figure, const std::string& folder) {
  if (folder.empty()) return "";
  std::string out = "<p class=\"downloads\">";
  if (figure.variants.size() == 1) {
    out += fmt::format("<a href=\"./{}/{}.svg\">SVG</a> · ", url_path(folder),
                       escape(variant_file_name(figure, figure.variants[0])));
  } else if (!figure.variants.empty()) {
    out += fmt::format("SVG of every choice in <code>{}</code> · ", escape(folder));
  }
  return out + fmt::format("<a href=\"./{}/{}.csv\">CSV</a></p>\n", url_path(folder), escape(figure.name));
}

}  // namespace

std::string variant_file_name(const Figure& figure, const Variant& variant) {
  std::string name = figure.name;
  if (figure.variants.size() < 2) return name;
  for (const auto& [key, value] : variant.choices) {
    name += "_" + key + "-";
    for (const char c : value) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
      if (plain) {
        name += c;
      } else if (name.back() != '_' && static_cast<unsigned char>(c) < 0x80) {
        name += '_';
      }
    }
  }
  return shorten(name, 120);
}

std::string legend_html(const std::vector<LegendEntry>& legend) {
  if (legend.empty()) return "";
  std::string out = "<ul class=\"legend\">";
  for (const LegendEntry& e : legend) {
    const std::string inner = key_svg(e) + "<span>" + escape(e.label) + "</span>";
    if (e.token_label >= 0) {
      out += fmt::format("<li><button type=\"button\" data-isolate=\"{}\" title=\"show these alone\">{}</button></li>",
                         e.token_label, inner);
      continue;
    }
    out += e.group >= 0
               ? fmt::format("<li><button type=\"button\" aria-pressed=\"true\" data-toggle-group=\"{}\">{}</button></li>",
                             e.group, inner)
               : "<li><span class=\"key\">" + inner + "</span></li>";
  }
  return out + "</ul>\n";
}

std::string table_html(const Table& table, const std::string& caption) {
  std::string out = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + escape(caption) +
                    "\"><table class=\"sortable\">\n<thead><tr>";
  std::vector<bool> numeric(table.columns.size(), false);
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    bool absent = !table.rows.empty();  // a column of dashes stands as the numbers would
    for (const auto& row : table.rows) absent = absent && row[c] == "–";
    numeric[c] = absent;
    for (const auto& keys : table.sort_keys) numeric[c] = numeric[c] || !std::isnan(keys[c]);
    out += fmt::format("<th scope=\"col\"{}><button type=\"button\">{}</button></th>", numeric[c] ? " class=\"num\"" : "",
                       escape(table.columns[c]));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    out += "<tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const double key = table.sort_keys[r][c];
      const std::string sort = std::isnan(key) ? "" : fmt::format(" data-sort=\"{}\"", shortest(key));
      out += fmt::format("<td class=\"{}\"{}>{}</td>", numeric[c] ? "num" : "name", sort, escape(table.rows[r][c]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string figure_html(const Figure& figure, const std::string& folder) {
  const bool wide =
      figure.wide || figure.table.has_value() ||
      std::any_of(figure.variants.begin(), figure.variants.end(), [](const Variant& v) { return v.panels.size() > 2; });
  std::string out = fmt::format("<figure id=\"fig-{}\"{}>\n<h3>{}</h3>\n", escape(figure.name),
                                wide ? " class=\"span\"" : "", escape(figure.title));
  out += choice_selects(figure) + legend_html(figure.legend);
  for (std::size_t i = 0; i < figure.variants.size(); ++i) out += variant_html(figure, i);
  if (figure.table) out += table_html(*figure.table, figure.title);
  out += "<figcaption>" + escape(figure.caption) + "</figcaption>\n";
  return out + download_links(figure, folder) + "</figure>\n";
}

Json figure_data(const std::vector<Figure>& figures) {
  Json matrices = Json::array();
  Json tokens = Json::object();
  Json labels = Json::object();
  Json orders = Json::object();
  for (const Figure& figure : figures) {
    for (const MatrixData& m : figure.matrices) {
      matrices.push_back({{"id", figure.name + "/" + m.id},
                          {"rows", m.rows},
                          {"cols", m.cols},
                          {"symmetric", m.symmetric},
                          {"lo", m.lo},
                          {"hi", m.hi},
                          {"quantity", clean_utf8(m.quantity)},
                          {"colourLo", m.colour_lo},
                          {"colourHi", m.colour_hi},
                          {"map", static_cast<int>(m.map)},
                          {"orders", m.orders.empty() ? "" : figure.name + "/" + m.orders},
                          {"packed", m.packed},
                          {"rowTokens", m.row_tokens},
                          {"colTokens", m.col_tokens},
                          {"tileRows", m.tile_rows},
                          {"tileCols", m.tile_cols},
                          {"tileTokens", m.tile_tokens}});
    }
    Json names = Json::array();
    for (const std::string& name : figure.token_names) names.push_back(clean_utf8(name));
    if (!figure.token_names.empty()) tokens["fig-" + figure.name] = names;
    if (!figure.token_labels.empty()) labels["fig-" + figure.name] = figure.token_labels;
    for (const TokenOrders& set : figure.orders) {
      Json ways = Json::array();
      for (const auto& [name, order] : set.orders) ways.push_back({{"name", name}, {"tokens", order}});
      orders[figure.name + "/" + set.id] = {{"ways", ways}, {"strips", set.strips}};
    }
  }
  Json maps = Json::array();
  for (const ColourMap map : {ColourMap::kSequential, ColourMap::kDiverging}) {
    std::string colours;
    for (const Rgb& c : colour_map(map)) colours += fmt::format("{:02x}{:02x}{:02x}", c.r, c.g, c.b);
    maps.push_back(colours);  // by the number of the map
  }
  return {{"steps", kPackedSteps}, {"matrices", matrices}, {"tokens", tokens},
          {"labels", labels},      {"orders", orders},     {"maps", maps}};
}

}  // namespace locus::report
