// QuantizeWeights: constants as integers after dequantize.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/control/region.h"
#include "ops/quant/int8_rules.h"
#include "passes/core/passes.h"
#include "passes/quantize/palette.h"
#include "passes/quantize/prune.h"
#include "passes/quantize/quantize.h"

namespace nn {
namespace {

// Scales have 4 bytes.
constexpr int64_t kMinPerScale = 64;

class WeightQuantizer {
 public:
  WeightQuantizer(Graph& graph, const QuantizeOptions& options)
      : graph_(graph), options_(options) {}

  Result<QuantizeSummary> Run() {
    for (const Node& node : graph_.nodes())
      if (options_.keeps && options_.keeps(node)) ++summary_.kept;
    std::vector<Value*> weights;
    for (Value& v : graph_.values())
      if (IsWeight(v)) weights.push_back(&v);
    for (Value* v : weights) NN_RETURN_IF_ERROR(Store(v));
    NN_RETURN_IF_ERROR(RemoveDeadCode(graph_));
    return std::move(summary_);
  }

 private:
  bool IsWeight(const Value& v) const {
    if (!v.is_constant() || v.dtype() != DType::kF32 || v.type().quantized() || v.uses().empty() ||
        graph_.IsOutput(&v) || v.constant().rank() < 2 ||
        v.constant().elements() < kMinQuantizedWeight)
      return false;
    return std::ranges::none_of(v.uses(), [&](const Use& use) {
      return (options_.keeps && options_.keeps(*use.node)) || !use.node->regions().empty();
    });
  }

  // The axis of output channels; of constants that are not weights of a product, the one whose
  // scales represent the numbers best, if they take at most a sixteenth of the integers.
  Result<int> AxisOf(const Value& v) const {
    for (const Use& use : v.uses())
      if (const auto axes = ProductAxesOf(*use.node); axes && use.index == 1)
        if (axes->per_channel || axes->groups == 1) return axes->weights_output;
    const Tensor& t = v.constant();
    int best = -1;
    double best_snr = 0;
    for (int axis = 0; axis < t.rank(); ++axis) {
      if (t.dim(axis) < 2 || t.elements() / t.dim(axis) < kMinPerScale) continue;
      NN_ASSIGN(const QuantizedTensor trial, QuantizeSymmetric(t, axis, options_.type));
      NN_ASSIGN(const Tensor reals, RealsOf(trial));
      const double snr = SnrOf(t, reals);
      if (best >= 0 && snr <= best_snr) continue;
      best = axis;
      best_snr = snr;
    }
    return best;
  }

  Status Store(Value* v) {
    // Numbers without a nearest integer stay.
    if (!LargestMagnitudes(v->constant(), -1)) return {};
    if (options_.table_bits > 0) {
      NN_ASSIGN(Tensor made, Palettized(v->constant(), options_.table_bits));
      return StoreFloats(v, std::move(made), fmt::format("{}-bit table", options_.table_bits));
    }
    if (options_.zeros > 0) {
      NN_ASSIGN(Tensor made, Pruned(v->constant(), options_.zeros));
      return StoreFloats(v, std::move(made), fmt::format("{:.4g} % zeros", 100 * options_.zeros));
    }
    int axis = -1;
    if (!options_.per_tensor || options_.block > 0) {
      NN_ASSIGN(axis, AxisOf(*v));
    }
    const int64_t rows = axis < 0 ? 1 : v->constant().dim(axis);
    const int64_t columns = rows == 0 ? 0 : v->constant().elements() / rows;
    if (options_.block > 0 && columns > options_.block && columns % options_.block == 0)
      return StoreBlocks(v, std::max(axis, 0));
    NN_ASSIGN(QuantizedTensor made, QuantizeSymmetric(v->constant(), axis, options_.type));
    NN_ASSIGN(Node* const real, Dequantized(*v, v->constant(), std::move(made)));
    graph_.ReplaceUses(v, real->output());
    return {};
  }

  Status StoreFloats(Value* v, Tensor made, std::string form) {
    const double snr = SnrOf(v->constant(), made);
    Value* const stored = graph_.AddConstant(std::move(made), SharedString(v->name()));
    graph_.ReplaceUses(v, stored);
    summary_.values.push_back(
        {v->id(), stored->id(), std::string(v->name()), "constant", std::move(form), snr});
    ++summary_.weights;
    return {};
  }

  // The scale of each block is that of a row of a matrix, which has the output channels first.
  Status StoreBlocks(Value* v, int axis) {
    const Tensor& t = v->constant();
    std::vector<int64_t> order(static_cast<size_t>(t.rank()));
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin(), order.begin() + axis, order.begin() + axis + 1);
    const AxisMap map = AxisMap::Permutation(order);
    NN_ASSIGN(const Tensor permuted, RearrangeTensor(t, map));
    NN_ASSIGN(const Tensor blocks,
              permuted.Reshaped({t.elements() / options_.block, options_.block}));
    NN_ASSIGN(QuantizedTensor made, QuantizeSymmetric(blocks, 0, options_.type));
    NN_ASSIGN(Node* const real, Dequantized(*v, blocks, std::move(made)));
    Node* const before = graph_.After(real->output());
    NN_ASSIGN(Node * node, graph_.Append("reshape", {real->output()},
                                         ReshapeAttrs{ToDims(permuted.dims()), false}, 1, before));
    if (!map.IsIdentity()) {
      std::vector<int64_t> back(order.size());
      for (size_t i = 0; i < order.size(); ++i)
        back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
      NN_ASSIGN(node,
                graph_.Append("transpose", {node->output()}, TransposeAttrs{back}, 1, before));
    }
    graph_.ReplaceUses(v, node->output());
    return {};
  }

  // `want` has the numbers of the value in the shape of the integers.
  Result<Node*> Dequantized(const Value& v, const Tensor& want, QuantizedTensor made) {
    NN_ASSIGN(const Tensor reals, RealsOf(made));
    const double snr = SnrOf(want, reals);
    Value* const stored =
        graph_.AddConstant(std::move(made.integers), SharedString(v.name()), made.quant);
    summary_.values.push_back({v.id(), stored->id(), std::string(v.name()), "constant",
                               QuantizedTypeText(stored->type()), snr});
    ++summary_.weights;
    return graph_.Append("dequantize", {stored}, DequantizeAttrs{}, 1, &graph_.nodes().front());
  }

  Graph& graph_;
  const QuantizeOptions& options_;
  QuantizeSummary summary_;
};

}  // namespace

Result<QuantizeSummary> QuantizeWeights(Graph& graph, const QuantizeOptions& options) {
  std::vector<QuantizeSummary> of_regions;
  NN_RETURN_IF_ERROR(ForEachRegion(graph, [&](Graph& region) -> Status {
    NN_ASSIGN(of_regions.emplace_back(), QuantizeWeights(region, options));
    return {};
  }));
  NN_ASSIGN(QuantizeSummary total, WeightQuantizer(graph, options).Run());
  for (QuantizeSummary& s : of_regions) {
    total.weights += s.weights;
    total.kept += s.kept;
    std::ranges::move(s.values, std::back_inserter(total.values));
  }
  return total;
}

}  // namespace nn
