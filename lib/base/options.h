// Options as described structures: a plain struct, and a table that describes each member once.
//
//   struct FuseOptions {
//     bool fuse = false;
//     std::optional<int64_t> steps;
//   };
//   const std::vector<OptionField> fields = {
//       Option<&FuseOptions::fuse>("fuse", {.help = "Fuse operators"}),
//       Option<&FuseOptions::steps>("steps", {.help = "Steps", .value = "N", .least = 1}),
//   };
//
// Command lines, help, the names and kinds of the C and Python interfaces, and questions such as
// "which given option changes the model" are derived from the table. A member initializer is the
// default value.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"

namespace nn {

// The order of the alternatives of OptionValue.
enum class OptionKind : uint8_t { kFlag, kInteger, kCount, kReal, kText, kTexts, kReals };
using OptionValue = std::variant<bool, int64_t, uint64_t, double, std::string,
                                 std::vector<std::string>, std::vector<double>>;
// By name, without dashes: what the caller of a program or function has set.
using OptionValues = std::map<std::string, OptionValue, std::less<>>;

// Who has an option, as bits. Python has the options of C.
enum OptionSurface : unsigned { kOnCommandLine = 1, kInBindings = 2 };

// What an option does to the written file, as bits; tables may define more.
enum OptionEffect : unsigned {
  kChangesGraph = 1,  // other operators, shapes or numbers: the model is imported
  kChangesNames = 2,  // of inputs and outputs
  kChangesFile = 4,   // the form of the file or of its parts
  kOneModel = 8,      // refers to one model, so that it does not apply to a folder of them
  kNoResult = 16,     // neither the written file nor its verification depends on it
};

struct OptionFacts {
  std::string_view help = {};
  std::string_view value = {};  // what the help calls the value; "": by the kind
  std::string_view group = {};  // of the help; "": the first
  unsigned effects = 0;
  unsigned surfaces = kOnCommandLine | kInBindings;
  std::optional<int64_t> least = std::nullopt;  // of numbers
  std::optional<int64_t> most = std::nullopt;
  std::vector<std::string_view> choices = {};  // of texts; the enumerators of an enumeration
  std::vector<std::string_view> needs = {};    // names of options of which one must be set, too
  std::vector<std::string_view> excludes = {};
  bool shows_default = false;  // in the help
  bool finite = false;         // of real numbers: neither NaN nor infinite
  // What the command line takes beside the name and the kind.
  std::string_view letter = {};  // "o": -o, too
  bool bytes = false;            // a unit: 64GB
  bool lists = false;            // of texts and lists of numbers, several with commas between
  bool takes_files = false;      // names of files beside the choices; `set` checks them
};

struct OptionField : OptionFacts {
  std::string_view name = {};
  OptionKind kind = OptionKind::kFlag;
  // Of the struct that the table describes. Nullopt for an empty std::optional.
  std::function<std::optional<OptionValue>(const void*)> get = nullptr;
  // The value has the kind, and is within the range and the choices.
  std::function<Status(void*, const OptionValue&)> set = nullptr;
  // The value of a member of a default-constructed struct.
  std::optional<OptionValue> initial = std::nullopt;

