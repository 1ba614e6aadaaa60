#include <algorithm>
#include <sstream>

#include "apps/common/completion.h"

namespace nn::app {
namespace {

// "TEXT:{text,json}" -> text, json.
std::vector<std::string> ChoicesOf(const std::string& type) {
  std::vector<std::string> choices;
  const size_t begin = type.find('{');
  const size_t end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return choices;
  std::istringstream in(type.substr(begin + 1, end - begin - 1));
  for (std::string choice; std::getline(in, choice, ',');) choices.push_back(choice);
  return choices;
}

// "N:SIZE [b, kb(=1024b), ...]" -> "N"; the types of CLI11 in the words of manual pages.
std::string ValueName(const std::string& type) {
  const std::string name = type.substr(0, type.find(':'));
  if (name == "UINT" || name == "INT") return "N";
  if (name == "FLOAT") return "NUMBER";
  return name.empty() ? "VALUE" : name;
}

OptionEntry EntryOf(const CLI::Option& option, const std::string& group) {
  OptionEntry entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  entry.group = group;
  entry.description = option.get_description();
  entry.default_value = option.get_default_str();
  if (entry.names.empty()) entry.positional = option.get_name(true);
  entry.repeated = option.get_items_expected_max() > 1;
  if (option.get_items_expected_max() == 0) return entry;  // a flag
  const std::string type = option.get_type_name();
  entry.choices = ChoicesOf(type);
  entry.value = option.get_option_text().empty() ? ValueName(type) : option.get_option_text();
  return entry;
}

// `group` is that of options without one.
void AddEntries(const CLI::App& app, const std::string& group, std::vector<OptionEntry>& out) {
  const std::string none = app.get_help_ptr() == nullptr ? group : app.get_help_ptr()->get_group();
  for (const CLI::Option* option : app.get_options()) {
    const std::string& own = option->get_group();
    if (!own.empty()) out.push_back(EntryOf(*option, own == none ? group : own));
  }
  // Option groups are applications without a name.
  for (const CLI::App* part : app.get_subcommands({})) AddEntries(*part, part->get_group(), out);
}

}  // namespace

std::vector<OptionEntry> OptionEntries(const CLI::App& app) {
  std::vector<OptionEntry> entries;
  AddEntries(app, "Options", entries);
  // Positional arguments first, and then group by group.
  std::vector<std::string> groups;
  for (const OptionEntry& e : entries)
    if (std::ranges::find(groups, e.group) == groups.end()) groups.push_back(e.group);
  const auto place = [&](const OptionEntry& e) {
    return e.names.empty() ? -1 : std::ranges::find(groups, e.group) - groups.begin();
  };
  std::ranges::stable_sort(entries, {}, place);
  return entries;
}

}  // namespace nn::app
