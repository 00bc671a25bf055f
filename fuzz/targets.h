// Fuzz targets of every parser we wrote: a damaged input may only end in locus::Error, and what was accepted must
// survive writing and reading again. fuzz_main.cpp runs one of them under libFuzzer; a test replays the corpus on all.
#pragma once

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "data/latin/csv.h"
#include "io/cifti.h"
#include "io/codec.h"
#include "io/idx.h"
#include "io/mat.h"
#include "io/nifti.h"
#include "io/npy.h"
#include "io/png.h"
#include "io/protobuf.h"
#include "io/records.h"
#include "io/safetensors.h"
#include "io/table.h"

namespace locus::fuzz {

inline ReadLimits limits() {
  ReadLimits small;
  small.file_bytes = 1 << 22;
  small.array_bytes = 1 << 24;
  small.header_bytes = 1 << 20;
  return small;
}

// Not an Error, so that it counts as a finding.
inline void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

inline bool same_values(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  }
  return true;
}

inline void fuzz_safetensors(ByteSpan input) {
  const TensorFile file = parse_safetensors(input, "fuzz", limits());
  std::vector<TensorView> views;
  for (const Tensor& t : file.tensors) views.push_back(t.view());
  Bytes again;
  append(again, bytes_of(safetensors_header(views, file.metadata)));
  for (const TensorView& v : views) append(again, v.bytes);
  const TensorFile copy = parse_safetensors(again, "again", limits());
  require(copy.metadata == file.metadata && copy.tensors.size() == file.tensors.size(), "safetensors changed");
  for (std::size_t i = 0; i < copy.tensors.size(); ++i) {
    require(copy.tensors[i].name == file.tensors[i].name && copy.tensors[i].bytes == file.tensors[i].bytes,
            "tensor changed");
  }
}

inline void fuzz_npy(ByteSpan input) {
  const NdArray array = parse_npy(input, "fuzz", limits());
  const Bytes again = encode_npy(tensor_view<double>("", array.shape, array.values));
  const NdArray copy = parse_npy(again, "again", limits());
  require(copy.shape == array.shape && same_values(copy.values, array.values), "npy changed");
}

inline void fuzz_npz(ByteSpan input) {
  for (const std::string& name : npz_names(input, "fuzz", limits())) require(name.size() < 70000, "npz name");
  for (const NpzEntry& entry : parse_npz(input, "fuzz", {}, limits())) {
    require(checked_product(entry.array.shape) == entry.array.values.size(), "npz shape");
  }
}

inline void fuzz_table(ByteSpan input) {
  if (input.empty()) return;
  // The first byte chooses the name, and with it the delimiter.
  static constexpr std::string_view kNames[] = {"a.csv", "a.tsv", "a.txt", "a"};
  const std::string_view name = kNames[static_cast<unsigned>(input[0]) % 4];
  const std::string_view text = as_text(input.subspan(1));
  try {
    const NumericTable numbers = parse_numeric_table(text, name);
    require(numbers.column_names.empty() || numbers.column_names.size() == static_cast<std::size_t>(numbers.values.cols()),
            "table names");
  } catch (const Error&) {
  }
  const Table table = parse_table(text, name, {.header = Presence::kNo});
  std::string again;
  for (const auto& row : table.rows) again += csv_row(row);
  const Table copy = parse_table(again, "again.csv", {.delimiter = ',', .header = Presence::kNo});
  require(copy.rows == table.rows, "table changed");
}

inline void fuzz_nifti(ByteSpan input) {
  const NiftiImage image = parse_nifti(input, "fuzz", limits());
  require(checked_product(image.header.shape) == image.values.size(), "nifti shape");
}

inline void fuzz_cifti(ByteSpan input) {
  const CiftiFile file = parse_cifti(input, "fuzz", limits());
  require(file.rows.size == file.values.rows() && file.columns.size == file.values.cols(), "cifti shape");
}

inline void fuzz_cifti_xml(ByteSpan input) {
  if (input.size() < 2) return;
  // The first two bytes are the shape.
  const std::array<std::int64_t, 2> shape = {static_cast<std::int64_t>(input[0]), static_cast<std::int64_t>(input[1])};
  const auto axes = parse_cifti_xml(as_text(input.subspan(2)), "fuzz", shape);
  require(axes[0].size == shape[0] && axes[1].size == shape[1], "cifti axes");
}

inline void fuzz_mat(ByteSpan input) {
  for (const MatVariable& variable : list_mat5(input, "fuzz", limits())) {
    if (!variable.numeric) continue;
    try {
      const MatArray found = parse_mat5(input, "fuzz", variable.name, limits());
      require(checked_product(found.array.shape) == found.array.values.size(), "mat shape");
    } catch (const Error&) {
    }
  }
}

inline void fuzz_idx(ByteSpan input) {
  const NdArray array = parse_idx(input, "fuzz", limits());
  require(!array.shape.empty() && checked_product(array.shape) == array.values.size(), "idx shape");
}

inline void fuzz_png(ByteSpan input) {
  const NdArray array = parse_png(input, "fuzz", limits());
  require(array.shape.size() == 2 || (array.shape.size() == 3 && array.shape[2] == 3), "png channels");
  require(checked_product(array.shape) == array.values.size(), "png shape");
  for (const double v : array.values) require(v >= 0 && v <= 65535, "png values");
}

inline void fuzz_puzzles(ByteSpan input) {
  const std::string_view text = as_text(input);
  require(check_latin_csv_text(text, "fuzz").path == "fuzz", "puzzle report");
  const LatinCsv csv = parse_latin_csv(text, "fuzz");
  const LatinCsv copy = parse_latin_csv(format_latin_csv(csv), "again");
  require(copy.puzzles == csv.puzzles && copy.ids == csv.ids && copy.numbers == csv.numbers, "puzzles changed");
}

inline void fuzz_records(ByteSpan input) {
  ByteReader in(input, "fuzz");
  std::string again;
  while (const auto record = next_record(in)) {
    again += record_of(as_text(*record));
    const auto step = proto_integer(*record, 2, "fuzz");
    const std::string same = ProtoMessage().integer(2, step.value_or(0)).bytes();
    require(proto_integer(bytes_of(same), 2, "again") == step.value_or(0), "integer changed");
  }
  require(again == as_text(input), "records changed");
}

struct Target {
  const char* name;
  void (*run)(ByteSpan);
};

inline constexpr Target kTargets[] = {{"safetensors", fuzz_safetensors},
                                      {"npy", fuzz_npy},
                                      {"npz", fuzz_npz},
                                      {"table", fuzz_table},
                                      {"nifti", fuzz_nifti},
                                      {"cifti", fuzz_cifti},
                                      {"cifti_xml", fuzz_cifti_xml},
                                      {"mat", fuzz_mat},
                                      {"idx", fuzz_idx},
                                      {"png", fuzz_png},
                                      {"puzzles", fuzz_puzzles},
                                      {"records", fuzz_records}};

// Runs one input; an Error is the parser's right answer to damage.
inline void run(const Target& target, ByteSpan input) {
  try {
    target.run(input);
  } catch (const Error&) {
  }
}

}  // namespace locus::fuzz
