#include "formats/onnx/export/quant/requantize.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formats/onnx/export/quant/integers.h"
#include "ir/op_def.h"
#include "ops/quant/requant.h"
#include "ops/reduce/quant_reduce.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn::onnx {
namespace {

// Limit of ONNX: power of two of the factor with which i16 is written as quantized i32. More would
// leave the range of 64-bit integers, or wrap in the reference.
constexpr int kMaxShift = 14;
// Limit of ONNX: factors of a written quantized product along axes. More would make too many nodes.
constexpr int64_t kMaxFactors = 64;

// Whether both are quantized per tensor.
bool ArePerTensor(const Type& x, const Type& y) {
  return x.quantized() && y.quantized() && !x.quant->per_axis() && !y.quant->per_axis();
}

bool IsRequantizeTo32(const Node& node) {
  if (node.arithmetic() == Arithmetic::kDefault) return false;
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
  Expansion e(graph, node);
  const Term scaled = i64::Times(i64::Of(node.input(0)), int64_t{1} << left);
  return i64::Replace(e, i64::ShiftRight(i64::HighMul(scaled, m.multiplier), right),
                      node.output()->type());
}

Result<bool> ExpandQuantizedProd(Graph& graph, Node& node) {
  if (!HasIntegerProduct(node)) return false;
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
  rows.push_back(count);
  Expansion e(graph, node);
  const Term v = Reshape(Transpose(i64::Of(node.input(0)), std::move(perm)), std::move(rows));
  const auto factor = [&](int64_t i) { return Gather(v, i64::Number(i), -1); };
  Term product = factor(0);
  for (int64_t i = 1; i < count.value(); ++i) product = i64::Rescale64(product * factor(i), m);
  return i64::Replace(e, i64::Rescale64(product, m), node.output()->type());
}

}  // namespace nn::onnx
