// What README.md and docs/ tell a reader to type works: blocks marked <!-- run --> are run one after the other in a
// folder that looks like the repository after `./run build`.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/project/house_rules.h"
#include "tests/project/markdown_commands.h"
#include "tests/project/shell.h"
#include "tests/support/paths.h"

namespace locus::house {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = locus::test::source_dir();
const fs::path kBinary = locus::test::binary();

// The sources by link, the program at its documented place and on the PATH.
void link_sources(const fs::path& folder) {
  for (const char* name : {"configs", "examples", "docs", "results", "python"}) {
    if (fs::exists(kRoot / name)) fs::create_directory_symlink(kRoot / name, folder / name);
  }
  fs::create_directories(folder / "build/release");
  fs::create_symlink(kBinary, folder / "build/release/locus");
}

void run_page(const SourceFile& page) {
  const auto blocks = command_blocks(page.text);
  if (blocks.empty()) return;
  const ScratchFolder scratch;
  link_sources(scratch.path());
  for (const auto& block : blocks) {
    SCOPED_TRACE(page.path + ":" + std::to_string(block.line));
    const ShellResult result =
        run_shell("export PATH=\"$PWD/build/release:$PATH\" NO_COLOR=1\n" + block.script, scratch.path());
    ASSERT_EQ(result.exit_code, 0) << block.script << result.output;
    EXPECT_EQ(first_missing_line(block.expected, result.output), "") << "in the output:\n" << result.output;
  }
}

TEST(ReadmeTest, its_marked_commands_work) {
  if (!fs::exists(kRoot / "src/cli")) GTEST_SKIP() << "there is no program yet";
  ASSERT_TRUE(fs::exists(kBinary)) << kBinary;
  run_page(read_source(kRoot, "README.md"));
}

TEST(ReadmeTest, marked_commands_of_the_documentation_work) {
  if (!fs::exists(kRoot / "src/cli")) GTEST_SKIP() << "there is no program yet";
  for (const auto& page : read_tree(kRoot, "docs", {".md"})) run_page(page);
}

TEST(MarkdownCommandsTest, only_marked_blocks_are_taken) {
  const auto blocks = command_blocks(
      "<!-- run -->\n```sh\necho a\necho b\n```\n<!-- output -->\n```text\na\nb\n```\n"
      "```sh\nrm -rf everything\n```\ntext\n<!-- run -->\n\n```sh\ntrue\n```\n```text\nnot compared\n```\n");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].line, 2);
  EXPECT_EQ(blocks[0].script, "echo a\necho b\n");
  EXPECT_EQ(blocks[0].expected, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(blocks[1].script, "true\n");
  EXPECT_TRUE(blocks[1].expected.empty());
}

TEST(MarkdownCommandsTest, expected_lines_must_follow_in_order) {
  const std::string output = "epoch 1 loss 0.52\nnoise\nepoch 2 loss 0.31\ndone\n";
  EXPECT_EQ(first_missing_line({"epoch 1 loss …", "done"}, output), "");
  EXPECT_EQ(first_missing_line({"epoch … loss 0.31"}, output), "");
  EXPECT_EQ(first_missing_line({"…"}, output), "");
  EXPECT_EQ(first_missing_line({"done", "noise"}, output), "noise");
  EXPECT_EQ(first_missing_line({"epoch 3 …"}, output), "epoch 3 …");
  EXPECT_EQ(first_missing_line({"epoch … gain 0.31"}, output), "epoch … gain 0.31");
  EXPECT_EQ(first_missing_line({"epoch"}, output), "epoch");
}

TEST(ShellTest, reports_failure_and_signals) {
  EXPECT_EQ(run_shell("false\necho not reached", "/").exit_code, 1);
  EXPECT_EQ(run_shell("echo out; echo err >&2; exit 3", "/").output, "out\nerr\n");
  EXPECT_EQ(run_shell("kill -9 $$", "/").exit_code, 137);
}

}  // namespace
}  // namespace locus::house
