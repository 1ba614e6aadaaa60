#include "formats/common/operator_import.h"

#include <algorithm>
#include <utility>

#include "ops/array/opaque.h"

namespace nn {
namespace {

Result<const OpDef*> Definition(std::string_view op) {
  const OpDef* const def = Ops().Find(op);
  if (def == nullptr) return InternalError("no operator named {}", op);
  return def;
}

}  // namespace

Result<Value*> OperatorImport::Required(size_t i) const {
  if (input(i) == nullptr) return ModelError("input {} is missing", i);
  return input(i);
}

void OperatorImport::SetOutputs(std::span<Value* const> values) {
  for (size_t i = 0; i < values.size(); ++i) SetOutput(i, values[i]);
}

Result<Node*> OperatorImport::AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                                      size_t results, std::span<Graph> regions) {
  return AddNode(op, std::move(inputs), std::move(attrs), std::vector<Type>(results), regions);
}

Result<Node*> OperatorImport::AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                                      std::span<const Type> types, std::span<Graph> regions) {
  NN_ASSIGN(const OpDef* const def, Definition(op));
  return Insert(*def, std::move(inputs), std::move(attrs), types, regions);
}

Result<Value*> OperatorImport::Add(std::string_view op, const Terms& operands, Attrs attrs,
                                   const Type& type) {
  NN_ASSIGN(std::vector<Value*> inputs, BuildOperands(op, operands));
  NN_ASSIGN(Node* const node,
            AddNode(op, std::move(inputs), std::move(attrs), std::span(&type, 1)));
  return node->output();
}

void OperatorImport::SetOrigin(Node& node) {
  graph_.SetSource(&node, operator_.kind, operator_.index, place_);
  node.set_name(operator_.name);
}

Result<Node*> OperatorImport::Insert(const OpDef& op, std::vector<Value*> inputs, Attrs attrs,
                                     std::span<const Type> types, std::span<Graph> regions) {
  const auto is_quantized = [](const Value* v) { return v != nullptr && v->type().quantized(); };
  const bool quantized =
      std::ranges::any_of(inputs, is_quantized) || std::ranges::any_of(types, &Type::quantized);
  Node* const node = graph_.AddNode(op, std::move(inputs), std::move(attrs), types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    Type start;
    start.dtype = types[i].dtype;
    start.quant = types[i].quant;
    node->output(i)->set_type(std::move(start));
  }
  for (Graph& region : regions) node->AddRegion(std::move(region));
  if (quantized) node->set_arithmetic(operator_.arithmetic);
  // Errors do not name the origin, which importers add to those of all kinds.
  NN_RETURN_IF_ERROR(graph_.InferAdded(node));
  SetOrigin(*node);
  return node;
}

std::vector<Type> OperatorImport::TypesToEmit(const OpDef& op) const {
  const bool variadic = !op.outputs.empty() && op.outputs.back().arity == Arity::kVariadic;
  const size_t count = variadic ? output_count() : std::min(output_count(), op.outputs.size());
  return std::vector<Type>(std::max<size_t>(count, 1));
}

Status OperatorImport::Emit(std::string_view op, const Terms& operands, Attrs attrs) {
  NN_RETURN_IF_ERROR(CheckOutputs());
  NN_ASSIGN(const OpDef* const def, Definition(op));
  NN_ASSIGN(std::vector<Value*> inputs, BuildOperands(op, operands));
  NN_ASSIGN(const Node* const node,
            Insert(*def, std::move(inputs), std::move(attrs), TypesToEmit(*def), {}));
  SetOutputs(node->outputs());
  return {};
}

Status OperatorImport::EmitRegions(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                                   std::span<Graph> regions) {
  NN_ASSIGN(const Node* const node,
            AddNode(op, std::move(inputs), std::move(attrs), output_count(), regions));
  SetOutputs(node->outputs());
  return {};
}

Status OperatorImport::EmitTerm(const Term& y, size_t i) {
  NN_RETURN_IF_ERROR(CheckOutputs());
  NN_ASSIGN(Value* const v, Build(y));
  SetOutput(i, v);
  return {};
}

Result<bool> OperatorImport::EmitOneToOne(std::string_view format, std::string_view path,
                                          int version) {
  const auto [op, encoding] = Ops().FindEncoding(format, path, version);
  if (op == nullptr) return false;
  NN_RETURN_IF_ERROR(TakeInputsOf(*op));
  Attrs attrs(op->attrs);
  for (const auto& [ours, theirs] : encoding->attrs) {
    NN_ASSIGN(const std::optional<AttrValue> value, ReadAttr(theirs, *attrs.Get(ours)));
    if (!value) continue;
    NN_ASSIGN(attrs, attrs.With(ours, *value));
  }
  NN_RETURN_IF_ERROR(Emit(op->name, inputs_, std::move(attrs)));
  return true;
}

Result<std::optional<AttrValue>> OperatorImport::ReadAttr(std::string_view name,
                                                          const AttrValue& /*initial*/) const {
  return InternalError("attribute {} of {} has no encoding", name, kind());
}

Result<Node*> OperatorImport::EmitOpaque(size_t results, std::string reason,
                                         std::vector<UnsupportedNode>& unsupported) {
  std::vector<Value*> inputs = inputs_;
  std::erase(inputs, nullptr);
  NN_ASSIGN(Node* const opaque,
            graph_.Append("opaque", std::move(inputs), OpaqueAttrs{kind(), reason}, results));
  SetOrigin(*opaque);
  SetOutputs(opaque->outputs());
  if (!reason.empty())
    unsupported.push_back({opaque->Describe(), "opaque", kind(), std::move(reason)});
  return opaque;
}

}  // namespace nn
