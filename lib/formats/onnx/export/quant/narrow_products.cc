#include "formats/onnx/export/quant/narrow_products.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "formats/onnx/export/quant/block_form.h"
#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/block_weights.h"
#include "passes/core/passes.h"

namespace nn::onnx {
namespace {

bool IsCast(const Node* node, DType from, DType to) {
  return node != nullptr && node->Is<CastAttrs>() && node->input(0)->dtype() == from &&
         node->output()->dtype() == to && !node->input(0)->type().quantized();
}

// The value of float16 that `v` is cast from; null if there is none.
Value* HalfBefore(const Value* v) {
  return IsCast(v->def(), DType::kF16, DType::kF32) ? v->def()->input(0) : nullptr;
}

// The constant in float16; nullopt if that changes a number.
Result<std::optional<Tensor>> HalfOf(const Tensor& tensor) {
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(DType::kF16, tensor.dims()));
  for (int64_t i = 0; i < out.elements(); ++i) out.SetDouble(i, tensor.GetDouble(i));
  Tensor half = out.Finish();
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (half.GetDouble(i) != tensor.GetDouble(i)) return std::nullopt;
  return half;
}

Result<bool> AreHalves(const std::vector<float>& numbers) {
  NN_ASSIGN(const auto half, HalfOf(Tensor::Of({static_cast<int64_t>(numbers.size())}, numbers)));
  return half.has_value();
}

Result<bool> NarrowProduct(Graph& graph, Node& node) {
  Value* const a = HalfBefore(node.input(0));
  const Value& y = *node.output();
  const auto is_rounded = [](const Use& use) { return IsCast(use.node, DType::kF32, DType::kF16); };
  if (a == nullptr || y.uses().empty() || graph.IsOutput(&y) ||
      !std::ranges::all_of(y.uses(), is_rounded))
    return false;
  const BlockWeights& weights = *StoredBlocks(node.input(1)->constant());
  NN_ASSIGN(const bool has_scales, AreHalves(weights.scales));
  NN_ASSIGN(const bool has_zeros, AreHalves(weights.zeros));
  if (!has_scales || !has_zeros) return false;
  if (Value* const bias = node.input(2)) {
    Value* half = HalfBefore(bias);
    if (half == nullptr && bias->is_constant()) {
      NN_ASSIGN(auto numbers, HalfOf(bias->constant()));
      if (numbers) half = graph.AddConstant(*std::move(numbers), bias->name());
    }
    if (half == nullptr) return false;
    graph.SetInput(&node, 2, half);
  }
  graph.SetInput(&node, 0, a);
  Type type = y.type();
  type.dtype = DType::kF16;
  node.output()->set_type(std::move(type));
  std::vector<Node*> casts;
  for (const Use& use : y.uses()) casts.push_back(use.node);
  node.output()->set_name(casts[0]->output()->name());
  for (Node* const cast : casts) graph.Replace(cast, node.output());
  return true;
}

}  // namespace

Status NarrowProducts(Graph& graph, int64_t opset) {
  NN_RETURN_IF_ERROR(ForEachRegion(graph, [&](Graph& g) { return NarrowProducts(g, opset); }));
  bool any = false;
  for (Node& node : graph.nodes()) {
    if (!PrefersPackedForm(node, opset)) continue;
    NN_ASSIGN(const bool narrowed, NarrowProduct(graph, node));
    any = any || narrowed;
  }
  return any ? RemoveDeadCode(graph) : Status();
}

}  // namespace nn::onnx
