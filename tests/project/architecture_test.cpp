// Lists that stand more than once: the modules in CMake, in the rule table and in docs/architecture.md; the files that
// documents name and those that there are.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/project/house_rules.h"
#include "tests/project/shell.h"
#include "tests/support/paths.h"

namespace locus::house {
namespace {

const std::filesystem::path kRoot = locus::test::source_dir();

std::string joined(const Findings& findings) {
  std::string text;
  for (const std::string& finding : findings) text += finding + "\n";
  return text;
}

// The modules that CMake builds, in its order, with the program's own at the end.
std::vector<std::string> modules_of_cmake() {
  const std::string text = read_source(kRoot, "CMakeLists.txt").text;
  std::smatch match;
  std::vector<std::string> names;
  if (!std::regex_search(text, match, std::regex(R"(set\(LOCUS_MODULES ([a-z ]+)\))"))) return names;
  std::istringstream words(match[1]);
  for (std::string word; words >> word;) names.push_back(word);
  names.push_back("cli");
  return names;
}

// First cells of the table under the heading "Modules".
std::vector<std::string> modules_of_page(const std::string& page) {
  std::vector<std::string> names;
  const std::size_t from = page.find("## Modules");
  const std::string part = page.substr(from, page.find("\n## ", from + 1) - from);
  const std::regex row(R"(\n\| ([a-z]+) \|)");
  for (std::sregex_iterator it(part.begin(), part.end(), row), end; it != end; ++it) {
    if ((*it)[1] != "module") names.push_back((*it)[1]);
  }
  return names;
}

TEST(ArchitectureTest, modules_are_the_same_in_cmake_the_rule_table_and_the_page) {
  const auto modules = modules_of_cmake();
  EXPECT_GT(modules.size(), 10u);
  EXPECT_EQ(modules_of_page(read_source(kRoot, "docs/architecture.md").text), modules);
  EXPECT_EQ(std::set<std::string>(modules.begin(), modules.end()), module_names());
  for (const std::string& name : modules) EXPECT_TRUE(std::filesystem::is_directory(kRoot / "src" / name)) << name;
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "src")) {
    EXPECT_EQ(module_names().count(entry.path().filename().string()), 1u) << entry.path();
  }
}

TEST(ArchitectureTest, no_module_may_include_what_it_does_not_use) {
  EXPECT_EQ(joined(grant_findings(read_tree(kRoot, "src", {".h", ".cpp"}))), "");
  const Findings none = grant_findings({{"src/stats/a.cpp", "// A.\n#include \"core/b.h\"\n"}});
  EXPECT_EQ(std::count(none.begin(), none.end(), "stats may include core and does not"), 0);
  EXPECT_EQ(std::count(none.begin(), none.end(), "config may include core and does not"), 1);
}

TEST(ArchitectureTest, files_that_documents_name_exist) {
  auto pages = read_tree(kRoot, "docs", {".md"});
  for (const char* name : {"README.md", "CONTRIBUTING.md"}) pages.push_back(read_source(kRoot, name));
  for (const auto& page : pages) EXPECT_EQ(joined(path_findings(kRoot, page)), "");
  EXPECT_EQ(path_findings(kRoot, {"docs/a.md", "`src/core/no_such.h` and `src/core/error.h`, `tests/project`"}).size(), 1u);
}

TEST(ArchitectureTest, the_name_of_a_file_on_disk_stands_in_one_source_file) {
  auto sources = read_tree(kRoot, "src", {".h", ".cpp"});
  for (auto& file : read_tree(kRoot, "bench", {".h", ".cpp"})) sources.push_back(std::move(file));
  const SourceFile home = read_source(kRoot, "src/run/layout.h");
  for (const char* name : {"config.toml", "manifest.json", "metrics.jsonl", "summary.json", "model.safetensors", "live.json",
                           "results.csv", "analysis", "plans", "cells", "checkpoints"}) {
    EXPECT_EQ(named_files(home).count(name), 1u) << name;
  }
  EXPECT_EQ(joined(name_findings(sources, home)), "");
}

TEST(ArchitectureTest, a_second_literal_of_a_file_name_is_found) {
  const SourceFile home = {"src/run/layout.h",
                           "constexpr const char* kA = \"a.json\";\nconstexpr const char* kB = \"parts\";\n"};
  const auto count = [&](const std::string& text) { return name_findings({home, {"src/x/a.cpp", text}}, home).size(); };
  EXPECT_EQ(count("f(kA);  // a.json, \"a.json\" and parts/1\n"), 0u);
  EXPECT_EQ(count("f(\"parts of it\");\n"), 0u);
  EXPECT_EQ(count("f(\"parts/1\");\n"), 1u);
  EXPECT_EQ(count("f(\"no a.js\"\n  \"on here\");\n"), 1u);
  EXPECT_EQ(count("f(R\"(no a.json)\");\n"), 1u);
  EXPECT_EQ(name_findings({{"src/x/a.cpp", "f(\"b.csv\");"}, {"src/x/b.cpp", "g(\"b.csv\");"}}, home).size(), 1u);
  EXPECT_EQ(name_findings({{"src/x/a.cpp", "f(\"b.csv\");"}, {"src/x/b.cpp", "g(\"c.csv\");"}}, home).size(), 0u);
}

TEST(ArchitectureTest, only_the_registries_go_by_the_names_of_sources_and_tasks) {
  for (const auto& file : read_tree(kRoot, "src", {".h", ".cpp"})) EXPECT_EQ(joined(registry_findings(file)), "");
  for (const char* line : {"if (config.study == \"lst\") return;", "switch (c.study) { case Study::kLst: }",
                           "return x != config->task;", "const bool a = dataset.task == name;",
                           "if (c.series.source == SeriesSource::kNmar) f();", "if (name != \"masked\")"})
    EXPECT_EQ(registry_findings({"src/report/a.cpp", line}).size(), 1u) << line;
  EXPECT_EQ(registry_findings({"src/data/sources.cpp", "if (c.study == name)"}).size(), 0u);
  EXPECT_EQ(registry_findings({"src/data/a.cpp", "if (c.source == LstSource::kAuthors)"}).size(), 0u);
  EXPECT_EQ(registry_findings({"src/cli/a.cpp", "config.study = \"masked\";"}).size(), 0u);
}

TEST(HouseRulesTest, functions_are_short) {
  for (const char* folder : {"src", "bench", "fuzz", "python/bindings"}) {
    for (const auto& file : read_tree(kRoot, folder, {".h", ".cpp"})) {
      if (file.path.starts_with("src/kernels/")) continue;  // a kernel may be longer where one loop is one thought
      EXPECT_EQ(joined(function_findings(file)), "");
    }
  }
}

TEST(HouseRulesTest, long_functions_are_found) {
  std::string body;
  std::string inner;
  for (int i = 0; i < 60; ++i) {
    body += "  work();\n";
    inner += "    work();\n";
  }
  const std::string head = "namespace a {\n\nint f(int x,\n      int y) {\n";
  EXPECT_EQ(function_findings({"src/a.cpp", head + body + "}\n"}).size(), 0u);
  EXPECT_EQ(function_findings({"src/a.cpp", head + body + "  more();\n}\n"}).size(), 1u);
  EXPECT_EQ(function_findings({"src/a.cpp", head + body + "}\n" + head + body + "}\n"}).size(), 0u);
  EXPECT_EQ(function_findings({"src/a.h", "class A {\n  void f() {\n" + inner + "    more();\n  }\n};\n"}).size(), 1u);
}

}  // namespace
}  // namespace locus::house
