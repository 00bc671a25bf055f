#include "data/series_columns.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

// Titles that mean a clock or a counter, or whose numbers stand for people and visits.
constexpr std::array<std::string_view, 16> kClockTitles = {
    "time",    "times",  "timepoint", "timestamp", "seconds", "index",     "idx",      "frame",
    "frameid", "volume", "unnamed0",  "unnamed",   "rowid",   "rownumber", "sampleid", "timeindex"};
constexpr std::array<std::string_view, 14> kIdTitles = {
    "id",        "subject",   "subjectid", "subid", "participant", "participantid", "patient",
    "patientid", "sessionid", "session",   "runid", "trialid",     "personid",      "subjectnumber"};
// A column so called numbers or names the rows: they are the tokens.
constexpr std::array<std::string_view, 18> kTokenTitles = {
    "region",  "regionid",  "regionname",  "roi",       "roiid", "roiname", "parcel",   "parcelid", "parcelname",
    "channel", "channelid", "channelname", "electrode", "gene",  "geneid",  "genename", "nodeid",   "tokenid"};
// These may as well be signals: left out only when they rise from row to row.
constexpr std::array<std::string_view, 13> kEitherTitles = {"t",   "n",    "no",   "nr",    "number", "run",  "sample",
                                                            "day", "hour", "year", "month", "date",   "trial"};
// Whole numbers of which few are different stand for groups of rows here, not for what a token measures.
constexpr std::array<std::string_view, 12> kGroupTitles = {"class",       "classid", "label",   "labels",
                                                           "target",      "group",   "groupid", "condition",
                                                           "conditionid", "fold",    "split",   "cluster"};
constexpr std::ptrdiff_t kFewestSteps = 10;

template <class List>
bool has(const List& list, const std::string& title) {
  return std::find(list.begin(), list.end(), title) != list.end();
}

std::vector<double> column_of(const MatrixD& m, std::ptrdiff_t c) {
  std::vector<double> out;
  for (std::ptrdiff_t r = 0; r < m.rows(); ++r) out.push_back(m(r, c));
  return out;
}

bool in_atlas(const std::string& name, const Atlas& atlas) {
  const std::string wanted = to_lower(trim(name));
  for (const AtlasColumn& c : atlas.columns) {
    if (std::any_of(c.texts.begin(), c.texts.end(), [&](const auto& t) { return to_lower(trim(t)) == wanted; })) return true;
  }
  return false;
}

bool keeps_all(const SeriesConfig& c) { return has(c.skip_columns, "none"); }

// Places of the columns that series.skip_columns names.
std::set<std::ptrdiff_t> asked_for(const NamedMatrix& m, const std::string& path, const SeriesConfig& config) {
  std::set<std::ptrdiff_t> out;
  for (const std::string& wanted : config.skip_columns) {
    if (wanted == "none") continue;
    const auto found = std::find(m.column_names.begin(), m.column_names.end(), wanted);
    std::ptrdiff_t number = 0;
    const auto [end, code] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    const bool is_number = code == std::errc() && end == wanted.data() + wanted.size();
    if (found != m.column_names.end()) {
      out.insert(found - m.column_names.begin());
    } else if (is_number && number >= 1 && number <= m.values.cols()) {
      out.insert(number - 1);
    } else {
      throw DataError({.what = "series.skip_columns names a column that the file does not have",
                       .where = path,
                       .got = wanted,
                       .expected = m.column_names.empty() ? fmt::format("numbers from 1 to {}", m.values.cols())
                                                          : some_of(m.column_names)});
    }
  }
  return out;
}

// Adds to `out`, whose columns need no judgement.
void recognise(const NamedMatrix& m, const std::string& path, const Atlas& atlas, std::set<std::ptrdiff_t>& out) {
  for (std::size_t c = 0; c < m.column_names.size(); ++c) {
    if (out.contains(static_cast<std::ptrdiff_t>(c))) continue;
    const std::string title = plain_title(m.column_names[c]);
    const bool tokens = c == 0 && title_of_tokens(title) && m.row_names.empty();
    const bool clock = has(kClockTitles, title), id = has(kIdTitles, title) || tokens, group = has(kGroupTitles, title);
    if ((!clock && !id && !group && !has(kEitherTitles, title)) || in_atlas(m.column_names[c], atlas)) continue;
    const std::vector<double> v = column_of(m.values, static_cast<std::ptrdiff_t>(c));
    if (group && (!are_whole(v) || 4 * std::set<double>(v.begin(), v.end()).size() > v.size())) continue;
    const bool fits = rises(v) || ((clock || id) && are_whole(v));
    if (fits) out.insert(static_cast<std::ptrdiff_t>(c));
    if (fits || (!clock && !id && !group)) continue;
    throw DataError(
        {.what = fmt::format("is the column '{}' a token?", m.column_names[c]),
         .where = path,
         .got = fmt::format("{}, {}, ... {}", v[0], v.size() > 1 ? v[1] : v[0],
                            group ? "few different whole numbers" : "neither whole numbers nor rising"),
         .expected = "a title that is surely a token's",
         .hint = fmt::format("series.skip_columns='[\"{}\"]' leaves it out, series.skip_columns='[\"none\"]' keeps it",
                             m.column_names[c])});
  }
}

std::string people_hint(std::size_t different) {
  return fmt::format(
      " ({} different values: if these are people, give each a file of their own, or one of them may stand in training and "
      "test)",
      different);
}

