// The include rules and the form of files hold in this repository; and the checks do find what they look for.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/project/house_rules.h"
#include "tests/project/shell.h"
#include "tests/support/paths.h"

namespace locus::house {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = locus::test::source_dir();
const std::vector<std::string> kCode = {".h", ".cpp"};

std::string joined(const Findings& findings) {
  std::string text;
  for (const auto& line : findings) text += line + "\n";
  return text;
}

Findings include_findings_of_tree(const fs::path& root) {
  Findings all;
  for (const auto& file : read_tree(root, "src", kCode)) {
    const Findings found = include_findings(file);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

std::vector<SourceFile> pages() {
  auto all = read_tree(kRoot, "docs", {".md"});
  for (const char* name : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}) all.push_back(read_source(kRoot, name));
  return all;
}

TEST(IncludeRulesTest, hold_in_the_sources) {
  EXPECT_GT(read_tree(kRoot, "src", kCode).size(), 10u);
  EXPECT_EQ(joined(include_findings_of_tree(kRoot)), "");
}

TEST(IncludeRulesTest, a_forbidden_include_added_to_a_tree_is_reported) {
  ScratchFolder scratch;
  fs::create_directories(scratch.path() / "src/kernels/reference");
  const fs::path header = scratch.path() / "src/kernels/reference/op.h";
  std::ofstream(header) << "// An op.\n#include \"core/matrix.h\"\n#include <vector>\n";
  EXPECT_EQ(joined(include_findings_of_tree(scratch.path())), "");
  std::ofstream(header, std::ios::app) << "#  include \"model/encoder.h\"\n";
  EXPECT_EQ(joined(include_findings_of_tree(scratch.path())),
            "src/kernels/reference/op.h:4: kernels must not include \"model/encoder.h\"\n");
}

TEST(IncludeRulesTest, every_kind_of_forbidden_include_is_reported) {
  const auto count = [](const std::string& path, const std::string& include) {
    return include_findings({path, "// Purpose.\n#include \"" + include + "\"\n"}).size();
  };
  EXPECT_EQ(count("src/core/a.h", "core/b.h"), 0u);
  EXPECT_EQ(count("src/core/a.h", "build_info.h"), 0u);
  EXPECT_EQ(count("src/core/a.h", "config/fields.h"), 1u);
  EXPECT_EQ(count("src/core/a.h", "b.h"), 1u);
  EXPECT_EQ(count("src/core/a.h", "../core/b.h"), 1u);
  EXPECT_EQ(count("src/model/pe/a.cpp", "model/encoder.h"), 0u);
  EXPECT_EQ(count("src/model/a.cpp", "io/npy.h"), 1u);
  EXPECT_EQ(count("src/stats/a.cpp", "io/npy.h"), 1u);
  EXPECT_EQ(count("src/data/latin/a.cpp", "run/manifest.h"), 1u);
  EXPECT_EQ(count("src/train/a.cpp", "analyze/recovery.h"), 1u);
  EXPECT_EQ(count("src/analyze/a.cpp", "train/loop.h"), 1u);
  EXPECT_EQ(count("src/analyze/a.cpp", "analyze/results/recovery.h"), 0u);
  EXPECT_EQ(count("src/analyze/results/a.h", "analyze/recovery.h"), 1u);
  EXPECT_EQ(count("src/analyze/results/a.h", "stats/ranks.h"), 1u);
  EXPECT_EQ(count("src/report/a.cpp", "analyze/results/recovery.h"), 0u);
  EXPECT_EQ(count("src/report/a.cpp", "analyze/recovery.h"), 1u);
  EXPECT_EQ(count("src/sweep/a.cpp", "cli/main.h"), 1u);
  EXPECT_EQ(count("src/cli/a.cpp", "sweep/plan.h"), 0u);
  EXPECT_EQ(count("src/elsewhere/a.cpp", "core/b.h"), 1u);
}

TEST(HouseRulesTest, files_are_short_finished_and_tell_their_purpose) {
  Findings all;
  for (const char* folder : {"src", "tests", "bench", "fuzz", "python/bindings"}) {
    for (const auto& file : read_tree(kRoot, folder, kCode)) {
      const Findings found = form_findings(file);
      all.insert(all.end(), found.begin(), found.end());
    }
  }
  EXPECT_EQ(joined(all), "");
}

TEST(HouseRulesTest, breaches_of_form_are_reported) {
  std::string long_text = "// Purpose.\n";
  for (int i = 0; i < 499; ++i) long_text += "\n";
  EXPECT_EQ(form_findings({"src/core/a.h", long_text}).size(), 0u);
  EXPECT_EQ(form_findings({"src/core/a.h", long_text + "\n"}).size(), 1u);
  EXPECT_EQ(form_findings({"src/core/a.h", "#pragma once\n"}).size(), 1u);
  EXPECT_EQ(form_findings({"src/core/a.cpp", "#include \"core/a.h\"\n"}).size(), 0u);
  EXPECT_EQ(form_findings({"src/core/a.cpp", "#include \"core/b.h\"\n"}).size(), 1u);
  EXPECT_EQ(form_findings({"tests/core/a.cpp", "#include <gtest/gtest.h>\n"}).size(), 0u);
  EXPECT_EQ(form_findings({"tests/core/a.cpp", std::string("// TO") + "DO: more\n"}).size(), 1u);
}

TEST(DocumentsTest, readme_is_at_most_120_lines) {
  const std::string text = read_source(kRoot, "README.md").text;
  EXPECT_GT(text.size(), 0u);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 120);
}

TEST(DocumentsTest, links_lead_to_files) {
  for (const auto& page : pages()) EXPECT_EQ(joined(link_findings(kRoot, page)), "");
  EXPECT_EQ(link_findings(kRoot, {"README.md", "[a](docs/no_such_page.md#part) [b](LICENSE) [c](https://x.org)"}).size(),
            1u);
}

TEST(DocumentsTest, every_page_is_on_the_map) {
  const std::string index = read_source(kRoot, "docs/index.md").text;
  for (const auto& page : read_tree(kRoot, "docs", {".md"})) {
    const fs::path path(page.path);
    const bool on_index = index.find("(" + page.path.substr(5) + ")") != std::string::npos;
    const std::string list = read_source(kRoot, (path.parent_path() / "README.md").generic_string()).text;
    const bool on_list = list.find("(" + path.filename().string() + ")") != std::string::npos;
    EXPECT_TRUE(on_index || on_list || page.path == "docs/index.md") << page.path << " is not linked from docs/index.md";
  }
}

TEST(DocumentsTest, every_run_command_they_name_exists) {
  const ShellResult help = run_shell("NO_COLOR=1 ./run help", kRoot);
  ASSERT_EQ(help.exit_code, 0) << help.output;
  const auto commands = commands_of_help(help.output);
  for (const char* name : {"help", "build", "test", "demo", "bench", "lint"}) {
    EXPECT_EQ(std::count(commands.begin(), commands.end(), name), 1) << name;
  }
  for (const auto& page : pages()) EXPECT_EQ(joined(command_findings(page, commands)), "");
  EXPECT_EQ(command_findings({"README.md", "`./run no-such` and `./run test`"}, commands).size(), 1u);
}

TEST(RunScriptTest, refuses_an_unknown_command_with_exit_code_2) {
  for (const char* name : {"no-such", "lib", "../run"}) {
    const ShellResult result = run_shell(std::string("./run ") + name, kRoot);
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_NE(result.output.find("unknown command"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace locus::house
