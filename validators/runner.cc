#include "validators/runner.h"

#include "validators/coreml/validator.h"
#include "validators/nnapi/validator.h"
#include "validators/onnx/validator.h"
#include "validators/rule.h"
#include "validators/tflite/validator.h"

namespace nn {
namespace {

constexpr RuleInfo kReadable = {
    .id = "FILE-001",
    .severity = Severity::kError,
    .statement = "The file is a model of a known format.",
    .clause = "the formats' encodings",
    .vendor = true,
    .hint = "Name the file by its format's extension, or fetch it again.",
};

std::span<const RuleSet> RuleSets() {
  static const std::vector<RuleSet> kSets = {onnx::OnnxRules(), tflite::TfliteRules(),
                                             coreml::CoremlRules(), nnapi::NnapiRules()};
  return kSets;
}

const RuleSet* FindRuleSet(std::string_view format) {
  for (const RuleSet& set : RuleSets())
    if (set.format == format) return &set;
  return nullptr;
}

std::string MarkdownTable(const std::vector<RuleInfo>& rules) {
  std::string out = "| rule | severity | vendor | statement | source |\n|---|---|---|---|---|\n";
  for (const RuleInfo& r : rules)
    out += fmt::format("| {} | {}{} | {} | {} | {} |\n", r.id, SeverityName(r.severity),
                       r.lint ? ", strict only" : "", r.vendor ? "yes" : "", r.statement, r.clause);
  return out;
}

}  // namespace

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

void Findings::Append(Location where, std::string message) {
  out_.push_back({std::string(rule_.id), rule_.severity, std::move(message), std::move(where),
                  std::string(rule_.hint)});
}

Findings::~Findings() {
  if (count_ > kMost) Append({}, fmt::format("{} more findings of this rule", count_ - kMost));
}

bool IsApplied(const RuleInfo& rule, const ValidateOptions& options) {
  if (options.disable.contains(rule.id)) return false;
  if (options.enable.contains(rule.id)) return true;
  switch (options.profile) {
    case Profile::kSpec:
      return !rule.lint;
    case Profile::kVendor:
      return rule.vendor;
    case Profile::kStrict:
      break;
  }
  return true;
}

std::vector<Finding> Validate(const NativeModel& model, const Format& format,
                              const ValidateOptions& options) {
  std::vector<Finding> findings;
  if (const RuleSet* set = FindRuleSet(format.name)) set->run(model, options, findings);
  return findings;
}

Finding UnreadableFile(const Error& error, const Format* format) {
  const RuleSet* set = format != nullptr ? FindRuleSet(format->name) : nullptr;
  const RuleInfo& rule = set != nullptr ? set->readable : kReadable;
  return {std::string(rule.id), rule.severity, error.message(), {}, std::string(rule.hint)};
}

std::vector<RuleInfo> Rules(const ValidateOptions& options) {
  std::vector<RuleInfo> rules = {kReadable};
  for (const RuleSet& set : RuleSets()) {
    rules.push_back(set.readable);
    for (const RuleInfo& info : set.rules)
      if (IsApplied(info, options)) rules.push_back(info);
  }
  return rules;
}

std::optional<RuleInfo> FindRule(std::string_view id) {
  if (id == kReadable.id) return kReadable;
  for (const RuleSet& set : RuleSets()) {
    if (set.readable.id == id) return set.readable;
    for (const RuleInfo& info : set.rules)
      if (info.id == id) return info;
  }
  return std::nullopt;
}

std::string RulesMarkdown() {
  std::string out =
      "# Rules\n\n"
      "Written by `scripts/update-rules` from the rules themselves; do not edit.\n\n"
      "Vendor: the format owner's own loader or checker enforces the rule, so the `vendor` "
      "profile\n"
      "has it. The `spec` profile, the default, has all rules but those marked \"strict only\".\n\n"
      "## Any format\n\n" +
      MarkdownTable({kReadable});
  for (const RuleSet& set : RuleSets()) {
    std::vector<RuleInfo> rules = {set.readable};
    rules.insert(rules.end(), set.rules.begin(), set.rules.end());
    const Format* format = FindFormat(set.format);
    out += fmt::format("\n## {}\n\n", format != nullptr ? format->label : set.format);
    out += MarkdownTable(rules);
  }
  return out;
}

}  // namespace nn
