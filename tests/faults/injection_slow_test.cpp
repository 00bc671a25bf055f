// Every call that changes files, disturbed in every way, in every command that keeps results: a command that was disturbed
// says so, tells of no end that is none, loses nothing, and when it is given again ends as if nothing had been.
// LOCUS_TORTURE=full disturbs all calls (scripts/torture.sh); else a few of each command.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "run/run_summary.h"
#include "tests/faults/disturbed.h"

namespace locus::faults {
namespace {

using Content = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

constexpr const char* kTiny = R"(study = "lst"
seed = 1
[model]
layers = 1
width = 8
heads = 2
[pe]
sigma = 0.1
[train]
batch = 16
[stop]
epochs = 2
[watch]
checkpoint_every = 1
checkpoint_seconds = 0
snapshots = [1]
[lst]
n = 3
per_difficulty = 12
heldout_items = 1
rotations = 1
min_distance = 0.0
)";
constexpr const char* kSweep = R"(config = "tiny.toml"
[set]
stop.epochs = 1
[grid]
pe.sigma = [0.1, 0.5]
)";

struct Command {
  std::string name;
  std::vector<Words> before;  // what makes the folder that it begins with
  Words words;
  bool trains = true;  // metrics grow, so a file may be neither as before nor as at the end
};

const std::vector<Command>& commands() {
  static const Words train = {"train", "tiny.toml", "--out", "run", "--threads", "1", "--quiet"};
  static const auto with = [](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  static const Words sweep = {"sweep", "sweep.toml", "--jobs", "1", "--quiet", "--out", "cells"};
  static const Words analyze = {"analyze", "run", "--only", "recovery", "--threads", "1", "--quiet"};
  static const std::vector<Command> list = {
      {"train", {}, {"train", "tiny.toml", "--out", "new/folder/run", "--threads", "1", "--quiet"}},
      // No evaluation on the way: nothing but checkpoints tells that the run went on.
      {"extend", {train}, with(train, {"stop.epochs=4", "watch.eval_every=3"})},
      {"sweep", {}, sweep},
      {"fit", {}, {"fit", "samples.csv", "--out", "run", "--threads", "1", "--quiet", "stop.steps=3", "model.width=8"}},
      {"analyze", {train}, analyze, false},
      {"reanalyze", {train, with(analyze, {"--set", "permutations=20"})}, analyze, false},
      {"keep", {sweep}, {"results", "keep", "cells", "--to", "kept"}, false},
      {"gc", {sweep}, {"gc", "cells", "--yes"}, false},
  };
  return list;
}

std::string samples() {
  std::string text = "a,b,c,d,e,f\n";
  for (int i = 0; i < 40; ++i) {
    for (int t = 0; t < 6; ++t) text += std::to_string((i * 37 + t * 11 + i * t % 7) % 23) + (t < 5 ? "," : "\n");
  }
  return text;
}

bool is_full() {
  const char* const torture = std::getenv("LOCUS_TORTURE");
  return torture != nullptr && std::string(torture) == "full";
}

// One command with its folder before, its result, and the checks after a disturbed call.
class Torture {
 public:
  Torture(const Command& command, fs::path base) : command_(command), base_(std::move(base)) {
    fs::create_directories(base_);
    const Place place(base_ / "reference");
    std::ofstream(place.root() / "tiny.toml") << kTiny;
    std::ofstream(place.root() / "sweep.toml") << kSweep;
    std::ofstream(place.root() / "samples.csv") << samples();
    for (const Words& words : command_.before) succeed(place, words);
    fs::copy(place.root(), base_ / "before", fs::copy_options::recursive);
    const Ended end = succeed(place, command_.words);
    calls_ = end.calls;
    before_ = content_of(base_ / "before");
    after_ = content_of(place.root());
    const Place again(base_ / "again");
    begin(again);
    succeed(again, command_.words);
    EXPECT_EQ(content_of(again.root()), after_) << "the command itself is not the same twice";
  }
  ~Torture() { fs::remove_all(base_); }
  Torture(const Torture&) = delete;
  Torture& operator=(const Torture&) = delete;

  std::uint64_t calls() const { return calls_; }

  // What is wrong after this fault; "" when nothing is. `applied` is whether the fault could be.
  std::string check(const Fault& fault, int worker, bool& applied) const {
    const Place place(base_ / ("work" + std::to_string(worker)));
    begin(place);
    const Ended end = place.run(command_.words, fault);
    applied = end.disturbed > 0;
    if (!applied) return fault.kind == "short" || fault.kind == "full" ? "" : "the call never came";
    const Content now = content_of(place.root());
    const bool same = now == after_;
    const bool harmless = fault.kind == "short" || fault.kind == "eintr";
    if (harmless && end.code != 0) return "ended with " + std::to_string(end.code) + ": " + end.said;
    if (end.code == 0 && !same) return "exit 0, but " + difference(now);
    if (end.code > 128 && fault.kind != "kill") return "crashed: " + end.said;
    if (std::string lost = lost_or_false(place.root(), now); !lost.empty()) return lost;
    return again(place);
  }

 private:
  static Ended succeed(const Place& place, const Words& words) {
    Ended end = place.run(words);
    EXPECT_EQ(end.code, 0) << words[0] << ": " << end.said;
    return end;
  }

  void begin(const Place& place) const { fs::copy(base_ / "before", place.root(), fs::copy_options::recursive); }

  std::string difference(const Content& now) const {
    for (const auto& [name, text] : after_) {
      const auto there = now.find(name);
      if (there == now.end()) return name + " is missing";
      if (there->second != text) return name + " differs";
    }
    for (const auto& [name, text] : now) {
      if (after_.count(name) == 0) return name + " is left over";
    }
    return "";
  }

  static bool is_in(const Content& content, const std::string& name, const std::string& text) {
    const auto there = content.find(name);
    return there != content.end() && there->second == text;
  }

  // Of the folder right after the fault.
  std::string lost_or_false(const fs::path& root, const Content& now) const {
    for (const auto& [name, text] : now) {
      if (!name.ends_with("summary.json")) continue;
      if (!read_run_summary((root / name).parent_path()).is_complete()) continue;
      const std::string run = name.substr(0, name.size() - std::string("summary.json").size());
      // An end needs its rows, its model and its predictions.
      static const std::regex ends(R"(metrics\.|summary\.json|predictions\.csv|final/)");
      if (!whole(now, after_, run, ends) && !whole(now, before_, run, ends)) return "a false end in " + name;
    }
    static const std::regex all(".");
    if (now.count("run/analysis/recovery.json") != 0 && !whole(now, before_, "run/analysis/", all) &&
        !whole(now, after_, "run/analysis/recovery", all))
      return "an analysis beside tables of another";
    for (const auto& [name, text] : before_) {
      const auto there = now.find(name);
      // These say that something is whole: they go first and come last.
      const bool says_whole = (command_.trains && name.ends_with("summary.json")) || name == "run/analysis/recovery.json";
      const bool may_go = after_.count(name) == 0 || says_whole;
      if (there == now.end() && !may_go) return name + " was lost";
      if (there == now.end()) continue;
      if (name.ends_with("metrics.csv") && !there->second.starts_with(text)) return "rows of " + name + " were lost";
      if (!command_.trains && there->second != text && !is_in(after_, name, there->second)) return name + " was damaged";
    }
    return "";
  }

  // Whether all files of these names are as they were there, and there were some.
  static bool whole(const Content& now, const Content& then, const std::string& folder, const std::regex& names) {
    const auto first = then.lower_bound(folder);
    if (first == then.end() || !first->first.starts_with(folder)) return false;
    return std::all_of(then.begin(), then.end(), [&](const auto& file) {
      const bool counts = file.first.starts_with(folder) && std::regex_search(file.first, names);
      return !counts || is_in(now, file.first, file.second);
    });
  }

  std::string again(const Place& place) const {
    // Clearing up must leave what a run that was cut off goes on from.
    if (command_.name == "extend" && !fs::exists(place.root() / "run" / "summary.json")) place.run({"gc", "run", "--yes"});
    const Ended end = place.run(command_.words);
    if (end.code != 0) return "cannot go on (" + std::to_string(end.code) + "): " + end.said;
    if (const Content now = content_of(place.root()); now != after_) return "after going on " + difference(now);
    return "";
  }

  Command command_;
  fs::path base_;
  std::uint64_t calls_ = 0;
  Content before_;
  Content after_;
};

class InjectionTest : public testing::TestWithParam<Command> {};

TEST_P(InjectionTest, every_disturbed_call_is_told_of_and_made_good) {
  const fs::path base =
      fs::canonical(fs::temp_directory_path()) / ("locus-faults-" + std::to_string(::getpid()) + "-" + GetParam().name);
  const Torture torture(GetParam(), base);
  ASSERT_GT(torture.calls(), 5U) << "the library counts nothing";
  std::vector<Fault> faults;
  // A few calls spread over the command; of each kind others.
  const std::uint64_t step = is_full() ? 1 : std::max<std::uint64_t>(1, torture.calls() / 4);
  for (std::size_t k = 0; k < kKinds.size(); ++k) {
    for (std::uint64_t at = 1 + (is_full() ? 0 : k * step / kKinds.size()); at <= torture.calls(); at += step)
      faults.push_back({kKinds[k], at});
  }
  std::atomic<std::size_t> next{0};
  std::map<std::string, int> applied;
  std::mutex mutex;
  const auto work = [&](int worker) {
    for (std::size_t i = next++; i < faults.size(); i = next++) {
      bool done = false;
      const std::string wrong = torture.check(faults[i], worker, done);
      const std::lock_guard guard(mutex);
      applied[faults[i].kind] += done ? 1 : 0;
      if (!wrong.empty()) ADD_FAILURE() << faults[i].kind << " at call " << faults[i].at << ": " << wrong;
    }
  };
  std::vector<std::thread> workers;
  for (int w = 0; w < 2; ++w) workers.emplace_back(work, w);
  for (std::thread& t : workers) t.join();
  std::string line = GetParam().name + ": " + std::to_string(torture.calls()) + " calls;";
  for (const auto& [kind, count] : applied) line += " " + kind + " " + std::to_string(count);
  std::printf("%s\n", line.c_str());
}

INSTANTIATE_TEST_SUITE_P(Commands, InjectionTest, testing::ValuesIn(commands()),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace locus::faults
