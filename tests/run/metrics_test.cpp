#include "run/metrics.h"

#include <cmath>
#include <limits>

#include "core/json.h"
#include "core/nan.h"
#include "run/layout.h"
#include "tests/run/run_testing.h"

namespace locus {
namespace {

MetricRow row_of(std::int64_t epoch, double seconds) {
  const double x = 1.0 / static_cast<double>(epoch + 3);
  return {epoch, epoch * 10, seconds,
          1e-4,  x * 7,      {{"train.loss", x}, {"heldout.accuracy", -0.0}, {"heldout.accuracy.a,b", 1}}};
}

TEST(MetricKeyTest, is_split_measure_and_condition) {
  const MetricKey key = parse_metric_key("heldout.accuracy.two.part");
  EXPECT_EQ(key.split, "heldout");
  EXPECT_EQ(key.measure, "accuracy");
  EXPECT_EQ(key.condition, "two.part");
  EXPECT_EQ(parse_metric_key("train.loss").condition, "");
}

class MetricsTest : public RunFolderTest {};

TEST_F(MetricsTest, csv_is_tidy_and_without_times) {
  MetricsWriter writer(root_);
  writer.append({3, 30, 12.5, 1e-4, 0.1, {{"train.loss", 0.1 + 0.2}, {"heldout.accuracy.a,b", kNan}}});
  EXPECT_EQ(bytes_of_file(root_ / "metrics.csv"),
            "epoch,step,split,condition,measure,value\n"
            "3,30,train,,lr,1e-04\n3,30,train,,grad_norm,0.1\n"
            "3,30,train,,loss,0.30000000000000004\n3,30,heldout,\"a,b\",accuracy,nan\n");
}

TEST_F(MetricsTest, nan_and_infinity_are_texts_in_json_and_read_back) {
  MetricsWriter writer(root_);
  const double inf = std::numeric_limits<double>::infinity();
  writer.append({0, 0, 0, 0, -inf, {{"train.loss", kNan}, {"train.mse", inf}}});
  const auto json = Json::parse(bytes_of_file(root_ / "metrics.jsonl"));
  EXPECT_EQ(json["train.loss"], "nan");
  EXPECT_EQ(json["train.mse"], "inf");
  std::vector<std::string> problems;
  const MetricsTable table = read_metrics(root_ / "metrics.jsonl", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_TRUE(std::isnan(*table.last("train.loss")));
  EXPECT_EQ(table.rows[0].grad_norm, -inf);
}

TEST_F(MetricsTest, cut_back_and_appended_again_gives_the_same_bytes) {
  fs::create_directories(root_ / "plain");
  fs::create_directories(root_ / "cut");
  MetricsWriter plain(root_ / "plain");
  for (int e = 0; e < 6; ++e) plain.append(row_of(e, e * 1.5));
  MetricsPosition middle;
  {
    MetricsWriter first(root_ / "cut");
    for (int e = 0; e < 5; ++e) {
      if (e == 3) middle = first.position();
      first.append(row_of(e, e * 1.23456789));  // other times, other line lengths
    }
    std::ofstream(root_ / "cut/metrics.jsonl", std::ios::app) << R"({"epoch":5,"st)";
    std::ofstream(root_ / "cut/metrics.csv", std::ios::app) << "5,50,tra";
  }
  MetricsWriter second(root_ / "cut");
  EXPECT_DOUBLE_EQ(second.truncate(middle), 2 * 1.23456789);
  for (int e = 3; e < 6; ++e) second.append(row_of(e, e * 1.5));
  EXPECT_EQ(bytes_of_file(root_ / "cut/metrics.csv"), bytes_of_file(root_ / "plain/metrics.csv"));
  EXPECT_EQ(second.position(), plain.position());
  std::vector<std::string> problems;
  EXPECT_EQ(read_metrics(root_ / "cut/metrics.jsonl", problems).rows.size(), 6U);
  EXPECT_TRUE(problems.empty());
}

TEST_F(MetricsTest, cut_back_to_nothing_begins_with_a_header_again) {
  MetricsWriter writer(root_);
  writer.append(row_of(0, 1));
  const std::string before = bytes_of_file(root_ / "metrics.csv");
  EXPECT_EQ(writer.truncate({}), 0);
  writer.append(row_of(0, 1));
  EXPECT_EQ(bytes_of_file(root_ / "metrics.csv"), before);
}

TEST_F(MetricsTest, lost_csv_is_made_again_from_the_json_lines) {
  MetricsWriter writer(root_);
  for (int e = 0; e < 3; ++e) writer.append(row_of(e, e));
  const std::string before = bytes_of_file(root_ / "metrics.csv");
  const MetricsPosition position = writer.position();
  fs::resize_file(root_ / "metrics.csv", 20);
  writer.truncate(position);
  EXPECT_EQ(bytes_of_file(root_ / "metrics.csv"), before);
  writer.append(row_of(3, 3));
  EXPECT_TRUE(contains(bytes_of_file(root_ / "metrics.csv"), before + "3,30,train"));
}

// Three rows whose JSON lines are then changed in the second one.
std::string refused_after(const fs::path& root, const std::string& from, const std::string& to, bool with_checksum) {
  for (const char* file : {"metrics.jsonl", "metrics.csv"}) fs::remove(root / file);
  MetricsWriter writer(root);
  for (int e = 0; e < 3; ++e) writer.append(row_of(e, e));
  MetricsPosition position = writer.position();
  if (!with_checksum) position.csv_sha256.clear();
  std::string text = bytes_of_file(root / "metrics.jsonl");
  const std::size_t at = text.find(from, text.find('\n'));
  if (at == std::string::npos) return "nothing to change";
  put_file(root / "metrics.jsonl", text.replace(at, from.size(), to));
  return message_of<IoError>([&] { writer.truncate(position); });
}

TEST_F(MetricsTest, rows_that_are_not_what_was_written_are_refused) {
  for (const bool with_checksum : {true, false}) {
    const std::string value = refused_after(root_, "\"train.loss\":0.25", "\"train.loss\":0.75", with_checksum);
    EXPECT_TRUE(contains(value, "\"1,10,train,,loss,0.75\" where metrics.csv has \"1,10,train,,loss,0.25\"")) << value;
    EXPECT_TRUE(contains(refused_after(root_, "train.loss", "train.lost", with_checksum), "lost"));
    EXPECT_TRUE(contains(refused_after(root_, "{", "[", with_checksum), "line 2"));
    EXPECT_EQ(refused_after(root_, "\"epoch\"", "\"epoch\"", with_checksum), "no error");
  }
}

TEST_F(MetricsTest, a_damaged_csv_is_made_again_and_said_and_both_damaged_are_refused) {
  MetricsWriter writer(root_);
  for (int e = 0; e < 3; ++e) writer.append(row_of(e, e));
  const std::string before = bytes_of_file(root_ / "metrics.csv");
  const MetricsPosition position = writer.position();
  writer.truncate(position);
  EXPECT_EQ(writer.note(), "");
  std::string damaged = before;
  damaged[damaged.size() - 2] = '7';
  put_file(root_ / "metrics.csv", damaged);
  writer.truncate(position);
  EXPECT_EQ(bytes_of_file(root_ / "metrics.csv"), before);
  EXPECT_TRUE(contains(writer.note(), "made again")) << writer.note();
  EXPECT_EQ(writer.position(), position);
  put_file(root_ / "metrics.csv", damaged);
  std::string lines = bytes_of_file(root_ / "metrics.jsonl");
  put_file(root_ / "metrics.jsonl", lines.replace(lines.find("0.25"), 4, "0.26"));
  EXPECT_TRUE(contains(message_of<IoError>([&] { writer.truncate(position); }), "metrics.csv is damaged, too"));
}

TEST_F(MetricsTest, without_a_checksum_the_rows_are_unverified) {
  MetricsWriter writer(root_);
  writer.append(row_of(0, 0));
  MetricsPosition old = writer.position();
  old.csv_sha256.clear();
  writer.truncate(old);
  EXPECT_TRUE(contains(writer.note(), "unverified"));
  writer.truncate({});
  EXPECT_EQ(writer.note(), "");
}

TEST_F(MetricsTest, json_lines_that_end_too_early_are_refused) {
  MetricsWriter writer(root_);
  writer.append(row_of(0, 0));
  const std::string message = message_of<IoError>([&] { writer.truncate({2, 100, ""}); });
  EXPECT_TRUE(contains(message, "1 rows")) << message;
  EXPECT_TRUE(contains(message, "2 rows")) << message;
}

TEST_F(MetricsTest, reader_leaves_out_broken_lines_and_names_them) {
  put_file(root_ / "metrics.jsonl", metrics_json_line(row_of(0, 0)) + "garbage\n{\"epoch\":1}\n[[[\n" +
                                        metrics_json_line(row_of(2, 0)) + R"({"epoch":3,)");
  std::vector<std::string> problems;
  const MetricsTable table = read_metrics(root_ / "metrics.jsonl", problems);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[1].epoch, 2);
  ASSERT_EQ(problems.size(), 4U) << joined(problems);
  EXPECT_TRUE(contains(problems[0], "line 2"));
  EXPECT_TRUE(contains(problems[3], "incomplete"));
  EXPECT_EQ(table.series("train.loss").size(), 2U);
  EXPECT_EQ(table.names(), (std::vector<std::string>{"train.loss", "heldout.accuracy", "heldout.accuracy.a,b"}));
}

TEST_F(MetricsTest, full_device_is_reported_and_leaves_no_half_line) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full on this system";
  MetricsWriter healthy(root_);
  healthy.append(row_of(0, 0));
  const std::string lines = bytes_of_file(root_ / "metrics.jsonl");
  fs::remove(root_ / "metrics.csv");
  fs::create_symlink("/dev/full", root_ / "metrics.csv");
  MetricsWriter writer(root_);
  EXPECT_TRUE(contains(message_of<IoError>([&] { writer.append(row_of(1, 1)); }), "metrics.csv"));
  EXPECT_EQ(bytes_of_file(root_ / "metrics.jsonl"), lines);
}

TEST_F(MetricsTest, repeated_or_reserved_names_are_programming_errors) {
  MetricsWriter writer(root_);
  EXPECT_THROW(writer.append({0, 0, 0, 0, 0, {{"a.b", 1}, {"a.b", 2}}}), std::logic_error);
  EXPECT_THROW(writer.append({0, 0, 0, 0, 0, {{"epoch", 1}}}), std::logic_error);
}

}  // namespace
}  // namespace locus