std::string note_of(const NamedMatrix& m, std::ptrdiff_t c) {
  const std::string name =
      m.column_names.empty() ? std::to_string(c + 1) : "'" + m.column_names[static_cast<std::size_t>(c)] + "'";
  const std::vector<double> v = column_of(m.values, c);
  const std::string title = m.column_names.empty() ? "" : plain_title(m.column_names[static_cast<std::size_t>(c)]);
  const std::size_t different = std::set<double>(v.begin(), v.end()).size();
  const bool people = has(kIdTitles, title) && different > 1 && different < v.size();
  if (title_of_tokens(title)) return fmt::format("column {} names the rows", name);
  return fmt::format("column {} is left out: no token{}", name, people ? people_hint(different) : "");
}

void remove_columns(NamedMatrix& m, const std::set<std::ptrdiff_t>& out) {
  const bool unnamed = m.row_names.empty();
  for (const std::ptrdiff_t c : out) {
    const std::vector<double> v = column_of(m.values, c);
    const bool names =
        unnamed && m.row_names.empty() && are_whole(v) && std::set<double>(v.begin(), v.end()).size() == v.size();
    for (std::size_t r = 0; names && r < v.size(); ++r) m.row_names.push_back(fmt::format("{:.0f}", v[r]));
    if (names && !m.column_names.empty()) m.row_title = m.column_names[static_cast<std::size_t>(c)];
  }
  MatrixD kept(m.values.rows(), m.values.cols() - static_cast<std::ptrdiff_t>(out.size()));
  std::vector<std::string> names;
  for (std::ptrdiff_t c = 0, to = 0; c < m.values.cols(); ++c) {
    if (out.contains(c)) continue;
    for (std::ptrdiff_t r = 0; r < kept.rows(); ++r) kept(r, to) = m.values(r, c);
    if (!m.column_names.empty()) names.push_back(m.column_names[static_cast<std::size_t>(c)]);
    ++to;
  }
  m.values = std::move(kept);
  m.column_names = std::move(names);
}

}  // namespace

bool rises(const std::vector<double>& v) {
  return v.size() > 1 && std::adjacent_find(v.begin(), v.end(), [](double a, double b) { return !(a < b); }) == v.end();
}

bool are_whole(const std::vector<double>& v) {
  return std::all_of(v.begin(), v.end(), [](double x) { return x == std::floor(x) && std::abs(x) < 9e15; });
}

bool counts_evenly(const std::vector<double>& v) {
  const double step = (v.back() - v.front()) / static_cast<double>(v.size() - 1);
  if (!std::isfinite(step) || step == 0) return false;
  const double slack = 1e-6 * std::abs(step) + 1e-12 * std::max(std::abs(v.front()), std::abs(v.back()));
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (!(std::abs(v[i] - (v.front() + step * static_cast<double>(i))) <= slack)) return false;
  }
  return true;
}

TitleKind title_kind(const std::string& title) {
  const std::string plain = plain_title(title);
  if (has(kClockTitles, plain)) return TitleKind::kClock;
  if (has(kIdTitles, plain)) return TitleKind::kId;
  return has(kEitherTitles, plain) ? TitleKind::kEither : TitleKind::kOther;
}

bool title_of_tokens(const std::string& title) { return has(kTokenTitles, plain_title(title)); }

std::vector<std::string> take_out_columns(NamedMatrix& matrix, const std::string& path, const SeriesConfig& config,
                                          const Atlas& atlas) {
  std::vector<std::string> notes;
  const std::size_t different = std::set<std::string>(matrix.row_names.begin(), matrix.row_names.end()).size();
  if (has(kIdTitles, plain_title(matrix.row_title)) && different < matrix.row_names.size())
    notes.push_back(fmt::format("column '{}' is left out: no token{}", matrix.row_title, people_hint(different)));
  if (matrix.values.rows() == 0) return notes;
  std::set<std::ptrdiff_t> out = asked_for(matrix, path, config);
  if (!keeps_all(config)) recognise(matrix, path, atlas, out);
  if (out.empty()) return notes;
  for (const std::ptrdiff_t c : out) notes.push_back(note_of(matrix, c));
  if (static_cast<std::ptrdiff_t>(out.size()) == matrix.values.cols()) {
    throw DataError({.what = "no column is a token",
                     .where = path,
                     .got = join(notes, "; "),
                     .expected = "columns of samples",
                     .hint = "series.skip_columns='[\"none\"]' keeps all columns"});
  }
  remove_columns(matrix, out);
  return notes;
}

void refuse_counting_tokens(const MatrixD& frames, const TokenTitles& tokens, const std::string& path,
                            const SeriesConfig& config) {
  if (keeps_all(config) || frames.rows() < kFewestSteps) return;
  std::vector<std::ptrdiff_t> rising;
  for (std::ptrdiff_t t = 0; t < frames.cols(); ++t) {
    const std::vector<double> v = column_of(frames, t);
    if (!rises(v)) continue;
    rising.push_back(t);
    if (counts_evenly(v)) break;
  }
  if (rising.empty()) return;
  const std::vector<double> v = column_of(frames, rising.back());
  // Several that rise without even steps are totals; a lone one of whole numbers is an index with gaps.
  const bool index_with_gaps = rising.size() == 1 && frames.cols() > 2 && are_whole(v);
  if (!counts_evenly(v) && !index_with_gaps) return;
  const std::string& title = tokens.titles[static_cast<std::size_t>(rising.back())];
  throw DataError(
      {.what = "a token rises from sample to sample like an index or a clock: is it a token?",
       .where = path,
       .got = fmt::format("{} {}: {:g}, {:g}, {:g}, ...", tokens.are_rows ? "row" : "column", title, v[0], v[1], v[2]),
       .expected = "samples that go up and down",
       .hint = tokens.are_rows
                   ? std::string("remove the row from the file, or keep it with series.skip_columns='[\"none\"]'")
                   : fmt::format("series.skip_columns='[\"{}\"]' leaves the column out, "
                                 "series.skip_columns='[\"none\"]' keeps all",
                                 title)});
}

}  // namespace locus
