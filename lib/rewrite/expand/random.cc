// Random numbers in terms of others.
#include <vector>

#include "ir/op_def.h"
#include "ops/array/shape_of.h"
#include "ops/math/random.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// The node's numbers from those of the attributes `unit`, by a product and a sum.
template <typename A>
Result<bool> ScaleUnit(Graph& graph, Node& node, A unit, float factor, float offset) {
  const DType dtype = node.attrs<A>().dtype;
  Term y = Apply(node.op_name(), node.inputs(), unit);
  if (factor != 1 || offset != 0) y = y * factor + offset;
  if (dtype != DType::kF32) y = Cast(y, dtype);
  return Expansion(graph, node).Replace(y);
}

}  // namespace

Result<bool> ExpandRandom(Graph& graph, Node& node) {
  if (node.Is<RandomUniformAttrs>()) {
    const auto& a = node.attrs<RandomUniformAttrs>();
    RandomUniformAttrs unit = a;
    unit.low = 0;
    unit.high = 1;
    unit.dtype = DType::kF32;
    if (a.low == 0 && a.high == 1 && a.dtype == DType::kF32) return false;
    return ScaleUnit(graph, node, std::move(unit), a.high - a.low, a.low);
  }
  const auto& a = node.attrs<RandomNormalAttrs>();
  RandomNormalAttrs unit = a;
  unit.mean = 0;
  unit.scale = 1;
  unit.dtype = DType::kF32;
  if (a.mean == 0 && a.scale == 1 && a.dtype == DType::kF32) return false;
  return ScaleUnit(graph, node, std::move(unit), a.scale, a.mean);
}

Result<bool> ExpandBernoulli(Graph& graph, Node& node) {
  const auto& a = node.attrs<BernoulliAttrs>();
  Value* const p = node.input(0);
  RandomUniformAttrs uniform;
  static_cast<Seeds&>(uniform) = a;
  Terms shape;
  if (p->type().ranked() && KnownBeforeRun(*p->type().dims)) {
    uniform.dims = *p->type().dims;
  } else {
    shape = {Apply("shape_of", {p}, ShapeOfAttrs{})};
  }
  const Term u = Apply("random_uniform", std::move(shape), std::move(uniform));
  const Term y = Less(u, p->dtype() == DType::kF32 ? Term(p) : Cast(p, DType::kF32));
  const DType dtype = node.output()->dtype();
  return Expansion(graph, node).Replace(dtype == DType::kBool ? y : Cast(y, dtype));
}

Result<bool> ExpandFloatLogits(Graph& graph, Node& node) {
  if (node.input(0)->dtype() == DType::kF32) return false;
  std::vector<Term> operands(node.inputs().begin(), node.inputs().end());
  operands[0] = Cast(operands[0], DType::kF32);
  return Expansion(graph, node)
      .Replace(Apply("multinomial", std::move(operands), node.attrs<MultinomialAttrs>()));
}

}  // namespace nn
