#include "validators/runner.h"

#include <algorithm>
#include <array>

#include "validators/coreml/validator.h"
#include "validators/fingerprint.h"
#include "validators/lint/validator.h"
#include "validators/nnapi/validator.h"
#include "validators/onnx/validator.h"
#include "validators/rule.h"
#include "validators/tflite/validator.h"

namespace nn {
namespace {

// The rules for any format come first.
std::span<const RuleSet> RuleSets() {
  static const std::vector<RuleSet> kSets = {lint::AnyRules(), onnx::OnnxRules(),
                                             tflite::TfliteRules(), coreml::CoremlRules(),
                                             nnapi::NnapiRules()};
  return kSets;
}

const RuleSet* FindRuleSet(std::string_view format) {
  for (const RuleSet& set : RuleSets())
    if (set.format == format) return &set;
  return nullptr;
}

RuleExamples Examples(const RuleSet& set) {
  return {ParseExamples(set.examples), set.language, set.expand};
}

// "12 statements, 10 of them checked."
std::string ClauseTable(std::span<const Clause> clauses) {
  size_t checked = 0;
  std::string rows;
  for (const Clause& c : clauses) {
    checked += c.rules.empty() ? 0 : 1;
    rows += fmt::format("| {} | {} | {} |\n", c.where, c.statement,
                        c.rules.empty() ? fmt::format("not checked: {}", c.reason) : c.rules);
  }
  return fmt::format("{} statements, {} of them checked.\n\n| place | statement | rules |\n",
                     clauses.size(), checked) +
         "|---|---|---|\n" + rows;
}

std::string MarkdownTable(const std::vector<RuleInfo>& rules) {
  std::string out = "| rule | severity | vendor | statement | source |\n|---|---|---|---|---|\n";
  for (const RuleInfo& r : rules)
    out += fmt::format("| {} | {}{} | {} | {} | {} |\n", r.id, SeverityName(r.severity),
                       r.lint     ? ", strict only"
                       : r.safety ? ", safety only"
                                  : "",
                       r.vendor ? "yes" : "", r.statement, r.clause);
  return out;
}

}  // namespace

void Findings::Append(Location where, std::string message) {
  out_.push_back({std::string(rule_.id), rule_.severity, std::move(message), std::move(where),
                  std::string(rule_.hint)});
}

Findings::~Findings() {
  if (count_ > kMax) Append({}, fmt::format("{} more findings of this rule", count_ - kMax));
}

bool IsApplied(const RuleInfo& rule, const ValidateOptions& options) {
  if (options.disable.contains(rule.id)) return false;
  if (options.enable.contains(rule.id)) return true;
  switch (options.profile) {
    case Profile::kSpec:
      return !rule.lint && !rule.safety;
    case Profile::kVendor:
      return rule.vendor;
    case Profile::kStrict:
      return !rule.safety;
    case Profile::kSafety:
      break;
  }
  return !rule.lint;
}

std::vector<Finding> Validate(const NativeModel& model, const Format& format,
                              const ValidateOptions& options) {
  std::vector<Finding> findings;
  for (const RuleSet& set : RuleSets())
    if (set.format == format.name || set.format.empty()) set.run(model, format, options, findings);
  if (options.fingerprints) AddFingerprints(model, format, findings);
  return findings;
}

void AddFingerprints(const NativeModel& model, const Format& format,
                     std::vector<Finding>& findings) {
  AddFingerprints(model, format, FindRuleSet(format.name)->operator_lists, findings);
}

std::vector<RuleInfo> AllRules() {
  std::vector<RuleInfo> rules;
  for (const RuleSet& set : RuleSets()) {
    rules.push_back(set.readable);
    rules.insert(rules.end(), set.rules.begin(), set.rules.end());
  }
  return rules;
}

std::span<const std::string_view> ProfileNames() {
  static constexpr std::array<std::string_view, 4> kNames = {"spec", "vendor", "strict", "safety"};
  return kNames;
}

std::optional<Profile> ParseProfile(std::string_view name) {
  const auto names = ProfileNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Profile>(found - names.begin());
}

Finding UnreadableFile(const Error& error, const Format* format) {
  const RuleSet* set = FindRuleSet(format != nullptr ? format->name : "");
  const RuleInfo& rule = set->readable;
  Finding finding = {
      std::string(rule.id), rule.severity, error.message(), {}, std::string(rule.hint)};
  AddFingerprint(finding);
  return finding;
}

RuleExamples ExamplesOf(std::string_view format) {
  const RuleSet* set = FindRuleSet(format);
  return set == nullptr ? RuleExamples{} : Examples(*set);
}

std::optional<ExampleTexts> FindExample(std::string_view rule) {
  for (const RuleSet& set : RuleSets()) {
    const RuleExamples examples = Examples(set);
    for (const RuleExample& e : examples.list) {
      if (e.rule() != rule) continue;
      const auto text = [&](const std::vector<Edit>& edits) {
        return ExampleText(examples, e.base, edits).value_or("");
      };
      return ExampleTexts{examples.language, text({}), text(e.broken), text(e.near)};
    }
  }
  return std::nullopt;
}

std::vector<Clause> ClausesOf(std::string_view format) {
  const RuleSet* set = FindRuleSet(format);
  return set == nullptr ? std::vector<Clause>{} : ParseClauses(set->clauses);
}

std::string RulesMarkdown() {
  std::string out =
      "# Rules\n\n"
      "Generated by `scripts/update-rules`; do not edit.\n\n"
      "The `vendor` profile has the rules marked \"yes\" under vendor, which the format owner's "
      "own\n"
      "loader or checker enforces. The `spec` profile, the default, has all rules except those\n"
      "marked \"strict only\" or \"safety only\"; the profiles `strict` and `safety` add these.\n";
  for (const RuleSet& set : RuleSets()) {
    std::vector<RuleInfo> rules = {set.readable};
    rules.insert(rules.end(), set.rules.begin(), set.rules.end());
    const Format* format = FindFormat(set.format);
    out += fmt::format("\n## {}\n\n", format != nullptr ? format->label : "Any format");
    out += MarkdownTable(rules);
    if (!set.clauses.empty())
      out += "\n### What the documents require\n\n" + ClauseTable(ParseClauses(set.clauses));
  }
  return out;
}

}  // namespace nn

namespace nnsuite {

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      break;
  }
  return "error";
}

std::vector<RuleInfo> Rules(const ValidateOptions& options) {
  std::vector<RuleInfo> rules;
  for (const nn::RuleSet& set : nn::RuleSets()) {
    rules.push_back(set.readable);
    for (const RuleInfo& info : set.rules)
      if (nn::IsApplied(info, options)) rules.push_back(info);
  }
  return rules;
}

std::optional<RuleInfo> FindRule(std::string_view id) {
  for (const nn::RuleSet& set : nn::RuleSets()) {
    if (set.readable.id == id) return set.readable;
    for (const RuleInfo& info : set.rules)
      if (info.id == id) return info;
  }
  return std::nullopt;
}

}  // namespace nnsuite
