#include "data/subjects.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "data/atlas.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 17> kSubjectWords = {"sub", "subj",   "subject", "participant", "patient", "person",
                                                            "pat", "pt",     "proband", "volunteer",   "animal",  "mouse",
                                                            "rat", "monkey", "s",       "p",           "vp"};
// Whatever stands after these counts recordings of one person. The longer ones may end a word: "restrun1".
constexpr std::array<std::string_view, 26> kRunWords = {
    "run",  "ses",  "sess", "session", "scan", "visit",  "rest", "task",  "trial",  "block", "day",  "week",  "rep",
    "part", "echo", "acq",  "dir",     "rec",  "series", "vol",  "epoch", "window", "chunk", "take", "space", "desc"};
constexpr std::array<std::string_view, 24> kRunValues = {"lr",   "rl",     "ap",    "pa", "rest", "task",   "pre",   "post",
                                                         "left", "right",  "eo",    "ec", "open", "closed", "lh",    "rh",
                                                         "test", "retest", "train", "on", "off",  "rest1",  "rest2", "bold"};

// One part of all names: what stands before it, and its text in each file.
struct NamePart {
  std::string word;     // "subj" of subj100206, or the word before a separator
  std::string pattern;  // for series.subject_pattern; empty when the part cannot be written as one
  std::string place;    // "the number after subj", for messages
  std::vector<std::string> values;
  bool glued = false;   // the word stands right before it: run9, not run_9
  bool uneven = false;  // the names are built differently: nothing tells which of their parts correspond
};

constexpr const char* kFileName = "the file's name";

enum class PartKind { kSubject, kRun, kOther };

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 128; }

PartKind kind_of(const NamePart& part) {
  const std::string word = to_lower(part.word);
  if (std::find(kSubjectWords.begin(), kSubjectWords.end(), word) != kSubjectWords.end()) return PartKind::kSubject;
  // rest_100206 is no hundred thousandth rest.
  const bool counts =
      part.glued || std::all_of(part.values.begin(), part.values.end(), [](const auto& v) { return v.size() < 4; });
  const auto ends = [&](std::string_view w) { return word == w || (w.size() > 2 && word.ends_with(w)); };
  if (counts && std::any_of(kRunWords.begin(), kRunWords.end(), ends)) return PartKind::kRun;
  const bool conditions = std::all_of(part.values.begin(), part.values.end(), [](const std::string& v) {
    return std::find(kRunValues.begin(), kRunValues.end(), to_lower(v)) != kRunValues.end();
  });
  return conditions ? PartKind::kRun : PartKind::kOther;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + "_") {
    if (is_word(c)) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

// "p1run9" becomes p, 1, run, 9.
std::vector<std::string> runs_of_kind(const std::string& word) {
  std::vector<std::string> out;
  for (const char c : word) {
    if (out.empty() || is_digit(out.back().back()) != is_digit(c)) out.emplace_back();
    out.back() += c;
  }
  return out;
}

bool all_equal(const std::vector<std::string>& values) {
  return std::all_of(values.begin(), values.end(), [&](const std::string& v) { return v == values.front(); });
}

// Letters and numbers of a word that is built alike in every file; letters that never differ name the number behind them.
std::optional<std::vector<NamePart>> pieces_of(const std::vector<std::string>& words, const std::string& place) {
  std::vector<std::vector<std::string>> pieces;
  for (const std::string& w : words) pieces.push_back(runs_of_kind(w));
  for (const auto& p : pieces) {
    if (p.size() != pieces.front().size() || is_digit(p[0][0]) != is_digit(pieces.front()[0][0])) return std::nullopt;
  }
  std::vector<NamePart> parts;
  std::string before;
  for (std::size_t i = 0; i < pieces.front().size(); ++i) {
    std::vector<std::string> values;
    for (const auto& p : pieces) values.push_back(p[i]);
    const bool digits = is_digit(values.front()[0]);
    if (!digits && all_equal(values) && pieces.front().size() > 1) {
      before = values.front();
      continue;
    }
    NamePart part{before, "", place, std::move(values), !before.empty()};
    if (!before.empty()) {
      part.pattern = before + "([0-9]+)";
      part.place = fmt::format("the number after '{}'", before);
    } else if (pieces.front().size() > 1) {
      part.place = fmt::format("the {} in {}", digits ? "number" : "letters", place);
    }
    before.clear();
    parts.push_back(std::move(part));
  }
  return parts;
}

// Parts of one component of the paths (the file's name, a folder), where all have the same number of words.
std::vector<NamePart> parts_of(const std::vector<std::string>& texts, const std::string& what) {
  std::vector<std::vector<std::string>> words;
  for (const std::string& t : texts) words.push_back(words_of(t));
  const bool file_name = what == kFileName;
  for (const auto& w : words) {
    if (w.size() != words.front().size() || w.empty()) return {{"", file_name ? "(.*)[.]" : "", what, texts, false, true}};
  }
  std::vector<NamePart> parts;
  std::string before, pattern = "^[^A-Za-z0-9]*";
  for (std::size_t i = 0; i < words.front().size(); ++i) {
    std::vector<std::string> values;
    for (const auto& w : words) values.push_back(w[i]);
    const std::string place = fmt::format("word {} of {}", i + 1, what);
    const std::string whole = file_name ? pattern + "([A-Za-z0-9]+)" : "";
    auto pieces = pieces_of(values, place);
    if (!pieces) pieces = {{{"", whole, place, values, false, true}}};
    for (NamePart& p : *pieces) {
      if (p.word.empty()) p.word = before;
      if (!file_name) p.pattern.clear();
      if (file_name && p.pattern.empty() && pieces->size() == 1) p.pattern = whole;
      parts.push_back(std::move(p));
    }
    before = all_equal(values) && pieces->size() == 1 && !is_digit(values.front()[0]) ? values.front() : "";
    pattern += "[A-Za-z0-9]+[^A-Za-z0-9]+";
  }
  return parts;
}

// File name and folders, as far up as every path has them.
std::vector<NamePart> parts_of_paths(const std::vector<NamedFile>& files) {
  std::vector<std::vector<std::string>> components;
  std::size_t depth = SIZE_MAX;
  for (const NamedFile& f : files) {
    const fs::path path(f.path);
    std::vector<std::string> names = {path.stem().string()};
    for (fs::path up = path.parent_path(); !up.filename().empty(); up = up.parent_path())
      names.push_back(up.filename().string());
    depth = std::min(depth, names.size());
    components.push_back(std::move(names));
  }
  std::vector<NamePart> parts;
  for (std::size_t level = 0; level < depth; ++level) {
    std::vector<std::string> texts;
    for (const auto& c : components) texts.push_back(c[level]);
    if (level > 0 && all_equal(texts)) continue;
    const std::string what = level == 0 ? kFileName : level == 1 ? "the folder" : fmt::format("the folder {} up", level);
    for (NamePart& p : parts_of(texts, what)) parts.push_back(std::move(p));
  }
  return parts;
}

// Which files belong together: the number of the first file with the same value.
std::vector<std::size_t> groups(const std::vector<std::string>& values) {
  std::map<std::string, std::size_t> first;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < values.size(); ++i) out.push_back(first.emplace(values[i], i).first->second);
  return out;
}

