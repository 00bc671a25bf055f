// The rules that a program can check: who may include whom, and the form of source files and documents.
// Each function returns what it found wrong, one line each, so that the checks can be tested on made-up text.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace locus::house {

using Findings = std::vector<std::string>;

// One text file under its path from the root of the repository, with '/' between folders.
struct SourceFile {
  std::string path;
  std::string text;
};

// All files below root/folder with one of the extensions (".h"), in order of their paths.
std::vector<SourceFile> read_tree(const std::filesystem::path& root, const std::string& folder,
                                  const std::vector<std::string>& extensions);

// One file under root; its text is empty when it is not there.
SourceFile read_source(const std::filesystem::path& root, const std::string& path);

// Includes that src/<module> must not have: of higher modules, by relative path, or not from the root.
Findings include_findings(const SourceFile& file);

// Length, purpose at the head (src only), unfinished-work markers.
Findings form_findings(const SourceFile& file);

// Links of a Markdown page to files of the repository that are not there.
Findings link_findings(const std::filesystem::path& root, const SourceFile& page);

// Commands `./run NAME` that a page speaks of and the list does not hold.
Findings command_findings(const SourceFile& page, const std::vector<std::string>& commands);

// The commands that the output of `./run help` lists.
std::vector<std::string> commands_of_help(const std::string& help);

}  // namespace locus::house
