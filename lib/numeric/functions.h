// The list of elementwise functions: X(operator name, function of functions-inl.h).
//
// A function in the list has a scalar reference and a SIMD kernel, and can be fused after the
// kernels that produce its input. elementwise_*.cc defines everything else about its operator.
#pragma once

#include <array>

namespace nn {

// The constants of a function, from the attributes of its node.
using FunctionParams = std::array<float, 4>;

#define NN_UNARY_FUNCTIONS(X)      \
  X("abs", AbsFn)                  \
  X("acos", AcosFn)                \
  X("acosh", AcoshFn)              \
  X("asin", AsinFn)                \
  X("asinh", AsinhFn)              \
  X("atan", AtanFn)                \
  X("atanh", AtanhFn)              \
  X("ceil", CeilFn)                \
  X("celu", CeluFn)                \
  X("clip", ClipFn)                \
  X("cos", CosFn)                  \
  X("cosh", CoshFn)                \
  X("elu", EluFn)                  \
  X("erf", ErfFn)                  \
  X("exp", ExpFn)                  \
  X("exp2", Exp2Fn)                \
  X("expm1", Expm1Fn)              \
  X("floor", FloorFn)              \
  X("gelu", GeluFn)                \
  X("hard_sigmoid", HardSigmoidFn) \
  X("hard_swish", HardSwishFn)     \
  X("leaky_relu", LeakyReluFn)     \
  X("log", LogFn)                  \
  X("log1p", Log1pFn)              \
  X("log_sigmoid", LogSigmoidFn)   \
  X("mish", MishFn)                \
  X("neg", NegFn)                  \
  X("reciprocal", ReciprocalFn)    \
  X("relu", ReluFn)                \
  X("round", RoundFn)              \
  X("round_bf16", RoundBf16Fn)     \
  X("round_f16", RoundF16Fn)       \
  X("rsqrt", RsqrtFn)              \
  X("selu", SeluFn)                \
  X("shrink", ShrinkFn)            \
  X("sigmoid", SigmoidFn)          \
  X("sign", SignFn)                \
  X("silu", SiluFn)                \
  X("sin", SinFn)                  \
  X("sinh", SinhFn)                \
  X("softplus", SoftplusFn)        \
  X("softsign", SoftsignFn)        \
  X("sqrt", SqrtFn)                \
  X("tan", TanFn)                  \
  X("tanh", TanhFn)                \
  X("thresholded_relu", ThresholdedReluFn)

#define NN_BINARY_FUNCTIONS(X)                 \
  X("add", AddFn)                              \
  X("atan2", Atan2Fn)                          \
  X("div", DivFn)                              \
  X("log_add_exp", LogAddExpFn)                \
  X("maximum", MaximumFn)                      \
  X("minimum", MinimumFn)                      \
  X("mul", MulFn)                              \
  X("pow", PowFn)                              \
  X("prelu", PreluFn)                          \
  X("squared_difference", SquaredDifferenceFn) \
  X("sub", SubFn)

}  // namespace nn
