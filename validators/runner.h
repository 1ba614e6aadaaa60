// Runs the rules of a format over a model.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "validators/clause.h"
#include "validators/example.h"
#include "validators/finding.h"

namespace nn {

enum class Profile : uint8_t {
  kSpec,    // everything that the published documents require
  kVendor,  // only what the format owner's own loader or checker rejects
  kStrict,  // kSpec and lint
};

// Which rules are applied: those of the profile and of `enable`, without those of `disable`.
struct ValidateOptions {
  Profile profile = Profile::kSpec;
  std::set<std::string, std::less<>> enable = {};  // rule ids
  std::set<std::string, std::less<>> disable = {};
};

// All findings of the rules applied, rule by rule, those of one rule in the order of the file.
// Never stops at the first; Location::file is left to the caller.
std::vector<Finding> Validate(const NativeModel& model, const Format& format,
                              const ValidateOptions& options);

// The finding that an unreadable file is: rule <FORMAT>-FILE-001, or FILE-001 where the format is
// not known. It cannot be disabled.
Finding UnreadableFile(const Error& error, const Format* format);

// All rules that are applied, of every format, in the order in which they run.
std::vector<RuleInfo> Rules(const ValidateOptions& options);

// The rule of that id, in any profile; nullopt if there is none.
std::optional<RuleInfo> FindRule(std::string_view id);

// The examples of a format's rules (Format::name); none if it has none.
RuleExamples ExamplesOf(std::string_view format);

// The first example of a rule, as texts; nullopt for the rules that stand for unreadable files, and
// those that ask for more than one file.
struct ExampleTexts {
  std::string_view language;
  std::string base;
  std::string broken;
  std::string near;
};
std::optional<ExampleTexts> FindExample(std::string_view rule);

// The statements of the documents of a format (Format::name).
std::span<const Clause> ClausesOf(std::string_view format);

// RULES.md: all rules of all profiles, and the statements of the documents, as Markdown.
std::string RulesMarkdown();

}  // namespace nn
