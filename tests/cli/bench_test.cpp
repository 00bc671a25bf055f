// The benchmark's counting, its output for programs, and its refusals.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "config/run_config.h"
#include "core/json.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

struct Ran {
  int code = 0;
  std::string out;
};

Ran bench(const std::string& arguments) {
  Ran r;
  FILE* pipe = popen(("'" + test::binary() + "' bench " + arguments + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) r.out.append(buffer.data(), n);
  const int status = pclose(pipe);
  r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return r;
}

Json measured(const std::string& arguments) {
  const Ran r = bench("--json --quiet --rounds 1 --threads 1 " + arguments);
  EXPECT_EQ(r.code, 0) << r.out;
  return Json::parse(r.out);
}

std::string fake_peer(const std::string& name, const std::string& ready) {
  const std::string path = (fs::temp_directory_path() / (name + std::to_string(getpid()) + ".sh")).string();
  std::ofstream(path) << "echo '" << ready << "'\nwhile read -r word rest; do\n"
                      << "  if [ \"$word\" = stop ]; then echo 400000; exit; fi\n  echo 300.0\ndone\n";
  return path;
}

TEST(BenchTest, counts_the_needed_operations_of_the_three_studies) {
  const auto json = measured("--mode train -w lst -w nmar -w fmri");
  const auto& rows = json["workloads"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_NEAR(rows[0]["needed_gflop"].get<double>(), 10.4, 0.05);
  EXPECT_NEAR(rows[1]["needed_gflop"].get<double>(), 3.9, 0.05);
  EXPECT_NEAR(rows[2]["needed_gflop"].get<double>(), 23, 0.5);
}

TEST(BenchTest, json_has_the_promised_keys) {
  const auto json = measured("--mode infer -w t=8,d=16,layers=1,batch=2");
  EXPECT_GT(json["peak_gflops"].get<double>(), 0.1);
  ASSERT_EQ(json["workloads"].size(), 1u);
  const auto& row = json["workloads"][0];
  for (const char* key : {"name", "mode", "threads", "ms", "pytorch_ms", "ratio", "percent_of_peak", "memory_ratio"})
    EXPECT_TRUE(row.contains(key)) << key;
  EXPECT_GT(row["ms"].get<double>(), 0);
  EXPECT_GT(row["memory_kb"].get<double>(), 1000);
  EXPECT_TRUE(row["pytorch_ms"].is_null());
}

TEST(BenchTest, every_encoding_has_a_workload_that_runs) {
  for (const std::string_view kind : locus::kPeKindNames) {
    const Ran r = bench("--alone lst/" + std::string(kind));
    EXPECT_EQ(r.code, 0) << r.out;
    EXPECT_GT(Json::parse(r.out)["peak_kb"].get<double>(), 1000) << kind;
  }
}

TEST(BenchTest, instructions_are_kept_for_every_shape_and_encoding) {
  std::set<std::string> names = {"lst", "nmar", "fmri", "wide"};
  for (const std::string_view kind : locus::kPeKindNames) names.insert(std::string(kind));
  std::ifstream file(locus::test::source_dir() + "/bench/instructions.json");
  const auto all = Json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  for (const auto& [build, kept] : all.items()) {
    std::set<std::string> have;
    for (const auto& [name, count] : kept.items()) have.insert(name);
    EXPECT_EQ(have, names) << build;
  }
  for (const std::string& name : names) EXPECT_EQ(bench("--alone guard/" + name).code, 0) << name;
}

TEST(BenchTest, unknown_workloads_are_a_usage_error) {
  for (const char* name : {"lts", "lst/rotry", "nmar/t5", "guard/long", "long/laplacian", "t=0,d=4", "t=5,q=2", "t=x"}) {
    const Ran r = bench(std::string("-w ") + name);
    EXPECT_EQ(r.code, 2) << r.out;
    EXPECT_NE(r.out.find("unknown workload"), std::string::npos) << r.out;
  }
}

TEST(BenchTest, refuses_a_peer_on_the_reference_blas) {
  const std::string peer = fake_peer("reference", "ready 1.0 0.1 reference");
  const Ran r = bench("--rounds 1 -t 1 --mode train -w t=8,d=16,layers=1,batch=2 --python sh --peer " + peer);
  EXPECT_EQ(r.code, 1) << r.out;
  EXPECT_NE(r.out.find("libopenblas0-pthread"), std::string::npos) << r.out;
  fs::remove(peer);
}

TEST(BenchTest, refuses_a_peer_with_another_loss) {
  const std::string peer = fake_peer("loss", "ready 123.0 0.1 openblas");
  const Ran r = bench("--rounds 1 -t 1 --mode train -w t=8,d=16,layers=1,batch=2 --python sh --peer " + peer);
  EXPECT_EQ(r.code, 1) << r.out;
  EXPECT_NE(r.out.find("same loss"), std::string::npos) << r.out;
  fs::remove(peer);
}

}  // namespace
}  // namespace locus
