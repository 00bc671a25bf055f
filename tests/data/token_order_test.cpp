// However the rows of a token table, the columns of a file or the files of a folder stand, a token keeps its label, its
// coordinates, its hemisphere and its samples; over every format and with words and numbers as names.
#include <map>
#include <numeric>

#include "data/series.h"
#include "tests/data/series_support.h"
#include "tests/support/foreign_files.h"

namespace locus {
namespace {

constexpr std::int64_t kTokens = 7;
constexpr std::int64_t kFrames = 30;

struct Format {
  const char* name;
  void (*write)(const std::filesystem::path&, const foreign::Named&);
  const char* extension;
};

void write_csv_file(const std::filesystem::path& path, const foreign::Named& m) {
  write_csv(path, m.names, m.values.view());
}

void write_rows_csv_file(const std::filesystem::path& path, const foreign::Named& m) {
  MatrixD turned(m.values.cols(), m.values.rows());
  for (std::ptrdiff_t r = 0; r < m.values.rows(); ++r) {
    for (std::ptrdiff_t c = 0; c < m.values.cols(); ++c) turned(c, r) = m.values(r, c);
  }
  std::vector<std::string> times;
  for (std::ptrdiff_t r = 0; r < m.values.rows(); ++r) times.push_back("frame" + std::to_string(r));
  write_csv(path, times, turned.view(), m.names);
}

const Format kFormats[] = {{"csv", write_csv_file, ".csv"},
                           {"csv_of_rows", write_rows_csv_file, ".csv"},
                           {"npz", foreign::write_npz_file, ".npz"},
                           {"mat", foreign::write_mat_file, ".mat"},
                           {"mat73", foreign::write_mat73_file, ".mat"},
                           {"hdf5", foreign::write_hdf5_file, ".h5"},
                           {"cifti", foreign::write_cifti_file, ".ptseries.nii"}};

enum class Names { kWords, kIds, kCounted };

struct Case {
  Format format;
  Names names;
};

// What is planted for a token, told by the name the data give it.
struct Token {
  std::string network, hemisphere;
  double x = 0;
};

class TokenOrderTest : public SeriesFolder, public testing::WithParamInterface<Case> {
 protected:
  static std::string name_of(std::int64_t t) {
    switch (GetParam().names) {
      case Names::kWords:
        return std::string("area ") + static_cast<char>('A' + t);
      case Names::kIds:
        return std::to_string(1000 + 37 * t * t);
      case Names::kCounted:
        return std::to_string(t);
    }
    return "";
  }
  static double sample(std::int64_t subject, std::int64_t frame, std::int64_t t) {
    return static_cast<double>(100 * t + 1000 * subject) + static_cast<double>((frame * (7 + t)) % 29) / 4;
  }

  void write_table(const std::vector<std::int64_t>& rows) const {
    const bool counted = GetParam().names == Names::kCounted;
    std::string content = counted ? "id,network,hemi,x,y,z\n" : "what it is,network,hemi,x,y,z\n";
    for (const std::int64_t t : rows)
      content += name_of(t) + ",net" + std::to_string(t % 3) + (t % 2 ? ",L," : ",R,") + std::to_string(t) + ",1,2\n";
    text("atlas.csv", content);
  }

  std::string write_file(std::int64_t subject, const std::vector<std::int64_t>& columns) const {
    foreign::Named m{MatrixD(kFrames, kTokens), {}, GetParam().names != Names::kWords};
    for (std::ptrdiff_t c = 0; c < kTokens; ++c) {
      const std::int64_t t = columns[static_cast<std::size_t>(c)];
      m.names.push_back(name_of(t));
      for (std::ptrdiff_t f = 0; f < kFrames; ++f) m.values(f, c) = sample(subject, f, t);
    }
    const std::string name = "sub-" + std::to_string(subject) + GetParam().format.extension;
    GetParam().format.write(file(name), m);
    return file(name);
  }

  // Every token in every run has what was planted for the name that the data gave it.
  void expect_planted(const SeriesConfig& config, const std::string& where) const {
    const RegionSeries s = read_series(config);
    ASSERT_EQ(s.regions(), kTokens) << where;
    for (std::int64_t i = 0; i < kTokens; ++i) {
      const auto place = static_cast<std::size_t>(i);
      const auto t = static_cast<std::int64_t>(std::llround(s.atlas.coordinates(i, 0)));
      EXPECT_EQ(s.atlas.networks[place], "net" + std::to_string(t % 3)) << where;
      EXPECT_EQ(s.atlas.hemispheres[place], t % 2 ? "L" : "R") << where;
      EXPECT_EQ(s.names[place], name_of(t)) << where;
      for (const RegionRun& r : s.runs) {
        ASSERT_EQ(r.frames.rows(), kFrames) << where;
        for (std::ptrdiff_t f = 0; f < kFrames; ++f)
          ASSERT_EQ(r.frames(f, i), sample(std::stoi(r.subject), f, t)) << where << " token " << t << " of " << r.path;
      }
    }
  }
};

TEST_P(TokenOrderTest, no_permutation_changes_what_a_token_is) {
  Rng rng(5, "token order");
  std::vector<std::int64_t> rows(kTokens), columns(kTokens), subjects = {1, 2, 3};
  std::iota(rows.begin(), rows.end(), 0);
  std::iota(columns.begin(), columns.end(), 0);
  for (int round = 0; round < 12; ++round) {
    SeriesConfig config = this->config("").series;
    config.atlas = file("atlas.csv");
    config.files.clear();
    write_table(rows);
    rng.shuffle(std::span(subjects));
    for (const std::int64_t s : subjects) {
      config.files.push_back(write_file(s, columns));
      if (round > 0) rng.shuffle(std::span(columns));
    }
    expect_planted(config, "round " + std::to_string(round));
    rng.shuffle(std::span(rows));
  }
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const Format& f : kFormats) {
    for (const Names n : {Names::kWords, Names::kIds, Names::kCounted}) out.push_back({f, n});
  }
  return out;
}

std::string case_name(const testing::TestParamInfo<Case>& given) {
  const char* kinds[] = {"words", "ids", "counted"};
  return std::string(given.param.format.name) + "_" + kinds[static_cast<int>(given.param.names)];
}

INSTANTIATE_TEST_SUITE_P(Formats, TokenOrderTest, testing::ValuesIn(cases()), case_name);

// Without a table the first file gives the order, and the others follow by name.
TEST_P(TokenOrderTest, without_a_table_files_follow_the_first_by_name) {
  Rng rng(6, "token order");
  std::vector<std::int64_t> columns(kTokens);
  std::iota(columns.begin(), columns.end(), 0);
  SeriesConfig config = this->config("").series;
  config.files.clear();
  for (const std::int64_t s : {1, 2, 3}) {
    config.files.push_back(write_file(s, columns));
    rng.shuffle(std::span(columns));
  }
  if (std::string(GetParam().format.name) == "csv_of_rows") config.orientation = Orientation::kTokensByTime;
  const RegionSeries s = read_series(config);
  ASSERT_EQ(s.regions(), kTokens);
  for (const RegionRun& r : s.runs) {
    for (std::int64_t t = 0; t < kTokens; ++t) EXPECT_EQ(r.frames(3, t), sample(std::stoi(r.subject), 3, t)) << r.path;
  }
}

}  // namespace
}  // namespace locus
