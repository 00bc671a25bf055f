#include "io/hdf5.h"

#include <fmt/core.h>
#include <hdf5.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>

#include "core/error.h"
#include "core/text.h"
#include "io/compress.h"
#include "io/file.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxDatasets = 100000;
// What a chunk may expand to without being measured before.
constexpr std::uint64_t kHarmlessBytes = std::uint64_t{64} << 20;
constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20;

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

// A single number in an attribute; nothing when there is none.
std::optional<double> number_attribute(hid_t dataset, const char* name) {
  if (H5Aexists(dataset, name) <= 0) return std::nullopt;
  const Handle attribute(H5Aopen(dataset, name, H5P_DEFAULT), H5Aclose);
  const Handle space(H5Aget_space(attribute), H5Sclose);
  double value = 0;
  if (H5Sget_simple_extent_npoints(space) != 1 || H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0) return std::nullopt;
  return value;
}

// NetCDF's conventions: codes for missing values become NaN, packed numbers what they stand for.
void unpack(hid_t dataset, std::vector<double>& values) {
  const auto fill = number_attribute(dataset, "_FillValue"), missing = number_attribute(dataset, "missing_value");
  const auto scale = number_attribute(dataset, "scale_factor"), offset = number_attribute(dataset, "add_offset");
  if (!fill && !missing && !scale && !offset) return;
  for (double& x : values) {
    const bool code = (fill && x == *fill) || (missing && x == *missing);
    x = code ? std::numeric_limits<double>::quiet_NaN() : x * scale.value_or(1) + offset.value_or(0);
  }
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

std::vector<hsize_t> chunk_shape(hid_t properties, std::size_t rank) {
  std::vector<hsize_t> chunk(rank);
  if (rank == 0 || H5Pget_chunk(properties, static_cast<int>(rank), chunk.data()) != static_cast<int>(rank)) return {};
  return chunk;
}

// Data elsewhere can change, or be missing and read as zeros, while this file and its hash stay the same.
void refuse_other_files(hid_t properties, const std::string& where) {
  std::vector<std::string> sources;
  const int external = H5Pget_external_count(properties);
  for (int i = 0; i < external && i < 5; ++i) {
    char name[1024] = {};
    off_t offset = 0;
    hsize_t size = 0;
    if (H5Pget_external(properties, static_cast<unsigned>(i), sizeof name - 1, name, &offset, &size) >= 0)
      sources.emplace_back(name);
  }
  std::size_t virtual_count = 0;
  const bool is_virtual = H5Pget_layout(properties) == H5D_VIRTUAL;
  if (is_virtual) H5Pget_virtual_count(properties, &virtual_count);
  for (std::size_t i = 0; i < virtual_count && i < 5; ++i) {
    char name[1024] = {};
    if (H5Pget_virtual_filename(properties, i, name, sizeof name - 1) > 0) sources.emplace_back(name);
  }
  if (external <= 0 && !is_virtual) return;
  throw IoError({.what = "the data set takes its data from other files",
                 .where = where,
                 .got = sources.empty() ? "a virtual data set without sources" : join(sources, ", "),
                 .expected = "data inside of the file, so that its hash covers them",
                 .hint = "copy the data set into one file, with h5py: new[\"x\"] = old[\"x\"][...]"});
}

// Chunks that nobody wrote would read as zeros.
void refuse_unwritten(hid_t dataset, hid_t properties, const Hdf5Dataset& info, const std::string& where) {
  std::uint64_t expected = 1, written = 1;
  if (H5Pget_layout(properties) == H5D_CHUNKED) {
    const std::vector<hsize_t> chunk = chunk_shape(properties, info.shape.size());
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const auto length = static_cast<std::uint64_t>(info.shape[i]);
      expected *= chunk[i] == 0 ? 0 : (length + chunk[i] - 1) / chunk[i];
    }
    const Handle space(H5Dget_space(dataset), H5Sclose);
    hsize_t chunks = 0;
    if (H5Dget_num_chunks(dataset, space, &chunks) < 0) throw_hdf5(where, "the list of chunks is damaged");
    written = chunks;
  } else {
    H5D_space_status_t status = H5D_SPACE_STATUS_ALLOCATED;
    H5Dget_space_status(dataset, &status);
    written = status == H5D_SPACE_STATUS_NOT_ALLOCATED ? 0 : 1;
  }
  if (written >= expected) return;
  throw IoError({.what = "a part of the data set was never written and would read as zeros",
                 .where = where,
                 .got = fmt::format("{} of {} blocks", written, expected),
                 .expected = "all of shape " + shape_text(info.shape),
                 .hint = "the program that made the file ended early, or the data set was made too large: make it again"});
}

