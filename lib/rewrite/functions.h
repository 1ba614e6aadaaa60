// Decompositions that are functions rather than formulas (rules/rules.h), because they depend on
// shapes, on neighbors or on contents of constants. They are for all formats, as the formulas are:
// no target lists them.
//
// Design: docs/design/070-rules.md.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "ir/graph.h"
#include "rewrite/rules/rules.h"

namespace nn {

// The names of functions that some targets take, and others do not (Target::takes_function).
struct FunctionName {
  static constexpr std::string_view kComputedGathers = "computed gathers";
  static constexpr std::string_view kElimination = "elimination";
  static constexpr std::string_view kGathersOfBatches = "gathers of batches";
  static constexpr std::string_view kProduct = "product";
  static constexpr std::string_view kSecondSpatialAxis = "second spatial axis";
  static constexpr std::string_view kSlicesOfInput = "slices of the input";
  static constexpr std::string_view kStacksThatGrow = "stacks that grow";
  static constexpr std::string_view kSteps = "steps";
};

struct FunctionRow {
  std::string_view op;
  std::string_view name;  // for reports
  Result<bool> (*apply)(Graph&, Node&);
  RuleError error = RuleError::kExact;
  // Whether it looks at the neighbors of the node, or at axes, before layouts change them.
  bool is_early = false;
  // Why it left a node; null if it has no conditions of its own.
  std::optional<std::string_view> (*why_not)(const Node&) = nullptr;
  // Whether it computes in other element types or ranks than those of the node, so that a target
  // that lacks these can have the parts.
  bool changes_types = false;
};

// The rows. Of several rows of an operator, the first one that applies replaces a node.
std::span<const FunctionRow> FunctionRows();

// Why a target that lacks the operator refuses a node that its functions left; nullopt if they have
// no conditions of their own.
std::optional<std::string_view> WhyNotExpanded(const Node& node);

}  // namespace nn
