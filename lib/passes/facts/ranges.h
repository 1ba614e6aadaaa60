// Bounds of computed numbers, by interval arithmetic over the operators that compute them
// (OpDef::range, OpDef::selects).
//
// Design: docs/design/067-operator-facts.md.
#pragma once

#include <optional>
#include <unordered_map>

#include "ir/graph.h"
#include "ir/interval.h"
#include "ir/op_def.h"

namespace nn {

// Follows values to their definitions, as far as a limited number of operators. Knows values of
// integers, bool, f32 and f64 without quantization. Graphs must not change between calls.
class Ranges {
 public:
  // `of_inputs`: the bounds of integers that no operator computes; nullopt: those of their types.
  explicit Ranges(std::optional<Interval> of_inputs = std::nullopt) : of_inputs_(of_inputs) {}

  // Every element that is not NaN is within the bounds, as computed with rounding. Those of
  // integers are at worst the bounds of the type, those of others infinite.
  Interval Of(const Value* v);

 private:
  class Context;
  Interval OfResult(const Value& v);

  std::optional<Interval> of_inputs_;
  std::unordered_map<const Value*, Interval> known_;
  int depth_ = 0;
};

// The bounds of the elements that a node selects.
Interval SelectionRange(RangeContext& context, const Selection& selection);

// Whether all numbers are positive or all are negative, and so far from 0 that rounding errors of
// float32 do not matter.
bool IsAboveZero(const Interval& range);
bool IsBelowZero(const Interval& range);

// Whether no element is below zero, as far as the bounds or the constant tell.
bool NeverNegative(const Value* v);

// Whether a value is select(v == 0, 1, v), a divisor that is not 0.
bool IsDivisor(const Value* v);

}  // namespace nn
