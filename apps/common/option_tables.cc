#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

#include "apps/common/completion.h"

namespace nn::app {
namespace {

// Of HTML, in which a bar does not end the cell of a table.
std::string CodeOf(std::string_view text) {
  std::string out = "<code>";
  for (const char c : text) {
    if (c == '|')
      out += "&#124;";
    else if (c == '<')
      out += "&lt;";
    else
      out += c;
  }
  return out + "</code>";
}

// Options in the text, and what Markdown would take for markup, as code.
std::string MeaningOf(const OptionEntry& option) {
  static const std::regex kCode("--[a-z][a-z0-9-]*|[^ (),;\"]*[*<_][^ (),;\"]*");
  std::string text = std::regex_replace(option.description, kCode, "`$&`");
  if (!option.default_value.empty()) {
    if (!text.ends_with('.')) text += '.';
    text += fmt::format(" The default is `{}`", option.default_value);
  }
  return std::regex_replace(text, std::regex("\\|"), "&#124;");
}

std::string NameOf(const OptionEntry& option) {
  std::string name = fmt::format("{}", fmt::join(option.names, ", "));
  if (option.value.empty()) return name;
  return option.choices.empty() ? name + " " + option.value
                                : fmt::format("{} {}", name, fmt::join(option.choices, "|"));
}

}  // namespace

std::string OptionTables(const CLI::App& app, const std::set<std::string>& common) {
  const std::vector<OptionEntry> options = OptionEntries(app);
  std::vector<std::string> groups;
  std::vector<std::string> tables;
  for (const OptionEntry& option : options) {
    if (option.names.empty()) continue;
    const std::string group = common.contains(option.names.back()) ? "All programs" : option.group;
    auto at = static_cast<size_t>(std::ranges::find(groups, group) - groups.begin());
    if (at == groups.size()) {
      groups.push_back(group);
      tables.emplace_back("| option | meaning |\n|---|---|\n");
    }
    const std::string row = fmt::format("| {} | {} |\n", CodeOf(NameOf(option)), MeaningOf(option));
    // Each group has --help.
    if (tables[at].find(row) == std::string::npos) tables[at] += row;
  }
  std::string out;
  for (size_t i = 0; i < groups.size(); ++i)
    out += fmt::format("{}## {}\n\n{}", i == 0 ? "" : "\n", groups[i], tables[i]);
  return out;
}

}  // namespace nn::app
