// Runs the rules of a format on a model.
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

using nnsuite::FindRule;
using nnsuite::Profile;
using nnsuite::Rules;
using nnsuite::ValidateOptions;

// All findings of the selected rules, rule by rule, in file order within each rule. Location::file
// is left to the caller.
std::vector<Finding> Validate(const NativeModel& model, const Format& format,
                              const ValidateOptions& options);

// Sets Finding::fingerprint (validators/fingerprint.h) of findings about a model.
void AddFingerprints(const NativeModel& model, const Format& format,
                     std::vector<Finding>& findings);

// The rules of all profiles, in the order in which they run.
std::vector<RuleInfo> AllRules();

// The names of the profiles, in the order of the enumeration, and the profile of a name.
std::span<const std::string_view> ProfileNames();
std::optional<Profile> ParseProfile(std::string_view name);

// The finding for an unreadable file: rule <FORMAT>-FILE-001, or FILE-001 if the format is unknown.
// It cannot be disabled.
Finding UnreadableFile(const Error& error, const Format* format);

// The examples of a format's rules (Format::name); empty for an unknown format.
RuleExamples ExamplesOf(std::string_view format);

// The first example of a rule, as text; nullopt for the rules about unreadable files, and for rules
// whose example needs more than one file.
struct ExampleTexts {
  std::string_view language;
  std::string base;
  std::string broken;
  std::string near;
};
std::optional<ExampleTexts> FindExample(std::string_view rule);

// The statements of the documents of a format (Format::name).
std::vector<Clause> ClausesOf(std::string_view format);

// RULES.md: all rules of all profiles, and the statements of the documents, as Markdown.
std::string RulesMarkdown();

}  // namespace nn
