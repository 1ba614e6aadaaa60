// Attributes of an operator: a plain struct described by a table of its members.
//
//   struct EluAttrs {
//     float alpha = 1.0f;
//     static std::span<const AttrField> Fields() {
//       static const AttrField fields[] = {Field<&EluAttrs::alpha>("alpha")};
//       return fields;
//     }
//   };
//
// Equality, printing, parsing, JSON and the one-to-one mapping to the formats' attributes are
// derived from the table. A member initializer is the attribute's default value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/status.h"
#include "ir/types/dim.h"
#include "ir/types/dtype.h"

namespace nn {

// Enumerations used in attributes name their values: specialize with
//   template <> struct EnumNames<Layout> {
//     static constexpr std::string_view kNames[] = {"ncx", "nxc"};
//   };
// in the order of the enumerators, which start at 0 and are contiguous.
template <typename E>
struct EnumNames;

template <typename E>
std::string_view EnumName(E value) {
  return EnumNames<E>::kNames[static_cast<size_t>(value)];
}

template <typename E>
std::optional<E> ParseEnum(std::string_view name) {
  for (size_t i = 0; i < std::size(EnumNames<E>::kNames); ++i)
    if (EnumNames<E>::kNames[i] == name) return static_cast<E>(i);
  return std::nullopt;
}

// An enumerator by name, for use without its C++ type.
struct EnumValue {
  std::string_view name;
  bool operator==(const EnumValue&) const = default;
};

using AttrValue =
    std::variant<int64_t, float, bool, EnumValue, std::string, DType, std::vector<int64_t>,
                 std::vector<float>, std::vector<std::string>, Dims>;

// "3", "0.5", "true", "same_upper", "\"text\"", "f32", "[1, 2]", ...
std::string ToString(const AttrValue& value);

struct AttrField {
  std::string_view name;
  AttrValue (*get)(const void* attrs);
  // Returns false if the value has the wrong kind. Conversions: an integer to a float, [] to any
  // list, a list of integers to floats or dims, a string to an enumerator.
  bool (*set)(void* attrs, const AttrValue& value);
};

struct AttrsInfo;

// An attribute struct, at `value`, and its description.
struct AttrsContents {
  const AttrsInfo* info;
  void* value;
};

struct AttrsInfo {
  std::span<const AttrField> fields;
  std::shared_ptr<AttrsContents> (*make)();
  std::shared_ptr<AttrsContents> (*clone)(const void* attrs);
};

namespace internal {

template <typename T>
AttrValue ToAttrValue(const T& member) {
  if constexpr (std::is_same_v<T, DType> || std::is_same_v<T, bool> || std::is_same_v<T, float>)
    return member;
  else if constexpr (std::is_enum_v<T>)
    return EnumValue{EnumName(member)};
  else if constexpr (std::is_integral_v<T>)
    return static_cast<int64_t>(member);
  else
    return member;
}

template <typename T>
bool FromAttrValue(const AttrValue& value, T& member) {
  if constexpr (std::is_same_v<T, DType> || std::is_same_v<T, bool>) {
    if (const auto* v = std::get_if<T>(&value)) return member = *v, true;
    return false;
  } else if constexpr (std::is_enum_v<T>) {
    std::string_view name;
    if (const auto* v = std::get_if<EnumValue>(&value)) name = v->name;
    if (const auto* v = std::get_if<std::string>(&value)) name = *v;
    const auto parsed = ParseEnum<T>(name);
    if (parsed) member = *parsed;
    return parsed.has_value();
  } else if constexpr (std::is_same_v<T, float>) {
    if (const auto* v = std::get_if<float>(&value)) return member = *v, true;
    if (const auto* v = std::get_if<int64_t>(&value)) return member = static_cast<float>(*v), true;
    return false;
  } else if constexpr (std::is_integral_v<T>) {
    const auto* v = std::get_if<int64_t>(&value);
    if (v == nullptr || static_cast<int64_t>(static_cast<T>(*v)) != *v) return false;
    return member = static_cast<T>(*v), true;
  } else {
    if (const auto* v = std::get_if<T>(&value)) return member = *v, true;
    if (const auto* v = std::get_if<std::vector<int64_t>>(&value)) {
      if (v->empty()) return member = T(), true;
      if constexpr (std::is_same_v<T, Dims>) return member = ToDims(*v), true;
      if constexpr (std::is_same_v<T, std::vector<float>>) {
        member.assign(v->begin(), v->end());
        return true;
      }
    }
    return false;
  }
}

template <typename M>
struct MemberOf;
template <typename C, typename T>
struct MemberOf<T C::*> {
  using Class = C;
};

}  // namespace internal

// C must be given if the member belongs to a base of the attribute struct.
template <auto kMember, class C = typename internal::MemberOf<decltype(kMember)>::Class>
AttrField Field(std::string_view name) {
  return {name,
          [](const void* attrs) {
            return internal::ToAttrValue(static_cast<const C*>(attrs)->*kMember);
          },
          [](void* attrs, const AttrValue& value) {
            return internal::FromAttrValue(value, static_cast<C*>(attrs)->*kMember);
          }};
}

template <typename T>
std::shared_ptr<AttrsContents> NewAttrsContents(T attrs);

// The unique AttrsInfo of an attribute struct.
template <typename T>
const AttrsInfo* AttrsInfoOf() {
  static const AttrsInfo info = {
      T::Fields(), [] { return NewAttrsContents(T()); },
      [](const void* attrs) { return NewAttrsContents(*static_cast<const T*>(attrs)); }};
  return &info;
}

template <typename T>
std::shared_ptr<AttrsContents> NewAttrsContents(T attrs) {
  struct Stored : AttrsContents {
    explicit Stored(T a) : AttrsContents{AttrsInfoOf<T>(), &stored}, stored(std::move(a)) {}
    T stored;
  };
  return std::make_shared<Stored>(std::move(attrs));
}

struct NoAttrs {
  static std::span<const AttrField> Fields() { return {}; }
};

// An immutable value of an attribute struct; copies share it.
class Attrs {
 public:
  Attrs() = default;  // NoAttrs
  template <typename T>
  requires requires { T::Fields(); }
  Attrs(T value)  // NOLINT(google-explicit-constructor)
      : contents_(NewAttrsContents(std::move(value))) {}
  // All defaults.
  explicit Attrs(const AttrsInfo* info)
      : contents_(info == AttrsInfoOf<NoAttrs>() ? nullptr : info->make()) {}

  template <typename T>
  const T& As() const {
    if (!Is<T>()) Mismatch();
    return *static_cast<const T*>(value());
  }
  template <typename T>
  bool Is() const {
    return &info() == AttrsInfoOf<T>();
  }

  const AttrsInfo& info() const {
    return contents_ == nullptr ? *AttrsInfoOf<NoAttrs>() : *contents_->info;
  }
  AttrValue Get(const AttrField& field) const { return field.get(value()); }
  // The value of the named attribute; nullopt if there is no such attribute.
  std::optional<AttrValue> Get(std::string_view name) const;
  // Returns a copy with the named attribute set. kModel if there is no such attribute or the value
  // has the wrong kind.
  Result<Attrs> With(std::string_view name, const AttrValue& value) const;

  friend bool operator==(const Attrs& a, const Attrs& b);
  // "{alpha = 0.5, axes = [1]}", without attributes that have their default values; "" if none
  // remain.
  std::string ToString() const;

 private:
  [[noreturn]] static void Mismatch();
  const void* value() const;

  std::shared_ptr<const AttrsContents> contents_;  // null: NoAttrs
};

}  // namespace nn
