// Bounds of computed integers, by interval arithmetic over the operators that compute them.
#pragma once

#include <optional>
#include <unordered_map>

#include "ir/graph.h"

namespace nn {

// Every element is within the bounds.
struct IntegerBounds {
  double min, max;
};

// Follows values to their definitions, as far as a limited number of operators.
class IntegerRanges {
 public:
  // `of_inputs`: the bounds of values that no operator computes; nullopt: those of their types.
  explicit IntegerRanges(std::optional<IntegerBounds> of_inputs = std::nullopt)
      : of_inputs_(of_inputs) {}

  // The bounds of integers or booleans, at worst those of the type; nullopt for other types.
  std::optional<IntegerBounds> Of(const Value* v, int depth = 0);

 private:
  std::optional<IntegerBounds> OfAll(const Node& node, size_t first, size_t end, int depth);
  std::optional<IntegerBounds> OfScatter(const Node& node, int depth);
  std::optional<IntegerBounds> OfMoved(const Node& node, int depth);
  std::optional<IntegerBounds> OfPositions(const Node& node, const Value* result, int depth);
  std::optional<IntegerBounds> OfResult(const Node& node, const Value* result, int depth);

  std::optional<IntegerBounds> of_inputs_;
  std::unordered_map<const Value*, std::optional<IntegerBounds>> known_;
};

// Whether no element is below zero, as far as the bounds or the constant tell.
bool NeverNegative(const Value* v);

// Whether a value is select(v == 0, 1, v), a divisor that is not 0.
bool IsDivisor(const Value* v);

}  // namespace nn
