#include "config/sections.h"

#include <algorithm>

#include "config/run_config.h"
#include "config/sources.h"
#include "config/tasks.h"
#include "core/error.h"

namespace locus {
namespace {

void add(const std::vector<ConfigSection>& sections, std::vector<const ConfigSection*>& out) {
  for (const ConfigSection& section : sections) {
    const bool there = std::any_of(out.begin(), out.end(), [&](const auto* s) { return s->name == section.name; });
    if (!there) out.push_back(&section);
  }
}

bool stands_in(std::string_view path, const std::string& section) {
  return path.size() > section.size() && path.starts_with(section) && path[section.size()] == '.';
}

}  // namespace

std::vector<const ConfigSection*> data_sections() {
  std::vector<const ConfigSection*> out;
  for (const SourceRow& source : source_rows()) {
    add(source.sections, out);
    for (const TaskRow& task : task_rows()) {
      if (source.serves(task.name)) add(task.sections, out);
    }
  }
  return out;
}

bool is_own_key(std::string_view path) {
  const auto all = data_sections();
  return std::any_of(all.begin(), all.end(), [&](const auto* s) { return s->own && stands_in(path, s->name); });
}

void adopt_sections(std::vector<ConfigSection>& sections) {
  RunConfig config;
  const FieldList known = describe(config);
  std::vector<const ConfigSection*> all;
  for (const SourceRow& source : source_rows()) add(source.sections, all);
  for (const TaskRow& task : task_rows()) add(task.sections, all);
  for (ConfigSection& section : sections) {
    const bool shared = std::any_of(
        all.begin(), all.end(), [&](const auto* s) { return s->name == section.name && s->describe == section.describe; });
    const bool taken = known.section_help().count(section.name) != 0 ||
                       std::any_of(all.begin(), all.end(), [&](const auto* s) { return s->name == section.name; });
    if (taken && !shared)
      throw ConfigError({.what = "the configuration has this section already", .where = "sections", .got = section.name});
    section.own = !shared;
    FieldList list;
    section.describe(config, list);
    for (const Field& f : list.fields()) LOCUS_CHECK(stands_in(f.path, section.name), f.path + " is not in " + section.name);
  }
}

}  // namespace locus
