#include "rewrite/declared_shapes.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/support/declared_axes.h"
#include "ops/support/domain.h"
#include "ops/support/types.h"
#include "passes/core/passes.h"
#include "rewrite/why_illegal.h"

namespace nn {
namespace {

using Shape = std::vector<int64_t>;

// The axes of a reduction whose result is that of all choices: they differ in axes of size 1.
std::optional<Shape> DecidedAxes(const Node& node, const Shape& x, const Shape& y) {
  const auto count = LengthOf(node.input(1));
  if (!count || *count == 0) return std::nullopt;
  const auto choices = AxesThatReduce(x, y, *count, node.attrs<ReduceAttrs>().keep_dims);
  const auto longer = [&](Shape axes) {
    std::erase_if(axes, [&](int64_t k) { return x[static_cast<size_t>(k)] == 1; });
    return axes;
  };
  const bool is_decided = !choices.empty() && std::ranges::all_of(choices, [&](const Shape& axes) {
    return longer(axes) == longer(choices.front());
  });
  return is_decided ? std::optional(choices.front()) : std::nullopt;
}

// Parts of axis `axis` of x.
std::optional<Shape> DecidedSizes(const SplitAttrs& a, const Shape& x,
                                  const std::vector<Shape>& parts) {
  const auto axis = NormalizeAxis(a.axis, static_cast<int>(x.size()));
  if (!axis) return std::nullopt;
  Shape sizes;
  for (const Shape& part : parts) {
    if (part.size() != x.size()) return std::nullopt;
    sizes.push_back(part[static_cast<size_t>(*axis)]);
  }
  return sizes;
}

// The contents of input `operand` of a node, if the shapes of its results decide about them.
struct Decision {
  size_t operand;
  std::optional<Shape> contents;
};

Decision DecisionOf(const Node& node, const std::vector<Shape>& results) {
  const Shape& y = results[0];
  if (node.Is<ScanAttrs>()) return {1, y.size() == 1 ? std::optional(Shape{0}) : std::nullopt};
  const auto x = DimsOf(node.input(0));
  if (!x) return {};
  if (node.Is("reshape") || node.Is("expand")) return {1, y};
  if (node.Is("expand_dims")) return {1, AxesBetween(*x, y)};
  if (node.Is("squeeze")) return {1, AxesBetween(y, *x)};
  if (node.Is<ReduceAttrs>()) return {1, DecidedAxes(node, *x, y)};
  if (node.Is<SplitAttrs>()) return {1, DecidedSizes(node.attrs<SplitAttrs>(), *x, results)};
  if (node.Is("max_unpool")) return {2, y};
  return {};
}

// Makes the operand constant, unless inference then contradicts the declaration.
Status Decide(Graph& graph, Node& node, const std::vector<Shape>& results) {
  const auto [operand, contents] = DecisionOf(node, results);
  Value* const before = contents && operand < node.inputs().size() ? node.input(operand) : nullptr;
  if (before == nullptr || before->is_constant() ||
      (before->dtype() != DType::kI32 && before->dtype() != DType::kI64))
    return {};
  const auto dims = before->type().const_dims().value_or(Shape{std::ssize(*contents)});
  if (CheckedElements(dims) != std::ssize(*contents)) return {};
  NN_ASSIGN(TensorBuilder list, TensorBuilder::Create(before->dtype(), dims));
  for (size_t i = 0; i < contents->size(); ++i)
    list.SetInt(static_cast<int64_t>(i), (*contents)[i]);
  graph.SetInput(&node, operand, graph.AddConstant(list.Finish()));
  if (InferNode(node)) return {};
  graph.SetInput(&node, operand, before);
  return InferNode(node);
}

}  // namespace

Status FitDeclaredShapes(Graph& graph, const Target& target) {
  std::unordered_map<const Node*, std::vector<Shape>> declared;
  for (const Node& node : graph.nodes()) {
    std::vector<Shape> shapes;
    for (const Value* y : node.outputs())
      if (auto dims = DimsOf(y)) shapes.push_back(*std::move(dims));
    if (!shapes.empty() && shapes.size() == node.outputs().size())
      declared.emplace(&node, std::move(shapes));
  }
  NN_RETURN_IF_ERROR(ForgetDeclaredShapes(graph));
  bool has_news = false;
  for (Node& node : graph.nodes()) {
    if (has_news) NN_RETURN_IF_ERROR(InferNode(node));
    const auto shapes = declared.find(&node);
    if (shapes == declared.end() || !WhyIllegal(target, node)) continue;
    NN_RETURN_IF_ERROR(Decide(graph, node, shapes->second));
    has_news = true;
  }
  return {};
}

}  // namespace nn
