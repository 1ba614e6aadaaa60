#include "ops/control/region.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "ops/control/loop.h"

namespace nn {
namespace {

bool IsMadeUp(const Dim& dim) {
  std::set<std::string> symbols;
  dim.CollectSymbols(symbols);
  for (const std::string& s : symbols)
    if (InferContext::IsNewSymbol(s)) return true;
  return !dim.is_const() && symbols.empty();
}

// Infers a node for its present inputs.
Status InferAnew(Node& node) {
  for (Value* v : node.outputs()) {
    Type type = v->type();
    type.dims.reset();
    v->set_type(std::move(type));
  }
  return InferNode(node);
}

}  // namespace

bool IsDecidedByRuns(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(),
                             [](const Node& node) { return node.op().decided_by_runs; });
}

RegionPorts::RegionPorts(const Node& node)
    : is_loop_(node.attrs().Is<LoopAttrs>()),
      carried_(is_loop_ ? static_cast<size_t>(node.attrs<LoopAttrs>().carried) : 0) {}

std::optional<size_t> RegionPorts::OperandOf(size_t i) const {
  if (is_loop_ && i == 0) return std::nullopt;
  return i + 1;
}

std::optional<size_t> RegionPorts::InputFor(size_t operand) const {
  if (operand < (is_loop_ ? first_carried() : 1)) return std::nullopt;
  return operand - 1;
}

std::optional<size_t> RegionPorts::ResultOf(size_t i) const {
  if (!is_loop_) return i;
  return i == 0 ? std::nullopt : std::optional(i - 1);
}

Status ForEachRegion(const Node& node, const std::function<Status(Graph&)>& pass) {
  for (const auto& region : node.regions()) NN_RETURN_IF_ERROR(pass(*region));
  return {};
}

Status ForEachRegion(const Graph& graph, const std::function<Status(Graph&)>& pass) {
  for (const Node& node : graph.nodes()) NN_RETURN_IF_ERROR(ForEachRegion(node, pass));
  return {};
}

bool AnyRegion(const Graph& graph, const std::function<bool(const Graph&)>& is_true) {
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    return std::ranges::any_of(node.regions(),
                               [&](const auto& region) { return is_true(*region); });
  });
}

int64_t CountNodes(const Graph& graph, const std::function<bool(const Node&)>& is_true) {
  int64_t count = 0;
  for (const Node& node : graph.nodes()) {
    count += is_true(node) ? 1 : 0;
    for (const auto& region : node.regions()) count += CountNodes(*region, is_true);
  }
  return count;
}

Status InferRegion(Graph& region, std::span<const Type> inputs) {
  if (region.inputs().size() != inputs.size())
    return ModelError("the region has {} inputs instead of {}", region.inputs().size(),
                      inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Type type = inputs[i];
    if (type.ranked()) {
      Dims dims = *type.dims;
      for (size_t k = 0; k < dims.size(); ++k)
        if (IsMadeUp(dims[k])) dims[k] = Dim::Symbol(fmt::format("?r{}.{}", i, k));
      type = type.WithDims(std::move(dims));
    }
    region.inputs()[i].value->set_type(std::move(type));
  }
  for (Node& node : region.nodes()) NN_RETURN_IF_ERROR(InferAnew(node));
  return {};
}

Type OutsideType(const Type& type, InferContext& ctx) {
  if (!type.ranked() || type.const_dims()) return type;
  Dims dims = *type.dims;
  for (Dim& d : dims)
    if (IsMadeUp(d)) d = ctx.NewSymbol();
  return type.WithDims(std::move(dims));
}

Result<bool> Widen(Type& a, const Type& b, const std::function<Dim()>& new_symbol) {
  const bool same_quant =
      a.quant == b.quant || (a.quant && b.quant && a.quant->SameMapping(*b.quant));
  if (a.dtype != b.dtype || !same_quant)
    return UnsupportedError("a value is {} and becomes {}", a.ToString(), b.ToString());
  if (!a.ranked()) return false;
  if (!b.ranked() || a.rank() != b.rank()) {
    a.dims.reset();
    return true;
  }
  bool changed = false;
  Dims dims = *a.dims;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] == (*b.dims)[k] || IsMadeUp(dims[k])) continue;
    dims[k] = new_symbol();
    changed = true;
  }
  if (changed) a = a.WithDims(std::move(dims));
  return changed;
}

void WidenAll(std::span<Type> types, const std::function<Dim()>& new_symbol) {
  for (Type& type : types) {
    if (!type.ranked()) continue;
    Dims dims = *type.dims;
    for (Dim& d : dims) d = new_symbol();
    type = type.WithDims(std::move(dims));
  }
}

}  // namespace nn
