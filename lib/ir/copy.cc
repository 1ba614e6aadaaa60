#include "ir/copy.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "ir/op_def.h"

namespace nn {
namespace {

using SymbolDims = std::map<std::string, Dim, std::less<>>;

// Adds the symbol of the dimension if the size determines it: in n, 4 * n or n + 3.
void Determine(const Dim& dim, const Dim& size, SymbolDims& known) {
  if (dim.is_const() || !size.is_const()) return;
  std::set<std::string> symbols;
  dim.CollectSymbols(symbols);
  if (symbols.size() != 1) return;
  const std::string& name = *symbols.begin();
  const auto with = [&](int64_t value) {
    return dim.Substitute([&](std::string_view) { return std::optional(Dim(value)); });
  };
  const Dim symbol = Dim::Symbol(name), offset = with(0), factor = with(1) - offset;
  if (!(dim == factor * symbol + offset)) return;
  if (const auto value = Dim::ExactDiv(size - offset, factor)) known.try_emplace(name, *value);
}

// What the sizes of the inputs determine.
SymbolDims SymbolsOf(const Node& node, const std::vector<Value*>& inputs) {
  SymbolDims known;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr || node.input(i) == nullptr) continue;
    const Type &own = node.input(i)->type(), &other = inputs[i]->type();
    if (!own.ranked() || !other.ranked() || own.rank() != other.rank()) continue;
    for (int axis = 0; axis < own.rank(); ++axis) Determine(own.dim(axis), other.dim(axis), known);
  }
  return known;
}

// The attributes of the node for these inputs.
Attrs AttrsFor(const Node& node, const std::vector<Value*>& inputs) {
  Attrs attrs = node.attrs();
  const SymbolDims known = SymbolsOf(node, inputs);
  if (known.empty()) return attrs;  // most often; attributes may be large
  const auto find = [&](std::string_view name) -> std::optional<Dim> {
    const auto it = known.find(name);
    return it == known.end() ? std::nullopt : std::optional(it->second);
  };
  for (const AttrField& field : attrs.info().fields) {
    const AttrValue value = attrs.Get(field);
    const auto* const dims = std::get_if<Dims>(&value);
    if (dims == nullptr || ConstDims(*dims)) continue;
    Dims out;
    for (const Dim& d : *dims) out.push_back(d.Substitute(find));
    if (auto changed = attrs.With(field.name, std::move(out))) attrs = *std::move(changed);
  }
  return attrs;
}

}  // namespace

Node* AddCopy(Graph& graph, const Node& node, std::vector<Value*> inputs) {
  Node* const copy =
      graph.AddNode(node.op(), std::move(inputs), node.attrs(), node.outputs().size());
  copy->set_arithmetic(node.arithmetic());
  copy->set_name(SharedString(node.name()));
  copy->set_source(node.source());
  for (const auto& region : node.regions()) copy->AddRegion(region->Clone());
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    copy->output(i)->set_type(node.output(i)->type());
    copy->output(i)->set_name(SharedString(node.output(i)->name()));
  }
  return copy;
}

Node* AddOpenCopy(Graph& graph, const Node& node, std::vector<Value*> inputs) {
  Attrs attrs = AttrsFor(node, inputs);
  Node* const copy = AddCopy(graph, node, std::move(inputs));
  copy->set_attrs(std::move(attrs));
  for (Value* v : copy->outputs()) {
    Type open;
    open.dtype = v->dtype();
    open.quant = v->type().quant;
    v->set_type(std::move(open));
  }
  return copy;
}

Value* NodeCopier::Of(const Value* v) {
  if (v == nullptr) return nullptr;
  Value*& copy = copies_[v];
  if (copy == nullptr && v->is_constant())
    copy = to_.AddConstant(v->constant(), SharedString(v->name()), v->type().quant);
  return copy;
}

std::vector<Value*> NodeCopier::OperandsOf(const Node& node) {
  std::vector<Value*> operands;
  for (const Value* v : node.inputs()) operands.push_back(Of(v));
  return operands;
}

void NodeCopier::SetOutputs(const Node& node, const Node& copy) {
  for (size_t i = 0; i < node.outputs().size(); ++i) Set(node.output(i), copy.output(i));
}

Node* NodeCopier::Add(const Node& node) {
  Node* const copy = AddCopy(to_, node, OperandsOf(node));
  SetOutputs(node, *copy);
  return copy;
}

Status NodeCopier::AddInferred(const Node& node) {
  Node* const copy = AddOpenCopy(to_, node, OperandsOf(node));
  SetOutputs(node, *copy);
  return InferNode(*copy);
}

Result<std::vector<Value*>> AddCopies(Graph& graph, const Graph& part,
                                      const std::vector<Value*>& inputs) {
  NodeCopier copier(graph);
  for (size_t i = 0; i < inputs.size(); ++i) copier.Set(part.inputs()[i].value, inputs[i]);
  for (const Node& node : part.nodes()) NN_RETURN_IF_ERROR(copier.AddInferred(node));
  std::vector<Value*> outputs;
  for (const Port& port : part.outputs()) outputs.push_back(copier.Of(port.value));
  return outputs;
}

}  // namespace nn
