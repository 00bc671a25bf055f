// The benchmark's workloads: a model, and one synthetic batch of it that our engine and PyTorch both get.
#pragma once

#include <string>
#include <vector>

#include "data/examples.h"
#include "model/structure.h"

namespace locus::bench {

// What export_workload writes.
inline constexpr const char* kWorkloadConfig = "workload.json";
inline constexpr const char* kWorkloadTensors = "workload.safetensors";

struct Workload {
  std::string name;
  RunConfig config;
  ModelShape shape;
  PeData pe_data;
};

// "lst", "nmar", "fmri", "long", "wide"; "lst/<encoding>" (also of fmri and long) for that shape with another encoding;
// "guard/<shape or encoding>", small ones whose instructions are counted; or a masked regression of any size, as
// "t=512,d=64,layers=2,batch=1" (heads=1 unless given). ConfigError for other names.
Workload make_workload(const std::string& name);

std::vector<std::string> main_workloads();      // the five of the table
std::vector<std::string> encoding_workloads();  // every encoding on the shapes of lst, fmri and long

// Random symbols or values, half of the tokens masked in regressions, random labels in classifications.
Examples synthetic_batch(const Workload& workload);

// Writes `tensors.safetensors` (param.*, input.*) and `config.json` for bench_peer.py.
void export_workload(const Workload& workload, const ModelStructure& structure, const float* params, const std::string& dir);

}  // namespace locus::bench
