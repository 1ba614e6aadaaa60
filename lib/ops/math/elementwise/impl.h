// Shared by the files of the elementwise family. Internal to elementwise_*.cc.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/op_def.h"
#include "numeric/functions.h"
#include "numeric/integers.h"

namespace nn {

// The definition of an operator on integers, once for signed and once for unsigned ones, both
// widened to 64 bits; results wrap to the width of their type, `bits`. Null: not defined for
// integers.
struct IntegerUnary {
  int64_t (*s)(int64_t, const FunctionParams&, int bits) = nullptr;
  uint64_t (*u)(uint64_t, const FunctionParams&, int bits) = nullptr;
};
struct IntegerBinary {
  int64_t (*s)(int64_t, int64_t, int bits) = nullptr;
  uint64_t (*u)(uint64_t, uint64_t, int bits) = nullptr;
};

// From a struct with `template <typename T> static T Run(...)`.
template <typename F>
constexpr IntegerUnary IntegersOf1() {
  return {&F::template Run<int64_t>, &F::template Run<uint64_t>};
}
template <typename F>
constexpr IntegerBinary IntegersOf2() {
  return {&F::template Run<int64_t>, &F::template Run<uint64_t>};
}

// kUnsupported, naming the input types: "f64 is not supported".
tl::unexpected<Error> UnsupportedTypes(const EvalContext& ctx);

// Whether the node computes on quantized integers.
bool IsQuantized(const EvalContext& ctx);

// Evaluate operators on quantized types by the node's integer arithmetic; kUnsupported if the node
// has none.
Status EvalQuantizedUnary(EvalContext& ctx);
Status EvalQuantizedBinary(EvalContext& ctx);

// Bounds of results (OpDef::range). RisingRange: of functions of one operand that do not fall.
Interval RisingRange(RangeContext& ctx, size_t output);
Interval MagnitudeRange(RangeContext& ctx, size_t output);
Interval NegRange(RangeContext& ctx, size_t output);
Interval ReciprocalRange(RangeContext& ctx, size_t output);
Interval RsqrtRange(RangeContext& ctx, size_t output);
Interval LeakyReluRange(RangeContext& ctx, size_t output);
Interval UnitRange(RangeContext& ctx, size_t output);
Interval SignedUnitRange(RangeContext& ctx, size_t output);
Interval AddRange(RangeContext& ctx, size_t output);
Interval SubRange(RangeContext& ctx, size_t output);
Interval MulRange(RangeContext& ctx, size_t output);
Interval DivRange(RangeContext& ctx, size_t output);
Interval FloorDivRange(RangeContext& ctx, size_t output);
Interval ModRange(RangeContext& ctx, size_t output);
Interval FmodRange(RangeContext& ctx, size_t output);
Interval PowRange(RangeContext& ctx, size_t output);
Interval SmallerRange(RangeContext& ctx, size_t output);
Interval LargerRange(RangeContext& ctx, size_t output);
Interval Atan2Range(RangeContext& ctx, size_t output);
Interval SquaredDifferenceRange(RangeContext& ctx, size_t output);
Interval PreluRange(RangeContext& ctx, size_t output);

// Shared pieces of definitions.
Status InferSameType(InferContext& ctx);  // output: the type of input 0, without quantization
std::optional<AxesChange> ChangeUnaryAxes(const Node& node, Operand changed, const AxisMap& map);

}  // namespace nn
