// A rule. Each format has lists of rules, grouped by theme, over a rule context (`RuleContext`):
// the native model and what rules often look up in it.
#pragma once

#include <fmt/core.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "validators/clause.h"
#include "validators/example.h"
#include "validators/finding.h"
#include "validators/runner.h"

namespace nn {

// Collects the findings of one rule. Because a hostile file can break a rule a million times,
// findings beyond kMax are only counted.
class Findings {
 public:
  static constexpr size_t kMax = 1000;

  Findings(const RuleInfo& rule, std::vector<Finding>& out)
      : rule_(rule), out_(out), earlier_(out.size()) {}
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;
  ~Findings();

  // The findings of the rules that ran before this one; valid until Add.
  std::span<const Finding> earlier() const { return std::span(out_).first(earlier_); }

  // Pass names from the file through Quote().
  template <typename... Args>
  void Add(const Location& where, fmt::format_string<Args...> format, Args&&... args) {
    if (++count_ <= kMax) Append(where, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void Append(Location where, std::string message);

  const RuleInfo& rule_;
  std::vector<Finding>& out_;
  size_t earlier_;
  size_t count_ = 0;
};

// `element` is the path to a field, and `index` the number of the operator or layer it is part of.
inline Location At(std::string element, int64_t index = -1) {
  Location where;
  where.element = std::move(element);
  where.index = index;
  return where;
}

template <typename RuleContext>
struct Rule {
  RuleInfo info;
  void (*check)(const RuleContext& context, Findings& findings);
};

bool IsApplied(const RuleInfo& rule, const ValidateOptions& options);

// Runs the rules that `options` select, list by list, each over the whole file.
template <typename RuleContext>
void RunRules(std::span<const std::span<const Rule<RuleContext>>> lists, const RuleContext& context,
              const ValidateOptions& options, std::vector<Finding>& out) {
  for (const auto& list : lists)
    for (const Rule<RuleContext>& rule : list) {
      if (!IsApplied(rule.info, options)) continue;
      Findings findings(rule.info, out);
      rule.check(context, findings);
    }
}

template <typename RuleContext>
std::vector<RuleInfo> InfoOf(std::span<const std::span<const Rule<RuleContext>>> lists) {
  std::vector<RuleInfo> infos;
  for (const auto& list : lists)
    for (const Rule<RuleContext>& rule : list) infos.push_back(rule.info);
  return infos;
}

// The rules of a format, or the rules for any format, as the runner uses them.
struct RuleSet {
  std::string_view format;  // Format::name; "" for any format
  RuleInfo readable;        // the rule that an unreadable file breaks
  std::vector<RuleInfo> rules;
  void (*run)(const NativeModel& model, const Format& format, const ValidateOptions& options,
              std::vector<Finding>& out);
  std::string_view examples;  // for ParseExamples
  std::string_view language;  // RuleExamples::language
  std::string (*expand)(const std::string& text) = nullptr;
  std::string_view clauses = {};  // of the format's documents, in document order, for ParseClauses
  // Paths of the lists of the main graph's operators, in the terms of Location::element.
  std::vector<std::string_view> operator_lists = {};
};

}  // namespace nn
