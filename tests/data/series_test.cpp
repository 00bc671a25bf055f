#include "data/series.h"

#include <set>

#include "core/error.h"
#include "data/series_split.h"
#include "tests/data/series_support.h"

namespace locus {
namespace {

using SeriesTest = SeriesFolder;

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST_F(SeriesTest, transposed_files_give_the_same_data_when_sizes_tell_them_apart) {
  for (int s = 1; s <= 5; ++s) {
    const MatrixD m = noise(50 + s, 8, static_cast<std::uint64_t>(s));
    save("a_" + std::to_string(s) + ".npy", m);
    save("b_" + std::to_string(s) + ".npy", transposed(m));
  }
  const Dataset a = make_series_dataset(config("a_*.npy")), b = make_series_dataset(config("b_*.npy"));
  EXPECT_EQ(a.tokens, 8);
  EXPECT_EQ(a.split("train").values, b.split("train").values);
  EXPECT_EQ(a.description.at("notes").find("orientation"), std::string::npos);
  RunConfig forced = config("a_1.npy");
  forced.series.files.push_back(file("a_2.npy"));
  forced.series.orientation = Orientation::kTokensByTime;
  EXPECT_NE(message_of([&] { make_series_dataset(forced); }), "") << "runs of 51 and 52 regions do not fit together";
}

TEST_F(SeriesTest, an_equal_length_guess_is_noted_and_the_atlas_decides_against_it) {
  save("s1.npy", noise(20, 30, 1));
  save("s2.npy", noise(20, 30, 2));
  const RegionSeries guess = read_series(config("s*.npy").series);
  EXPECT_EQ(guess.regions(), 20) << "the longer axis is taken as time";
  ASSERT_EQ(guess.notes.size(), 2u) << "subjects, and the guess";
  std::string atlas = "name,network\n";
  for (int i = 0; i < 30; ++i) atlas += "r" + std::to_string(i) + ",n" + std::to_string(i % 3) + "\n";
  text("atlas.csv", atlas);
  RunConfig c = config("s*.npy");
  c.series.atlas = file("atlas.csv");
  const RegionSeries told = read_series(c.series);
  EXPECT_EQ(told.regions(), 30);
  EXPECT_EQ(told.notes.size(), 2u) << "subjects, and that row i is taken for region i";
  EXPECT_EQ(told.warnings.size(), 1u) << "fewer frames than regions";
  c.series.orientation = Orientation::kTokensByTime;
  EXPECT_NE(message_of([&] { read_series(c.series); }).find("time_by_tokens"), std::string::npos);
}

TEST_F(SeriesTest, coverage_defects_are_errors_with_names_or_dropped_by_name) {
  text("1.csv", "A,B,C,D\n" + std::string("1,5,3,2\n2,5,n/a,1\n3,5,1,7\n4,5,2,3\n0,5,9,1\n"));
  text("2.csv", "D,C,A,B\n3,1,2,4\n1,2,3,4\n2,5,2,1\n2,2,7,1\n1,3,3,3\n");
  RunConfig c = config("?.csv");
  c.series.test_last = 1;
  const std::string message = message_of([&] { make_series_dataset(c); });
  EXPECT_NE(message.find("B constant"), std::string::npos) << message;
  EXPECT_NE(message.find("C NaN"), std::string::npos) << message;
  EXPECT_NE(message.find("1.csv"), std::string::npos) << message;
  EXPECT_NE(message.find("coverage=drop"), std::string::npos) << message;
  c.series.coverage = Coverage::kDrop;
  c.series.zscore = ZScore::kNone;
  const Dataset d = make_series_dataset(c);
  EXPECT_EQ(d.tokens_info.names, (std::vector<std::string>{"A", "D"}));
  EXPECT_EQ(d.description.at("dropped"), "B C");
  EXPECT_EQ(d.split("test").values[0], 2) << "columns of the second file are matched by name";
  EXPECT_EQ(d.split("test").values[1], 3);
}

TEST_F(SeriesTest, a_region_missing_from_a_file_is_reported_against_the_atlas) {
  text("atlas.tsv", "ROI\tNetwork\tHemi\tR\tA\tS\na\tn1\tL\t1\t2\t3\nb\tn2\tR\t4\t5\t6\nc\tn1\tR\t7\t8\t9\n");
  text("10.csv", "C,a\n1,2\n2,1\n5,3\n");
  text("11.csv", "a,b,c\n1,2,3\n2,1,5\n5,3,1\n");
  RunConfig c = config("1?.csv");
  c.series.atlas = file("atlas.tsv");
  c.series.test_last = 1;
  EXPECT_NE(message_of([&] { make_series_dataset(c); }).find("b missing in"), std::string::npos);
  c.series.coverage = Coverage::kDrop;
  const Dataset d = make_series_dataset(c);
  EXPECT_EQ(d.tokens_info.names, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(d.tokens_info.hemispheres, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(d.tokens_info.coordinates(1, 2), 9);
  text("11.csv", "a,b,x\n1,2,3\n2,1,5\n5,3,1\n");
  EXPECT_NE(message_of([&] { make_series_dataset(c); }).find("not in the atlas"), std::string::npos);
}

TEST_F(SeriesTest, broken_runs_give_errors) {
  save("1.npy", MatrixD(0, 5));
  EXPECT_NE(message_of([&] { read_series(config("1.npy").series); }), "");
  MatrixD nan = noise(30, 4, 1);
  for (double& v : nan.values()) v = std::nan("");
  save("2.npy", nan);
  RunConfig c = config("2.npy");
  c.series.split_by = SplitBy::kTime;
  c.series.coverage = Coverage::kDrop;
  EXPECT_NE(message_of([&] { make_series_dataset(c); }).find("4 of 4 regions"), std::string::npos);
  save("3.npy", noise(30, 4, 1));
  c = config("3.npy");
  c.series.skip_frames = 29;
  EXPECT_NE(message_of([&] { read_series(c.series); }).find("skip"), std::string::npos);
  c.series.skip_frames = 0;
  EXPECT_NE(message_of([&] { make_series_dataset(c); }).find("split_by=time"), std::string::npos)
      << "one subject cannot be split by subject";
  text("4.csv", "a,b\n1,2\n3\n");
  EXPECT_NE(message_of([&] { read_series(config("4.csv").series); }), "");
  c = config("3.npy");
  c.series.files.push_back(file("3.npy"));
  EXPECT_NE(message_of([&] { read_series(c.series); }).find("twice"), std::string::npos);
}

TEST_F(SeriesTest, subjects_never_stand_on_both_sides) {
  for (int s = 8; s <= 12; ++s) {
    for (int r = 1; r <= 2; ++r) {
      save("sub-" + std::to_string(s) + "_run-" + std::to_string(r) + ".npy",
           noise(40 + r, 6, static_cast<std::uint64_t>(10 * s + r)));
    }
  }
  RunConfig c = config("sub-*.npy");
  c.series.test_last = 2;
  c.series.validation_fraction = 0.3;
  const Dataset d = make_series_dataset(c);
  EXPECT_EQ(d.description.at("subjects.test"), "11 12") << "8 and 9 sort before 10";
  EXPECT_EQ(d.description.at("subjects.validation"), "10");
  EXPECT_EQ(d.description.at("subjects.train"), "8 9");
  EXPECT_EQ(d.split("train").count, 2 * (41 + 42));
  std::set<std::int32_t> train(d.split("train").cluster.begin(), d.split("train").cluster.end());
  for (const std::int32_t s : d.split("test").cluster) EXPECT_FALSE(train.contains(s));
  c.series.test_subjects = {"9"};
  EXPECT_EQ(make_series_dataset(c).description.at("subjects.test"), "9");
  c.series.leave_out = 0;
  EXPECT_EQ(make_series_dataset(c).description.at("subjects.test"), "8");
  c.series.leave_out = 5;
  EXPECT_THROW(make_series_dataset(c), ConfigError);
  c.series.leave_out = -1;
  c.series.test_subjects = {"13"};
  EXPECT_THROW(make_series_dataset(c), ConfigError);
  c.series.test_subjects = {};
  c.series.test_last = 0;
  c.series.split_by = SplitBy::kRun;
  const Dataset by_run = make_series_dataset(c);
  EXPECT_EQ(by_run.description.at("runs.test"), "2");
}

TEST_F(SeriesTest, further_files_form_their_own_split_and_may_not_leak) {
  for (int s = 1; s <= 4; ++s) save("in_" + std::to_string(s) + ".npy", noise(40, 6, static_cast<std::uint64_t>(s)));
  save("out_9.npy", noise(45, 6, 9));
  save("out_1.npy", noise(45, 6, 11));
  RunConfig c = config("in_*.npy");
  c.series.test_last = 1;
  c.series.test_files = {file("out_9.npy")};
  const Dataset d = make_series_dataset(c);
  EXPECT_EQ(d.split("further").count, 45);
  EXPECT_EQ(d.split("test").count, 40);
  c.series.test_last = 0;
  c.series.test_fraction = 0;
  EXPECT_EQ(make_series_dataset(c).split("test").count, 45);
  c.series.test_files = {file("out_1.npy")};
  EXPECT_NE(message_of([&] { make_series_dataset(c); }).find("both sides"), std::string::npos);
}

TEST_F(SeriesTest, time_blocks_are_disjoint_and_scaled_by_their_training_part) {
  MatrixD m = noise(100, 3, 4);
  for (std::ptrdiff_t f = 0; f < 100; ++f) m(f, 0) += static_cast<double>(f);
  save("x7.npy", m);
  RunConfig c = config("x7.npy");
  c.series.orientation = Orientation::kTimeByTokens;
  c.series.split_by = SplitBy::kTime;
  c.series.validation_fraction = 0.25;
  c.series.window = 5;
  const Dataset d = make_series_dataset(c);
  EXPECT_EQ(d.split("train").count, 12);
  EXPECT_EQ(d.split("validation").count, 4);
  EXPECT_EQ(d.split("test").count, 4);
  double mean = 0, squares = 0;
  for (std::int64_t s = 0; s < 12; ++s) {
    for (std::int64_t f = 0; f < 5; ++f) {
      const double v = d.split("train").values[static_cast<std::size_t>(s * 15 + f)];
      mean += v / 60;
      squares += v * v / 60;
    }
  }
  EXPECT_NEAR(mean, 0, 1e-6);
  EXPECT_NEAR(squares, 1, 1e-5);
  EXPECT_GT(d.split("test").values[0], 2) << "the trend goes on in the scale of the training block";
  c.series.detrend = Detrend::kLinear;
  EXPECT_LT(std::abs(make_series_dataset(c).split("test").values[0]), 4);
  c.series.test_last = 1;
  EXPECT_THROW(make_series_dataset(c), ConfigError);
}

TEST_F(SeriesTest, drawn_samples_are_disjoint_and_complete) {
  MatrixD m(60, 2);
  for (std::ptrdiff_t f = 0; f < 60; ++f) {
    m(f, 0) = static_cast<double>((f * 13) % 60);
    m(f, 1) = static_cast<double>((f * 7) % 60);
  }
  save("x7.npy", m);
  RunConfig c = config("x7.npy");
  c.series.orientation = Orientation::kTimeByTokens;
  c.series.split_by = SplitBy::kSample;
  c.series.zscore = ZScore::kNone;
  const Dataset d = make_series_dataset(c);
  std::set<float> seen;
  for (const auto& [name, e] : d.splits) {
    for (std::int64_t i = 0; i < e.count; ++i) EXPECT_TRUE(seen.insert(e.values[static_cast<std::size_t>(2 * i)]).second);
  }
  EXPECT_EQ(seen.size(), 60u);
  EXPECT_EQ(d.split("test").count, 12);
}

TEST_F(SeriesTest, scaling_by_training_runs_uses_no_test_run) {
  save("s1.npy", noise(50, 4, 1));
  save("s2.npy", noise(60, 4, 2));
  MatrixD far = noise(55, 4, 3);
  for (double& v : far.values()) v = 10 * v + 100;
  save("s3.npy", far);
  RunConfig c = config("s*.npy");
  c.series.test_last = 1;
  c.series.zscore = ZScore::kTrain;
  const Dataset with = make_series_dataset(c);
  save("s3.npy", noise(55, 4, 4));
  const Dataset without = make_series_dataset(c);
  EXPECT_EQ(with.split("train").values, without.split("train").values);
  EXPECT_EQ(with.tokens_info.graph, without.tokens_info.graph);
  EXPECT_NE(with.hash, without.hash) << "the hash covers the bytes of all files";
  EXPECT_GT(with.split("test").values[0], 10);
}

TEST_F(SeriesTest, a_manifest_names_subjects_and_paths_relative_to_itself) {
  save("one.npy", noise(30, 4, 1));
  save("two.npy", noise(33, 4, 2));
  text("manifest.csv", "subject,run,path\nanna,1,one.npy\nberta,1,two.npy\n");
  RunConfig c = config("");
  c.series.files.clear();
  c.series.manifest = file("manifest.csv");
  c.series.test_subjects = {"anna"};
  const Dataset d = make_series_dataset(c);
  EXPECT_EQ(d.split("test").count, 30);
  EXPECT_EQ(d.split("train").count, 33);
}

TEST_F(SeriesTest, subjects_come_from_a_pattern_or_the_longest_number) {
  save("run1_subj100206_data.npy", noise(30, 4, 1));
  EXPECT_EQ(read_series(config("run1*.npy").series).runs[0].subject, "100206");
  RunConfig c = config("run1*.npy");
  c.series.subject_pattern = "run([0-9])";
  EXPECT_EQ(read_series(c.series).runs[0].subject, "1");
  c.series.subject_pattern = "([";
  EXPECT_THROW(read_series(c.series), ConfigError);
  c.series.subject_pattern = "nobody([0-9])";
  EXPECT_THROW(read_series(c.series), DataError);
}

TEST(SeriesSplitTest, ids_of_digits_sort_by_value) {
  EXPECT_TRUE(id_less("9", "10"));
  EXPECT_TRUE(id_less("009", "10"));
  EXPECT_FALSE(id_less("10", "10"));
  EXPECT_TRUE(id_less("a10", "a9"));
}

}  // namespace
}  // namespace locus
