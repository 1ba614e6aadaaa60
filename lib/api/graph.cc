#include "nnsuite/graph.h"

#include <algorithm>

#include "api/access.h"
#include "ir/op_def.h"
#include "ir/text/text.h"
#include "ir/verify.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"

namespace nn::api {

using nnsuite::Dimension;
using nnsuite::ValueType;

Result<nn::Type> TypeOf(const ValueType& type) {
  nn::Type out;
  out.dtype = type.dtype;
  if (type.shape) {
    nn::Dims dims;
    for (const Dimension& d : *type.shape) {
      if (d.is_known()) {
        dims.push_back(d.size);
        continue;
      }
      NN_ASSIGN(nn::Dim dim, nn::Dim::Parse(d.expression));
      dims.push_back(std::move(dim));
    }
    out.dims = std::move(dims);
  }
  if (type.quantization) {
    auto quant = std::make_shared<nn::Quant>();
    quant->scales = type.quantization->scales;
    quant->zero_points = type.quantization->zero_points;
    quant->axis = type.quantization->axis;
    out.quant = std::move(quant);
  }
  NN_RETURN_IF_ERROR(nn::CheckQuant(out));
  return out;
}

ValueType WrapType(const nn::Type& type) {
  ValueType out;
  out.dtype = type.dtype;
  if (type.dims) {
    out.shape.emplace();
    for (const nn::Dim& d : *type.dims)
      out.shape->push_back(d.is_const() ? Dimension{d.value(), ""} : Dimension{-1, d.ToString()});
  }
  if (type.quant != nullptr)
    out.quantization = {type.quant->scales, type.quant->zero_points, type.quant->axis};
  return out;
}

}  // namespace nn::api

namespace nnsuite {

std::optional<std::vector<int64_t>> ValueType::KnownShape() const {
  if (!shape) return std::nullopt;
  std::vector<int64_t> out;
  for (const Dimension& d : *shape) {
    if (!d.is_known()) return std::nullopt;
    out.push_back(d.size);
  }
  return out;
}

std::string ValueType::ToString() const {
  const auto type = nn::api::TypeOf(*this);
  return type ? type->ToString() : "invalid: " + type.error().message();
}

Result<ValueType> ValueType::Parse(std::string_view text) {
  NN_ASSIGN(const nn::Type type, nn::ParseType(text));
  return nn::api::WrapType(type);
}

// ---- Value and Node

int64_t Value::id() const {
  return value_->id();
}
std::string_view Value::name() const {
  return value_->name();
}
ValueType Value::type() const {
  return nn::api::WrapType(value_->type());
}
bool Value::is_constant() const {
  return value_->is_constant();
}
bool Value::is_input() const {
  return value_->is_input();
}
Result<Tensor> Value::constant() const {
  if (!is_constant()) return nn::UsageError("value {} is not a constant", id());
  return Access::Wrap(value_->constant());
}
std::optional<Node> Value::producer() const {
  return value_->def() == nullptr ? std::nullopt : std::optional(Access::Wrap(value_->def()));
}
std::vector<Node> Value::users() const {
  std::vector<Node> out;
  for (const nn::Use& use : value_->uses()) out.push_back(Access::Wrap(use.node));
  return out;
}

std::string_view Node::op() const {
  return node_->op_name();
}
std::string_view Node::name() const {
  return node_->name();
}
std::vector<std::optional<Value>> Node::inputs() const {
  std::vector<std::optional<Value>> out;
  for (nn::Value* v : node_->inputs())
    out.push_back(v == nullptr ? std::nullopt : std::optional(Access::Wrap(v)));
  return out;
}
std::vector<Value> Node::outputs() const {
  std::vector<Value> out;
  for (nn::Value* v : node_->outputs()) out.push_back(Access::Wrap(v));
  return out;
}
std::vector<std::pair<std::string, std::string>> Node::attributes() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const nn::AttrField& f : node_->attrs().info().fields)
    out.emplace_back(f.name, nn::ToString(node_->attrs().Get(f)));
  return out;
}
std::string Node::source() const {
  return node_->source().op.empty() ? "" : node_->source().ToString();
}

// ---- Graph

