// Small writers of the formats that Locus only reads, for tests: MATLAB v5, HDF5 and MATLAB v7.3, CIFTI, NPZ with texts.
#pragma once

#include <hdf5.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "io/bytes.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/zip.h"

namespace locus::foreign {

namespace fs = std::filesystem;

// rows x cols with the names of its columns, texts or whole numbers, in an array of their own.
struct Named {
  MatrixD values;
  std::vector<std::string> names;
  bool numbers = false;
};

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::vector<double> as_numbers(const std::vector<std::string>& names) {
  std::vector<double> out;
  for (const std::string& n : names) out.push_back(std::stod(n));
  return out;
}

inline std::string npy_of_texts(const std::vector<std::string>& texts) {
  std::size_t longest = 1;
  for (const std::string& t : texts) longest = std::max(longest, t.size());
  std::string dict = "{'descr': '<U" + std::to_string(longest) + "', 'fortran_order': False, 'shape': (" +
                     std::to_string(texts.size()) + ",), }";
  dict.append(63 - (10 + dict.size()) % 64, ' ');
  dict += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  put<std::uint16_t>(out, static_cast<std::uint16_t>(dict.size()));
  out += dict;
  for (const std::string& t : texts) {
    for (std::size_t i = 0; i < longest; ++i) put<std::uint32_t>(out, i < t.size() ? static_cast<unsigned char>(t[i]) : 0);
  }
  return out;
}

inline void write_npz_file(const fs::path& path, const Named& m) {
  const auto bytes = [](std::string_view text) { return Bytes(bytes_of(text).begin(), bytes_of(text).end()); };
  const std::vector<double> ids = m.numbers ? as_numbers(m.names) : std::vector<double>{};
  std::vector<ZipInput> files = {
      {"x.npy", encode_npy(tensor_view<double>("x", {m.values.rows(), m.values.cols()}, m.values.values()))}};
  files.push_back(m.numbers ? ZipInput{"region_ids.npy", encode_npy(tensor_view<double>("", {m.values.cols()}, ids))}
                            : ZipInput{"names.npy", bytes(npy_of_texts(m.names))});
  write_file_atomic(path, zip_encode(files, true));
}

// An element of a MATLAB v5 file, padded to 8 bytes.
inline std::string mat_element(std::uint32_t type, const std::string& data) {
  std::string out;
  put(out, type);
  put(out, static_cast<std::uint32_t>(data.size()));
  return out + data + std::string((8 - data.size() % 8) % 8, '\0');
}

// miMATRIX of a class with its values (elements) behind the head.
inline std::string mat_array(std::uint32_t kind, std::int32_t rows, std::int32_t cols, const std::string& name,
                             const std::string& values) {
  std::string flags, dims;
  put<std::uint32_t>(flags, kind);
  put<std::uint32_t>(flags, 0);
  put(dims, rows);
  put(dims, cols);
  return mat_element(14, mat_element(6, flags) + mat_element(5, dims) + mat_element(1, name) + values);
}

inline std::string mat_file(const std::string& body) {
  std::string text = "MATLAB 5.0 MAT-file";
  text.resize(124, ' ');
  return text + std::string("\0\1IM", 4) + body;
}

inline std::string doubles_by_columns(const MatrixD& m) {
  std::string out;
  for (std::ptrdiff_t c = 0; c < m.cols(); ++c) {
    for (std::ptrdiff_t r = 0; r < m.rows(); ++r) put(out, m(r, c));
  }
  return out;
}

inline void write_mat_file(const fs::path& path, const Named& m) {
  const auto n = static_cast<std::int32_t>(m.names.size());
  std::string body =
      mat_array(6, static_cast<std::int32_t>(m.values.rows()), n, "x", mat_element(9, doubles_by_columns(m.values)));
  if (m.numbers) {
    std::string ids;
    for (const double v : as_numbers(m.names)) put(ids, v);
    body += mat_array(6, n, 1, "region_ids", mat_element(9, ids));
  } else {
    std::string cells;
    for (const std::string& t : m.names) {
      std::string wide;
      for (const char c : t) put<std::uint16_t>(wide, static_cast<unsigned char>(c));
      cells += mat_array(4, 1, static_cast<std::int32_t>(t.size()), "", mat_element(4, wide));
    }
    body += mat_array(1, n, 1, "names", cells);
  }
  write_file_atomic(path, mat_file(body));
}

// An HDF5 handle that closes itself.
class Held {
 public:
  Held(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Held() {
    if (id_ >= 0) close_(id_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

inline void hdf5_array(hid_t file, const std::string& name, const std::vector<hsize_t>& shape, const double* values) {
  const Held space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
  const Held set(H5Dcreate2(file, name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

inline void write_hdf5_file(const fs::path& path, const Named& m) {
  const Held file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  const auto n = static_cast<hsize_t>(m.names.size());
  hdf5_array(file, "x", {static_cast<hsize_t>(m.values.rows()), n}, m.values.values().data());
  if (m.numbers) {
    const std::vector<double> ids = as_numbers(m.names);
    hdf5_array(file, "region_ids", {n}, ids.data());
    return;
  }
  std::vector<const char*> texts;
  for (const std::string& t : m.names) texts.push_back(t.c_str());
  const Held type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);
  const Held space(H5Screate_simple(1, &n, nullptr), H5Sclose);
  const Held set(H5Dcreate2(file, "names", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data());
}

inline void matlab_class(hid_t set, const char* name) {
  const Held type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, std::strlen(name));
  const Held space(H5Screate(H5S_SCALAR), H5Sclose);
  const Held attribute(H5Acreate2(set, "MATLAB_class", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  H5Awrite(attribute, type, name);
}

// Axes reversed, texts behind references, as MATLAB does it.
inline void write_mat73_file(const fs::path& path, const Named& m) {
  const Held file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  const auto n = static_cast<hsize_t>(m.names.size());
  MatrixD turned(m.values.cols(), m.values.rows());
  for (std::ptrdiff_t r = 0; r < m.values.rows(); ++r) {
    for (std::ptrdiff_t c = 0; c < m.values.cols(); ++c) turned(c, r) = m.values(r, c);
  }
  hdf5_array(file, "x", {n, static_cast<hsize_t>(m.values.rows())}, turned.values().data());
  if (m.numbers) {
    const std::vector<double> ids = as_numbers(m.names);
    hdf5_array(file, "region_ids", {1, n}, ids.data());
    return;
  }
  const Held group(H5Gcreate2(file, "#refs#", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  std::vector<hobj_ref_t> references(m.names.size());
  for (std::size_t i = 0; i < m.names.size(); ++i) {
    const hsize_t shape[2] = {m.names[i].size(), 1};
    const std::vector<std::uint16_t> codes(m.names[i].begin(), m.names[i].end());
    const std::string place = "#refs#/t" + std::to_string(i);
    const Held space(H5Screate_simple(2, shape, nullptr), H5Sclose);
    const Held set(H5Dcreate2(file, place.c_str(), H5T_STD_U16LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    H5Dwrite(set, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, codes.data());
    matlab_class(set, "char");
    H5Rcreate(&references[i], file, place.c_str(), H5R_OBJECT, -1);
  }
  const hsize_t shape[2] = {1, n};
  const Held space(H5Screate_simple(2, shape, nullptr), H5Sclose);
  const Held set(H5Dcreate2(file, "names", H5T_STD_REF_OBJ, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  H5Dwrite(set, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references.data());
  matlab_class(set, "cell");
}

// A NIfTI-2 header with one extension (code 32) and data behind it; shape (1, 1, 1, 1, columns, rows).
inline std::string cifti_bytes(const std::string& xml, std::int64_t columns, std::int64_t rows, std::int16_t type) {
  const std::size_t content = (xml.size() + 8 + 15) / 16 * 16;
  std::string h(540, '\0');
  const auto store = [&h](std::size_t at, auto value) { std::memcpy(h.data() + at, &value, sizeof value); };
  store(0, std::int32_t{540});
  h.replace(4, 8, std::string("n+2\0\r\n\032\n", 8));
  store(12, type);
  const std::int64_t dims[] = {6, 1, 1, 1, 1, columns, rows, 1};
  for (std::size_t i = 0; i < 8; ++i) store(16 + 8 * i, dims[i]);
  store(168, static_cast<std::int64_t>(544 + content));
  std::string out = h + std::string("\1\0\0\0", 4);
  put(out, static_cast<std::int32_t>(content));
  put(out, std::int32_t{32});
  return out + xml + std::string(content - 8 - xml.size(), '\0');
}

// Parcels x time, as a ptseries is.
inline void write_cifti_file(const fs::path& path, const Named& m) {
  std::string xml =
      "<CIFTI Version=\"2\"><Matrix><MatrixIndicesMap AppliesToMatrixDimension=\"0\" "
      "IndicesMapToDataType=\"CIFTI_INDEX_TYPE_SERIES\" NumberOfSeriesPoints=\"" +
      std::to_string(m.values.rows()) +
      "\" SeriesStart=\"0\" SeriesStep=\"1\" SeriesExponent=\"0\" SeriesUnit=\"SECOND\"/><MatrixIndicesMap "
      "AppliesToMatrixDimension=\"1\" IndicesMapToDataType=\"CIFTI_INDEX_TYPE_PARCELS\">";
  for (const std::string& t : m.names) xml += "<Parcel Name=\"" + t + "\"/>";
  xml += "</MatrixIndicesMap></Matrix></CIFTI>";
  write_file_atomic(path, cifti_bytes(xml, m.values.rows(), m.values.cols(), 64) + doubles_by_columns(m.values));
}

}  // namespace locus::foreign
