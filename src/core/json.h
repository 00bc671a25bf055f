// A JSON value. Objects keep the order in which their keys were added. Text is read and written by nlohmann's library,
// which only json.cpp includes: in each of 50 files it cost the compiler 2 s to read and up to 8 s to generate.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace locus {

struct JsonStyle {
  int indent = -1;      // spaces a level; -1: all in one line
  bool ascii = false;   // other characters are written as \uXXXX
  bool strict = false;  // text that is not UTF-8 is an error instead of being written with U+FFFD
};

template <bool Const>
class JsonIterator;

class Json {
 public:
  using Member = std::pair<std::string, Json>;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;
  using Iterator = JsonIterator<false>;
  using ConstIterator = JsonIterator<true>;

  Json() noexcept;
  Json(std::nullptr_t) noexcept : Json() {}
  Json(const char* text);
  Json(std::string text);
  Json(std::string_view text);
  template <std::same_as<bool> T>  // nothing else turns into a bool
  Json(T value) : Json() {
    set_bool(value);
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T value) : Json() {
    if constexpr (std::is_signed_v<T>) {
      set_integer(value);
    } else {
      set_unsigned(value);
    }
  }
  template <std::floating_point T>
  Json(T value) : Json() {
    set_real(value);
  }
  template <class T>
  Json(const std::vector<T>& items) : Json(array()) {
    for (const auto& item : items) push_back(static_cast<T>(item));
  }
  template <class T>
  Json(const std::map<std::string, T>& members) : Json(object()) {
    for (const auto& [key, value] : members) (*this)[key] = value;
  }
  // An object when every item is a list of a text and a value, else an array.
  Json(std::initializer_list<Json> items);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array();
  static Json array(std::initializer_list<Json> items);
  static Json object();
  // Null when the text is not JSON or is nested deeper than any file of ours.
  static Json parse(std::string_view text);

  bool is_null() const;
  bool is_boolean() const;
  bool is_number() const;
  bool is_number_integer() const;
  bool is_string() const;
  bool is_array() const;
  bool is_object() const;

  // IoError when the value is of another type.
  template <class T>
  T get() const;
  const std::string& text() const;
  const Array& items_of_array() const;
  const Object& items() const;
  Object& items();

  std::size_t size() const;  // of an array or object; 0 for null, 1 for other values
  bool empty() const { return size() == 0; }
  Iterator begin();
  Iterator end();
  ConstIterator begin() const;
  ConstIterator end() const;
  const Json& front() const { return at(0); }
  const Json& back() const { return at(size() - 1); }
  Json& back();

  bool contains(std::string_view key) const { return member(key) != nullptr; }
  ConstIterator find(std::string_view key) const;  // end() when there is none
  Iterator find(std::string_view key);
  const Json& at(std::string_view key) const;  // IoError when there is none
  const Json& at(const char* key) const { return at(std::string_view(key)); }
  const Json& at(const std::string& key) const { return at(std::string_view(key)); }
  const Json& at(std::size_t index) const;
  template <std::integral I>
  const Json& at(I index) const {
    return at(static_cast<std::size_t>(index));
  }
  template <class Key>
  const Json& operator[](const Key& key) const {
    return at(key);
  }
  template <std::integral I>
  Json& operator[](I index) {
    return const_cast<Json&>(at(static_cast<std::size_t>(index)));
  }
  Json& operator[](std::string_view key);  // null becomes an object, a missing key is added
  Json& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  Json& operator[](const std::string& key) { return (*this)[std::string_view(key)]; }
  // The value of `key`, or `otherwise` when there is none.
  template <class T>
  T value(std::string_view key, T otherwise) const {
    const Json* found = member(key);
    return found == nullptr ? otherwise : found->get<T>();
  }
  std::string value(std::string_view key, const char* otherwise) const { return value(key, std::string(otherwise)); }

  void push_back(Json item);  // null becomes an array
  void erase(std::string_view key);
  void sort_keys();  // of all objects in it, by bytes

  std::string dump(int indent = -1) const { return dump(JsonStyle{.indent = indent}); }
  std::string dump(const JsonStyle& style) const;

  friend bool operator==(const Json& a, const Json& b);

 private:
  friend class JsonIterator<true>;
  friend class JsonIterator<false>;
  const Member* pair(std::string_view key) const;
  const Json* member(std::string_view key) const;
  bool to_bool() const;
  std::int64_t to_integer() const;
  std::uint64_t to_unsigned() const;
  double to_real() const;
  void set_bool(bool value);
  void set_integer(std::int64_t value);
  void set_unsigned(std::uint64_t value);
  void set_real(double value);
  [[noreturn]] void throw_type(const char* expected) const;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_;
};

// Over the items of an array or the values of an object.
template <bool Const>
class JsonIterator {
 public:
  using Value = std::conditional_t<Const, const Json, Json>;
  using Pair = std::conditional_t<Const, const Json::Member, Json::Member>;
  using iterator_category = std::forward_iterator_tag;
  using value_type = Json;
  using difference_type = std::ptrdiff_t;
  using pointer = Value*;
  using reference = Value&;

  JsonIterator() = default;
  explicit JsonIterator(Value* item) : item_(item) {}
  explicit JsonIterator(Pair* pair) : pair_(pair) {}
  Value& operator*() const { return pair_ != nullptr ? pair_->second : *item_; }
  Value* operator->() const { return &**this; }
  JsonIterator& operator++() {
    pair_ != nullptr ? static_cast<void>(++pair_) : static_cast<void>(++item_);
    return *this;
  }
  JsonIterator operator++(int) {
    JsonIterator before = *this;
    ++*this;
    return before;
  }
  const std::string& key() const { return pair_->first; }
  Value& value() const { return **this; }
  bool operator==(const JsonIterator&) const = default;

 private:
  Value* item_ = nullptr;
  Pair* pair_ = nullptr;
};

namespace json_detail {

template <class T>
struct Reader;
template <class T>
struct Reader<std::vector<T>> {
  static std::vector<T> read(const Json& json) {
    std::vector<T> out;
    for (const Json& item : json.items_of_array()) out.push_back(item.get<T>());
    return out;
  }
};
template <class T>
struct Reader<std::map<std::string, T>> {
  static std::map<std::string, T> read(const Json& json) {
    std::map<std::string, T> out;
    for (const auto& [key, value] : json.items()) out[key] = value.template get<T>();
    return out;
  }
};

}  // namespace json_detail

template <class T>
T Json::get() const {
  if constexpr (std::is_same_v<T, Json>) {
    return *this;
  } else if constexpr (std::is_same_v<T, bool>) {
    return to_bool();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return text();
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(to_real());
  } else if constexpr (std::is_unsigned_v<T>) {
    return static_cast<T>(to_unsigned());
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(to_integer());
  } else {
    return json_detail::Reader<T>::read(*this);
  }
}

}  // namespace locus
