// Figures over kept results show what was kept, and those of the documents are what the results give.
#include "report/kept_figure.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "config/load.h"
#include "core/error.h"
#include "core/json.h"
#include "io/file.h"
#include "results/tables.h"
#include "tests/support/paths.h"

namespace locus::report {
namespace {

namespace fs = std::filesystem;

class KeptFigureTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("kept-figure-" + std::to_string(::getpid()));
    fs::create_directories(root_ / "results");
  }
  void TearDown() override { fs::remove_all(root_); }

  void keep(const std::string& name, double sigma, const Json& analyses) const {
    RunConfig config;
    config.pe.sigma = sigma;
    Json json;
    json["config"] = to_json(config);
    json["summary"] = {{"status", "finished"}};
    json["analyses"] = analyses;
    write_file_atomic(root_ / "results" / (name + ".json"), json.dump());
  }
  KeptFigure read(const std::string& study) const {
    const fs::path file = root_ / "far.figure.toml";
    write_file_atomic(file, R"(root = "."
title = "far"
caption = "one dot a run"
x = "moved / start"
x_label = "far"
y_label = "r"
[[panel]]
title = "P"
y = "final.{truth}.r"
floor = "init.{truth}.r"
[[panel]]
title = "P - P0"
y = "change.{truth}.r"
limit = "change.{truth}.ceiling"
)" + study);
    return read_kept_figure(file);
  }

  fs::path root_;
};

const char* const kStudy = "[[study]]\nname = \"squares\"\nfrom = \"results\"\ntruth = \"rook\"\n";

TEST_F(KeptFigureTest, each_run_is_a_dot_with_its_floor_and_its_limit) {
  keep("a", 0.5,
       {{"moved", 1},
        {"start", 4},
        {"final.rook.r", 0.3},
        {"init.rook.r", 0.1},
        {"change.rook.r", 0.6},
        {"change.rook.ceiling", 0.9}});
  keep("b", 2, {{"moved", 1}, {"start", 8}, {"final.rook.r", 0.05}, {"change.rook.r", 0.5}});
  keep("c", 2, {{"moved", 1}, {"final.rook.r", 0.05}});
  const KeptFigure data = read(kStudy);
  EXPECT_EQ(csv_kept_figure(data),
            "panel,study,run,x,y,floor,limit\n"
            "P,squares,\"learned sigma 0.5, seed 0\",0.25,0.3,0.1,\n"
            "P,squares,\"learned sigma 2, seed 0\",0.125,0.05,,\n"
            "P - P0,squares,\"learned sigma 0.5, seed 0\",0.25,0.6,,0.9\n"
            "P - P0,squares,\"learned sigma 2, seed 0\",0.125,0.5,,\n");
  const Figure figure = draw_kept_figure(data);
  ASSERT_EQ(figure.variants.at(0).panels.size(), 2u);
  EXPECT_NE(figure.variants[0].panels[1].body.find("data-value=\"0.6\""), std::string::npos);
  EXPECT_EQ(figure.legend.at(0).label, "squares, n = 2 runs");
}

TEST_F(KeptFigureTest, a_study_without_the_measures_is_said_and_not_left_out) {
  keep("a", 0.5, {{"moved", 1}, {"start", 4}, {"final.rook.r", 0.3}});
  EXPECT_THROW(read(kStudy), DataError) << "nothing for the second panel";
  EXPECT_THROW(read("[[study]]\nname = \"none\"\nfrom = \"elsewhere\"\ntruth = \"rook\"\n"), DataError);
  EXPECT_THROW(read(""), DataError);
}

// The documents of this repository.
std::vector<fs::path> documents(const std::string& ending) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(fs::path(test::source_dir()) / "docs" / "experiments")) {
    if (entry.path().string().ends_with(ending)) out.push_back(entry.path());
  }
  return out;
}

TEST(DocumentsTest, tables_are_those_of_the_kept_results) {
  EXPECT_GE(documents(".tables.toml").size(), 5u);
  for (const fs::path& tables : documents(".tables.toml")) {
    const fs::path page = tables.parent_path() / (tables.stem().stem().string() + ".md");
    EXPECT_EQ(fill_tables(page.string()), read_text_file(page)) << "run: locus results tables " << page;
  }
}

TEST(DocumentsTest, figures_are_those_of_the_kept_results) {
  EXPECT_GE(documents(".figure.toml").size(), 1u);
  for (const fs::path& file : documents(".figure.toml")) {
    const Figure figure = draw_kept_figure(read_kept_figure(file));
    const fs::path stem = file.parent_path() / file.stem().stem();
    EXPECT_EQ(figure.csv, read_text_file(stem.string() + ".csv")) << "run: locus results figure " << file;
    EXPECT_EQ(standalone_svg(figure, figure.variants.at(0), Theme::kLight), read_text_file(stem.string() + ".svg"))
        << "run: locus results figure " << file;
  }
}

}  // namespace
}  // namespace locus::report
