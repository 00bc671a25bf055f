// Shell blocks of a Markdown page that are run as tests. A block counts when the line before it says <!-- run -->;
// a ```text block whose line before says <!-- output --> holds what the block above it prints.
#pragma once

#include <string>
#include <vector>

namespace locus::house {

struct CommandBlock {
  int line = 0;                       // of the opening fence, from 1
  std::string script;                 // the lines between the fences
  std::vector<std::string> expected;  // lines, in order; "…" stands for any text within a line
};

std::vector<CommandBlock> command_blocks(const std::string& markdown);

// The first expected line that does not follow in the output, or "" when all do.
std::string first_missing_line(const std::vector<std::string>& expected, const std::string& output);

}  // namespace locus::house
