// Sections of the configuration that sources of data and tasks bring with them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace locus {

class FieldList;
struct RunConfig;

struct ConfigSection {
  std::string name = {};  // "lst": keys are lst.n, ...
  void (*describe)(RunConfig&, FieldList&) = nullptr;
  bool own = false;  // of a program that links the library; its keys need no row in src/config/identity.txt
};

// Those of all sources and tasks, each once: a source's, then those of the tasks that it serves.
std::vector<const ConfigSection*> data_sections();

// Whether a key stands in a section that a program registered itself.
bool is_own_key(std::string_view path);

// Marks sections as a program's own. ConfigError when a name is taken; a program check that keys stand in their section.
void adopt_sections(std::vector<ConfigSection>& sections);

}  // namespace locus
