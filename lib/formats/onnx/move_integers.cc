#include "formats/onnx/move_integers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/math/elementwise.h"
#include "passes/passes.h"

namespace nn::onnx {
namespace {

// The integers whose dequantized numbers the node moves; null if it does something else.
Value* MovedIntegers(const Node& node) {
  if (node.op().movement == Movement::kNone) return nullptr;
  const Node* const dequantize = node.input(0)->def();
  if (dequantize == nullptr || !dequantize->Is("dequantize")) return nullptr;
  Value* const x = dequantize->input(0);
  const bool is_mapped = x->type().quantized() && !x->type().quant->per_axis();
  return is_mapped ? x : nullptr;
}

bool IsOnlyQuantized(const Graph& graph, const Value& v) {
  return !graph.IsOutput(&v) && !v.uses().empty() &&
         std::ranges::all_of(v.uses(), [](const Use& use) { return use.node->Is("quantize"); });
}

}  // namespace

Status MoveIntegers(Graph& graph) {
  NN_RETURN_IF_ERROR(ForEachRegion(graph, MoveIntegers));
  bool any = false;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node& node = *it++;
    Value* const integers = MovedIntegers(node);
    if (integers == nullptr || IsOnlyQuantized(graph, *node.output())) continue;
    const auto attrs = node.input(0)->def()->attrs<DequantizeAttrs>();
    const Type type = node.output()->type();
    std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
    inputs[0] = integers;
    NN_ASSIGN(Node* const moved,
              graph.Append(node.op_name(), std::move(inputs), node.attrs(), 1, &node));
    moved->set_name(node.name());
    moved->set_source(node.source());
    NN_ASSIGN(Node* const reals, graph.Append("dequantize", {moved->output()}, attrs, 1, &node));
    reals->output()->set_type(type);
    graph.Replace(&node, reals->output());
    any = true;
  }
  return any ? RemoveDeadCode(graph) : Status();
}

}  // namespace nn::onnx
