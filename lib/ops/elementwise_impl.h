// What the files of the elementwise family share. Internal to elementwise_*.cc.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/op_def.h"
#include "ops/functions.h"
#include "ops/integers.h"

namespace nn {

// The definition of an operator on integers, once for signed and once for unsigned ones, both
// widened to 64 bits; results are stored modulo their width. Null: not defined for integers. Binary
// functions also get the width of the type in bits.
struct IntegerUnary {
  int64_t (*s)(int64_t, const FunctionParams&) = nullptr;
  uint64_t (*u)(uint64_t, const FunctionParams&) = nullptr;
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

// kUnsupported: the operator on this type, as in "sin of f64".
tl::unexpected<Error> UnsupportedTypes(const EvalContext& ctx);

// Whether the node computes on quantised integers.
bool IsQuantised(const EvalContext& ctx);

// Evaluations of operators on quantised types by the algorithm that the node names (kUnsupported if
// it names none that there is).
Status EvalQuantisedUnary(EvalContext& ctx);
Status EvalQuantisedBinary(EvalContext& ctx);

// One registration function a file.
void RegisterUnaryOps(OpRegistry& ops);
void RegisterBinaryOps(OpRegistry& ops);
void RegisterLogicOps(OpRegistry& ops);
void RegisterSelectOp(OpRegistry& ops);
void RegisterCastOp(OpRegistry& ops);
void RegisterQuantizeOps(OpRegistry& ops);

// Shared pieces of definitions.
Status InferSameType(InferContext& ctx);  // output: the type of input 0, without quantisation
std::optional<AxesChange> ChangeUnaryAxes(const Node& node, Operand changed, const AxisMap& map);

}  // namespace nn