  bool Has(unsigned bits) const { return (effects & bits) != 0; }
  bool IsOn(unsigned surface) const { return (surfaces & surface) != 0; }
};

using OptionTable = std::span<const OptionField>;

// "a flag, 0 or 1", "an integer", ...
std::string_view OptionKindText(OptionKind kind);

// Null if there is none.
const OptionField* FindOption(OptionTable table, std::string_view name);

// "--name" on the command line, and "the option "name"" elsewhere.
std::string OptionText(OptionSurface surface, std::string_view name);

// Sets the values, in the order of the table; lists are appended. kUsage for names that
// the table does not have on this surface, values of another kind, out of range or not among the
// choices, and options that lack another one or exclude each other. A flag that is false, and an
// empty text, count as not set.
Status SetOptions(OptionTable table, const OptionValues& values, OptionSurface surface,
                  void* options);

// The values of a struct that the options on this surface have.
OptionValues ValuesOf(OptionTable table, OptionSurface surface, const void* options);

// kUsage for a struct that was filled without SetOptions(), with the values that it would refuse in
// C and Python.
template <typename T>
Status CheckOptionValues(OptionTable table, const T& options) {
  T checked;
  return SetOptions(table, ValuesOf(table, kInBindings, &options), kInBindings, &checked);
}

// The options whose values differ from those of `defaults`, a default-constructed struct.
std::vector<const OptionField*> ChangedOptions(OptionTable table, const void* options,
                                               const void* defaults);

// kInternal for a table with a name twice, or one that names an option that it does not have.
Status CheckOptionTable(OptionTable table);

namespace internal {

template <typename T>
struct OptionalOf : std::false_type {};
template <typename T>
struct OptionalOf<std::optional<T>> : std::true_type {
  using Value = T;
};

template <typename M>
struct OptionMember;
template <typename C, typename T>
struct OptionMember<T C::*> {
  using Class = C;
  using Type = T;
};

template <auto kFirst, auto...>
struct OptionOwner {
  using Class = typename OptionMember<decltype(kFirst)>::Class;
};

// Calls `use` with the member at the end of the path, unless a std::optional on it is empty.
template <auto kFirst, auto... kRest, typename Use>
void WithOption(const auto& object, const Use& use) {
  const auto& member = object.*kFirst;
  if constexpr (sizeof...(kRest) == 0) {
    use(member);
  } else if constexpr (OptionalOf<std::remove_cvref_t<decltype(member)>>::value) {
    if (member) WithOption<kRest...>(*member, use);
  } else {
    WithOption<kRest...>(member, use);
  }
}

// The member at the end of the path; each std::optional on it gets a value.
template <auto kFirst, auto... kRest>
auto& MakeOption(auto& object) {
  auto& member = object.*kFirst;
  if constexpr (sizeof...(kRest) == 0) {
    return member;
  } else if constexpr (OptionalOf<std::remove_cvref_t<decltype(member)>>::value) {
    if (!member) member.emplace();
    return MakeOption<kRest...>(*member);
  } else {
    return MakeOption<kRest...>(member);
  }
}

using TextSet = std::set<std::string, std::less<>>;

template <typename T>
constexpr OptionKind KindOf() {
  if constexpr (OptionalOf<T>::value) return KindOf<typename OptionalOf<T>::Value>();
  if constexpr (std::is_same_v<T, bool>) return OptionKind::kFlag;
  if constexpr (std::is_enum_v<T> || std::is_same_v<T, std::string>) return OptionKind::kText;
  if constexpr (std::is_floating_point_v<T>) return OptionKind::kReal;
  if constexpr (std::is_unsigned_v<T>) return OptionKind::kCount;
  if constexpr (std::is_integral_v<T>) return OptionKind::kInteger;
  if constexpr (std::is_same_v<T, std::vector<double>>) return OptionKind::kReals;
  return OptionKind::kTexts;
}

template <typename T>
std::optional<OptionValue> ToOptionValue(const T& member,
                                         const std::vector<std::string_view>& names) {
  if constexpr (OptionalOf<T>::value)
    return member ? ToOptionValue(*member, names) : std::nullopt;
  else if constexpr (std::is_same_v<T, TextSet>)
    return std::vector<std::string>(member.begin(), member.end());
  else if constexpr (std::is_enum_v<T>)
    return std::string(names[static_cast<size_t>(member)]);
  else if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>)
    return member;
  else if constexpr (std::is_unsigned_v<T>)
    return static_cast<uint64_t>(member);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<int64_t>(member);
  else
    return member;
}

// False for a number that the type does not have.
template <typename T>
bool FromOptionValue(const OptionValue& value, const std::vector<std::string_view>& names,
                     T& member) {
  if constexpr (OptionalOf<T>::value) {
    return FromOptionValue(value, names, member.emplace());
  } else if constexpr (std::is_same_v<T, TextSet>) {
    for (const std::string& text : std::get<std::vector<std::string>>(value)) member.insert(text);
  } else if constexpr (std::is_enum_v<T>) {
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == std::get<std::string>(value)) member = static_cast<T>(i);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    using Wide = std::conditional_t<std::is_unsigned_v<T>, uint64_t, int64_t>;
    const Wide wide = std::get<Wide>(value);
    if (!std::in_range<T>(wide)) return false;
    member = static_cast<T>(wide);
  } else if constexpr (std::is_same_v<T, std::vector<std::string>> ||
                       std::is_same_v<T, std::vector<double>>) {
    const auto& list = std::get<T>(value);
    member.insert(member.end(), list.begin(), list.end());
  } else {
    member = std::get<T>(value);
  }
  return true;
}

