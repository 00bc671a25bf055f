// Recordings named on a command line: what is found in a folder, which way round they are, and who is tested on.
#include "data/own_series.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "data/series.h"
#include "io/npy.h"
#include "tests/support/fake_run.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using testing_support::TempFolder;
using testing_support::write_text;

// Regions x frames, as recordings often are, without names.
void write_recording(const fs::path& path, int regions, int frames, int salt) {
  fs::create_directories(path.parent_path());
  std::vector<double> values;
  for (int r = 0; r < regions; ++r) {
    for (int f = 0; f < frames; ++f)
      values.push_back(std::sin(0.1 * (r + 1) * f + salt) + 0.3 * std::cos(0.7 * f * (salt + 1)));
  }
  write_npy(path, tensor_view<double>("", {regions, frames}, values));
}

TEST(OwnSeriesTest, a_folder_of_recordings_is_read_with_regions_as_tokens_and_split_by_subject) {
  const TempFolder folder("own_series");
  for (int s = 1; s <= 4; ++s) write_recording(folder.path() / fmt::format("sub-{}.npy", s), 6, 90, s);
  write_text(folder.path() / "regions.csv", "name,network\na,x\nb,x\nc,y\nd,y\ne,z\nf,z\n");
  ASSERT_TRUE(are_region_series({folder.path().string()}));
  const RunConfig config = own_series_config({{folder.path().string()}, "", ""});
  EXPECT_EQ(config.series.files.size(), 4u);
  EXPECT_EQ(fs::path(config.series.atlas).filename(), "regions.csv");
  EXPECT_EQ(config.series.split_by, SplitBy::kSubject);
  const Dataset data = make_series_dataset(config);
  EXPECT_EQ(data.tokens, 6) << "frames are no tokens";
  EXPECT_EQ(data.split("train").count, 270);
  EXPECT_EQ(data.split("test").count, 90);
}

TEST(OwnSeriesTest, several_files_are_series_and_one_table_is_not) {
  EXPECT_TRUE(are_region_series({"a.csv", "b.csv"}));
  EXPECT_TRUE(are_region_series({"a.h5"}));
  EXPECT_TRUE(are_region_series({"a.mat"}));
  EXPECT_FALSE(are_region_series({"a.csv"}));
  EXPECT_FALSE(are_region_series({"a.npy"}));
}

TEST(OwnSeriesTest, one_subject_is_tested_on_the_end_of_its_time) {
  const TempFolder folder("own_one");
  write_recording(folder.path() / "only.npy", 5, 100, 3);
  const RunConfig config = own_series_config({{folder.path().string()}, "", ""});
  EXPECT_EQ(config.series.split_by, SplitBy::kTime);
  EXPECT_EQ(make_series_dataset(config).tokens, 5);
}

TEST(OwnSeriesTest, no_recording_of_a_folder_is_left_out_without_a_word) {
  const TempFolder folder("own_all");
  const auto error = [&] {
    try {
      own_series_config({{(folder.path() / "data").string()}, "", ""});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (int s = 1; s <= 4; ++s) write_recording(folder.path() / "data" / fmt::format("sub-{}.npy", s), 6, 90, s);
  write_recording(folder.path() / "data/.git/annex/sub-1.npy", 6, 90, 1);  // no recording of its own
  write_recording(folder.path() / "elsewhere/sub-5.npy", 6, 90, 5);
  fs::create_directory_symlink(folder.path() / "elsewhere", folder.path() / "data/more");
  EXPECT_EQ(own_series_config({{(folder.path() / "data").string()}, "", ""}).series.files.size(), 5u);
  fs::create_symlink("not/there.npy", folder.path() / "data/sub-6.npy");
  EXPECT_NE(error().find("a link to a file that is not there"), std::string::npos) << error();
  fs::remove(folder.path() / "data/sub-6.npy");
  fs::create_directory_symlink(folder.path() / "data", folder.path() / "data/again");
  EXPECT_NE(error().find("two ways lead into this folder"), std::string::npos) << error();
  fs::remove(folder.path() / "data/again");
  write_text(folder.path() / "data/sub-7.mat", "x");
  EXPECT_NE(error().find("5 of .npy and 1 of .mat"), std::string::npos) << error();
}

TEST(OwnSeriesTest, a_folder_without_recordings_is_an_error) {
  const TempFolder folder("own_empty");
  write_text(folder.path() / "notes.md", "nothing\n");
  EXPECT_THROW(own_series_config({{folder.path().string()}, "", ""}), IoError);
}

}  // namespace
}  // namespace locus
