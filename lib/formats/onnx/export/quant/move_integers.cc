#include "formats/onnx/export/quant/move_integers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/slice.h"
#include "ops/control/region.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/pool.h"
#include "ops/support/term_ops.h"
#include "passes/core/passes.h"
#include "rewrite/expand.h"

namespace nn::onnx {
namespace {

// Whether the node takes some of its numbers, which ONNX defines for these integers, too.
bool Selects(const Node& node, const Type& integers) {
  const bool is_byte = integers.dtype == DType::kI8 || integers.dtype == DType::kU8;
  if (node.Is<SliceAttrs>()) return is_byte || integers.dtype == DType::kI16;
  // The order of the integers is that of the numbers.
  return node.Is<MaxPoolAttrs>() && node.outputs().size() == 1 && is_byte &&
         integers.quant->scales[0] > 0;
}

// The integers with one scale that `v` is dequantized from; null if it is not.
Value* IntegersOf(const Value* v) {
  const Node* const dequantize = v == nullptr ? nullptr : v->def();
  if (dequantize == nullptr || !dequantize->Is<DequantizeAttrs>()) return nullptr;
  Value* const x = dequantize->input(0);
  return x->type().quantized() && !x->type().quant->per_axis() ? x : nullptr;
}

// The integers whose dequantized numbers the node moves; null if it does something else.
Value* MovedIntegers(const Node& node) {
  Value* const x = node.inputs().empty() ? nullptr : IntegersOf(node.input(0));
  if (x == nullptr) return nullptr;
  return node.op().movement != Movement::kNone || Selects(node, x->type()) ? x : nullptr;
}

// Whether the node is a product with a matrix that ONNX Runtime joins with the bias after it to a
// Gemm, whose operand it reshapes.
bool BecomesGemm(const Node& node) {
  if (!node.Is<MatmulAttrs>() || node.input(2) != nullptr) return false;
  const Type &a = node.input(0)->type(), &b = node.input(1)->type();
  const auto uses = node.output()->uses();
  return a.ranked() && a.rank() != 2 && b.ranked() && b.rank() == 2 &&
         !node.attrs<MatmulAttrs>().transpose_a && uses.size() == 1 && uses[0].node->Is("add");
}

// Reshapes the integers, and the result of the product back.
Status FlattenProduct(Graph& graph, Node& node, Value* integers) {
  const Node& dequantize = *node.input(0)->def();
  const Type type = node.output()->type();
  const Dims& dims = *node.input(0)->type().dims;
  Dim rows(1);
  for (size_t i = 0; i + 1 < dims.size(); ++i) rows = rows * dims[i];
  Expansion e(graph, node);
  const Term flat = Reshape(integers, {rows, dims.back()});
  const Term reals = Apply("dequantize", {flat}, dequantize.attrs());
  NN_ASSIGN(Value* const product, e.Add("matmul", {reals, node.input(1)}, node.attrs()));
  product->def()->set_name(node.name());
  NN_ASSIGN(Value* const y, e.Build(Reshape(product, *type.dims)));
  graph.Replace(&node, y);
  return {};
}

bool IsOnlyQuantized(const Graph& graph, const Value& v) {
  return !graph.IsOutput(&v) && !v.uses().empty() &&
         std::ranges::all_of(v.uses(),
                             [](const Use& use) { return use.node->Is<QuantizeAttrs>(); });
}

}  // namespace

Status MoveIntegers(Graph& graph) {
  NN_RETURN_IF_ERROR(ForEachRegion(graph, MoveIntegers));
  bool any = false;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node& node = *it++;
    if (BecomesGemm(node) && node.output()->type().ranked()) {
      if (Value* const flat = IntegersOf(node.input(0))) {
        NN_RETURN_IF_ERROR(FlattenProduct(graph, node, flat));
        any = true;
        continue;
      }
    }
    Value* const integers = MovedIntegers(node);
    if (integers == nullptr || IsOnlyQuantized(graph, *node.output())) continue;
    const auto attrs = node.input(0)->def()->attrs<DequantizeAttrs>();
    const Type type = node.output()->type();
    std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
    inputs[0] = integers;
    NN_ASSIGN(Node* const moved,
              graph.Append(node.op_name(), std::move(inputs), node.attrs(), 1, &node));
    Type mapped = moved->output()->type();
    mapped.quant = integers->type().quant;
    moved->output()->set_type(std::move(mapped));
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
