// Event files for TensorBoard, decoded by foreign programs (protoc, Python's crc32c): complete, equal to the metrics, and
// with every step once after a kill.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "core/json.h"
#include "tests/cli/cli_testing.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;
using cli_testing::write;

constexpr const char* kDecoder = "command -v protoc >/dev/null && /usr/bin/python3 -c 'import crc32c'";

class TensorBoardTest : public testing::Test {
 protected:
  void SetUp() override {
    write(place_ / "tiny.toml", cli_testing::kTiny);
    if (place_.shell(kDecoder).code != 0) GTEST_SKIP() << "protoc (protobuf-compiler) or python3-crc32c is not installed";
  }

  Json decoded(const std::string& run) {
    const Result r = place_.shell("/usr/bin/python3 '" + locus::test::source_dir() + "/tests/cli/decode_events.py' " + run +
                                  "/tensorboard");
    EXPECT_EQ(r.code, 0) << r.err;
    return r.code == 0 ? Json::parse(r.out) : Json::object();
  }

  Workplace place_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

// What stands in the file of a split for a tag, by step. A step that stands there twice is a failure.
std::map<std::int64_t, Json> by_step(const Json& events, const std::string& tag) {
  std::map<std::int64_t, Json> out;
  for (const Json& e : events) {
    if (e[1] != tag) continue;
    EXPECT_TRUE(out.emplace(e[0].get<std::int64_t>(), e[2]).second) << tag << " of step " << e[0].dump();
  }
  return out;
}

TEST_F(TensorBoardTest, files_hold_every_row_of_the_metrics_the_movement_and_the_similarity) {
  const Result r = place_.shell("locus train tiny.toml stop.epochs=12 watch.tensorboard=true --out run -q");
  ASSERT_EQ(r.code, 0) << r.err;
  const Json files = decoded("run");
  std::istringstream lines(text_of(place_ / "run/metrics.jsonl"));
  std::set<std::int64_t> rows;
  std::size_t compared = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json row = Json::parse(line);
    const auto step = row["step"].get<std::int64_t>();
    rows.insert(step);
    for (const auto& [split, tag, key] : {std::tuple{"train", "loss", "train.loss"},
                                          {"train", "lr", "lr"},
                                          {"train", "accuracy", "train.accuracy"},
                                          {"test", "accuracy", "test.accuracy"},
                                          {"heldout", "loss", "heldout.loss"},
                                          {"test", "accuracy/binary", "test.accuracy.binary"}}) {
      if (!row.contains(key)) continue;
      const auto found = by_step(files[split], tag);
      ASSERT_TRUE(found.contains(step)) << split << " " << tag << " " << step;
      EXPECT_NEAR(found.at(step).get<double>(), row[key].get<double>(), 1e-5);
      ++compared;
    }
  }
  EXPECT_EQ(rows.size(), 12u);
  EXPECT_GE(compared, 5 * rows.size());
  const Json& train = files["train"];
  for (const char* tensor : {"blocks.0.pe.table", "blocks.1.pe.table"}) {
    const auto moved = by_step(train, std::string("encoding_movement/") + tensor);
    ASSERT_EQ(moved.size(), 12u) << tensor;
    // min, max, count, sum, squares, ...: the sum of squares grows as the encoding leaves its beginning
    EXPECT_EQ(moved.begin()->second[2].get<double>(), 9 * 8.0);
    EXPECT_GT(moved.rbegin()->second[4].get<double>(), 4 * moved.begin()->second[4].get<double>());
  }
  const auto pictures = by_step(train, "similarity/layer 2");
  EXPECT_EQ(pictures.size(), 11u) << "the start and epochs 1 to 10";
  EXPECT_TRUE(pictures.contains(0));
  EXPECT_TRUE(pictures.begin()->second.text().starts_with("252x252 "));
  EXPECT_NE(pictures.begin()->second, pictures.rbegin()->second);
}

TEST_F(TensorBoardTest, a_killed_and_resumed_run_leaves_the_same_events_once) {
  const std::string keys =
      " model.layers=4 model.width=48 stop.epochs=40 watch.checkpoint_every=7 watch.tensorboard=true -q ";
  ASSERT_EQ(place_.shell("locus train tiny.toml" + keys + "--out whole").code, 0);
  const Result r = place_.shell("LOCUS='" + locus::test::binary() + "'\n" + R"(
for rows in 5 12 25; do
  "$LOCUS" train tiny.toml)" + keys +
                                R"(--out cut & pid=$!
  for i in $(seq 2000); do
    [[ $(wc -l <cut/metrics.jsonl 2>/dev/null || echo 0) -ge $rows ]] && break
    kill -0 $pid 2>/dev/null || break
    sleep 0.005
  done
  kill -KILL $pid; wait $pid
  # a record that was cut in the middle of being written
  printf 'half a record' >>cut/tensorboard/test/events.out.tfevents.locus
done
"$LOCUS" train tiny.toml)" + keys +
                                "--out cut");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(text_of(place_ / "cut/log.txt").find("resumed from step"), std::string::npos) << "it was never cut";
  const Json whole = decoded("whole");
  EXPECT_GT(whole["test"].size(), 40u);
  EXPECT_EQ(decoded("cut"), whole);
  EXPECT_EQ(text_of(place_ / "cut/metrics.csv"), text_of(place_ / "whole/metrics.csv"));
}

TEST_F(TensorBoardTest, it_is_no_part_of_the_identity_and_changes_no_bit_of_training) {
  ASSERT_EQ(place_.shell("locus train tiny.toml --out plain -q").code, 0);
  ASSERT_EQ(place_.shell("locus train tiny.toml --out watched watch.tensorboard=true -q").code, 0);
  EXPECT_FALSE(std::filesystem::exists(place_ / "plain/tensorboard"));
  EXPECT_EQ(text_of(place_ / "plain/final/model.safetensors"), text_of(place_ / "watched/final/model.safetensors"));
  // Begun without, extended with it: only the later epochs stand there.
  ASSERT_EQ(place_.shell("locus train tiny.toml --out plain watch.tensorboard=true stop.epochs=3 -q").code, 0);
  EXPECT_EQ(by_step(decoded("plain")["test"], "accuracy").size(), 2u);
}

TEST_F(TensorBoardTest, encodings_without_a_table_have_no_picture) {
  for (const char* kind : {"none", "rotary", "t5"}) {
    const std::string out = kind;
    ASSERT_EQ(place_.shell("locus train tiny.toml watch.tensorboard=true -q pe.kind=" + out + " --out " + out).code, 0);
    const Json files = decoded(out);
    EXPECT_EQ(by_step(files["train"], "similarity/layer 1").size(), 0u) << kind;
    EXPECT_EQ(by_step(files["train"], "encoding_movement/blocks.0.pe.bias_table").size(), out == "t5" ? 1u : 0u) << kind;
  }
}

}  // namespace
}  // namespace locus
