#include <algorithm>

#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/array/permute.h"
#include "ops/array/shape.h"
#include "passes/known_values.h"
#include "passes/passes.h"

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
  if (node.Is("dequantize")) return false;
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

// Whether the node permutes a large constant that nothing else uses: folding costs nothing before
// the contents are needed, and the file does not grow.
bool PermutesConstant(const Node& node) {
  if (node.op().movement != Movement::kPermuted) return false;
  const Value* x = node.input(0);
  return x->is_constant() && x->uses().size() == 1 &&
         x->constant().byte_size() >= kDeferredPermutationBytes;
}

// `left`: remaining bytes of constants that may be created.
Result<bool> FoldNode(Graph& graph, Node& node, uint64_t& left) {
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

}  // namespace

Status FoldConstants(Graph& graph) {
  uint64_t left = kMaxFoldedInAll;
  for (Node& node : graph.nodes()) {
    NN_RETURN_IF_ERROR(InferNode(node));
    if (node.op().absorb_inputs != nullptr) {
      NN_ASSIGN(const bool absorbed, node.op().absorb_inputs(graph, node));
      if (absorbed) NN_RETURN_IF_ERROR(InferNode(node));
    }
    NN_ASSIGN(const bool folded, FoldNode(graph, node, left));
    if (folded) continue;
    for (size_t i = 0; i < node.outputs().size(); ++i)
      NN_RETURN_IF_ERROR(FoldElements(graph, node.output(i)));
  }
  return RemoveDeadCode(graph);
}

Status RemoveDeadCode(Graph& graph) {
  for (auto it = graph.nodes().end(); it != graph.nodes().begin();) {
    --it;
    const auto outputs = it->outputs();
    if (it->op().is_check || std::any_of(outputs.begin(), outputs.end(),
                                         [&](const Value* v) { return graph.HasUses(v); }))
      continue;
    Node* dead = &*it;
    ++it;
    graph.Erase(dead);
  }
  graph.EraseDeadValues();
  return {};
}

}  // namespace nn
