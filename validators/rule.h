// What a rule is. Each format has lists of them, one list a theme, over a subject: its native model
// and what the rules look up in it often.
#pragma once

#include <fmt/core.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "validators/finding.h"
#include "validators/runner.h"

namespace nn {

// Takes the findings of one rule. A hostile file can break a rule a million times: beyond kMost
// findings they are only counted.
class Findings {
 public:
  static constexpr size_t kMost = 1000;

  Findings(const RuleInfo& rule, std::vector<Finding>& out) : rule_(rule), out_(out) {}
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;
  ~Findings();

  // Names from the file go through Quote().
  template <typename... Args>
  void Add(const Location& where, fmt::format_string<Args...> format, Args&&... args) {
    if (++count_ <= kMost) Append(where, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void Append(Location where, std::string message);

  const RuleInfo& rule_;
  std::vector<Finding>& out_;
  size_t count_ = 0;
};

// `element` is the path to a field, `index` the number of the operator or layer it is part of.
inline Location At(std::string element, int64_t index = -1) {
  Location where;
  where.element = std::move(element);
  where.index = index;
  return where;
}

template <typename Subject>
struct Rule {
  RuleInfo info;
  void (*check)(const Subject& subject, Findings& findings);
};

bool IsApplied(const RuleInfo& rule, const ValidateOptions& options);

// Runs the rules that are applied, list by list, each over the whole file.
template <typename Subject>
void RunRules(std::span<const std::span<const Rule<Subject>>> lists, const Subject& subject,
              const ValidateOptions& options, std::vector<Finding>& out) {
  for (const auto& list : lists)
    for (const Rule<Subject>& rule : list) {
      if (!IsApplied(rule.info, options)) continue;
      Findings findings(rule.info, out);
      rule.check(subject, findings);
    }
}

template <typename Subject>
std::vector<RuleInfo> InfoOf(std::span<const std::span<const Rule<Subject>>> lists) {
  std::vector<RuleInfo> infos;
  for (const auto& list : lists)
    for (const Rule<Subject>& rule : list) infos.push_back(rule.info);
  return infos;
}

// What the runner knows of a format's rules.
struct RuleSet {
  std::string_view format;  // Format::name
  RuleInfo readable;        // the finding that an unreadable file is
  std::vector<RuleInfo> rules;
  void (*run)(const NativeModel& model, const ValidateOptions& options, std::vector<Finding>& out);
};

}  // namespace nn
