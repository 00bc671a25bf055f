#include "data/atlas_match.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "io/table.h"

namespace locus {
namespace {

using RegionOrder = std::vector<std::int64_t>;

// Titles of columns that number the rows of a table as the data number their tokens.
constexpr std::array<std::string_view, 22> kIndexTitles = {
    "",         "index",    "idx",    "id",       "number", "no",       "nr",   "num",   "unnamed0", "roi",     "roiid",
    "roilabel", "roiindex", "region", "regionid", "parcel", "parcelid", "node", "label", "labelid",  "tokenid", "channelid"};

constexpr const char* kOrderHint = "series.atlas_names=COLUMN names the column, series.match=order takes row i for token i";

std::optional<std::int64_t> whole_number(const std::string& text) {
  const auto value = is_missing(text) ? std::nullopt : parse_cell(text);
  if (!value || std::abs(*value) > 9e15 || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::string key_of(const std::string& name) {
  const auto number = whole_number(name);
  return number ? std::to_string(*number) : to_lower(trim(name));
}

bool all_whole(const std::vector<std::string>& names) {
  return !names.empty() &&
         std::all_of(names.begin(), names.end(), [](const auto& n) { return whole_number(n).has_value(); });
}

// Places 0 to n-1 when the names are the numbers 0 to n-1 or 1 to n in any order.
std::optional<RegionOrder> numbering(const std::vector<std::string>& names) {
  if (!all_whole(names)) return std::nullopt;
  RegionOrder numbers;
  for (const std::string& n : names) numbers.push_back(*whole_number(n));
  const std::int64_t base = *std::min_element(numbers.begin(), numbers.end());
  if (base != 0 && base != 1) return std::nullopt;
  std::vector<bool> seen(numbers.size());
  for (std::int64_t& n : numbers) {
    n -= base;
    if (n >= static_cast<std::int64_t>(numbers.size()) || seen[static_cast<std::size_t>(n)]) return std::nullopt;
    seen[static_cast<std::size_t>(n)] = true;
  }
  return numbers;
}

bool is_sorted_order(const RegionOrder& order) { return std::is_sorted(order.begin(), order.end()); }

RegionOrder in_order(std::int64_t size) {
  RegionOrder order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool has_index_title(const AtlasColumn& column) {
  return std::find(kIndexTitles.begin(), kIndexTitles.end(), plain_title(column.title)) != kIndexTitles.end();
}

// A table whose rows are looked up by the keys of one column.
class Lookup {
 public:
  explicit Lookup(const std::vector<std::string>& texts) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (is_missing(texts[i])) continue;
      if (!rows_.emplace(key_of(texts[i]), static_cast<std::int64_t>(i)).second) twice_.push_back(texts[i]);
    }
  }
  std::int64_t row(const std::string& name) const {
    const auto found = rows_.find(key_of(name));
    return found == rows_.end() ? -1 : found->second;
  }
  std::vector<std::string> without(const std::vector<std::string>& names) const {
    std::vector<std::string> out;
    std::copy_if(names.begin(), names.end(), std::back_inserter(out), [&](const auto& n) { return row(n) < 0; });
    return out;
  }
  const std::vector<std::string>& twice() const { return twice_; }

 private:
  std::map<std::string, std::int64_t> rows_;
  std::vector<std::string> twice_;
};

void refuse_twice_in_file(const TokenAxis& file) {
  const Lookup own(file.names);
  if (own.twice().empty()) return;
  throw DataError({.what = "a region stands twice in the file",
                   .where = file.path,
                   .got = some_of(own.twice()),
                   .expected = "every name once",
                   .hint = "rename or remove the second; series.match=order pays no heed to names"});
}

// For every row the place of its name in the file.
RegionOrder places(const Lookup& lookup, std::int64_t size, const TokenAxis& file, const std::string& source,
                   const std::vector<std::string>& known) {
  const std::vector<std::string> unknown = lookup.without(file.names);
  if (!unknown.empty()) {
    throw DataError(
        {.what = fmt::format("{} of {} regions of the file are not in the atlas", unknown.size(), file.names.size()),
         .where = file.path,
         .got = some_of(unknown),
         .expected = fmt::format("names as in {}: {}", source, some_of(known)),
         .hint = "regions are matched by name where both have names"});
  }
  RegionOrder position(static_cast<std::size_t>(size), -1);
  for (std::size_t i = 0; i < file.names.size(); ++i)
    position[static_cast<std::size_t>(lookup.row(file.names[i]))] = static_cast<std::int64_t>(i);
  return position;
}

void require_count(const TokenAxis& file, std::int64_t size, const std::string& source) {
  if (file.count == size) return;
  throw DataError({.what = "the file and the atlas have different numbers of regions",
                   .where = file.path,
                   .got = fmt::format("{} regions", file.count),
                   .expected = fmt::format("{} as in {}", size, source),
                   .hint = "check series.atlas, series.orientation and series.dataset"});
}

class AtlasMatcher {
 public:
  AtlasMatcher(const Atlas& atlas, const std::vector<TokenAxis>& files, const MatchOptions& options)
      : atlas_(atlas), files_(files), options_(options) {
    for (const TokenAxis& f : files) (f.names.empty() ? unnamed_ : named_).push_back(&f);
  }

  TokenMatch match() {
    match_.names = atlas_.names;
    if (options_.by_order) return by_rows("the rows of the atlas are taken in their order, as series.match asks");
    for (const TokenAxis* f : named_) refuse_twice_in_file(*f);
    if (!options_.column.empty()) return by_column(given_column());
    if (named_.empty()) return by_index("the files name no regions");
    if (const AtlasColumn* column = column_of_names()) return by_column(*column);
    const bool numbered = std::all_of(named_.begin(), named_.end(), [](const auto* f) { return numbering(f->names); });
    if (numbered) return by_index("the files name no regions");
    refuse_foreign_names();
    if (match_.names.empty()) match_.names = named_.front()->names;
    return by_index("the atlas names no regions");
  }

 private:
  static Lookup lookup_of(const AtlasColumn& column) { return Lookup(column.texts); }

  const AtlasColumn& given_column() const {
    std::vector<std::string> titles;
    for (const AtlasColumn& c : atlas_.columns) {
      if (c.title == options_.column || plain_title(c.title) == plain_title(options_.column)) return c;
      titles.push_back(c.title);
    }
    throw DataError({.what = "the atlas has no such column",
                     .where = atlas_.source,
                     .got = "series.atlas_names = " + options_.column,
                     .expected = "one of " + join(titles, ", ")});
  }

  std::string described(const std::vector<const AtlasColumn*>& columns) const {
    std::vector<std::string> parts;
    for (const AtlasColumn* c : columns) parts.push_back(fmt::format("{}: {}", c->title, some_of(c->texts)));
    return join(parts, "; ");
  }

  [[noreturn]] void refuse_twice(const AtlasColumn& column, const std::vector<std::string>& twice) const {
    throw DataError({.what = "a name stands twice in the atlas",
                     .where = fmt::format("{}, column {}", atlas_.source, column.title),
                     .got = some_of(twice),
                     .expected = "every region once"});
  }

  // The column that holds every name of every file; nothing when there is none.
  const AtlasColumn* column_of_names() const {
    std::vector<const AtlasColumn*> full, doubtful;
    std::vector<RegionOrder> orders;
    for (const AtlasColumn& c : atlas_.columns) {
      const Lookup lookup = lookup_of(c);
      if (!std::all_of(named_.begin(), named_.end(), [&](const auto* f) { return lookup.without(f->names).empty(); }))
        continue;
      if (!lookup.twice().empty()) {
        doubtful.push_back(&c);
        continue;
      }
      RegionOrder rows;
      for (const TokenAxis* f : named_) {
        for (const std::string& n : f->names) rows.push_back(lookup.row(n));
      }
      full.push_back(&c);
      orders.push_back(std::move(rows));
    }
    if (full.empty() && !doubtful.empty()) refuse_twice(*doubtful.front(), lookup_of(*doubtful.front()).twice());
    if (full.empty()) return nullptr;
    const bool agree = std::all_of(orders.begin(), orders.end(), [&](const RegionOrder& o) { return o == orders.front(); });
    // A column such as "rank" may hold the numbers 0 to n-1 without being the tokens' index.
    const bool numbers = std::all_of(named_.begin(), named_.end(), [](const auto* f) { return numbering(f->names); });
    const bool plain = !numbers ||
                       std::any_of(full.begin(), full.end(), [](const auto* c) { return has_index_title(*c); }) ||
                       is_sorted_order(numbering(full.front()->texts).value_or(RegionOrder{1, 0}));
    if (agree && plain) return full.front();
    throw DataError({.what = agree ? "the regions have numbers for names; is this column their index?"
                                   : "several columns of the atlas hold the names of the regions, in different orders",
                     .where = atlas_.source,
                     .got = described(full),
                     .expected = "one column that is surely meant",
                     .hint = kOrderHint});
  }

  // Text that differs in every row names the rows; names that are not the file's then say that the order is not certain.
  void refuse_foreign_names() const {
    std::vector<const AtlasColumn*> candidates;
    const AtlasColumn* nearest = nullptr;
    std::size_t fewest = 0, all = 0;
    for (const TokenAxis* f : named_) all += f->names.size();
    for (const AtlasColumn& c : atlas_.columns) {
      const Lookup lookup = lookup_of(c);
      std::size_t unknown = 0;
      for (const TokenAxis* f : named_) unknown += lookup.without(f->names).size();
      if (2 * unknown <= all && (nearest == nullptr || unknown < fewest)) {
        nearest = &c;
        fewest = unknown;
      }
      const bool words = !all_whole(c.texts) && std::none_of(c.texts.begin(), c.texts.end(), [](const std::string& s) {
        return is_missing(s) || parse_cell(s).has_value();
      });
      const bool named = c.texts == atlas_.names;
      if (lookup.twice().empty() && (words || named)) candidates.push_back(&c);
    }
    if (nearest != nullptr) {
      const Lookup lookup = lookup_of(*nearest);
      for (const TokenAxis* f : named_) places(lookup, atlas_.size, *f, atlas_.source, nearest->texts);
    }
    if (candidates.empty()) return;
    throw DataError({.what = "no column of the atlas holds the names of the regions",
                     .where = named_.front()->path,
                     .got = some_of(named_.front()->names),
                     .expected = fmt::format("names as in {}: {}", atlas_.source, described(candidates)),
                     .hint = kOrderHint});
  }

  TokenMatch by_column(const AtlasColumn& column) {
    const Lookup lookup = lookup_of(column);
    if (!lookup.twice().empty()) refuse_twice(column, lookup.twice());
    const bool numbers = all_whole(column.texts);
    // Words beside ids are the better names.
    if (!numbers || match_.names.empty()) match_.names = column.texts;
    if (numbers) {
      match_.notes.push_back(
          fmt::format("regions are matched by the numbers in column {} of {}", column.title, atlas_.source));
    }
    bool rows_in_order = true;
    for (const TokenAxis& f : files_) {
      if (f.names.empty()) {
        require_count(f, atlas_.size, atlas_.source);
        match_.position.push_back(in_order(atlas_.size));
        continue;
      }
      match_.position.push_back(places(lookup, atlas_.size, f, atlas_.source, column.texts));
      rows_in_order = rows_in_order && match_.position.back() == in_order(atlas_.size);
    }
    match_.by_number = numbers && !rows_in_order;
    if (!unnamed_.empty() && !rows_in_order) refuse_unnamed();
    if (!unnamed_.empty()) say_unnamed();
    return std::move(match_);
  }

  [[noreturn]] void refuse_unnamed() const {
    throw DataError({.what = "some files name their regions in another order than the atlas, others name none",
                     .where = unnamed_.front()->path,
                     .got = fmt::format("{} file(s) without names, {} with", unnamed_.size(), named_.size()),
                     .expected = "names in every file, or none",
                     .hint = "give the file a header of names, or set series.match=order"});
  }

  void say_unnamed() {
    match_.notes.push_back(
        fmt::format("{} file(s) name no regions: region i is taken to be row i of {}", unnamed_.size(), atlas_.source));
  }

  // Files without names: by the index column, which usually counts the rows as they stand.
  TokenMatch by_index(const std::string& why) {
    std::optional<RegionOrder> order;
    const AtlasColumn* chosen = nullptr;
    for (const AtlasColumn& c : atlas_.columns) {
      const auto numbers = has_index_title(c) ? numbering(c.texts) : std::nullopt;
      if (!numbers) continue;
      if (order && *order != *numbers) {
        throw DataError({.what = "the files name no regions, and two columns of the atlas number them differently",
                         .where = atlas_.source,
                         .got = described({chosen, &c}),
                         .expected = "one column that is surely the regions' index",
                         .hint = kOrderHint});
      }
      order = numbers;
      chosen = &c;
    }
    if (!order) order = in_order(atlas_.size);
    for (const TokenAxis& f : files_) {
      require_count(f, atlas_.size, atlas_.source);
      const RegionOrder own = numbering(f.names).value_or(in_order(f.count));
      RegionOrder place(own.size()), position;
      for (std::size_t i = 0; i < own.size(); ++i) place[static_cast<std::size_t>(own[i])] = static_cast<std::int64_t>(i);
      for (const std::int64_t number : *order) position.push_back(place[static_cast<std::size_t>(number)]);
      match_.by_number = match_.by_number || !is_sorted_order(position);
      match_.position.push_back(std::move(position));
    }
    match_.notes.push_back(is_sorted_order(*order)
                               ? fmt::format("{}: region i is taken to be row i of {}", why, atlas_.source)
                               : fmt::format("{}: region i is the row of {} with the i-th number in column {}", why,
                                             atlas_.source, chosen->title));
    return std::move(match_);
  }

  TokenMatch by_rows(const std::string& note) {
    for (const TokenAxis& f : files_) {
      require_count(f, atlas_.size, atlas_.source);
      match_.position.push_back(in_order(f.count));
    }
    if (match_.names.empty() && !named_.empty()) match_.names = named_.front()->names;
    match_.notes.push_back(note);
    return std::move(match_);
  }

  const Atlas& atlas_;
  const std::vector<TokenAxis>& files_;
  const MatchOptions& options_;
  std::vector<const TokenAxis*> named_, unnamed_;
  TokenMatch match_;
};

}  // namespace

TokenMatch match_to_atlas(const Atlas& atlas, const std::vector<TokenAxis>& files, const MatchOptions& options) {
  LOCUS_CHECK(!files.empty(), "a match of no files");
  return AtlasMatcher(atlas, files, options).match();
}

TokenMatch match_to_each_other(const std::vector<TokenAxis>& files, const MatchOptions& options) {
  LOCUS_CHECK(!files.empty(), "a match of no files");
  TokenMatch match;
  const TokenAxis& first = files.front();
  match.names = first.names;
  const Lookup lookup(first.names);
  for (const TokenAxis& f : files) {
    if (options.by_order || (f.names.empty() && first.names.empty())) {
      require_count(f, first.count, first.path);
      match.position.push_back(in_order(f.count));
      continue;
    }
    if (f.names.empty() != first.names.empty()) {
      throw DataError({.what = "one file names its regions, another does not: is their order the same?",
                       .where = f.path,
                       .got = fmt::format("{} names in this file, {} in {}", f.names.size(), first.names.size(), first.path),
                       .expected = "names in every file, or in none",
                       .hint = "give both a header of names, or set series.match=order when the order is the same"});
    }
    refuse_twice_in_file(f);
    match.position.push_back(places(lookup, first.count, f, first.path, first.names));
    match.by_number = match.by_number || (all_whole(f.names) && !is_sorted_order(match.position.back()));
  }
  return match;
}

}  // namespace locus
