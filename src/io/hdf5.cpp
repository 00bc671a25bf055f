#include "io/hdf5.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <mutex>

#include "core/error.h"
#include "core/text.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxDatasets = 100000;

std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

// Holds the lock and keeps the library from printing its error stack.
class Session {
 public:
  Session() : lock_(library_mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Session() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// Owns an HDF5 handle of any kind.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

[[noreturn]] void throw_hdf5(const fs::path& path, std::string what, std::string got = {}) {
  throw IoError({.what = std::move(what),
                 .where = path.string(),
                 .got = std::move(got),
                 .hint = "the file is truncated, damaged or not HDF5: copy or make it again"});
}

Handle open_file(const fs::path& path, const ReadLimits& limits) {
  std::error_code code;
  const auto size = fs::file_size(path, code);
  if (code) throw IoError({.what = "cannot open the file", .where = path.string(), .got = code.message()});
  if (size > limits.file_bytes) throw_hdf5(path, "the file is too large to read", human_bytes(static_cast<double>(size)));
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (id < 0) throw_hdf5(path, "cannot open the file as HDF5");
  return {id, H5Fclose};
}

std::string type_text(hid_t type, bool& numeric) {
  const H5T_class_t kind = H5Tget_class(type);
  const std::size_t size = H5Tget_size(type);
  numeric = (kind == H5T_FLOAT || kind == H5T_INTEGER) && size <= 16;
  switch (kind) {
    case H5T_FLOAT:
      return fmt::format("f{}", size);
    case H5T_INTEGER:
      return fmt::format("{}{}", H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i', size);
    case H5T_STRING:
      return "text";
    case H5T_COMPOUND:
      return "compound";
    case H5T_REFERENCE:
      return "reference";
    case H5T_ENUM:
      return "enum";
    default:
      return "other";
  }
}

std::string matlab_class_of(hid_t dataset) {
  if (H5Aexists(dataset, "MATLAB_class") <= 0) return {};
  const Handle attribute(H5Aopen(dataset, "MATLAB_class", H5P_DEFAULT), H5Aclose);
  if (!attribute.ok()) return {};
  const Handle type(H5Aget_type(attribute), H5Tclose);
  const Handle space(H5Aget_space(attribute), H5Sclose);
  const std::size_t size = type.ok() ? H5Tget_size(type) : 0;
  if (size == 0 || size > 64 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 ||
      H5Sget_simple_extent_npoints(space) != 1) {
    return {};
  }
  std::string text(size, '\0');
  if (H5Aread(attribute, type, text.data()) < 0) return {};
  return text.substr(0, text.find('\0'));
}

Hdf5Dataset describe(hid_t dataset, std::string name) {
  Hdf5Dataset info{.name = std::move(name), .shape = {}, .type = {}, .numeric = false, .matlab_class = {}};
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const Handle type(H5Dget_type(dataset), H5Tclose);
  if (!space.ok() || !type.ok()) return info;
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > H5S_MAX_RANK) return info;
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  if (rank > 0) H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  for (const hsize_t d : dims) info.shape.push_back(static_cast<std::int64_t>(std::min<hsize_t>(d, INT64_MAX)));
  info.type = type_text(type, info.numeric);
  info.matlab_class = matlab_class_of(dataset);
  // An empty space, or MATLAB's way to store an empty array (its shape as data), holds no numbers.
  if (H5Sget_simple_extent_type(space) == H5S_NULL || H5Aexists(dataset, "MATLAB_empty") > 0) {
    info.type = "empty";
    info.numeric = false;
  }
  return info;
}

struct Listing {
  std::vector<Hdf5Dataset> datasets;
  bool too_many = false;
};

herr_t visit_object(hid_t root, const char* name, const H5O_info_t* info, void* data) {
  auto& listing = *static_cast<Listing*>(data);
  if (info->type != H5O_TYPE_DATASET) return 0;
  if (listing.datasets.size() >= kMaxDatasets) {
    listing.too_many = true;
    return 1;
  }
  const Handle dataset(H5Dopen2(root, name, H5P_DEFAULT), H5Dclose);
  if (dataset.ok()) listing.datasets.push_back(describe(dataset, name));
  return 0;
}

std::vector<Hdf5Dataset> list_open_file(hid_t file, const fs::path& path) {
  Listing listing;
  const herr_t result = H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, visit_object, &listing, H5O_INFO_BASIC);
  if (result < 0) throw_hdf5(path, "the list of data sets is damaged");
  if (listing.too_many) throw_hdf5(path, "too many data sets", fmt::format("more than {}", kMaxDatasets));
  return std::move(listing.datasets);
}

std::string names_of(const std::vector<Hdf5Dataset>& datasets) {
  std::vector<std::string> lines;
  for (const Hdf5Dataset& d : datasets) {
    if (lines.size() == 20) {
      lines.push_back(fmt::format("and {} more", datasets.size() - 20));
      break;
    }
    lines.push_back(fmt::format("{} {} {}", d.name, shape_text(d.shape), d.matlab_class.empty() ? d.type : d.matlab_class));
  }
  return lines.empty() ? "no data sets" : join(lines, "; ");
}

bool is_internal(const Hdf5Dataset& d) { return d.name.starts_with("#"); }  // MATLAB's #refs#, #subsystem#

const Hdf5Dataset& choose(const std::vector<Hdf5Dataset>& datasets, std::string_view name, const fs::path& path) {
  if (!name.empty()) {
    const std::string_view wanted = name.starts_with("/") ? name.substr(1) : name;
    std::vector<std::string> names;
    for (const Hdf5Dataset& d : datasets) {
      if (d.name == wanted) return d;
      names.push_back(d.name);
    }
    const std::string near = nearest_name(wanted, names);
    throw IoError({.what = "no data set of this name",
                   .where = path.string(),
                   .got = std::string(name),
                   .expected = "one of: " + names_of(datasets),
                   .hint = near.empty() ? "" : "did you mean " + near + "?"});
  }
  for (const bool two_axes : {true, false}) {
    std::vector<const Hdf5Dataset*> found;
    for (const Hdf5Dataset& d : datasets) {
      const bool text = d.matlab_class == "char" || d.matlab_class == "cell";
      const auto long_axes = std::count_if(d.shape.begin(), d.shape.end(), [](std::int64_t n) { return n > 1; });
      if (d.numeric && !text && !is_internal(d) && (!two_axes || (d.shape.size() >= 2 && long_axes == 2)))
        found.push_back(&d);
    }
    if (found.size() == 1) return *found[0];
    if (found.size() > 1) break;
  }
  throw IoError({.what = "which data set is meant?",
                 .where = path.string(),
                 .got = names_of(datasets),
                 .hint = "name the data set, e.g. dataset = \"restdata\""});
}

// What is declared must be believable: within the limit, and not far above what the file stores of it.
std::uint64_t believable_count(hid_t dataset, const Hdf5Dataset& info, const fs::path& path, const ReadLimits& limits) {
  const std::string where = fmt::format("{}: data set '{}'", path.string(), info.name);
  const std::uint64_t count = checked_count(info.shape, where, limits);
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const std::uint64_t declared = count * H5Tget_size(type);
  const std::uint64_t stored = H5Dget_storage_size(dataset);
  std::error_code code;
  const std::uint64_t file_size = fs::file_size(path, code);
  constexpr std::uint64_t kSlack = std::uint64_t{64} << 20;
  if (stored > file_size || declared > stored * kMaxDeflateRatio + kSlack) {
    throw_hdf5(where, "the data set declares more than the file holds",
               fmt::format("shape {}, {} stored", shape_text(info.shape), human_bytes(static_cast<double>(stored))));
  }
  return count;
}

}  // namespace

