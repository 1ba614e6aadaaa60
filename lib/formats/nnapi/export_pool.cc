#include <algorithm>

#include "formats/nnapi/export.h"
#include "ops/pool.h"

namespace nn::nnapi {
namespace {

template <typename A>
Status WritePool(ExportContext& ctx, const Node& node, OperationType type) {
  const PoolAttrs& a = node.attrs<A>();
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  std::vector<uint32_t> inputs = {x};
  NN_ASSIGN(const auto windows, PoolWindows(a, *node.input(0)->type().dims));
  // An implicit scheme rounds the size its own way.
  const Padding padding = a.ceil_mode ? Padding::kExplicit : a.padding;
  NN_RETURN_IF_ERROR(AppendWindow(ctx, windows, padding, inputs));
  for (const int64_t size : {a.kernel[1], a.kernel[0]}) {
    NN_ASSIGN(const uint32_t operand, ctx.Int(size));
    inputs.push_back(operand);
  }
  NN_ASSIGN(const uint32_t activation, ctx.Activation(node));
  inputs.push_back(activation);
  return ctx.AddOperation(node, type, std::move(inputs));
}

Status WriteAveragePool(ExportContext& ctx, const Node& node) {
  return WritePool<AveragePoolAttrs>(ctx, node, OperationType::kAveragePool2d);
}
Status WriteMaxPool(ExportContext& ctx, const Node& node) {
  return WritePool<MaxPoolAttrs>(ctx, node, OperationType::kMaxPool2d);
}
Status WriteL2Pool(ExportContext& ctx, const Node& node) {
  return WritePool<LpPoolAttrs>(ctx, node, OperationType::kL2Pool2d);
}

std::optional<std::string> WhyNotPool(const Node& node, const PoolAttrs& a) {
  if (auto reason = WhyNotWindow(node, a.layout, a.dilations)) return reason;
  const Type& x = node.input(0)->type();
  const Type& y = node.output()->type();
  if (!x.quantised()) return std::nullopt;
  if (node.arithmetic() != Arithmetic::kTflite) return "quantised by other rules";
  if (!y.quantised() || !x.quant->SameMapping(*y.quant)) return "a result of another scale";
  return std::nullopt;
}

bool Pads(const Node& node, const PoolAttrs& a) {
  const auto windows = PoolWindows(a, *node.input(0)->type().dims);
  return !windows || std::any_of(windows->begin(), windows->end(), [](const Window& w) {
    return !(w.pad_begin == 0) || !(w.pad_end == 0);
  });
}

std::optional<std::string> WhyNotAveragePool(const Node& node) {
  const auto& a = node.attrs<AveragePoolAttrs>();
  if (auto reason = WhyNotPool(node, a)) return reason;
  if (a.count_include_pad && Pads(node, a)) return "an average that counts padding";
  return std::nullopt;
}

std::optional<std::string> WhyNotMaxPool(const Node& node) {
  if (node.outputs().size() > 1) return "the places of the maxima";
  return WhyNotPool(node, node.attrs<MaxPoolAttrs>());
}

std::optional<std::string> WhyNotL2Pool(const Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  if (a.p != 2.0f || !a.average) return fmt::format("the {}-norm of a window", a.p);
  if (node.input(0)->type().quantised()) return "quantised L2 pooling";
  return WhyNotPool(node, a);
}

}  // namespace

void AddPoolExports(std::vector<ExportRow>& rows) {
  rows.push_back({"average_pool", WriteAveragePool, WhyNotAveragePool, true});
  rows.push_back({"max_pool", WriteMaxPool, WhyNotMaxPool, true});
  rows.push_back({"lp_pool", WriteL2Pool, WhyNotL2Pool, true});
}

}  // namespace nn::nnapi
