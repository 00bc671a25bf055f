// Nothing is registered half: every encoding has a line in the list, golden files, a page, gradients and property tests;
// every configuration that ships has a pinned number of parameters (parameter_counts.txt).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "config/load.h"
#include "model/encoder.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = locus::test::source_dir();

// The suite that tests what a kind promises. A new kind needs a row here, a page, golden files and a line in the registry.
const std::map<PeKind, std::string> kPropertySuites = {
    {PeKind::kNone, "NonePropertyTest"},
    {PeKind::kLearned, "LearnedPropertyTest"},
    {PeKind::kSinusoidal, "SinusoidalPropertyTest"},
    {PeKind::kLaplacian, "LaplacianPropertyTest"},
    {PeKind::kRotary, "RotaryPropertyTest"},
    {PeKind::kRelative, "RelativePropertyTest"},
    {PeKind::kT5, "T5PropertyTest"},
    {PeKind::kAlibi, "AlibiPropertyTest"},
};

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Tests of this program whose suite's name holds `part`, and whose own name or parameter holds `name`.
int tests_named(const std::string& part, const std::string& name = "") {
  int count = 0;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    if (std::string(suite.name()).find(part) == std::string::npos) continue;
    for (int k = 0; k < suite.total_test_count(); ++k)
      count += std::string(suite.GetTestInfo(k)->name()).find(name) != std::string::npos ? 1 : 0;
  }
  return count;
}

class CompletenessTest : public testing::TestWithParam<std::size_t> {
 protected:
  PeKind kind() const { return static_cast<PeKind>(GetParam()); }
  std::string name() const { return std::string(kPeKindNames[GetParam()]); }
};

TEST_P(CompletenessTest, the_encoding_is_listed_once_with_a_summary) {
  int found = 0;
  for (const EncodingRow& row : encoding_rows()) {
    if (row.kind != kind()) continue;
    ++found;
    EXPECT_GT(row.summary.size(), 20u);
    EXPECT_EQ(row.fields.empty(), kind() == PeKind::kNone);
    PeConfig pe;
    pe.kind = kind();
    EXPECT_FALSE(row.label(pe).empty());
  }
  EXPECT_EQ(found, 1);
  EXPECT_EQ(encoding_rows()[GetParam()].kind, kind()) << "rows stand in the order of kPeKindNames";
}

TEST_P(CompletenessTest, its_keys_are_keys_of_the_configuration) {
  RunConfig config;
  const FieldList list = describe(config);
  std::set<std::string> known;
  for (const Field& f : list.fields()) known.insert(f.path);
  for (const std::string_view field : encoding_row(kind()).fields)
    EXPECT_TRUE(known.contains("pe." + std::string(field))) << field;
}

// What the row says of the encoding is what the encoding does.
TEST_P(CompletenessTest, the_row_tells_whether_it_adds_a_table) {
  PeConfig pe;
  pe.kind = kind();
  PeContext context;
  context.tokens = 6;
  context.width = 8;
  context.coordinates = MatrixD(6, 1);
  context.eigenvectors = MatrixD(6, 2);
  for (std::int64_t t = 0; t < 6; ++t) context.coordinates(t, 0) = static_cast<double>(t);
  const auto encoding = make_encoding(pe, context);
  EXPECT_EQ(encoding->adds_to_input(), encoding_row(kind()).adds_table);
  for (const PeTensor& tensor : encoding->tensors()) {
    const bool fixed = tensor.name == "eigenvectors";
    EXPECT_EQ(tensor.trained, encoding_row(kind()).trained && !fixed) << tensor.name;
  }
}

TEST_P(CompletenessTest, pytorch_golden_files_hold_it_with_one_and_four_heads_and_both_masks) {
  bool full = false, causal = false;
  for (const std::string& path : golden::files()) {
    const Json config = golden::read_file(path).config();
    if (config["pe"]["kind"] != name() || config["shape"]["tokens"].get<int>() % 2 == 0) continue;
    full |= config["model"]["heads"] == 1 && config["model"]["attention_mask"] == "full";
    causal |= config["model"]["heads"] == 4 && config["model"]["attention_mask"] == "causal";
  }
  EXPECT_TRUE(full) << "run python/locus/make_golden.py with a case " << name() << "_h1_full";
  EXPECT_TRUE(causal) << "run python/locus/make_golden.py with a case " << name() << "_h4_causal";
}

