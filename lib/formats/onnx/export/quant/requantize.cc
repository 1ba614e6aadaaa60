#include "formats/onnx/export/quant/requantize.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formats/onnx/export/quant/integers.h"
#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/permute.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/requant.h"
#include "ops/reduce/quant_reduce.h"
#include "ops/reduce/reduce.h"
#include "rewrite/expand.h"

namespace nn::onnx {
namespace {

// More would leave the range of 64-bit integers, or wrap in the reference.
constexpr int kMaxShift = 14;
// More factors make too many nodes.
constexpr int64_t kMaxFactors = 64;

// Whether both are quantized per tensor.
bool ArePerTensor(const Type& x, const Type& y) {
  return x.quantized() && y.quantized() && !x.quant->per_axis() && !y.quant->per_axis();
}

bool IsRequantizeTo32(const Node& node) {
  if (!node.Is("quantize") || node.arithmetic() == Arithmetic::kDefault) return false;
  const Type &x = node.input(0)->type(), &y = node.output()->type();
  return x.dtype == DType::kI16 && y.dtype == DType::kI32 && ArePerTensor(x, y);
}

// Whether TensorFlow Lite has an arithmetic for the node, a reduce_prod.
bool HasIntegerProduct(const Node& node) {
  const Type &x = node.input(0)->type(), &y = node.output()->type();
  return node.arithmetic() != Arithmetic::kDefault && x.ranked() && ArePerTensor(x, y) &&
         x.dtype == y.dtype && (x.dtype == DType::kI8 || x.dtype == DType::kI16) &&
         y.quant->scale() > 0;
}

}  // namespace

Result<bool> ExpandRequantize(Graph& graph, Node& node) {
  if (!IsRequantizeTo32(node)) return false;
  const Quant &from = *node.input(0)->type().quant, &to = *node.output()->type().quant;
  const FixedMultiplier m = QuantizeMultiplier(double{from.scale()} / double{to.scale()});
  if (m.shift > kMaxShift) return false;
  const int left = std::max(m.shift, 0), right = std::max(-m.shift, 0);
  Integers e(graph, node);
  NN_ASSIGN(Value * v, e.Of(node.input(0)));
  NN_ASSIGN(v, e.Times(v, int64_t{1} << left));
  NN_ASSIGN(v, e.HighMul(v, m.multiplier));
  NN_ASSIGN(v, e.ShiftRight(v, right));
  return e.Finish(v);
}

Result<bool> ExpandQuantizedProd(Graph& graph, Node& node) {
  if (!node.Is("reduce_prod") || !HasIntegerProduct(node)) return false;
  const Type& x = node.input(0)->type();
  NN_ASSIGN(const std::vector<int> axes, ReducedAxes(node.attrs<ReduceAttrs>().axes, x.rank()));
  std::vector<int64_t> perm;
  Dims rows;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (std::ranges::find(axes, axis) == axes.end()) {
      perm.push_back(axis);
      rows.push_back(x.dim(axis));
    }
  Dim count(1);
  for (const int axis : axes) {
    perm.push_back(axis);
    count = count * x.dim(axis);
  }
  if (!count.is_const() || count.value() < 1 || count.value() > kMaxFactors)
    return UnsupportedError(
        "{}: TensorFlow Lite rounds after each factor, which ONNX can do for a known number of "
        "factors up to {}; use --dequantize",
        node.Describe(), kMaxFactors);
  const FixedMultiplier m = FactorMultiplier(*x.quant, *node.output()->type().quant, count.value());
  Integers e(graph, node);
  NN_ASSIGN(Value * v, e.Of(node.input(0)));
  NN_ASSIGN(v, e.Add("transpose", {v}, TransposeAttrs{perm}));
  rows.push_back(count);
  NN_ASSIGN(v, e.Add("reshape", {v}, ReshapeAttrs{std::move(rows)}));
  Value* product = nullptr;
  for (int64_t i = 0; i < count.value(); ++i) {
    NN_ASSIGN(Value* const factor, e.Add("gather", {v, e.Number(i)}, GatherAttrs{-1, 0}));
    if (product == nullptr) {
      product = factor;
      continue;
    }
    NN_ASSIGN(product, e.Add("mul", {product, factor}));
    NN_ASSIGN(product, e.Rescale64(product, m));
  }
  NN_ASSIGN(product, e.Rescale64(product, m));
  return e.Finish(product);
}

}  // namespace nn::onnx