Error NumberOutOfRange(std::string_view name);

}  // namespace internal

// An option that is a member, or at the end of a path of members. Members on the path may be
// structs, or std::optional of structs, which have a value when the option is set.
template <auto... kPath>
OptionField Option(std::string_view name, OptionFacts facts) {
  using Class = typename internal::OptionOwner<kPath...>::Class;
  using Member =
      std::remove_cvref_t<decltype(internal::MakeOption<kPath...>(std::declval<Class&>()))>;
  OptionField field{std::move(facts), name, internal::KindOf<Member>()};
  field.get = [names = field.choices](const void* options) {
    std::optional<OptionValue> out;
    internal::WithOption<kPath...>(*static_cast<const Class*>(options), [&](const Member& member) {
      out = internal::ToOptionValue(member, names);
    });
    return out;
  };
  field.set = [names = field.choices, name](void* options, const OptionValue& value) -> Status {
    Member& member = internal::MakeOption<kPath...>(*static_cast<Class*>(options));
    if (internal::FromOptionValue(value, names, member)) return {};
    return tl::unexpected(internal::NumberOutOfRange(name));
  };
  Class made{};
  const Member& member = internal::MakeOption<kPath...>(made);
  field.initial = internal::ToOptionValue(member, field.choices);
  return field;
}

// An option whose value is no member: `get` takes a const Class&, and `set` a Class& and a T, the
// alternative of OptionValue.
template <typename Class, typename T>
OptionField ComputedOption(std::string_view name, OptionFacts facts,
                           std::function<std::optional<T>(const Class&)> get,
                           std::function<Status(Class&, const T&)> set) {
  OptionField field{std::move(facts), name, static_cast<OptionKind>(OptionValue(T()).index())};
  field.get = [get = std::move(get)](const void* options) -> std::optional<OptionValue> {
    if (auto value = get(*static_cast<const Class*>(options))) return *std::move(value);
    return std::nullopt;
  };
  field.set = [set = std::move(set)](void* options, const OptionValue& value) {
    return set(*static_cast<Class*>(options), std::get<T>(value));
  };
  return field;
}

// The options of a struct as those of a struct that is derived from it.
template <typename Derived, typename Base>
std::vector<OptionField> OptionsOfBase(OptionTable table) {
  std::vector<OptionField> out(table.begin(), table.end());
  for (OptionField& field : out) {
    field.get = [get = field.get](const void* options) {
      return get(static_cast<const Base*>(static_cast<const Derived*>(options)));
    };
    field.set = [set = field.set](void* options, const OptionValue& value) {
      return set(static_cast<Base*>(static_cast<Derived*>(options)), value);
    };
  }
  return out;
}

// The options of a struct as those of another one that has it as a member.
template <auto... kPath>
std::vector<OptionField> OptionsWithin(OptionTable table) {
  using Class = typename internal::OptionOwner<kPath...>::Class;
  std::vector<OptionField> out(table.begin(), table.end());
  for (OptionField& field : out) {
    field.get = [get = field.get](const void* options) {
      std::optional<OptionValue> value;
      internal::WithOption<kPath...>(*static_cast<const Class*>(options),
                                     [&](const auto& part) { value = get(&part); });
      return value;
    };
    field.set = [set = field.set](void* options, const OptionValue& value) {
      return set(&internal::MakeOption<kPath...>(*static_cast<Class*>(options)), value);
    };
  }
  return out;
}

}  // namespace nn
