#include "rewrite/expand/tflite_integers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/softmax.h"
#include "ops/quant/requant.h"
#include "ops/quant/tflite_elementwise.h"
#include "ops/support/term_ops.h"
#include "passes/qdq/qdq.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// The operator on real numbers.
Result<Tensor> RealFunction(const Node& node, const std::vector<float>& x) {
  Graph scratch;
  const Tensor reals = Tensor::Of({std::ssize(x)}, x);
  NN_ASSIGN(Node* const real,
            scratch.Append(node.op_name(), {scratch.AddConstant(reals)}, node.attrs()));
  NN_ASSIGN(std::vector<Tensor> y, EvalNode(*real, {&reals}));
  return std::move(y[0]);
}

// Whether the quantized real function gives the integers of the table, or their neighbors. Where it
// is not a number, nothing is lost.
bool IsNear(const Tensor& reals, const std::vector<int64_t>& table, const Type& y) {
  const double scale = double{y.quant->scale()};
  for (size_t i = 0; i < table.size(); ++i) {
    const double real = reals.GetDouble(static_cast<int64_t>(i));
    if (std::isnan(real)) continue;
    const double steps = std::round(real / scale) + static_cast<double>(y.quant->zero_point());
    const auto low = static_cast<double>(MinInteger(y.dtype));
    const auto high = static_cast<double>(MaxInteger(y.dtype));
    if (std::abs(std::clamp(steps, low, high) - static_cast<double>(table[i])) > 1) return false;
  }
  return true;
}

}  // namespace

Result<bool> TabulateUnary(Graph& graph, Node& node) {
  if (node.op().quant_rule != QuantRule::kElementwise || node.inputs().size() != 1 ||
      node.arithmetic() != Arithmetic::kTflite)
    return false;
  const Type &x = node.input(0)->type(), &y = node.output()->type();
  if (!x.ranked()) return false;
  const auto function = TfliteUnary(node, x, y);
  if (!function) return false;  // without such arithmetic, the target reports the node
  const int64_t low = MinInteger(x.dtype);
  std::vector<float> reals;
  std::vector<int64_t> table;
  for (int64_t q = low; q <= MaxInteger(x.dtype); ++q) {
    reals.push_back(static_cast<float>(q - x.quant->zero_point()) * x.quant->scale());
    table.push_back(function->run(std::max(static_cast<int32_t>(q), function->smallest)));
  }
  NN_ASSIGN(const Tensor exact, RealFunction(node, reals));
  if (IsNear(exact, table, y)) return false;
  Expansion e(graph, node);
  const Term number = Cast(node.input(0), DType::kI32);
  NN_ASSIGN(TensorBuilder entries, TensorBuilder::Create(y.dtype, {std::ssize(table)}));
  for (int64_t i = 0; i < entries.elements(); ++i) entries.SetInt(i, table[static_cast<size_t>(i)]);
  const Term found = Gather(entries.Finish(), low == 0 ? number : number + -low, 0);
  NN_ASSIGN(Value* const v, e.Build(found));
  NN_ASSIGN(Value* const result, ExpansionLike(graph, node).Build(Cast(v, y.dtype)));
  result->def()->set_arithmetic(Arithmetic::kDefault);
  return e.Replace(result);
}

Result<bool> ScaleByBeta(Graph& graph, Node& node) {
  if (node.arithmetic() != Arithmetic::kTflite) return false;
  Value* const x = node.input(0);
  SoftmaxAttrs a = node.attrs<SoftmaxAttrs>();
  const float scale = x->type().quantized() ? x->type().quant->scale() * a.beta : 0;
  if (x->dtype() == DType::kI16 && a.beta < 0)
    return UnsupportedError(
        "{}: the integer arithmetic saturates with a beta of {}, which no softmax of real numbers "
        "does; use --dequantize",
        node.Describe(), a.beta);
  if (!(scale > 0) || !std::isfinite(scale) || a.beta == 1 || x->dtype() != DType::kI16 ||
      x->type().quant->per_axis())
    return false;
  Node* const scaled =
      graph.AddNode(*Ops().Find("cast"), {x}, CastAttrs{.to = x->dtype()}, 1, &node);
  scaled->set_source(node.source());
  Type type;
  type.dtype = x->dtype();
  type.quant = Quant::PerTensor(scale, x->type().quant->zero_point());
  scaled->output()->set_type(std::move(type));
  NN_RETURN_IF_ERROR(InferNode(*scaled));
  graph.SetInput(&node, 0, scaled->output());
  a.beta = 1;
  node.set_attrs(a);
  NN_RETURN_IF_ERROR(InferNode(node));
  return true;
}

Status PrepareQuantized(Graph& graph, std::span<const Rewrite> rewrites) {
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node& node = *it++;
    for (const Rewrite& rewrite : rewrites) {
      if (!rewrite.op.empty() && rewrite.op != node.op_name()) continue;
      NN_ASSIGN(const bool changed, rewrite.apply(graph, node));
      if (changed) break;
    }
  }
  return UnfuseQdq(graph);
}

}  // namespace nn
