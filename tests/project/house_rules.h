// The rules that a program can check: who may include whom, and the form of source files and documents.
// Each function returns what it found wrong, one line each, so that the checks can be tested on made-up text.
#pragma once

#include <filesystem>
#include <map>
#include <set>
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

// What each module, or a folder of one, may include besides itself.
const std::map<std::string, std::set<std::string>>& module_table();
// Rows of that table for whole modules.
std::set<std::string> module_names();

// Grants of the table that no file makes use of.
Findings grant_findings(const std::vector<SourceFile>& sources);

// Functions with more than 60 lines between their braces.
Findings function_findings(const SourceFile& file);

// Files and folders of the repository that a page names in `code` and that are not there.
Findings path_findings(const std::filesystem::path& root, const SourceFile& page);

// The texts of a C++ source in quotes, neighbours joined; comments, includes and characters are left out.
std::vector<std::string> string_literals(const std::string& source);

// The files on disk that `constant = "name";` of a source names, and its folders.
std::set<std::string> named_files(const SourceFile& source);

// Literals that name one of `names` (a folder: with a '/' behind it) in another file than `home`, and whole literals that
// are one file name in several files.
Findings name_findings(const std::vector<SourceFile>& sources, const SourceFile& home);

// Includes that src/<module> must not have: of higher modules, by relative path, or not from the root.
Findings include_findings(const SourceFile& file);

// Length, purpose at the head (src only), unfinished-work markers.
Findings form_findings(const SourceFile& file);

// Places outside of the registries of sources and tasks where the program goes by the name of one.
Findings registry_findings(const SourceFile& file);

// Links of a Markdown page to files of the repository that are not there.
Findings link_findings(const std::filesystem::path& root, const SourceFile& page);

// Commands `./run NAME` that a page speaks of and the list does not hold.
Findings command_findings(const SourceFile& page, const std::vector<std::string>& commands);

// The commands that the output of `./run help` lists.
std::vector<std::string> commands_of_help(const std::string& help);

}  // namespace locus::house