bool is_hdf5(const fs::path& path) {
  const Session session;
  return H5Fis_hdf5(path.c_str()) > 0;
}

std::vector<Hdf5Dataset> list_hdf5(const fs::path& path, const ReadLimits& limits) {
  const Session session;
  const Handle file = open_file(path, limits);
  return list_open_file(file, path);
}

Hdf5Array read_hdf5(const fs::path& path, std::string_view name, const ReadLimits& limits) {
  const Session session;
  const Handle file = open_file(path, limits);
  const std::vector<Hdf5Dataset> datasets = list_open_file(file, path);
  Hdf5Array result;
  result.dataset = choose(datasets, name, path);
  const std::string where = fmt::format("{}: data set '{}'", path.string(), result.dataset.name);
  if (!result.dataset.numeric) {
    throw IoError({.what = "the data set does not hold numbers", .where = where, .got = result.dataset.type});
  }
  const Handle dataset(H5Dopen2(file, result.dataset.name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.ok()) throw_hdf5(where, "cannot open the data set");
  const std::uint64_t count = believable_count(dataset, result.dataset, path, limits);
  result.array.shape = result.dataset.shape;
  result.array.stored_type = result.dataset.type;
  result.array.values.resize(count);
  if (count > 0 && H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, result.array.values.data()) < 0) {
    throw_hdf5(where, "the data cannot be read");
  }
  return result;
}

}  // namespace locus
