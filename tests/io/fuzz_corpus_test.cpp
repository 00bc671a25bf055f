// Replays the fuzz corpus, and simple damage to each of its files, through the same targets that libFuzzer runs.
#include <algorithm>

#include "core/rng.h"
#include "fuzz/targets.h"
#include "io/file.h"
#include "tests/io/support.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = fs::path(locus::test::source_dir()) / "fuzz/corpus";

TEST(FuzzCorpusTest, every_target_has_a_corpus_and_a_program_and_no_folder_is_left_over) {
  std::vector<std::string> names;
  for (const fuzz::Target& target : fuzz::kTargets) names.emplace_back(target.name);
  const std::string cmake = read_text_file(fs::path(locus::test::source_dir()) / "cmake/fuzz.cmake");
  std::string list = "set(LOCUS_FUZZ_TARGETS";
  for (const std::string& name : names) list += " " + name;
  EXPECT_NE(cmake.find(list + ")"), std::string::npos) << "cmake/fuzz.cmake must say: " << list << ")";
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(kCorpus)) {
    EXPECT_NE(std::find(names.begin(), names.end(), entry.path().filename()), names.end()) << entry.path();
    ++folders;
  }
  EXPECT_EQ(folders, names.size());
}

TEST(FuzzCorpusTest, every_input_ends_in_a_result_or_an_error) {
  for (const fuzz::Target& target : fuzz::kTargets) {
    int accepted = 0;
    for (const fs::path& path : expand_glob((kCorpus / target.name / "*").string())) {
      SCOPED_TRACE(path);
      const Bytes input = read_file(path);
      EXPECT_NO_THROW(fuzz::run(target, input));
      try {
        target.run(input);
        ++accepted;
      } catch (const Error& error) {
        EXPECT_FALSE(error.parts().what.empty());
      }
    }
    EXPECT_GT(accepted, 0) << target.name << ": no input of the corpus is valid";
  }
}

TEST(FuzzCorpusTest, damaged_inputs_end_in_a_result_or_an_error) {
  Rng rng(11, "fuzz");
  for (const fuzz::Target& target : fuzz::kTargets) {
    for (const fs::path& path : expand_glob((kCorpus / target.name / "*").string())) {
      SCOPED_TRACE(path);
      const Bytes input = read_file(path);
      for (int round = 0; round < 60 && !input.empty(); ++round) {
        Bytes bad = input;
        for (std::uint32_t n = 1 + rng.below(3); n > 0; --n) {
          bad[rng.below(static_cast<std::uint32_t>(bad.size()))] = static_cast<std::byte>(rng.below(256));
        }
        if (rng.below(4) == 0) bad.resize(rng.below(static_cast<std::uint32_t>(bad.size())));
        EXPECT_NO_THROW(fuzz::run(target, bad));
      }
    }
  }
}

}  // namespace
}  // namespace locus
