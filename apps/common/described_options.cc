#include "apps/common/described_options.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/command_line.h"

namespace nn::app {
namespace {

// "-o,--output".
std::string NamesOf(const OptionField& field) {
  const std::string name = OptionText(kOnCommandLine, field.name);
  return field.letter.empty() ? name : fmt::format("-{},{}", field.letter, name);
}

template <typename T>
CLI::Option* AddValue(CLI::App& app, const OptionField& field, OptionValues& values) {
  return app.add_option_function<T>(
      NamesOf(field),
      [&values, &field](const T& value) {
        values.insert_or_assign(std::string(field.name), OptionValue(value));
      },
      std::string(field.help));
}

template <typename T>
CLI::Option* AddList(CLI::App& app, const OptionField& field, OptionValues& values) {
  CLI::Option* const list = AddValue<std::vector<T>>(app, field, values)->allow_extra_args(false);
  return field.lists ? list->delimiter(',') : list;
}

CLI::Validator NumberCheck(const OptionField& field) {
  return field.finite ? FiniteNumber() : RealNumber();
}

CLI::Option* AddOption(CLI::App& app, const OptionField& field, OptionValues& values) {
  switch (field.kind) {
    case OptionKind::kFlag:
      return app.add_flag_callback(
          NamesOf(field),
          [&values, &field] { values.insert_or_assign(std::string(field.name), true); },
          std::string(field.help));
    case OptionKind::kInteger:
      return AddValue<int64_t>(app, field, values);
    case OptionKind::kCount:
      return AddValue<uint64_t>(app, field, values);
    case OptionKind::kReal:
      return AddValue<double>(app, field, values)->check(NumberCheck(field));
    case OptionKind::kText:
      return AddValue<std::string>(app, field, values);
    case OptionKind::kTexts:
      return AddList<std::string>(app, field, values);
    case OptionKind::kReals:
      break;
  }
  return AddList<double>(app, field, values)->check(NumberCheck(field));
}

void AddChecks(const OptionField& field, CLI::Option& option) {
  if (field.bytes) option.transform(CLI::AsSizeValue(false));
  if (!field.choices.empty() && !field.takes_files)
    option.check(
        CLI::IsMember(std::vector<std::string>(field.choices.begin(), field.choices.end())));
  if (field.least && field.most)
    option.check(CLI::Range(*field.least, *field.most));
  else if (field.least && field.kind == OptionKind::kReal)
    option.check(CLI::NonNegativeNumber);
}

// "64GB", "1023".
std::string SizeText(uint64_t bytes) {
  size_t unit = 0;
  constexpr std::array<std::string_view, 4> kUnits = {"", "KB", "MB", "GB"};
  for (; unit + 1 < kUnits.size() && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

std::string ValueText(const OptionField& field, const OptionValue& value) {
  if (field.bytes) return SizeText(std::get<uint64_t>(value));
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::vector<std::string>> ||
                      std::is_same_v<T, std::vector<double>>)
          return {};
        else
          return fmt::format("{}", v);
      },
      value);
}

}  // namespace

void AddDescribedOptions(CLI::App& app, OptionTable table, OptionValues& values) {
  for (const OptionField& field : table) {
    if (!field.IsOn(kOnCommandLine)) continue;
    CLI::Option* const option = AddOption(app, field, values);
    if (!field.value.empty()) option->type_name(std::string(field.value));
    // In the name of a type, a check follows a colon.
    if (field.value.find(':') != std::string_view::npos)
      option->option_text(std::string(field.value));
    if (!field.group.empty()) option->group(std::string(field.group));
    AddChecks(field, *option);
    if (field.shows_default && field.initial) option->default_str(ValueText(field, *field.initial));
  }
  // Options that need one of several others are left to SetOptions().
  for (const OptionField& field : table) {
    if (!field.IsOn(kOnCommandLine)) continue;
    CLI::Option* const option = app.get_option(OptionText(kOnCommandLine, field.name));
    if (field.needs.size() == 1)
      option->needs(app.get_option(OptionText(kOnCommandLine, field.needs[0])));
    for (const std::string_view other : field.excludes)
      option->excludes(app.get_option(OptionText(kOnCommandLine, other)));
  }
}

}  // namespace nn::app
