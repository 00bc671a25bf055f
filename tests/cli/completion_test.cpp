// Completion in real shells, and what `cmake --install` puts where.
#include <algorithm>
#include <sstream>

#include "config/run_config.h"
#include "tests/cli/cli_testing.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;

class CompletionTest : public testing::Test {
 protected:
  // What bash would offer at the end of the line.
  std::vector<std::string> offered(const std::string& line) {
    const Result r =
        place_.shell("source <(locus completion bash)\nCOMP_LINE='" + line + "' COMP_POINT=${#COMP_LINE}\nCOMP_LINE='" +
                     line + "'; COMP_POINT=${#COMP_LINE}; _locus\nprintf '%s\\n' \"${COMPREPLY[@]}\"");
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.err, "");
    std::vector<std::string> out;
    std::istringstream in(r.out);
    for (std::string word; in >> word;) out.push_back(word);
    return out;
  }
  static bool has(const std::vector<std::string>& words, const std::string& word) {
    return std::count(words.begin(), words.end(), word) == 1;
  }
  bool installed(const std::string& program) { return place_.shell("command -v " + program).code == 0; }

  Workplace place_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(CompletionTest, bash_offers_commands_options_keys_and_values) {
  EXPECT_EQ(offered("locus tra"), std::vector<std::string>{"train"});
  EXPECT_EQ(offered("locus lst s"), (std::vector<std::string>{"solve", "show"}));
  EXPECT_TRUE(has(offered("locus train a.toml --"), "--out"));
  EXPECT_TRUE(has(offered("locus train a.toml -"), "-o"));
  EXPECT_EQ(offered("locus train a.toml pe.sig"), std::vector<std::string>{"pe.sigma="});
  EXPECT_EQ(offered("locus train a.toml pe.kind=le"), std::vector<std::string>{"learned"});
  EXPECT_EQ(offered("locus sweep a.toml model.attention_bias="), (std::vector<std::string>{"true", "false"}));
  EXPECT_TRUE(offered("locus train --out ").empty()) << "a file comes here";
  EXPECT_TRUE(offered("locus report ").empty()) << "takes no keys";
}

TEST_F(CompletionTest, every_command_and_every_key_is_there) {
  const std::vector<std::string> keys = offered("locus train a.toml ");
  RunConfig config;
  const FieldList list = describe(config);
  for (const Field& field : list.fields()) EXPECT_TRUE(has(keys, field.path + "=")) << field.path;
  const std::string help = place_.shell("locus --help").out;
  const std::size_t from = help.find("Subcommands:");
  ASSERT_NE(from, std::string::npos) << help;
  const std::vector<std::string> commands = offered("locus ");
  // The commands end at an empty line; examples and variables of the environment follow.
  std::istringstream lines(help.substr(from, help.find("\n\n", from) - from));
  std::size_t listed = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ") || line.starts_with("   ")) continue;
    EXPECT_TRUE(has(commands, line.substr(2, line.find(' ', 2) - 2))) << line;
    ++listed;
  }
  EXPECT_GE(listed, 15u);
  EXPECT_EQ(listed, commands.size());
}

TEST_F(CompletionTest, fish_offers_the_same) {
  if (!installed("fish")) GTEST_SKIP() << "fish is not installed";
  const auto fish = [&](const std::string& line) {
    const Result r = place_.shell(
        "locus completion fish >locus.fish; HOME=$PWD fish -N -c 'source locus.fish; complete -C \"" + line + "\"'");
    EXPECT_EQ(r.code, 0) << r.err;
    return r.out;
  };
  EXPECT_TRUE(fish("locus tra").starts_with("train\t"));
  EXPECT_TRUE(fish("locus lst sh").starts_with("show\t"));
  EXPECT_NE(fish("locus train a.toml --ou").find("--out"), std::string::npos);
  EXPECT_TRUE(fish("locus train a.toml pe.sig").starts_with("pe.sigma=\t"));
  EXPECT_TRUE(fish("locus train a.toml pe.kind=le").starts_with("pe.kind=learned"));
}

TEST_F(CompletionTest, zsh_reads_the_script_and_its_lists) {
  if (!installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  const Result r = place_.shell(
      "locus completion zsh >_locus; zsh -f -c 'fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; "
      "autoload +X _locus; echo $_comps[locus]; source ./_locus; _locus_words lst; _locus_values pe.kind'");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  EXPECT_TRUE(r.out.starts_with("_locus\ngenerate solve show\nnone learned ")) << r.out;
}

TEST_F(CompletionTest, an_unknown_shell_is_refused) {
  const Result r = place_.shell("locus completion tcsh");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("bash, zsh or fish"), std::string::npos) << r.err;
}

TEST_F(CompletionTest, an_installed_program_brings_its_configurations_and_completion) {
  const std::string build = std::filesystem::path(locus::test::binary()).parent_path().string();
  const Result r = place_.shell("cmake --install '" + build +
                                "' --prefix \"$PWD/there\" >install.txt && cd / && \"$OLDPWD/there/bin/locus\" " +
                                "config configs/lst/paper.toml --key pe.sigma");
  EXPECT_EQ(r.code, 0) << r.err << text_of(place_ / "install.txt");
  EXPECT_NE(r.out.find("sigma = "), std::string::npos) << r.out;
  for (const char* name :
       {"share/locus/configs/sweeps/lst_own.toml", "share/bash-completion/completions/locus",
        "share/zsh/site-functions/_locus", "share/fish/vendor_completions.d/locus.fish", "share/doc/locus/LICENSE"}) {
    EXPECT_TRUE(std::filesystem::exists(place_ / "there" / name)) << name;
  }
}

}  // namespace
}  // namespace locus
