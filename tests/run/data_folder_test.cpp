// A run's data are found from any folder, as long as they are where they were or stand beside the run as before.
#include "run/data_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/fake_run.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using testing_support::TempFolder;
using testing_support::write_text;

TEST(DataFolderTest, relative_paths_are_found_where_the_run_was_trained) {
  const TempFolder folder("data_folder");
  write_text(folder.path() / "work/data/a.csv", "1\n");
  const fs::path run = folder.path() / "work/runs/one";
  fs::create_directories(run);
  Json manifest;
  manifest["folder"] = {{"path", (folder.path() / "work").string()}, {"from_run", "../.."}};
  RunConfig config;
  config.series.files = {"data/*.csv", "/absolute/b.csv"};
  config.series.atlas = "nowhere.csv";
  RunConfig found = config;
  find_data_from_here(found, run, manifest);
  EXPECT_EQ(fs::weakly_canonical(found.series.files[0]), fs::weakly_canonical(folder.path() / "work/data/*.csv"));
  EXPECT_EQ(found.series.files[1], "/absolute/b.csv");
  EXPECT_EQ(found.series.atlas, "nowhere.csv") << "what is nowhere keeps its name for the message";

  // All of it moved: what is seen from the run still holds.
  fs::rename(folder.path() / "work", folder.path() / "moved");
  RunConfig moved = config;
  find_data_from_here(moved, folder.path() / "moved/runs/one", manifest);
  EXPECT_EQ(fs::weakly_canonical(moved.series.files[0]), fs::weakly_canonical(folder.path() / "moved/data/*.csv"));

  RunConfig old = config;
  find_data_from_here(old, run, Json::object());
  EXPECT_EQ(old.series.files, config.series.files) << "runs of earlier versions do not tell";
}

// A key of text is a path or it is none: a new one has to be put on one of the two lists.
TEST(DataFolderTest, every_key_of_text_is_known_to_be_a_path_or_not) {
  const std::vector<std::string> others = {"study",
                                           "task",
                                           "optim.group_lr",
                                           "optim.group_decay",
                                           "series.dataset",
                                           "series.subject_pattern",
                                           "series.atlas_names",
                                           "series.skip_columns",
                                           "series.hemisphere",
                                           "series.test_subjects",
                                           "table.dataset",
                                           "table.skip",
                                           "table.categories",
                                           "images.dataset"};
  RunConfig config;
  const FieldList list = describe(config);
  for (const Field& field : list.fields()) {
    const FieldValue value = field.value();
    const bool text = std::holds_alternative<std::string*>(field.target) ||
                      std::holds_alternative<std::vector<std::string>*>(field.target);
    if (!text) continue;
    const bool path = std::find(kPathKeys.begin(), kPathKeys.end(), field.path) != kPathKeys.end();
    const bool other = std::find(others.begin(), others.end(), field.path) != others.end();
    EXPECT_NE(path, other) << field.path << " stands on " << (path ? "both lists" : "no list");
  }
}

}  // namespace
}  // namespace locus