TEST_P(CompletenessTest, gradients_are_tested_for_it) {
  EXPECT_GE(tests_named("EngineGradientTest", "/" + name() + "_h1_full"), 5);
  EXPECT_GE(tests_named("EngineGradientTest", "/" + name() + "_h4_causal"), 5);
}

TEST_P(CompletenessTest, properties_are_tested_for_it) {
  ASSERT_TRUE(kPropertySuites.contains(kind())) << "name the suite in kPropertySuites";
  EXPECT_GE(tests_named(kPropertySuites.at(kind())), 1) << kPropertySuites.at(kind());
}

TEST_P(CompletenessTest, it_has_a_page_that_the_index_names) {
  const fs::path page = kRoot / "docs" / "encodings" / (name() + ".md");
  ASSERT_TRUE(fs::exists(page)) << page;
  const std::string text = text_of(page);
  for (const char* part : {"## What it does", "## Keys", "## When to use it", "## Tests"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_NE(text_of(kRoot / "docs" / "encodings" / "README.md").find("(" + name() + ".md)"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Encodings, CompletenessTest, testing::Range<std::size_t>(0, kPeKindNames.size()),
                         [](const auto& given) { return std::string(kPeKindNames[given.param]); });

// The data that the configurations of a folder are made for.
ModelShape shape_for(const RunConfig& c, const std::string& path) {
  ModelShape shape;
  if (c.study == "lst") {
    shape = {c.lst.n * c.lst.n, c.lst.n + 1, c.lst.n, true, false};
  } else {
    std::int64_t tokens = path.find("aal2/") != std::string::npos ? 94 : 360;
    if (c.series.source == SeriesSource::kNmar) {
      tokens = 0;
      for (const double size : c.nmar.sizes) tokens += static_cast<std::int64_t>(size);
    }
    if (!c.series.hemisphere.empty()) tokens /= 2;
    shape = {tokens, c.series.window, c.series.window, false, true};
  }
  return shape;
}

PeData data_for(const ModelShape& shape) {
  PeData d;
  d.coordinates = MatrixD(shape.tokens, shape.ids ? 2 : 3);
  d.graph = MatrixD(shape.tokens, shape.tokens);
  for (std::int64_t i = 0; i < shape.tokens; ++i) {
    for (std::int64_t j = 0; j < shape.tokens; ++j)
      d.graph(i, j) = i == j ? 0.0 : 1.0 / static_cast<double>(1 + std::abs(i - j));
  }
  return d;
}

TEST(ParameterCountTest, every_configuration_has_its_pinned_number_of_trained_parameters) {
  std::map<std::string, std::int64_t> pinned;
  std::ifstream table(kRoot / "tests" / "model" / "parameter_counts.txt");
  std::string path;
  for (std::int64_t count = 0; table >> path >> count;) pinned[path] = count;
  std::set<std::string> seen;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "configs")) {
    if (fs::relative(entry.path(), kRoot / "configs").begin()->string() == "sweeps") continue;  // grids, not one run's
    if (entry.path().extension() != ".toml") continue;
    const std::string text = text_of(entry.path());
    if (text.find("\n[grid]") != std::string::npos || text.find("\n[sweep]") != std::string::npos) continue;  // many runs
    const std::string name = fs::relative(entry.path(), kRoot).string();
    RunConfig c;
    load_toml_file(c, entry.path().string());
    if (c.pe.init == PeInit::kFile) continue;
    const ModelShape shape = shape_for(c, name);
    const std::int64_t count = make_structure(c, shape, data_for(shape)).layout.trained_parameters();
    seen.insert(name);
    EXPECT_TRUE(pinned.contains(name)) << "add the line: " << name << " " << count;
    if (pinned.contains(name)) {
      EXPECT_EQ(count, pinned[name]) << name;
    }
  }
  for (const auto& [name, count] : pinned) EXPECT_TRUE(seen.contains(name)) << name << " is pinned but not there";
}

}  // namespace
}  // namespace locus
