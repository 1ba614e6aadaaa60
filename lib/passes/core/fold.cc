#include <algorithm>
#include <iterator>

#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/array/arrange/permute.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/block_weights.h"
#include "passes/core/passes.h"
#include "passes/core/regions.h"
#include "passes/facts/known_values.h"

namespace nn {
namespace {

// Larger or costlier constants are computed at run time: they would bloat a converted file.
constexpr uint64_t kMaxFoldedBytes = uint64_t{256} << 20;
// The limit for a whole pass: chains of nodes may exceed memory.
constexpr uint64_t kMaxFoldedInAll = uint64_t{1} << 30;
constexpr uint64_t kMaxFoldedWork = uint64_t{1} << 30;

bool WorthFolding(const Node& node, uint64_t& left) {
  if (!IsFoldable(node)) return false;
  // Files store quantized weights; see DequantizeConstants.
  if (node.Is<DequantizeAttrs>()) return false;
  for (const Value* v : node.inputs())
    if (v != nullptr && !v->is_constant()) return false;
  uint64_t bytes = 0;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const uint64_t most = MostBytesOf(node, i);
    if (most > kMaxFoldedBytes) return false;
    bytes += most;
  }
  if (bytes > left || (node.op().multiply_adds != nullptr && WorkOf(node) > kMaxFoldedWork))
    return false;
  left -= bytes;
  return true;
}

// Whether the node permutes a constant that is large, or in blocks in the source file, and that
// nothing else uses: folding costs nothing before the contents are needed, and the file does not
// grow.
bool PermutesConstant(const Node& node) {
  if (node.op().movement != Movement::kPermuted) return false;
  const Value* x = node.input(0);
  return x->is_constant() && x->uses().size() == 1 &&
         (x->constant().byte_size() >= kDeferredPermutationBytes ||
          StoredBlocks(x->constant()) != nullptr);
}

// `left`: remaining bytes of constants that may be created. `in_region`: a run may not reach it.
Result<bool> FoldNode(Graph& graph, Node& node, uint64_t& left, bool in_region) {
  if (PermutesConstant(node)) {
    const auto map = AxisMapOf(node);
    if (!map) return InternalError("{} is not a permutation", node.Describe());
    NN_ASSIGN(Tensor permuted, RearrangeConstant(node.input(0)->constant(), *map));
    graph.MakeConstant(node.output(), std::move(permuted));
    return true;
  }
  EvalBudget budget;
  budget.bytes = left;
  if (!WorthFolding(node, left)) return false;
  std::vector<const Tensor*> inputs;
  for (const Value* v : node.inputs()) inputs.push_back(v == nullptr ? nullptr : &v->constant());
  auto outputs = EvalNode(node, inputs, &budget);
  if (!outputs) {
    // Unsupported nodes stay; consumers report them. Text may exceed the limit only now.
    const ErrorCode code = outputs.error().code();
    if (code == ErrorCode::kUnsupported || code == ErrorCode::kLimit) return false;
    if (code == ErrorCode::kModel && in_region) return false;
    return tl::unexpected(outputs.error());
  }
  for (const Tensor& t : *outputs)
    if (t.dtype() == DType::kString) left -= std::min(left, t.memory_size());
  for (size_t i = 0; i < outputs->size(); ++i)
    graph.MakeConstant(node.output(i), std::move((*outputs)[i]));
  return true;
}

// Replaces a value by a constant if inference knows its contents as numbers.
Status FoldElements(Graph& graph, Value* value) {
  if (value->is_constant()) return {};
  NN_ASSIGN(auto contents, TensorOfElements(*value));
  if (contents) graph.MakeConstant(value, *std::move(contents));
  return {};
}

Status FoldGraph(Graph& graph, uint64_t& left, bool in_region) {
  const auto fold_region = [&](Graph& region) {
    uint64_t left_after = left;
    Status status = FoldGraph(region, left_after, /*in_region=*/true);
    if (status) left = left_after;
    return status;
  };
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    // What replaces a node is inserted before it.
    const bool is_first = it == graph.nodes().begin();
    const auto previous = is_first ? it : std::prev(it);
    Node& node = *it;
    NN_RETURN_IF_ERROR(InferNode(node));
    if (node.op().absorb_inputs != nullptr) {
      NN_ASSIGN(const bool absorbed, node.op().absorb_inputs(graph, node));
      if (absorbed) NN_RETURN_IF_ERROR(InferNode(node));
    }
    if (!node.regions().empty()) {
      NN_ASSIGN(const bool replaced, FoldRegions(graph, node, fold_region));
      if (replaced) {
        it = is_first ? graph.nodes().begin() : std::next(previous);
        continue;
      }
    }
    ++it;
    NN_ASSIGN(const bool folded, FoldNode(graph, node, left, in_region));
    if (folded) continue;
    for (size_t i = 0; i < node.outputs().size(); ++i)
      NN_RETURN_IF_ERROR(FoldElements(graph, node.output(i)));
  }
  return {};
}

}  // namespace

Status FoldConstants(Graph& graph) {
  uint64_t left = kMaxFoldedInAll;
  NN_RETURN_IF_ERROR(FoldGraph(graph, left, /*in_region=*/false));
  return RemoveDeadCode(graph);
}

Status RemoveDeadCode(Graph& graph) {
  for (auto it = graph.nodes().end(); it != graph.nodes().begin();) {
    --it;
    const auto outputs = it->outputs();
    if (it->op().is_check || HasCheck(*it) ||
        std::ranges::any_of(outputs, [&](const Value* v) { return graph.HasUses(v); })) {
      if (!it->regions().empty()) NN_RETURN_IF_ERROR(TrimRegions(graph, *it));
      continue;
    }
    Node* dead = &*it;
    ++it;
    graph.Erase(dead);
  }
  graph.EraseDeadValues();
  return {};
}

}  // namespace nn
