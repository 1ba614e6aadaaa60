// The stacked results of loops, for targets whose loops only carry values.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "ir/copy.h"
#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/control/loop.h"
#include "ops/support/movement.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// Limit of expansions: iterations of a loop that stacks results. Each compares as many positions
// with its number.
constexpr int64_t kMaxStack = int64_t{1} << 16;

// The next stack: what becomes of it by the element of iteration `number`.
using NextStackFn =
    std::function<Result<Value*>(Graph& region, Value* stack, Value* element, Value* number)>;

// Replaces a loop by one that carries its stacks, which begin as `stacks`. The results are what
// `result` makes of the last ones.
Result<bool> CarryStacks(Graph& graph, Node& node, const std::vector<Value*>& stacks,
                         const NextStackFn& next,
                         const std::function<Result<Value*>(Value* stack)>& result) {
  constexpr size_t kFirst = 2;
  LoopAttrs attrs = node.attrs<LoopAttrs>();
  const auto carried = static_cast<size_t>(attrs.carried);
  const Graph& before = *node.regions()[0];
  const auto copy_input = [&](Graph& region, NodeCopier& copier, size_t i) {
    const Port& p = before.inputs()[i];
    Value* const v = region.AddInput(p.name, p.value->type());
    copier.Set(p.value, v);
    return v;
  };
  Graph region;
  NodeCopier copier(region);
  Value* const number = copy_input(region, copier, 0);
  for (size_t i = 1; i <= carried; ++i) copy_input(region, copier, i);
  std::vector<Value*> inside;
  for (const Value* v : stacks) inside.push_back(region.AddInput("", v->type()));
  for (size_t i = 1 + carried; i < before.inputs().size(); ++i) copy_input(region, copier, i);
  for (const Node& n : before.nodes()) copier.Add(n);
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    Value* v = copier.Of(before.outputs()[i].value);
    if (i > carried) {
      NN_ASSIGN(v, next(region, inside[i - 1 - carried], v, number));
    }
    region.AddOutput(before.outputs()[i].name, v);
  }
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  // The condition may be omitted.
  inputs.resize(std::max(inputs.size(), kFirst + carried), nullptr);
  inputs.insert(inputs.begin() + static_cast<ptrdiff_t>(kFirst + carried), stacks.begin(),
                stacks.end());
  attrs.carried = static_cast<int64_t>(node.outputs().size());
  Node* const loop =
      graph.AddNode(node.op(), std::move(inputs), std::move(attrs), node.outputs().size(), &node);
  loop->set_name(SharedString(node.name()));
  loop->set_source(node.source());
  loop->AddRegion(std::move(region));
  NN_RETURN_IF_ERROR(InferNode(*loop));
  std::vector<Value*> results(loop->outputs().begin(), loop->outputs().end());
  for (size_t i = carried; i < results.size(); ++i) {
    NN_ASSIGN(results[i], result(results[i]));
  }
  graph.Replace(&node, results);
  return true;
}

// The types of the elements of all stacks; empty if there are none.
std::vector<Type> ElementTypes(const Node& node) {
  const auto& outputs = node.regions()[0]->outputs();
  std::vector<Type> types;
  for (auto k = static_cast<size_t>(node.attrs<LoopAttrs>().carried) + 1; k < outputs.size(); ++k)
    types.push_back(outputs[k].value->type());
  return types;
}

// An array of zeros as long as `length` says; null if the shape of its elements is not known.
Result<Value*> EmptyStack(Graph& graph, const Type& element, int64_t length) {
  auto dims = element.const_dims();
  if (!dims) return nullptr;
  dims->insert(dims->begin(), length);
  NN_ASSIGN(const Tensor zero, ZeroElement(element));
  NN_ASSIGN(TensorBuilder zeros, TensorBuilder::Create(element.dtype, *std::move(dims)));
  zeros.Fill(0, zeros.elements(), zero);
  return graph.AddConstant(zeros.Finish(), {}, element.quant);
}

Result<std::vector<Value*>> EmptyStacks(Graph& graph, const Node& node, int64_t length) {
  std::vector<Value*> stacks;
  for (const Type& type : ElementTypes(node)) {
    NN_ASSIGN(Value* const stack, EmptyStack(graph, type, length));
    if (stack == nullptr) return std::vector<Value*>();
    stacks.push_back(stack);
  }
  return stacks;
}

}  // namespace

Result<bool> PlaceInStacks(Graph& graph, Node& node) {
  const Value* const trips = node.input(0);
  if (trips == nullptr || !trips->is_constant() || node.input(1) != nullptr) return false;
  const int64_t length = trips->constant().GetInt(0);
  if (length < 1 || length > kMaxStack) return false;
  NN_ASSIGN(const std::vector<Value*> stacks, EmptyStacks(graph, node, length));
  if (stacks.empty()) return false;
  return CarryStacks(
      graph, node, stacks,
      [&](Graph& region, Value* stack, Value* element, Value* number) -> Result<Value*> {
        std::vector<int64_t> positions(static_cast<size_t>(length));
        std::iota(positions.begin(), positions.end(), 0);
        NN_ASSIGN(Node * is_place,
                  region.Append("equal", {region.AddConstant(Tensor::Ints(positions)), number}));
        Dims dims(static_cast<size_t>(stack->type().rank()), Dim(1));
        dims[0] = Dim(length);
        NN_ASSIGN(is_place, region.Append("reshape", {is_place->output()}, ReshapeAttrs{dims}));
        NN_ASSIGN(const Node* const row, region.Append("expand_dims", {element}, AxesAttrs{{0}}));
        NN_ASSIGN(const Node* const y,
                  region.Append("select", {is_place->output(), row->output(), stack}));
        return y->output();
      },
      [](Value* stack) -> Result<Value*> { return stack; });
}

// A stack begins with a row that is not a result: runtimes may not carry an array without elements.
Result<bool> GrowStacks(Graph& graph, Node& node) {
  constexpr int64_t kRest = std::numeric_limits<int64_t>::max();
  NN_ASSIGN(const std::vector<Value*> stacks, EmptyStacks(graph, node, 1));
  if (stacks.empty()) return false;
  return CarryStacks(
      graph, node, stacks,
      [](Graph& region, Value* stack, Value* element, Value*) -> Result<Value*> {
        NN_ASSIGN(const Node* const row, region.Append("expand_dims", {element}, AxesAttrs{{0}}));
        NN_ASSIGN(const Node* const y,
                  region.Append("concat", {stack, row->output()}, ConcatAttrs{0}));
        return y->output();
      },
      [&](Value* stack) -> Result<Value*> {
        NN_ASSIGN(const Node* const rows,
                  graph.Append("slice", {stack}, SliceAttrs{{0}, {1}, {kRest}, {}}, 1, &node));
        return rows->output();
      });
}

}  // namespace nn
