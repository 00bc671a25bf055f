// Settings whose types the configuration does not know: one object of each type, at its defaults until it is set.
#pragma once

#include <map>
#include <memory>
#include <typeindex>

namespace locus {

// A copy has objects of its own. Assignment changes the objects in place, so that fields bound to them stay bound.
class OwnSettings {
 public:
  OwnSettings() = default;
  OwnSettings(const OwnSettings& other) { *this = other; }
  OwnSettings& operator=(const OwnSettings& other) {
    if (this == &other) return *this;
    for (auto& [type, object] : objects_) {
      const auto found = other.objects_.find(type);
      found == other.objects_.end() ? object->reset() : object->assign(*found->second);
    }
    for (const auto& [type, object] : other.objects_) {
      if (objects_.count(type) == 0) objects_[type] = object->clone();
    }
    return *this;
  }
  ~OwnSettings() = default;

  template <class T>
  T& of() {
    std::unique_ptr<Object>& object = objects_[typeid(T)];
    if (!object) object = std::make_unique<Held<T>>();
    return static_cast<Held<T>&>(*object).value;
  }
  template <class T>
  const T& of() const {
    static const T defaults{};
    const auto found = objects_.find(typeid(T));
    return found == objects_.end() ? defaults : static_cast<const Held<T>&>(*found->second).value;
  }

 private:
  struct Object {
    virtual ~Object() = default;
    virtual std::unique_ptr<Object> clone() const = 0;
    virtual void assign(const Object& other) = 0;
    virtual void reset() = 0;
  };
  template <class T>
  struct Held : Object {
    T value{};
    std::unique_ptr<Object> clone() const override { return std::make_unique<Held>(*this); }
    void assign(const Object& other) override { value = static_cast<const Held&>(other).value; }
    void reset() override { value = T{}; }
  };
  std::map<std::type_index, std::unique_ptr<Object>> objects_;
};

}  // namespace locus