// The library unpacks a chunk to the end of its stream, whatever the chunk's size: streams that could become large are
// measured before. One deflate alone: two in a row expand a million times.
void refuse_overfull_chunks(hid_t dataset, hid_t properties, const Hdf5Dataset& info, const std::string& where) {
  const Handle type(H5Dget_type(dataset), H5Tclose);
  std::uint64_t chunk_bytes = H5Tget_size(type);
  for (const hsize_t c : chunk_shape(properties, info.shape.size())) chunk_bytes *= c;
  int deflates = 0;
  const int filters = H5Pget_nfilters(properties);
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    if (H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config) ==
        H5Z_FILTER_DEFLATE)
      ++deflates;
  }
  if (deflates == 0) return;
  if (deflates > 1) throw_hdf5(where, "the data are packed more than once");
  if (H5Dget_storage_size(dataset) * kMaxDeflateRatio <= kHarmlessBytes) return;
  const std::vector<hsize_t> chunk = chunk_shape(properties, info.shape.size());
  std::vector<hsize_t> offset(chunk.size(), 0);
  while (true) {
    hsize_t stored = 0;
    if (H5Dget_chunk_storage_size(dataset, offset.data(), &stored) < 0) throw_hdf5(where, "the list of chunks is damaged");
    if (stored * kMaxDeflateRatio > kHarmlessBytes) {
      if (stored > chunk_bytes + chunk_bytes / 16 + 4096) throw_hdf5(where, "a chunk stores more than it can hold");
      Bytes raw(stored);
      std::uint32_t mask = 0;
      if (H5Dread_chunk(dataset, H5P_DEFAULT, offset.data(), &mask, raw.data()) < 0)
        throw_hdf5(where, "a chunk cannot be read");
      // A checksum may follow the stream; a bit of the mask says that a filter was left out.
      if (mask == 0) inflate_pieces(raw, DeflateFormat::kZlib, chunk_bytes + 64, where, [](ByteSpan) {});
    }
    std::size_t axis = chunk.size();
    while (axis > 0) {
      offset[axis - 1] += chunk[axis - 1];
      if (offset[axis - 1] < static_cast<hsize_t>(info.shape[axis - 1])) break;
      offset[--axis] = 0;
    }
    if (axis == 0) return;
  }
}

// What is declared must be believable: within the limit, and not far above what the file stores of it.
std::uint64_t believable_count(hid_t dataset, const Hdf5Dataset& info, const fs::path& path, const ReadLimits& limits) {
  const std::string where = fmt::format("{}: data set '{}'", path.string(), info.name);
  std::error_code code;
  const std::uint64_t file_size = fs::file_size(path, code);
  const ReadLimits bounds = limits.for_file(code ? 0 : file_size);
  const std::uint64_t count = checked_count(info.shape, where, bounds);
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  if (!properties.ok()) throw_hdf5(where, "the description of the data set is damaged");
  refuse_other_files(properties, where);
  const std::uint64_t element = H5Tget_size(type);
  const std::uint64_t stored = H5Dget_storage_size(dataset);
  if (stored > file_size) {
    throw_hdf5(where, "the data set declares more than the file holds",
               fmt::format("shape {}, {} stored", shape_text(info.shape), human_bytes(static_cast<double>(stored))));
  }
  if (count == 0) return 0;
  if (H5Pget_layout(properties) == H5D_CHUNKED) {
    std::uint64_t chunk_bytes = element;
    for (const hsize_t c : chunk_shape(properties, info.shape.size())) {
      // The library holds a chunk before and after unpacking, beside the array.
      if (c == 0 || chunk_bytes > bounds.array_bytes / 4 / c) throw_hdf5(where, "the chunks of the data set are too large");
      chunk_bytes *= c;
    }
    refuse_unwritten(dataset, properties, info, where);
    refuse_overfull_chunks(dataset, properties, info, where);
  } else {
    refuse_unwritten(dataset, properties, info, where);
  }
  return count;
}

// Element by element: many references may point at one long text, so that only the sum tells what reading costs.
class TextReader {
 public:
  TextReader(hid_t file, hid_t dataset, hid_t type, std::string where)
      : file_(file), dataset_(dataset), type_(type), where_(std::move(where)) {}

