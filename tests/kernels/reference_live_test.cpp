// The PyTorch reference run live, where PyTorch is installed: its own tests, and golden files made afresh.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "tests/support/golden.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

const std::string kPython = "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 ";
const std::string kSource = locus::test::source_dir();

bool succeeds(const std::string& command) { return std::system((command + " > /dev/null 2>&1").c_str()) == 0; }

class ReferenceLiveTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!succeeds(kPython + "-c 'import torch'")) GTEST_SKIP() << "PyTorch is not installed for /usr/bin/python3";
    std::string made = (std::filesystem::temp_directory_path() / "locus_live_XXXXXX").string();
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    folder_ = made;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
};

TEST_F(ReferenceLiveTest, golden_files_made_afresh_are_the_committed_ones) {
  ASSERT_TRUE(succeeds(kPython + "'" + kSource + "/python/locus/make_golden.py' '" + folder_.string() + "'"));
  std::set<std::string> fresh_names, names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) fresh_names.insert(entry.path().filename());
  for (const bool optimizers : {false, true}) {
    for (const std::string& path : golden::files(optimizers)) {
      const golden::File file = golden::read_file(path);
      names.insert(file.name + ".safetensors");
      const golden::File fresh = golden::read_file((folder_ / (file.name + ".safetensors")).string());
      EXPECT_EQ(fresh.metadata, file.metadata) << file.name;
      ASSERT_EQ(fresh.tensors.size(), file.tensors.size()) << file.name;
      for (const auto& [name, tensor] : file.tensors) {
        const auto expected = tensor.as<double>(), got = fresh.values<double>(name);
        ASSERT_EQ(got.size(), expected.size()) << file.name << " " << name;
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-6) << file.name << " " << name;
      }
    }
  }
  EXPECT_EQ(fresh_names, names);
}

TEST_F(ReferenceLiveTest, its_own_tests_pass) {
  EXPECT_TRUE(succeeds("cd '" + kSource + "' && " + kPython + "-m unittest discover python/tests"));
}

}  // namespace
}  // namespace locus
