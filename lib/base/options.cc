#include "base/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/text.h"

namespace nn {
namespace {

constexpr std::string_view kKindNames[] = {"a flag, 0 or 1", "an integer", "an integer", "a number",
                                           "a text",         "a text",     "a number"};

bool IsGiven(const OptionValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* text = std::get_if<std::string>(&value)) return !text->empty();
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return !texts->empty();
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) return !reals->empty();
  return true;
}

bool IsGiven(const OptionValues& values, std::string_view name) {
  const auto it = values.find(name);
  return it != values.end() && IsGiven(it->second);
}

// "a", "a or b", "a, b or c".
std::string Alternatives(OptionSurface surface, const std::vector<std::string_view>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += surface == kOnCommandLine ? OptionText(surface, names[i]) : Quote(names[i]);
  }
  return out;
}

// Integers as the kind that the field has; the value if it has it, or another one.
OptionValue Converted(const OptionField& field, const OptionValue& value) {
  const auto* const integer = std::get_if<int64_t>(&value);
  if (integer == nullptr) return value;
  if (field.kind == OptionKind::kReal) return static_cast<double>(*integer);
  if (field.kind == OptionKind::kCount && *integer >= 0) return static_cast<uint64_t>(*integer);
  if (field.kind == OptionKind::kFlag && (*integer == 0 || *integer == 1)) return *integer == 1;
  return value;
}

template <typename T>
Status CheckRange(const OptionField& field, T value, OptionSurface surface) {
  const std::string name = OptionText(surface, field.name);
  if constexpr (std::is_floating_point_v<T>) {
    if (field.finite && !std::isfinite(value))
      return UsageError("{} must be a finite number; it is {}", name, value);
    if (field.least && !(value >= static_cast<T>(*field.least)))
      return UsageError("{} must be at least {}; it is {}", name, *field.least, value);
  } else {
    if (field.least && std::cmp_less(value, *field.least))
      return UsageError("{} must be at least {}; it is {}", name, *field.least, value);
    if (field.most && std::cmp_greater(value, *field.most))
      return UsageError("{} must be at most {}; it is {}", name, *field.most, value);
  }
  return {};
}

Status CheckValue(const OptionField& field, const OptionValue& value, OptionSurface surface) {
  const std::string name = OptionText(surface, field.name);
  if (const auto* integer = std::get_if<int64_t>(&value);
      integer != nullptr && field.kind == OptionKind::kCount)
    return UsageError("{} must be at least {}; it is {}", name, field.least.value_or(0), *integer);
  if (value.index() != static_cast<size_t>(field.kind))
    return UsageError("{} is {}", name, OptionKindText(field.kind));
  if (const auto* integer = std::get_if<int64_t>(&value))
    return CheckRange(field, *integer, surface);
  if (const auto* count = std::get_if<uint64_t>(&value)) return CheckRange(field, *count, surface);
  if (const auto* real = std::get_if<double>(&value)) return CheckRange(field, *real, surface);
  if (const auto* reals = std::get_if<std::vector<double>>(&value))
    for (const double real : *reals) NN_RETURN_IF_ERROR(CheckRange(field, real, surface));
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr || field.choices.empty()) return {};
  if (field.takes_files && surface == kOnCommandLine) return {};
  if (std::ranges::find(field.choices, *text) != field.choices.end()) return {};
  return UsageError("{} is {}; expected one of {}", name, Quote(*text),
                    fmt::format("{}", fmt::join(field.choices, ", ")));
}

Status CheckOthers(const OptionField& field, const OptionValues& values, OptionSurface surface) {
  const auto given = [&](std::string_view name) { return IsGiven(values, name); };
  if (!field.needs.empty() && std::ranges::none_of(field.needs, given))
    return UsageError("{} requires {}", OptionText(surface, field.name),
                      Alternatives(surface, field.needs));
  const auto excluded = std::ranges::find_if(field.excludes, given);
  if (excluded != field.excludes.end())
    return UsageError("{} excludes {}", OptionText(surface, field.name),
                      Alternatives(surface, {*excluded}));
  return {};
}

}  // namespace

Error internal::NumberOutOfRange(std::string_view name) {
  return UsageError("{}: the number is out of range", name).value();
}

std::string_view OptionKindText(OptionKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

const OptionField* FindOption(OptionTable table, std::string_view name) {
  const auto it = std::ranges::find(table, name, &OptionField::name);
  return it == table.end() ? nullptr : &*it;
}

std::string OptionText(OptionSurface surface, std::string_view name) {
  return surface == kOnCommandLine ? fmt::format("--{}", name)
                                   : fmt::format("the option {}", Quote(name));
}

Status SetOptions(OptionTable table, const OptionValues& values, OptionSurface surface,
                  void* options) {
  for (const auto& [name, value] : values) {
    const OptionField* const field = FindOption(table, name);
    if (field == nullptr || !field->IsOn(surface))
      return UsageError("no option is named {}", Quote(name));
  }
  for (const OptionField& field : table) {
    const auto it = values.find(field.name);
    if (it == values.end() || !IsGiven(it->second)) continue;
    NN_RETURN_IF_ERROR(CheckOthers(field, values, surface));
  }
  for (const OptionField& field : table) {
    const auto it = values.find(field.name);
    if (it == values.end()) continue;
    const OptionValue value = Converted(field, it->second);
    NN_RETURN_IF_ERROR(CheckValue(field, value, surface));
    if (IsGiven(value)) NN_RETURN_IF_ERROR(field.set(options, value));
  }
  return {};
}

OptionValues ValuesOf(OptionTable table, OptionSurface surface, const void* options) {
  OptionValues values;
  for (const OptionField& field : table)
    if (auto value = field.get(options); value && field.IsOn(surface))
      values.insert_or_assign(std::string(field.name), *std::move(value));
  return values;
}

std::vector<const OptionField*> ChangedOptions(OptionTable table, const void* options,
                                               const void* defaults) {
  std::vector<const OptionField*> out;
  for (const OptionField& field : table)
    if (field.get(options) != field.get(defaults)) out.push_back(&field);
  return out;
}

Status CheckOptionTable(OptionTable table) {
  for (const OptionField& field : table) {
    if (FindOption(table, field.name) != &field)
      return InternalError("the option {} is described twice", Quote(field.name));
    for (const auto* names : {&field.needs, &field.excludes})
      for (const std::string_view other : *names)
        if (FindOption(table, other) == nullptr)
          return InternalError("the option {} names {}, which does not exist", Quote(field.name),
                               Quote(other));
  }
  return {};
}

}  // namespace nn
