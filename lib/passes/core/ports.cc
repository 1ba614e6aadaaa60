#include "passes/core/ports.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text/text.h"
#include "passes/core/allowed_shapes.h"
#include "passes/core/passes.h"

namespace nn {
namespace {

// The model was valid before, so the given shapes do not fit it.
Status AsUsage(const Status& status) {
  if (status || status.error().code() != ErrorCode::kModel) return status;
  return UsageError("the given shapes do not fit the model: {}", status.error().message());
}

Status SetBatchSymbols(Graph& graph, const std::vector<std::string>& names, int64_t batch) {
  std::map<std::string, int64_t> symbols;
  for (const std::string& name : names) symbols.emplace(name, batch);
  return BindSymbols(graph, symbols);
}

// Whether the first dimension of every input with axes is `batch`.
bool HasBatch(const Graph& graph, int64_t batch) {
  bool any = false;
  for (const Port& p : graph.inputs()) {
    const Type& type = p.value->type();
    if (type.ranked() && type.rank() == 0) continue;
    if (!type.ranked() || type.dim(0) != batch) return false;
    any = true;
  }
  return any;
}

// Whether nothing is left to bind, and an input has the batch: the import may have known the size.
// Other inputs may have their batch on another axis, as states of recurrent layers do.
bool IsBound(const Graph& graph, int64_t batch) {
  return BatchSymbols(graph).empty() && std::ranges::any_of(graph.inputs(), [batch](const Port& p) {
           const Type& type = p.value->type();
           return type.ranked() && type.rank() > 0 && type.dim(0) == batch;
         });
}

}  // namespace

std::vector<std::string> NamesOf(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  names.reserve(ports.size());
  for (const Port& p : ports) names.push_back(p.name);
  return names;
}

void NameUnnamed(std::vector<std::string>& names, std::string_view prefix) {
  std::set<std::string> taken(names.begin(), names.end());
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) continue;
    names[i] = fmt::format("{}_{}", prefix, i);
    while (!taken.insert(names[i]).second) names[i] += '_';
  }
}

void NamePorts(Graph& graph) {
  std::vector<std::string> inputs = NamesOf(graph.inputs());
  NameUnnamed(inputs, "in");
  for (size_t i = 0; i < inputs.size(); ++i) graph.RenameInput(i, std::move(inputs[i]));
  std::vector<std::string> outputs = NamesOf(graph.outputs());
  NameUnnamed(outputs, "out");
  for (size_t i = 0; i < outputs.size(); ++i) graph.RenameOutput(i, std::move(outputs[i]));
}

std::string NameList(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + Quote(name);
  return out.empty() ? "none" : out;
}

std::string NameList(const std::vector<Port>& ports) {
  return NameList(NamesOf(ports));
}

std::set<std::string> InputSymbols(const Graph& graph) {
  std::set<std::string> symbols;
  for (const Port& p : graph.inputs())
    if (p.value->type().ranked())
      for (const Dim& d : *p.value->type().dims) d.CollectSymbols(symbols);
  return symbols;
}

std::vector<std::string> BatchSymbols(const Graph& graph) {
  std::vector<std::string> symbols;
  for (const Port& p : graph.inputs()) {
    const Type& type = p.value->type();
    if (!type.ranked() || type.rank() == 0) continue;
    const auto symbol = type.dim(0).symbol();
    if (symbol && std::find(symbols.begin(), symbols.end(), *symbol) == symbols.end())
      symbols.emplace_back(*symbol);
  }
  return symbols;
}

Status BindInputs(Graph& graph, const std::map<std::string, std::vector<int64_t>>& shapes) {
  NN_RETURN_IF_ERROR(AsUsage(BindInputShapes(graph, shapes)));
  return CheckAllowedShapes(graph);
}

Status BindBatch(Graph& graph, int64_t batch) {
  if (batch < 0) return UsageError("--batch {}: the batch size cannot be negative", batch);
  const std::vector<std::string> symbols = BatchSymbols(graph);
  if (!symbols.empty()) {
    NN_RETURN_IF_ERROR(AsUsage(SetBatchSymbols(graph, symbols, batch)));
    return CheckAllowedShapes(graph);
  }
  if (HasBatch(graph, batch)) return {};
  std::string seen;
  for (const Port& p : graph.inputs())
    seen += fmt::format("{}{} is {}", seen.empty() ? "" : ", ", Quote(p.name),
                        p.value->type().ToString());
  return UsageError("--batch {}: no input has a symbolic first dimension ({})", batch, seen);
}

Status BindShapes(Graph& graph, const std::map<std::string, std::vector<int64_t>>& shapes,
                  std::optional<int64_t> batch) {
  if (!shapes.empty()) NN_RETURN_IF_ERROR(BindInputs(graph, shapes));
  return batch && !IsBound(graph, *batch) ? BindBatch(graph, *batch) : Status();
}

Status BindOpenBatch(Graph& graph) {
  const std::vector<std::string> symbols = BatchSymbols(graph);
  return symbols.empty() ? Status() : SetBatchSymbols(graph, symbols, 1);
}

Status ClipInput(Graph& graph, size_t i, Tensor min, Tensor max) {
  Value* const x = graph.inputs()[i].value;
  Node* const first = graph.nodes().empty() ? nullptr : &graph.nodes().front();
  Value* const low = graph.AddConstant(std::move(min));
  Value* const high = graph.AddConstant(std::move(max));
  NN_ASSIGN(Node* const at_least, graph.Append("maximum", {x, low}, {}, 1, first));
  NN_ASSIGN(Node* const clipped, graph.Append("minimum", {at_least->output(), high}, {}, 1, first));
  graph.ReplaceUses(x, clipped->output());
  graph.SetInput(at_least, 0, x);
  return {};
}

Status RequireShape(std::string_view name, const Type& type) {
  if (type.const_dims()) return {};
  if (!type.ranked())
    return UsageError(
        "input {} is {}, of any number of axes: give an array, or set its shape with --input-shape "
        "{}:SIZE,...",
        Quote(name), type.ToString(), name);
  return UsageError("input {} is {}: set its shape with --input-shape or --batch", Quote(name),
                    type.ToString());
}

}  // namespace nn
