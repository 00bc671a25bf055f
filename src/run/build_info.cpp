#include "run/build_info.h"

#include <build_info.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "core/text.h"

namespace locus {

const BuildInfo& build_info() {
  static const BuildInfo info = {LOCUS_VERSION, LOCUS_COMMIT, LOCUS_COMPILER, LOCUS_BUILD_TYPE};
  return info;
}

HostInfo host_info() {
  HostInfo info = {"unknown", "unknown"};
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0') info.host = name.data();
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);) {
    const std::size_t colon = line.find(':');
    if (line.rfind("model name", 0) != 0 || colon == std::string::npos) continue;
    info.cpu = trim(std::string_view(line).substr(colon + 1));
    break;
  }
  return info;
}

}  // namespace locus
