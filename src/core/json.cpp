#include "core/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace locus {
namespace {

using Library = nlohmann::ordered_json;
constexpr std::size_t kMaxDepth = 200;  // destroying and writing a value go as deep as it is nested

// The alternatives of Json's variant.
enum Kind : std::size_t { kNull, kBool, kInteger, kUnsigned, kReal, kText, kArray, kObject };
constexpr const char* kKindNames[] = {"null",     "true or false", "a number", "a number",
                                      "a number", "a text",        "a list",   "an object"};

Library to_library(const Json& json) {
  if (json.is_array()) {
    Library out = Library::array();
    for (const Json& item : json.items_of_array()) out.push_back(to_library(item));
    return out;
  }
  if (json.is_object()) {
    Library out = Library::object();
    for (const auto& [key, value] : json.items()) out.emplace(key, to_library(value));
    return out;
  }
  if (json.is_string()) return json.text();
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_null()) return nullptr;
  if (!json.is_number_integer()) return json.get<double>();
  const auto number = json.get<std::uint64_t>();
  if (json.get<std::int64_t>() < 0 && json != Json(number)) return json.get<std::int64_t>();
  return number;
}

// Builds a Json from the events of the library's parser.
class Builder : public nlohmann::json_sax<Library> {
 public:
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& text) override {
    key_ = std::move(text);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Library::exception&) override { return false; }

 private:
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_object()) return parent[key_] = std::move(value);
    parent.push_back(std::move(value));
    return parent.back();
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    open_.push_back(&place(std::move(value)));
    return open_.size() <= kMaxDepth;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;  // a parent's list grows only while its children are closed, so these stay valid
  std::string key_;
};

}  // namespace

Json::Json() noexcept : value_(nullptr) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(std::initializer_list<Json> items) {
  const bool object = std::all_of(items.begin(), items.end(), [](const Json& item) {
    return item.is_array() && item.size() == 2 && item.at(0).is_string();
  });
  if (!object) {
    value_ = Array(items);
    return;
  }
  value_ = Object();
  for (const Json& item : items) (*this)[item.at(0).text()] = item.at(1);
}

Json Json::array() {
  Json json;
  json.value_ = Array();
  return json;
}

Json Json::array(std::initializer_list<Json> items) {
  Json json;
  json.value_ = Array(items);
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

Json Json::parse(std::string_view text) {
  Builder builder;
  if (!Library::sax_parse(text.begin(), text.end(), &builder)) return {};
  return builder.take();
}

bool Json::is_null() const { return value_.index() == kNull; }
bool Json::is_boolean() const { return value_.index() == kBool; }
bool Json::is_number() const { return is_number_integer() || value_.index() == kReal; }
bool Json::is_number_integer() const { return value_.index() == kInteger || value_.index() == kUnsigned; }
bool Json::is_string() const { return value_.index() == kText; }
bool Json::is_array() const { return value_.index() == kArray; }
bool Json::is_object() const { return value_.index() == kObject; }

void Json::set_bool(bool value) { value_ = value; }
void Json::set_integer(std::int64_t value) { value_ = value; }
void Json::set_unsigned(std::uint64_t value) { value_ = value; }
void Json::set_real(double value) { value_ = value; }

void Json::throw_type(const char* expected) const {
  throw IoError({.what = "a JSON value of another type than expected",
                 .got = is_array() || is_object() ? kKindNames[value_.index()] : dump(),
                 .expected = expected});
}

bool Json::to_bool() const {
  if (const bool* value = std::get_if<bool>(&value_)) return *value;
  throw_type(kKindNames[kBool]);
}

std::int64_t Json::to_integer() const {
  switch (value_.index()) {
    case kInteger:
      return std::get<kInteger>(value_);
    case kUnsigned:
      return static_cast<std::int64_t>(std::get<kUnsigned>(value_));
    case kReal:
      return static_cast<std::int64_t>(std::get<kReal>(value_));
    default:
      throw_type(kKindNames[kInteger]);
  }
}

std::uint64_t Json::to_unsigned() const {
  if (value_.index() == kReal) return static_cast<std::uint64_t>(std::get<kReal>(value_));
  return static_cast<std::uint64_t>(to_integer());
}

double Json::to_real() const {
  switch (value_.index()) {
    case kInteger:
      return static_cast<double>(std::get<kInteger>(value_));
    case kUnsigned:
      return static_cast<double>(std::get<kUnsigned>(value_));
    case kReal:
      return std::get<kReal>(value_);
    default:
      throw_type(kKindNames[kReal]);
  }
}

const std::string& Json::text() const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  throw_type(kKindNames[kText]);
}

const Json::Array& Json::items_of_array() const {
  if (const auto* value = std::get_if<Array>(&value_)) return *value;
  throw_type(kKindNames[kArray]);
}

const Json::Object& Json::items() const {
  static const Object none;
  if (is_null()) return none;
  if (const auto* value = std::get_if<Object>(&value_)) return *value;
  throw_type(kKindNames[kObject]);
}

