// The list of elementwise functions: X(operator name, function of functions-inl.h).
//
// A function in the list has a scalar reference and a SIMD kernel, and can be fused behind the
// kernels that produce its input. What else there is to know of its operator stands in
// elementwise.cc.
#pragma once

#include <array>

#include "ir/graph.h"

namespace nn {

// Constants of a function, from the attributes of its node.
using FunctionParams = std::array<float, 4>;

#define NN_UNARY_FUNCTIONS(X)     \
  X("abs", AbsFn)                 \
  X("neg", NegFn)                 \
  X("relu", ReluFn)               \
  X("clip", ClipFn)               \
  X("leaky_relu", LeakyReluFn)    \
  X("hard_sigmoid", HardSigmoidFn) \
  X("hard_swish", HardSwishFn)    \
  X("exp", ExpFn)                 \
  X("sqrt", SqrtFn)

#define NN_BINARY_FUNCTIONS(X) \
  X("add", AddFn)              \
  X("sub", SubFn)              \
  X("mul", MulFn)              \
  X("div", DivFn)              \
  X("minimum", MinimumFn)      \
  X("maximum", MaximumFn)

// The constants of a unary function's node.
FunctionParams ParamsOf(const Node& node);

}  // namespace nn
