// The report as a whole: what is written, that it is the same twice, and that broken or hostile folders do no harm.
#include "report/report.h"

#include <gtest/gtest.h>

#include <chrono>
#include <regex>

#include "core/error.h"
#include "report/registry.h"
#include "tests/report/sample_runs.h"

namespace locus::report {
namespace {

using namespace testing_support;

FakeRun lst_run(double sigma, int seed, double accuracy) {
  FakeRun run;
  run.config.pe.sigma = sigma;
  run.config.seed = seed;
  run.final_accuracy = accuracy;
  return run;
}

std::string page_of(const TempFolder& folder) {
  return read_text(write_report({.dirs = {folder / "runs"}, .out = folder / "report.html"}).page);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// Every file of a folder, by name.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) out[entry.path().filename().string()] = read_text(entry.path());
  return out;
}

TEST(ReportTest, writes_page_figures_and_tables) {
  const TempFolder folder("report_page");
  for (int seed = 0; seed < 3; ++seed) {
    write_fake_run(folder.path() / "runs" / fmt::format("a{}", seed), lst_run(0.2, seed, 0.95 + 0.01 * seed));
    write_fake_run(folder.path() / "runs" / fmt::format("b{}", seed), lst_run(2.0, seed, 0.40 + 0.05 * seed));
  }
  const ReportResult result = write_report({.dirs = {folder / "runs"}, .out = folder / "report.html"});
  EXPECT_EQ(result.runs, 6u);
  const std::string page = read_text(result.page);
  EXPECT_EQ(page.size(), result.bytes);
  EXPECT_NE(page.find("Learned σ 0.2 does best: held-out accuracy 96.0\u00A0%"), std::string::npos);
  EXPECT_TRUE(fs::exists(fs::path(result.folder) / "accuracy_vs_sigma.svg"));
  EXPECT_TRUE(fs::exists(fs::path(result.folder) / "training_curves.csv"));
  EXPECT_NE(read_text(fs::path(result.folder) / "settings.csv").find("learned σ 2,2,3,0.45,"), std::string::npos);
}

TEST(ReportTest, is_the_same_twice) {
  const TempFolder folder("report_twice");
  write_lst_study(folder.path() / "runs", {.seeds = 2, .sigmas = {0.2, 2.0}});
  write_report({.dirs = {folder / "runs"}, .out = folder / "a/report.html"});
  write_report({.dirs = {folder / "runs"}, .out = folder / "b/report.html"});
  EXPECT_EQ(read_text(folder / "a/report.html"), read_text(folder / "b/report.html"));
  const auto a = contents(folder / "a/report_files");
  EXPECT_GE(a.size(), 10u);
  EXPECT_EQ(a, contents(folder / "b/report_files"));
}

TEST(ReportTest, says_so_when_one_seed_is_all_there_is) {
  const TempFolder folder("report_one");
  write_fake_run(folder.path() / "runs", lst_run(0.2, 0, 0.95));
  const std::string page = page_of(folder);
  EXPECT_NE(page.find("One run of one setting"), std::string::npos);
  EXPECT_NE(page.find("fewer than 3 seeds"), std::string::npos);
  EXPECT_EQ(page.find("does best"), std::string::npos);
  EXPECT_EQ(page.find(">clear<"), std::string::npos) << "no claim can be clear with one run";
}

TEST(ReportTest, renders_broken_unfinished_and_diverged_runs) {
  const TempFolder folder("report_broken");
  const fs::path runs = folder.path() / "runs";
  write_fake_run(runs / "good0", lst_run(0.2, 0, 0.95));
  write_fake_run(runs / "good1", lst_run(0.2, 1, 0.93));
  write_fake_run(runs / "unfinished", lst_run(0.2, 2, 0.9));
  fs::remove(runs / "unfinished" / "summary.json");
  FakeRun diverged = lst_run(2.0, 0, std::nan(""));
  diverged.status = "diverged";
  write_fake_run(runs / "diverged", diverged);
  write_fake_run(runs / "bad_summary", lst_run(0.2, 4, 0.9));
  write_text(runs / "bad_summary" / "summary.json", "{\"status\": ");
  write_fake_run(runs / "bad_config", lst_run(0.2, 5, 0.9));
  write_text(runs / "bad_config" / "config.toml", "[[[\n");
  write_fake_run(runs / "bad_lines", lst_run(0.2, 6, 0.9));
  write_text(runs / "bad_lines" / "metrics.jsonl", "{\"epoch\": 1, \"train.loss\": 1}\nnonsense\n[1,2]\n\x00\xff\n");
  write_fake_run(runs / "bad_model", lst_run(0.3, 0, 0.9));
  write_text(runs / "bad_model" / "final" / "model.safetensors", "not a model");
  write_text(runs / "empty" / "manifest.json", "");
  write_text(runs / "empty" / "metrics.jsonl", "");
  const ReportResult result = write_report({.dirs = {runs.string()}, .out = folder / "report.html"});
  EXPECT_EQ(result.runs, 9u);
  const std::string page = read_text(result.page);
  for (const char* text :
       {"unfinished", "diverged", "summary.json", "not a number: heldout.accuracy", "metrics.jsonl: line 2 is left out"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
  const std::string csv = read_text(fs::path(result.folder) / "accuracy_vs_sigma.csv");
  EXPECT_EQ(csv.find("diverged"), std::string::npos) << "a NaN has no place in a mean";
}

TEST(ReportTest, text_of_runs_cannot_become_markup) {
  const TempFolder folder("report_hostile");
  const std::string evil = "\"'><script>window.hacked=1</script><img src=x onerror=alert(1)>\x01\xff]]>&amp;";
  FakeRun run = lst_run(0.2, 0, 0.9);
  run.config.lst.dir = evil;
  run.config.pe.file = "";
  run.command = "locus train " + evil + " </script><script>alert(2)</script>";
  run.host = evil;
  run.extra["heldout.accuracy." + evil] = 0.5;
  run.coordinates = grid_coordinates(2);
  for (int t = 0; t < 4; ++t) run.token_names.push_back(evil + std::to_string(t));
  run.label_names = {evil};
  run.labels = {0, 0, 0, 0};
  Rng rng(1, "hostile");
  run.learned = run.initial = {planted_table(run.coordinates, 8, 0.2, 0.5, rng)};
  write_fake_run(folder.path() / "runs" / "<script>alert(3)<" / "img onerror=alert(4) src=x>", run);
  FakeRun other = run;
  other.config.lst.dir = "javascript:alert(5)";
  other.status = "failed";
  write_fake_run(folder.path() / "runs" / "\"><svg onload=alert(6)>", other);
  const ReportResult result = write_report({.dirs = {folder / "runs"}, .out = folder / "report.html", .title = evil});
  const std::string page = read_text(result.page);
  EXPECT_EQ(count(page, "<script"), 2u) << "the data block and the page's own";
  EXPECT_EQ(count(page, "</script"), 2u);
  EXPECT_EQ(count(page, "<img"), 0u);
  EXPECT_EQ(count(page, "<svg onload"), 0u);
  EXPECT_EQ(count(page, "\x01"), 0u);
  const std::string markup = std::regex_replace(page.substr(0, page.find("<script")), std::regex("\"[^\"]*\""), "\"\"");
  EXPECT_FALSE(std::regex_search(markup, std::regex("<[a-zA-Z][^>]*\\son[a-z]+=")));
  for (const auto& [name, text] : contents(result.folder)) {
    if (name.find(".svg") == std::string::npos) continue;
    EXPECT_EQ(count(text, "<script"), 0u) << name;
    EXPECT_EQ(count(text, "<img"), 0u) << name;
  }
}

TEST(ReportTest, three_hundred_runs_are_quick_and_small) {
  const TempFolder folder("report_many");
  SampleOptions options{.seeds = 15, .sigmas = {}, .fixed = true, .epochs = 120, .tables = false};
  for (int i = 0; i < 17; ++i) options.sigmas.push_back(0.1 + 0.1 * i);
  write_lst_study(folder.path() / "runs", options);
  const auto start = std::chrono::steady_clock::now();
  const ReportResult result = write_report({.dirs = {folder / "runs"}, .out = folder / "report.html"});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(result.runs, 300u);
  EXPECT_LT(result.bytes, 5'000'000u);
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 10.0) << "5 s is the promise of a release build on an idle machine";
}

TEST(ReportTest, names_what_is_missing) {
  const TempFolder folder("report_missing");
  fs::create_directories(folder.path() / "nothing");
  EXPECT_THROW(write_report({.dirs = {folder / "nothing"}, .out = folder / "r.html"}), IoError);
  EXPECT_THROW(write_report({.dirs = {folder / "absent"}, .out = folder / "r.html"}), IoError);
  write_fake_run(folder.path() / "run", lst_run(0.2, 0, 0.95));
  try {
    plot_figure("similarity", {folder / "run"});
    FAIL() << "there are no tables";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("final/model.safetensors"), std::string::npos);
  }
  try {
    plot_figure("similarty", {folder / "run"});
    FAIL() << "there is no such figure";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean similarity?"), std::string::npos);
  }
}

TEST(ReportTest, plots_one_figure_by_name_and_choice) {
  const TempFolder folder("report_plot");
  write_lst_study(folder.path() / "runs", {.seeds = 1, .sigmas = {0.2}, .fixed = false});
  const std::string first = plot_figure("similarity", {folder / "runs"});
  const std::string second = plot_figure("similarity", {folder / "runs"}, {.theme = Theme::kLight, .choices = {"layer=2"}});
  EXPECT_EQ(first.rfind("<svg xmlns=", 0), 0u);
  EXPECT_NE(first, second);
  EXPECT_NE(second.find("layer 2"), std::string::npos);
  EXPECT_EQ(second.find("var(--"), std::string::npos) << "converters know no variables";
  EXPECT_THROW(plot_figure("similarity", {folder / "runs"}, {.theme = Theme::kLight, .choices = {"layer=9"}}), ConfigError);
}

TEST(RegistryTest, names_are_unique_and_explained) {
  std::set<std::string> names;
  for (const FigureInfo& info : figure_list()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.title.empty()) << info.name;
    EXPECT_FALSE(info.needs.empty()) << info.name;
  }
}

TEST(RegistryTest, every_figure_answers_for_no_runs_at_all) {
  const Inputs none = make_inputs({});
  for (const FigureSpec& spec : figure_specs()) {
    const Found<Figure> found = spec.make(none);
    EXPECT_FALSE(found.value.has_value()) << spec.name;
    EXPECT_FALSE(found.missing.empty()) << spec.name;
  }
}

}  // namespace
}  // namespace locus::report
