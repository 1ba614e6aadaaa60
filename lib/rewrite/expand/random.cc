// Random numbers in terms of others.
#include <vector>

#include "ir/op_def.h"
#include "ops/array/shape_of.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/random.h"
#include "ops/support/types.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// The node's numbers from those of the attributes `unit`, by a product and a sum.
template <typename A>
Result<bool> ScaleUnit(Graph& graph, Node& node, A unit, float factor, float offset) {
  const DType dtype = node.attrs<A>().dtype;
  Expansion e(graph, node);
  const std::vector<Value*> shape(node.inputs().begin(), node.inputs().end());
  NN_ASSIGN(Value * y, e.Add(node.op_name(), shape, unit));
  if (factor != 1 || offset != 0) {
    NN_ASSIGN(Value* const times, e.Number(DType::kF32, factor));
    NN_ASSIGN(y, e.Add("mul", {y, times}));
    NN_ASSIGN(Value* const plus, e.Number(DType::kF32, offset));
    NN_ASSIGN(y, e.Add("add", {y, plus}));
  }
  if (dtype != DType::kF32) {
    NN_ASSIGN(y, e.Add("cast", {y}, CastAttrs{.to = dtype}));
  }
  return e.Replace(y);
}

}  // namespace

Result<bool> ExpandRandom(Graph& graph, Node& node) {
  if (node.Is("random_uniform")) {
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
  Value* p = node.input(0);
  Expansion e(graph, node);
  RandomUniformAttrs uniform;
  static_cast<Seeds&>(uniform) = a;
  std::vector<Value*> shape;
  if (p->type().ranked() && KnownBeforeRun(*p->type().dims)) {
    uniform.dims = *p->type().dims;
  } else {
    NN_ASSIGN(Value* const sizes, e.Add("shape_of", {p}, ShapeOfAttrs{}));
    shape.push_back(sizes);
  }
  if (p->dtype() != DType::kF32) {
    NN_ASSIGN(p, e.Add("cast", {p}, CastAttrs{.to = DType::kF32}));
  }
  NN_ASSIGN(Value* const u, e.Add("random_uniform", std::move(shape), std::move(uniform)));
  NN_ASSIGN(Value * y, e.Add("less", {u, p}));
  if (const DType dtype = node.output()->dtype(); dtype != DType::kBool) {
    NN_ASSIGN(y, e.Add("cast", {y}, CastAttrs{.to = dtype}));
  }
  return e.Replace(y);
}

Result<bool> ExpandFloatLogits(Graph& graph, Node& node) {
  if (node.input(0)->dtype() == DType::kF32) return false;
  Expansion e(graph, node);
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  NN_ASSIGN(inputs[0], e.Add("cast", {inputs[0]}, CastAttrs{.to = DType::kF32}));
  NN_ASSIGN(Value* const y,
            e.Add("multinomial", std::move(inputs), node.attrs<MultinomialAttrs>()));
  return e.Replace(y);
}

}  // namespace nn
