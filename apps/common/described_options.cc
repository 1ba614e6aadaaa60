#include "apps/common/described_options.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "apps/common/command_line.h"

namespace nn::app {
namespace {

template <typename T>
CLI::Option* AddValue(CLI::App& app, const OptionField& field, OptionValues& values) {
  return app.add_option_function<T>(
      OptionText(kOnCommandLine, field.name),
      [&values, &field](const T& value) {
        values.insert_or_assign(std::string(field.name), OptionValue(value));
      },
      std::string(field.help));
}

CLI::Option* AddOption(CLI::App& app, const OptionField& field, OptionValues& values) {
  switch (field.kind) {
    case OptionKind::kFlag:
      return app.add_flag_callback(
          OptionText(kOnCommandLine, field.name),
          [&values, &field] { values.insert_or_assign(std::string(field.name), true); },
          std::string(field.help));
    case OptionKind::kInteger:
      return AddValue<int64_t>(app, field, values);
    case OptionKind::kCount:
      return AddValue<uint64_t>(app, field, values);
    case OptionKind::kReal:
      return AddValue<double>(app, field, values)->check(RealNumber());
    case OptionKind::kText:
      return AddValue<std::string>(app, field, values);
    case OptionKind::kTexts:
      break;
  }
  return AddValue<std::vector<std::string>>(app, field, values)->allow_extra_args(false);
}

void AddChecks(const OptionField& field, CLI::Option& option) {
  if (!field.choices.empty())
    option.check(
        CLI::IsMember(std::vector<std::string>(field.choices.begin(), field.choices.end())));
  if (field.least && field.most)
    option.check(CLI::Range(*field.least, *field.most));
  else if (field.least && field.kind == OptionKind::kReal)
    option.check(CLI::NonNegativeNumber);
}

std::string ValueText(const OptionValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::vector<std::string>>)
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
    if (!field.group.empty()) option->group(std::string(field.group));
    AddChecks(field, *option);
    if (field.shows_default && field.initial) option->default_str(ValueText(*field.initial));
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
