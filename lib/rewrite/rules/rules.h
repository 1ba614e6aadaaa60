// The rules: operators in terms of others, as formulas (formula.h), for all formats.
//
// A rule read from left to right replaces an operator that a target lacks (ApplyRule in
// rewrite/apply_rule.h); read from right to left, it finds the operator in the nodes that exporters
// write in its place (passes/idioms/idioms.h).
//
// Design: docs/design/070-rules.md.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rewrite/rules/formula.h"

namespace nn {

// Whether the nodes have the bits of the operator, or round differently.
enum class RuleError : uint8_t { kExact, kRounds };

// What a rule is for.
enum class RuleUse : uint8_t {
  kExpand,  // from left to right
  kFind,    // from right to left
  kBoth,
};

struct RuleRow {
  std::string_view name;  // for reports
  std::string_view text;
  RuleError error = RuleError::kExact;
  RuleUse use = RuleUse::kExpand;
  // Of rules to find: an operator of the formula, from whose nodes the search starts. A result that
  // is found rounds differently in any case.
  std::string_view key = {};
};

struct FormulaRule {
  RuleRow row;
  Formula formula;
};

// The rows and their helpers as texts.
std::span<const RuleRow> RuleRows();
std::span<const std::string_view> RuleHelpers();

// The parsed rows, in their order. A row that is no formula aborts, as an operator that is defined
// twice does.
std::span<const FormulaRule> FormulaRules();
// Those that expand an operator.
std::span<const FormulaRule* const> RulesOf(std::string_view op);

}  // namespace nn