bool same_groups(const std::vector<const NamePart*>& parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [&](const NamePart* p) { return groups(p->values) == groups(parts.front()->values); });
}

// What differs between the two lists alone ("train_1", "test_1") tells nobody apart.
bool varies(const NamePart& part, const std::vector<NamedFile>& files) {
  std::set<std::string> of_list[2];
  for (std::size_t i = 0; i < files.size(); ++i) of_list[files[i].further ? 1 : 0].insert(part.values[i]);
  return of_list[0].size() > 1 || of_list[1].size() > 1;
}

[[noreturn]] void refuse(const std::vector<const NamePart*>& candidates, const std::vector<NamedFile>& files) {
  std::vector<std::string> lines, patterns;
  for (const NamePart* p : candidates) {
    const std::set<std::string> values(p->values.begin(), p->values.end());
    lines.push_back(fmt::format("{} ({} subjects: {})", p->place, values.size(), some_of({values.begin(), values.end()})));
    if (!p->pattern.empty()) patterns.push_back(fmt::format("series.subject_pattern='{}'", p->pattern));
  }
  throw DataError({.what = "which part of the file names is the subject?",
                   .where = files.front().path,
                   .got = lines.empty() ? "no part that tells subjects apart" : join(lines, "; "),
                   .expected = "names with sub-XX, or a pattern",
                   .hint = (patterns.empty() ? std::string("set series.subject_pattern") : join(patterns, " or ")) +
                           ", or a manifest with subject,path"});
}

const NamePart& longest_number(const std::vector<const NamePart*>& parts) {
  const NamePart* best = parts.front();
  for (const NamePart* p : parts) {
    const auto digits = [](const NamePart& part) {
      return is_digit(part.values.front()[0]) ? part.values.front().size() : 0;
    };
    if (digits(*p) > digits(*best)) best = p;
  }
  return *best;
}

Subjects from_names(const std::vector<NamedFile>& files) {
  const std::vector<NamePart> parts = parts_of_paths(files);
  std::vector<const NamePart*> subjects, others, runs;
  bool any_varies = false;
  for (const NamePart& p : parts) any_varies = any_varies || varies(p, files);
  for (const NamePart& p : parts) {
    const bool digits = is_digit(p.values.front()[0]);
    const bool differs = any_varies ? varies(p, files) : !all_equal(p.values);
    const PartKind kind = kind_of(p);
    if (kind == PartKind::kSubject && (differs || digits)) subjects.push_back(&p);
    if (kind == PartKind::kOther && (differs || (!any_varies && digits))) others.push_back(&p);
    if (kind == PartKind::kRun && differs) runs.push_back(&p);
  }
  std::vector<const NamePart*> candidates = subjects;
  // A constant s1 or p1 beside other parts that differ may be a session or a plate.
  const bool constant = !subjects.empty() && all_equal(subjects.front()->values) && subjects.front()->word.size() < 3;
  if (subjects.empty() || constant) candidates.insert(candidates.end(), others.begin(), others.end());
  if (candidates.empty() && !runs.empty()) refuse(runs, files);
  if (candidates.empty() || !same_groups(candidates)) refuse(candidates, files);
  const NamePart& chosen = subjects.empty() ? longest_number(candidates) : *subjects.front();
  if (chosen.uneven) refuse(candidates, files);
  const std::set<std::string> ids(chosen.values.begin(), chosen.values.end());
  return {chosen.values, fmt::format("subjects from {}: {}", chosen.place, some_of({ids.begin(), ids.end()}))};
}

