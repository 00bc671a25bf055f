#include "analyze/run_settings.h"

#include <map>

namespace locus {

std::vector<std::string> setting_names(const std::vector<const RunConfig*>& configs, const std::set<std::string>& ignored) {
  std::vector<std::map<std::string, std::string>> texts;
  std::vector<std::string> order;
  for (const RunConfig* config : configs) {
    RunConfig copy = *config;
    const FieldList list = describe(copy);
    auto& fields = texts.emplace_back();
    for (const Field& f : list.fields()) {
      if (!f.identity || ignored.contains(f.path)) continue;
      if (texts.size() == 1) order.push_back(f.path);
      fields[f.path] = f.text();
    }
  }
  std::vector<std::string> names(configs.size());
  for (const std::string& path : order) {
    std::set<std::string> distinct;
    for (auto& fields : texts) distinct.insert(fields[path]);
    if (distinct.size() < 2) continue;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] += (names[i].empty() ? "" : " ") + path + "=" + texts[i][path];
  }
  for (std::string& name : names) {
    if (name.empty()) name = "same";
  }
  return names;
}

}  // namespace locus