Json::Object& Json::items() {
  if (is_null()) value_ = Object();
  return const_cast<Object&>(std::as_const(*this).items());
}

std::size_t Json::size() const {
  if (const auto* array = std::get_if<Array>(&value_)) return array->size();
  if (const auto* object = std::get_if<Object>(&value_)) return object->size();
  return is_null() ? 0 : 1;
}

Json::Iterator Json::begin() {
  if (auto* object = std::get_if<Object>(&value_)) return Iterator(object->data());
  if (auto* array = std::get_if<Array>(&value_)) return Iterator(array->data());
  return Iterator(this);
}

Json::Iterator Json::end() {
  if (auto* object = std::get_if<Object>(&value_)) return Iterator(object->data() + object->size());
  if (auto* array = std::get_if<Array>(&value_)) return Iterator(array->data() + array->size());
  return Iterator(this + (is_null() ? 0 : 1));
}

Json::ConstIterator Json::begin() const {
  if (const auto* object = std::get_if<Object>(&value_)) return ConstIterator(object->data());
  if (const auto* array = std::get_if<Array>(&value_)) return ConstIterator(array->data());
  return ConstIterator(this);
}

Json::ConstIterator Json::end() const {
  if (const auto* object = std::get_if<Object>(&value_)) return ConstIterator(object->data() + object->size());
  if (const auto* array = std::get_if<Array>(&value_)) return ConstIterator(array->data() + array->size());
  return ConstIterator(this + (is_null() ? 0 : 1));
}

Json& Json::back() { return const_cast<Json&>(std::as_const(*this).back()); }

const Json::Member* Json::pair(std::string_view key) const {
  const auto* object = std::get_if<Object>(&value_);
  if (object == nullptr) return nullptr;
  const auto found = std::find_if(object->begin(), object->end(), [&](const Member& m) { return m.first == key; });
  return found == object->end() ? nullptr : &*found;
}

const Json* Json::member(std::string_view key) const {
  const Member* found = pair(key);
  return found == nullptr ? nullptr : &found->second;
}

Json::ConstIterator Json::find(std::string_view key) const {
  const Member* found = pair(key);
  return found == nullptr ? end() : ConstIterator(found);
}

Json::Iterator Json::find(std::string_view key) {
  const Member* found = pair(key);
  return found == nullptr ? end() : Iterator(const_cast<Member*>(found));
}

const Json& Json::at(std::string_view key) const {
  if (!is_object()) throw_type(kKindNames[kObject]);
  const Json* found = member(key);
  if (found == nullptr) throw IoError({.what = "a JSON object lacks the key '" + std::string(key) + "'"});
  return *found;
}

const Json& Json::at(std::size_t index) const {
  const Array& array = items_of_array();
  if (index < array.size()) return array[index];
  throw IoError({.what = "a JSON list is shorter than expected",
                 .got = std::to_string(array.size()) + " items",
                 .expected = "an item " + std::to_string(index)});
}

Json& Json::operator[](std::string_view key) {
  Object& object = items();
  if (const Json* found = member(key)) return const_cast<Json&>(*found);
  return object.emplace_back(std::string(key), Json()).second;
}

void Json::push_back(Json item) {
  if (is_null()) value_ = Array();
  const_cast<Array&>(items_of_array()).push_back(std::move(item));
}

void Json::erase(std::string_view key) {
  std::erase_if(items(), [&](const Member& m) { return m.first == key; });
}

void Json::sort_keys() {
  if (auto* array = std::get_if<Array>(&value_)) {
    for (Json& item : *array) item.sort_keys();
  } else if (auto* object = std::get_if<Object>(&value_)) {
    std::sort(object->begin(), object->end(), [](const Member& a, const Member& b) { return a.first < b.first; });
    for (auto& [key, value] : *object) value.sort_keys();
  }
}

std::string Json::dump(const JsonStyle& style) const {
  try {
    return to_library(*this).dump(style.indent, ' ', style.ascii,
                                  style.strict ? Library::error_handler_t::strict : Library::error_handler_t::replace);
  } catch (const Library::exception&) {
    throw IoError({.what = "a text that is not UTF-8 cannot be written as JSON"});
  }
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number_integer() && b.is_number_integer()) {
    const auto negative = [](const Json& j) { return j.value_.index() == kInteger && std::get<kInteger>(j.value_) < 0; };
    return negative(a) == negative(b) && a.to_integer() == b.to_integer();
  }
  if (a.is_number() && b.is_number()) return a.to_real() == b.to_real();
  if (!a.is_object() || !b.is_object()) return a.value_ == b.value_;
  return a.size() == b.size() && std::all_of(a.items().begin(), a.items().end(), [&](const Json::Member& m) {
           const Json* other = b.member(m.first);
           return other != nullptr && *other == m.second;
         });
}

}  // namespace locus