  std::vector<std::string> read(bool cell) {
    const Handle space(H5Dget_space(dataset_), H5Sclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (count < 0 || rank < 0 || rank > H5S_MAX_RANK) throw_hdf5(where_, "the texts are damaged");
    std::vector<hsize_t> dims(static_cast<std::size_t>(std::max(rank, 1)), 1);
    if (rank > 0) H5Sget_simple_extent_dims(space, dims.data(), nullptr);
    std::vector<std::string> out;
    for (hssize_t i = 0; i < count; ++i) {
      std::vector<hsize_t> place(dims.size()), one(dims.size(), 1);
      hssize_t rest = i;
      for (std::size_t a = dims.size(); a-- > 0;) {
        place[a] = static_cast<hsize_t>(rest) % dims[a];
        rest /= static_cast<hssize_t>(dims[a]);
      }
      if (rank > 0) H5Sselect_hyperslab(space, H5S_SELECT_SET, place.data(), nullptr, one.data(), nullptr);
      out.push_back(cell ? referred(space) : text_at(space));
      total_ += out.back().size();
      if (total_ > kMaxTextBytes) throw_hdf5(where_, "the texts are too long", human_bytes(static_cast<double>(total_)));
    }
    return out;
  }

 private:
  std::string text_at(hid_t space) const {
    const Handle single(H5Screate(H5S_SCALAR), H5Sclose);
    if (H5Tis_variable_str(type_) > 0) {
      char* text = nullptr;
      if (H5Dread(dataset_, type_, single, space, H5P_DEFAULT, static_cast<void*>(&text)) < 0)
        throw_hdf5(where_, "a text cannot be read");
      const std::string copy = text == nullptr ? "" : text;
      H5free_memory(text);
      return copy;
    }
    const std::size_t size = H5Tget_size(type_);
    if (size > kMaxTextBytes) throw_hdf5(where_, "the texts are too long", human_bytes(static_cast<double>(size)));
    std::string text(size, '\0');
    if (H5Dread(dataset_, type_, single, space, H5P_DEFAULT, text.data()) < 0) throw_hdf5(where_, "a text cannot be read");
    text.resize(std::min(text.find('\0'), text.size()));
    return std::string(trim(text));
  }

  // MATLAB stores a cell of texts as references to arrays of 16-bit characters.
  std::string referred(hid_t space) const {
    const Handle single(H5Screate(H5S_SCALAR), H5Sclose);
    hobj_ref_t reference{};
    if (H5Dread(dataset_, H5T_STD_REF_OBJ, single, space, H5P_DEFAULT, &reference) < 0)
      throw_hdf5(where_, "a cell cannot be read");
    const Handle target(H5Rdereference2(file_, H5P_DEFAULT, H5R_OBJECT, &reference), H5Oclose);
    if (!target.ok() || H5Iget_type(target) != H5I_DATASET) throw_hdf5(where_, "a cell refers to nothing");
    const Handle characters(H5Dget_space(target), H5Sclose);
    const Handle properties(H5Dget_create_plist(target), H5Pclose);
    refuse_other_files(properties, where_);
    const hssize_t count = H5Sget_simple_extent_npoints(characters);
    if (count < 0 || count > 4096) throw_hdf5(where_, "a cell holds no short text");
    std::vector<std::uint16_t> codes(static_cast<std::size_t>(count));
    if (count > 0 && H5Dread(target, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, codes.data()) < 0)
      throw_hdf5(where_, "a cell cannot be read");
    std::string text;
    for (const std::uint16_t c : codes) append_utf8(text, c);
    return text;
  }

  hid_t file_, dataset_, type_;
  std::string where_;
  std::size_t total_ = 0;
};

}  // namespace

bool is_hdf5(const fs::path& path) {
  require_regular_file(path);
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
  // Every chunk is read once: a cache would keep what a hostile chunk unpacked to.
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_chunk_cache(access, H5D_CHUNK_CACHE_NSLOTS_DEFAULT, 0, H5D_CHUNK_CACHE_W0_DEFAULT);
  const Handle dataset(H5Dopen2(file, result.dataset.name.c_str(), access), H5Dclose);
  if (!dataset.ok()) throw_hdf5(where, "cannot open the data set");
  const std::uint64_t count = believable_count(dataset, result.dataset, path, limits);
  result.array.shape = result.dataset.shape;
  result.array.stored_type = result.dataset.type;
  result.array.values.resize(count);
  if (count > 0 && H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, result.array.values.data()) < 0) {
    throw_hdf5(where, "the data cannot be read");
  }
  unpack(dataset, result.array.values);
  return result;
}

std::vector<std::string> read_hdf5_texts(const fs::path& path, std::string_view name, const ReadLimits& limits) {
  const Session session;
  const Handle file = open_file(path, limits);
  const std::string where = fmt::format("{}: data set '{}'", path.string(), name);
  const Handle dataset(H5Dopen2(file, std::string(name).c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.ok()) throw_hdf5(where, "cannot open the data set");
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const Hdf5Dataset info = describe(dataset, std::string(name));
  const bool cell = info.matlab_class == "cell" && H5Tget_class(type) == H5T_REFERENCE;
  if (H5Tget_class(type) != H5T_STRING && !cell) return {};
  believable_count(dataset, info, path, limits);
  return TextReader(file, dataset, type, where).read(cell);
}

}  // namespace locus
