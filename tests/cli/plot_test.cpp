// locus plot and locus report from the command line: every kind of file, and what is said where a tool is missing.
#include "tests/cli/cli_testing.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;
using cli_testing::write;

class PlotTest : public testing::Test {
 protected:
  void SetUp() override {
    write(place_ / "tiny.toml", cli_testing::kTiny);
    const Result r = place_.shell("locus train tiny.toml pe.sigma=0.2 --out run --quiet");
    ASSERT_EQ(r.code, 0) << r.err;
  }
  Workplace place_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(PlotTest, writes_svg_and_csv_the_same_twice) {
  const Result r = place_.shell(
      "set -e\nlocus plot similarity run -o a.svg\nlocus plot similarity run -o b.svg\nlocus plot similarity run -o a.csv\n"
      "locus plot similarity run --theme dark -o dark.svg\ncmp a.svg b.svg");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(text_of(place_ / "a.svg").starts_with("<svg xmlns="));
  EXPECT_NE(text_of(place_ / "a.svg"), text_of(place_ / "dark.svg"));
  EXPECT_NE(text_of(place_ / "a.csv").find('\n'), std::string::npos);
}

TEST_F(PlotTest, writes_png_and_pdf_where_the_converter_is) {
  if (place_.shell("command -v rsvg-convert").code != 0) GTEST_SKIP() << "no rsvg-convert (package librsvg2-bin)";
  const Result r = place_.shell("locus plot similarity run -o a.png && locus plot similarity run -o a.pdf");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(text_of(place_ / "a.png").substr(1, 3), "PNG");
  EXPECT_TRUE(text_of(place_ / "a.pdf").starts_with("%PDF"));
  EXPECT_EQ(place_.shell("ls | grep -c tmp").out, "0\n") << "nothing is left over";
}

TEST_F(PlotTest, says_which_package_is_missing) {
  const Result r = place_.shell("PATH=/nowhere; locus plot similarity run -o a.png");
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.err.find("librsvg2-bin"), std::string::npos) << r.err;
  EXPECT_FALSE(std::filesystem::exists(place_ / "a.png"));
}

TEST_F(PlotTest, refuses_unknown_kinds_figures_and_choices) {
  EXPECT_NE(place_.shell("locus plot similarity run -o a.gif").code, 0);
  EXPECT_NE(place_.shell("locus plot similarty run -o a.svg").err.find("did you mean similarity?"), std::string::npos);
  EXPECT_NE(place_.shell("locus plot similarity run --choose layer=99 -o a.svg").code, 0);
}

TEST_F(PlotTest, a_report_tells_how_to_make_a_run_again) {
  const Result r = place_.shell("locus report run --out report.html --quiet");
  EXPECT_EQ(r.code, 0) << r.err;
  const std::string page = text_of(place_ / "report.html");
  EXPECT_NE(page.find("train tiny.toml pe.sigma=0.2 --out run"), std::string::npos);
}

}  // namespace
}  // namespace locus
