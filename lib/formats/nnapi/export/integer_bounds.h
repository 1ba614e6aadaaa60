// Bounds of integers that float32 holds, and what it holds exactly.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "ir/graph.h"
#include "ir/types/dtype.h"

namespace nn::nnapi {

// An integer value as float32, and its bounds.
struct Whole {
  Value* value = nullptr;
  double lo = 0, hi = 0;
};
using WholeOf = std::function<std::optional<Whole>(const Value*)>;

// Whether float32 represents all integers between the bounds: up to 2^24.
bool IsExact(double lo, double hi);
// Whether the type is integers or booleans without quantization.
bool IsWholeType(const Type& type);
// Whether the node has such an input or output.
bool HasWhole(const Node& node);
bool IsOneOf(const Node& node, std::initializer_list<std::string_view> names);
// The bounds of an element type, within 2^24.
Whole Bounds(DType dtype);
// Whether the type has all integers between the bounds.
bool Contains(DType dtype, const Whole& w);
Whole Union(const Whole& a, const Whole& b);

// Whether there is NaN among the constants from which a value is computed in a few steps:
// comparisons cannot tell it from numbers.
bool HasNan(const Value* v, int depth = 0);

// Whether a value computed in a few steps is NaN for some numbers: a softmax of -infinity only, or
// a function outside of its domain (OpDef::real_domain). A selection by arithmetic would not leave
// these out.
bool MayBeNan(const Value* v, int depth = 0);

// Whether float32 computes the operator on integers, of which all operands then are.
bool IsArithmetic(const Node& node);
// The bounds of its result, from those of values that are known as float32.
Whole ArithmeticBounds(const Node& node, const WholeOf& of);

}  // namespace nn::nnapi
