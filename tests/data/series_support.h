// Small runs on disk for the tests of region time series.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "config/run_config.h"
#include "core/rng.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/table.h"

namespace locus {

class SeriesFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    dir_ = std::filesystem::temp_directory_path() / (std::string("locus_series_") + info->name());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  // (frames, regions) of smooth random series that share one signal.
  static MatrixD noise(std::ptrdiff_t frames, std::ptrdiff_t regions, std::uint64_t seed) {
    Rng rng(seed, "series");
    MatrixD m(frames, regions);
    double shared = 0;
    for (std::ptrdiff_t f = 0; f < frames; ++f) {
      shared = 0.8 * shared + rng.normal();
      for (std::ptrdiff_t t = 0; t < regions; ++t) m(f, t) = 0.8 * (f > 0 ? m(f - 1, t) : 0) + rng.normal() + 0.5 * shared;
    }
    return m;
  }
  static MatrixD transposed(const MatrixD& m) {
    MatrixD out(m.cols(), m.rows());
    for (std::ptrdiff_t i = 0; i < m.rows(); ++i) {
      for (std::ptrdiff_t j = 0; j < m.cols(); ++j) out(j, i) = m(i, j);
    }
    return out;
  }
  std::string file(const std::string& name) const { return (dir_ / name).string(); }
  void save(const std::string& name, const MatrixD& m) const { write_npy(file(name), m.view()); }
  void text(const std::string& name, const std::string& content) const { write_file_atomic(file(name), content); }

  RunConfig config(const std::string& glob) const {
    RunConfig c;
    c.study = "masked";
    c.series.source = SeriesSource::kFiles;
    c.series.files = {file(glob)};
    return c;
  }

  std::filesystem::path dir_;
};

}  // namespace locus
