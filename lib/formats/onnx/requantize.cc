#include "formats/onnx/requantize.h"

#include <algorithm>
#include <cstdint>

#include "ir/op_def.h"
#include "ops/math/elementwise.h"
#include "ops/quant/requant.h"
#include "passes/expand.h"

namespace nn::onnx {
namespace {

// More would leave the range of 64-bit integers, or wrap in the reference.
constexpr int kMostShift = 14;

bool IsRequantizeTo32(const Node& node) {
  if (!node.Is("quantize") || node.arithmetic() == Arithmetic::kDefault) return false;
  const Type &x = node.input(0)->type(), &y = node.output()->type();
  return x.dtype == DType::kI16 && y.dtype == DType::kI32 && x.quantized() && y.quantized() &&
         !x.quant->per_axis() && !y.quant->per_axis();
}

}  // namespace

Result<bool> ExpandRequantize(Graph& graph, Node& node) {
  if (!IsRequantizeTo32(node)) return false;
  const Quant &from = *node.input(0)->type().quant, &to = *node.output()->type().quant;
  const FixedMultiplier m = QuantizeMultiplier(double{from.scale()} / double{to.scale()});
  if (m.shift > kMostShift) return false;
  const int left = std::max(m.shift, 0), right = std::max(-m.shift, 0);
  Expansion e(graph, node);
  const auto number = [&](int64_t n) { return e.Constant(Tensor::Of<int64_t>({}, {n})); };
  NN_ASSIGN(Value * v, e.Add("cast", {node.input(0)}, CastAttrs{.to = DType::kI64}));
  if (from.zero_point() != 0) {
    NN_ASSIGN(v, e.Add("sub", {v, number(from.zero_point())}));
  }
  // RoundingDoublingHighMul() of the shifted integer.
  NN_ASSIGN(v, e.Add("mul", {v, number(int64_t{m.multiplier} << left)}));
  NN_ASSIGN(v, e.Add("add", {v, number(int64_t{1} << 30)}));
  NN_ASSIGN(v, e.Add("floor_div", {v, number(int64_t{1} << 31)}));
  if (right > 0) {
    // RoundingShiftRight(): half a step more, less 1 for negative integers.
    NN_ASSIGN(Value* const sign, e.Add("floor_div", {v, number(int64_t{1} << 31)}));
    NN_ASSIGN(v, e.Add("add", {v, sign}));
    NN_ASSIGN(v, e.Add("add", {v, number(int64_t{1} << (right - 1))}));
    NN_ASSIGN(v, e.Add("floor_div", {v, number(int64_t{1} << right)}));
  }
  if (to.zero_point() != 0) {
    NN_ASSIGN(v, e.Add("add", {v, number(to.zero_point())}));
    NN_ASSIGN(v, e.Add("maximum", {v, number(MinInteger(DType::kI32))}));
    NN_ASSIGN(v, e.Add("minimum", {v, number(MaxInteger(DType::kI32))}));
  }
  NN_ASSIGN(Node* const y, AddLike(graph, node, "cast", {v}, CastAttrs{.to = DType::kI32}));
  y->set_arithmetic(Arithmetic::kDefault);
  return e.Replace(y->output());
}

}  // namespace nn::onnx