// One file is one subject, whatever its name.
std::string only_subject(const std::string& path) {
  const std::string stem = fs::path(path).stem().string();
  std::string longest, marked;
  for (const std::string& word : words_of(stem)) {
    const std::vector<std::string> pieces = runs_of_kind(word);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!is_digit(pieces[i][0])) continue;
      if (pieces[i].size() > longest.size()) longest = pieces[i];
      if (i > 0 && kind_of({pieces[i - 1], "", "", {pieces[i]}, true}) == PartKind::kSubject) marked = pieces[i];
    }
  }
  return !marked.empty() ? marked : !longest.empty() ? longest : stem;
}

// sub-XX of the file's name, else of the nearest folder that has one.
std::string bids_subject(const std::string& path) {
  static const std::regex bids("(?:^|[^A-Za-z0-9])sub-([A-Za-z0-9]+)");
  std::smatch m;
  fs::path part(path);
  std::string found;
  for (std::string name = part.filename().string(); !name.empty();
       part = part.parent_path(), name = part.filename().string()) {
    if (!std::regex_search(name, m, bids)) continue;
    if (found.empty()) {
      found = m[1].str();
    } else if (found != m[1].str()) {
      throw DataError({.what = "the file's name and its folder tell two subjects",
                       .where = path,
                       .got = fmt::format("sub-{} and sub-{}", m[1].str(), found),
                       .expected = "one subject",
                       .hint = "rename one of them, or set series.subject_pattern"});
    }
  }
  return found;
}

std::string by_pattern(const std::string& path, const std::string& pattern) {
  const std::string file = fs::path(path).filename().string();
  std::smatch m;
  try {
    const std::regex given(pattern);
    if (given.mark_count() < 1) {
      throw ConfigError({.what = "series.subject_pattern has no group",
                         .where = "series.subject_pattern",
                         .got = pattern,
                         .expected = "parentheses around the subject, e.g. subj([0-9]+)"});
    }
    if ((std::regex_search(file, m, given) || std::regex_search(path, m, given)) && m[1].length() > 0) return m[1].str();
  } catch (const std::regex_error&) {
    throw ConfigError(
        {.what = "series.subject_pattern is no regular expression", .where = "series.subject_pattern", .got = pattern});
  }
  throw DataError({.what = "series.subject_pattern does not match the file's name",
                   .where = path,
                   .got = pattern,
                   .expected = "a part of the name, with the subject in parentheses",
                   .hint = "series.subject_pattern= (empty) takes sub-... or the part of the names that can only be it"});
}

std::string near_key(const std::string& id) {
  std::string key;
  for (const std::string& piece : runs_of_kind(to_lower(trim(id)))) {
    key += is_digit(piece[0]) ? piece.substr(std::min(piece.find_first_not_of('0'), piece.size() - 1)) : piece;
  }
  return key;
}

}  // namespace

void refuse_near_ids(const std::vector<std::string>& ids, const std::vector<std::string>& paths) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto [place, fresh] = seen.emplace(near_key(ids[i]), i);
    const std::size_t other = place->second;
    if (fresh || ids[other] == ids[i]) continue;
    throw DataError({.what = fmt::format("subjects {} and {}: one person, or two?", ids[other], ids[i]),
                     .where = paths[i],
                     .got = fmt::format("{} in {}", ids[other], paths[other]),
                     .expected = "one way to write a subject",
                     .hint = "rename the files so that zeros and case agree, or list subjects in a manifest"});
  }
}

Subjects subjects_of(const std::vector<NamedFile>& files, const std::string& pattern) {
  Subjects out;
  std::vector<std::string> with, without, paths;
  for (const NamedFile& f : files) {
    paths.push_back(f.path);
    out.ids.push_back(pattern.empty() ? bids_subject(f.path) : by_pattern(f.path, pattern));
    (out.ids.back().empty() ? without : with).push_back(f.path);
  }
  if (!with.empty() && !without.empty()) {
    throw DataError({.what = "some files name their subject as sub-XX, others do not",
                     .where = without.front(),
                     .got = fmt::format("{} with (such as {}), {} without", with.size(), with.front(), without.size()),
                     .expected = "sub-XX in every name, or in none",
                     .hint = "rename the files, set series.subject_pattern, or give a manifest with subject,path"});
  }
  if (with.empty() && files.size() == 1) out.ids = {only_subject(files.front().path)};
  if (with.empty() && files.size() > 1) out = from_names(files);
  refuse_near_ids(out.ids, paths);
  return out;
}

}  // namespace locus