Graph::Graph() : impl_(std::make_unique<Impl>()) {}
Graph::Graph(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

Result<Graph> Graph::Parse(std::string_view text) {
  NN_ASSIGN(nn::Graph graph, nn::ParseGraph(text));
  return Access::Wrap(std::move(graph));
}

std::string Graph::ToText(std::optional<int64_t> max_elements) const {
  return nn::PrintGraph(impl_->graph, {.max_elements = max_elements.value_or(0),
                                       .complete = !max_elements.has_value()});
}

Graph Graph::Clone() const {
  return Access::Wrap(impl_->graph.Clone());
}

const std::string& Graph::name() const {
  return impl_->graph.name;
}

namespace {

std::vector<Port> WrapPorts(const std::vector<nn::Port>& ports) {
  std::vector<Port> out;
  for (const nn::Port& p : ports) out.push_back({p.name, Access::Wrap(p.value)});
  return out;
}

}  // namespace

std::vector<Port> Graph::inputs() const {
  return WrapPorts(impl_->graph.inputs());
}
std::vector<Port> Graph::outputs() const {
  return WrapPorts(impl_->graph.outputs());
}
std::vector<Node> Graph::nodes() const {
  std::vector<Node> out;
  for (nn::Node& n : impl_->graph.nodes()) out.push_back(Access::Wrap(&n));
  return out;
}

Result<Value> Graph::AddInput(std::string name, const ValueType& type) {
  NN_ASSIGN(nn::Type t, nn::api::TypeOf(type));
  return Access::Wrap(impl_->graph.AddInput(std::move(name), std::move(t)));
}

Result<Value> Graph::AddConstant(const Tensor& tensor, std::string name,
                                 const std::optional<Quantization>& quantization) {
  ValueType type = {tensor.dtype(), std::vector<Dimension>(), quantization};
  for (const int64_t size : tensor.shape()) type.shape->push_back({size, ""});
  NN_ASSIGN(const nn::Type t, nn::api::TypeOf(type));
  return Access::Wrap(impl_->graph.AddConstant(Access::Of(tensor), std::move(name), t.quant));
}

void Graph::AddOutput(std::string name, Value value) {
  impl_->graph.AddOutput(std::move(name), Access::Of(value));
}

Result<Node> Graph::Append(std::string_view op, const std::vector<std::optional<Value>>& inputs,
                           std::string_view attributes, size_t outputs,
                           std::optional<Node> before) {
  const nn::OpDef* def = nn::Ops().Find(op);
  if (def == nullptr) return nn::UsageError("no operator named \"{}\"", op);
  auto attrs = nn::ParseAttrs(*def, attributes);
  if (!attrs) return tl::unexpected(attrs.error().In(op));
  std::vector<nn::Value*> values;
  for (const std::optional<Value>& v : inputs) values.push_back(v ? Access::Of(*v) : nullptr);
  nn::Node* const next = before ? Access::Of(*before) : nullptr;
  nn::Graph& graph = impl_->graph;
  NN_ASSIGN(nn::Node* const node, graph.InferAdded(graph.AddNode(
                                      *def, std::move(values), *std::move(attrs), outputs, next)));
  return Access::Wrap(node);
}

void Graph::ReplaceUses(Value from, Value to) {
  impl_->graph.ReplaceUses(Access::Of(from), Access::Of(to));
}

Status Graph::Erase(Node node) {
  nn::Node* const n = Access::Of(node);
  for (const nn::Value* v : n->outputs())
    if (impl_->graph.HasUses(v)) return nn::UsageError("a result of {} is used", n->Describe());
  impl_->graph.Erase(n);
  return {};
}

size_t Graph::EraseUnused() {
  return impl_->graph.EraseDeadValues();
}

Status Graph::SetInputShapes(const std::map<std::string, std::vector<int64_t>>& shapes) {
  return nn::BindInputs(impl_->graph, shapes);
}

Status Graph::SetBatch(int64_t batch) {
  return nn::BindBatch(impl_->graph, batch);
}

Status Graph::Simplify() {
  NN_RETURN_IF_ERROR(nn::FoldConstants(impl_->graph));
  return nn::RemoveDeadCode(impl_->graph);
}

Status Graph::Verify() const {
  NN_RETURN_IF_ERROR(nn::CheckStructure(impl_->graph));
  nn::Graph copy = impl_->graph.Clone();
  return nn::InferGraph(copy);
}

}  // namespace nnsuite
