#include "ops/quant/int8_rules.h"

#include "ir/op_def.h"
#include "ops/math/matmul.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"
#include "ops/support/window.h"

namespace nn {
namespace {

bool IsRanked(const Value* v) {
  return v != nullptr && v->type().ranked();
}

template <typename A>
ProductAxes ConvAxes(const Node& node) {
  const A& a = node.attrs<A>();
  const FilterAxes axes = AxesOf(a.filter_layout, node.input(1)->type().rank());
  return {axes.output, axes.input, ChannelAxis(a.layout, node.input(0)->type().rank()),
          ChannelAxis(a.layout, node.output()->type().rank()), a.groups};
}

}  // namespace

std::shared_ptr<const Quant> FixedResultQuant(const OpDef& op) {
  for (const FixedQuant& f : op.fixed_quants)
    if (f.x == DType::kI8 && f.y == DType::kI8) return Quant::PerTensor(f.scale, f.zero_point);
  return nullptr;
}

std::optional<ProductAxes> ProductAxesOf(const Node& node) {
  if (node.op().quant_rule != QuantRule::kProduct || !IsRanked(node.input(0)) ||
      !IsRanked(node.input(1)) || !IsRanked(node.output()))
    return std::nullopt;
  if (node.Is<ConvAttrs>()) return ConvAxes<ConvAttrs>(node);
  if (node.Is<ConvTransposeAttrs>()) {
    ProductAxes axes = ConvAxes<ConvTransposeAttrs>(node);
    axes.per_channel = axes.groups == 1;  // the filter has the channels of one group only
    return axes;
  }
  if (!node.Is<MatmulAttrs>()) return std::nullopt;
  const auto& a = node.attrs<MatmulAttrs>();
  const int rank_a = node.input(0)->type().rank();
  const int rank_b = node.input(1)->type().rank();
  if (rank_a < 2 || rank_b < 2) return std::nullopt;
  return ProductAxes{a.transpose_b ? rank_b - 2 : rank_b - 1,
                     a.transpose_b ? rank_b - 1 : rank_b - 2,
                     a.transpose_a ? rank_a - 2 : rank_a - 1,
                     node.output()->type().rank() - 1,
                     1,
                     rank_b == 2};
}

}  // namespace nn
