// Shell completion, manual pages and the tables of the reference, generated from the options of a
// program: --completion, --man-page and --option-tables.
// Design: docs/design/060-completion.md.
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nn::app {

// "bash", "zsh", "fish".
std::span<const std::string_view> CompletionShells();

// A script that completes the options of a program, their values where the set is known, and files.
// Requires one of CompletionShells().
std::string CompletionScript(const CLI::App& app, std::string_view shell);

// The manual page in section 1, in the macros of man(7). `version` and `uri` are those of the
// project.
std::string ManPage(const CLI::App& app, std::string_view version, std::string_view uri);

// The options by groups, as Markdown: a heading and a table each. `common` has the names of those
// that all programs have, which are a group of their own.
std::string OptionTables(const CLI::App& app, const std::set<std::string>& common);

// An option of a program, or a positional argument.
struct OptionEntry {
  std::vector<std::string> names;    // "-o", "--output"; empty for a positional argument
  std::string group;                 // heading in the help
  std::string value;                 // "FILE"; empty for flags
  std::vector<std::string> choices;  // the values, if the set is known
  std::string description;
  std::string default_value;  // empty if there is none
  std::string positional;     // "MODEL"
  bool repeated = false;      // for positional arguments
};

// All options that --help lists, in its order.
std::vector<OptionEntry> OptionEntries(const CLI::App& app);

}  // namespace nn::app
