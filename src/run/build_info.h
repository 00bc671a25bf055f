// What made the results: the program's version and build, and the machine it runs on.
#pragma once

#include <string>

namespace locus {

struct BuildInfo {
  std::string version;   // "0.1.0"
  std::string commit;    // short hash or "unknown"
  std::string compiler;  // "GNU-12.2.0"
  std::string build_type;
};

struct HostInfo {
  std::string host;
  std::string cpu;  // model name as the system gives it, or "unknown"
};

const BuildInfo& build_info();
HostInfo host_info();

}  // namespace locus
