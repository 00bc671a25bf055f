// What may be wrong in a file that can be read is said before training.
#include "data/doubts.h"

#include "core/error.h"
#include "data/samples.h"
#include "tests/data/series_support.h"

namespace locus {
namespace {

class DoubtsTest : public SeriesFolder {
 protected:
  std::string warnings(const MatrixD& m, const std::vector<std::string>& names = {}) const {
    write_csv(file("a.csv"), names, m.view(), {});
    const Dataset data = make_samples_dataset(samples_config({file("a.csv"), "", "", false}));
    const auto found = data.description.find("warnings");
    return found == data.description.end() ? "" : found->second;
  }
  const MatrixD plain_ = noise(60, 5, 1);
};

TEST_F(DoubtsTest, nothing_is_said_of_plain_samples) { EXPECT_EQ(warnings(plain_), ""); }

TEST_F(DoubtsTest, a_code_for_missing_values_is_told_with_its_token_and_count) {
  for (const double code : {-999.0, 9999.0, -99.0, 1e36}) {
    MatrixD m = plain_;
    m(3, 2) = m(7, 2) = code;
    const std::string said = warnings(m, {"a", "b", "c", "d", "e"});
    EXPECT_NE(said.find("c has the value"), std::string::npos) << code << said;
    EXPECT_NE(said.find("(2 times)"), std::string::npos) << code << said;
  }
  MatrixD large = plain_;  // where -99 is one value among others
  for (double& x : large.values()) x *= 100;
  large(3, 2) = -99;
  EXPECT_EQ(warnings(large), "");
}

TEST_F(DoubtsTest, tokens_that_are_copies_are_named) {
  MatrixD m = plain_;
  for (std::ptrdiff_t f = 0; f < m.rows(); ++f) m(f, 4) = 5 - 2 * m(f, 1);
  EXPECT_NE(warnings(m, {"a", "b", "c", "d", "e"}).find("b and e"), std::string::npos);
}

TEST_F(DoubtsTest, samples_in_training_and_test_are_counted_unless_numbers_are_few) {
  MatrixD twice(120, 5);
  for (std::ptrdiff_t f = 0; f < 120; ++f) std::copy_n(plain_.row(f % 60).begin(), 5, twice.row(f).begin());
  const std::string said = warnings(twice);
  EXPECT_NE(said.find("24 of 24 samples of the test split"), std::string::npos) << said;
  for (double& x : twice.values()) x = x > 0 ? 1 : 0;
  EXPECT_EQ(warnings(twice), "");
}

TEST_F(DoubtsTest, a_column_of_groups_or_classes_is_asked_about) {
  MatrixD m = plain_;
  for (std::ptrdiff_t f = 0; f < m.rows(); ++f) m(f, 0) = static_cast<double>(f % 3);
  for (const char* title : {"class", "Group", "label", "fold", "condition"}) {
    try {
      warnings(m, {title, "b", "c", "d", "e"});
      FAIL() << title;
    } catch (const DataError& e) {
      EXPECT_NE(std::string(e.what()).find("series.skip_columns"), std::string::npos) << e.what();
    }
  }
  EXPECT_EQ(warnings(plain_, {"class", "b", "c", "d", "e"}), "") << "its numbers are measurements";
  EXPECT_EQ(warnings(m, {"a", "b", "c", "d", "e"}), "") << "counts may be data";
}

}  // namespace
}  // namespace locus
