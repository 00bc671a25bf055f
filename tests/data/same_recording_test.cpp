#include "data/same_recording.h"

#include <filesystem>

#include "core/error.h"
#include "tests/data/series_support.h"

namespace locus {
namespace {

class SameRecordingTest : public SeriesFolder {
 protected:
  void SetUp() override {
    SeriesFolder::SetUp();
    for (int s = 1; s <= 4; ++s) save("sub-" + std::to_string(s) + ".npy", noise(60, 6, static_cast<std::uint64_t>(s)));
  }
  std::string message(const RunConfig& c) const {
    try {
      make_series_dataset(c);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  RunConfig last_is_tested() const {
    RunConfig c = config("sub-*");
    c.series.test_last = 1;
    return c;
  }
};

TEST_F(SameRecordingTest, a_byte_copy_on_both_sides_names_both_files) {
  EXPECT_EQ(message(last_is_tested()), "");
  std::filesystem::copy_file(file("sub-2.npy"), file("sub-9.npy"));
  const std::string m = message(last_is_tested());
  for (const char* part : {"same recording", "the same bytes", "sub-2.npy", "sub-9.npy", "train", "test"})
    EXPECT_NE(m.find(part), std::string::npos) << m;
}

TEST_F(SameRecordingTest, equal_series_in_another_format_scale_or_precision_are_found) {
  MatrixD m = noise(60, 6, 2);
  write_csv(file("sub-9.csv"), {}, m.view());
  EXPECT_NE(message(last_is_tested()).find("equal series"), std::string::npos);
  std::filesystem::remove(file("sub-9.csv"));
  for (std::ptrdiff_t f = 0; f < 60; ++f) {
    for (std::ptrdiff_t t = 0; t < 6; ++t) m(f, t) = static_cast<float>(3.5 * m(f, t) + 100);
  }
  save("sub-9.npy", m);
  EXPECT_NE(message(last_is_tested()).find("sub-2.npy"), std::string::npos);
}

TEST_F(SameRecordingTest, copies_on_one_side_are_a_warning) {
  std::filesystem::copy_file(file("sub-2.npy"), file("sub-0.npy"));
  RunConfig c = last_is_tested();
  EXPECT_EQ(message(c), "");
  EXPECT_NE(make_series_dataset(c).description.at("warnings").find("hold the same recording"), std::string::npos);
}

TEST_F(SameRecordingTest, drawn_windows_and_further_files_are_checked_too) {
  std::filesystem::copy_file(file("sub-2.npy"), file("x-9.npy"));
  RunConfig c = config("sub-[1-4].npy");
  c.series.test_files = {file("x-9.npy")};
  c.series.subject_pattern = "-([0-9])";
  c.series.test_last = 1;
  EXPECT_NE(message(c).find("further"), std::string::npos) << message(c);
  RunConfig drawn = config("sub-2.npy");
  drawn.series.files.push_back(file("x-9.npy"));
  drawn.series.subject_pattern = "-([0-9])";
  drawn.series.split_by = SplitBy::kTime;
  EXPECT_EQ(message(drawn), "") << "blocks of time are the same in both";
  drawn.series.split_by = SplitBy::kSample;
  EXPECT_NE(message(drawn).find("same recording"), std::string::npos);
}

}  // namespace
}  // namespace locus
