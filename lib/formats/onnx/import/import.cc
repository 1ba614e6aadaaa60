#include "formats/onnx/import/import.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text/text.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/import/dynamic_lstm.h"
#include "formats/onnx/import/importer.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/roles.h"
#include "formats/onnx/spec/schema.h"
#include "ir/text/number.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

// Imports a node by its one-to-one encoding; false if it has none.
Result<bool> ImportOneToOne(ImportContext& ctx) {
  const auto [op, format] =
      Ops().FindEncoding("onnx", ctx.node().op_type(), static_cast<int>(ctx.opset()));
  if (op == nullptr) return false;
  Attrs attrs(op->attrs);
  for (const auto& [ours, theirs] : format->attrs) {
    const pb::AttributeProto* a = ctx.FindAttr(theirs);
    if (a == nullptr) continue;
    AttrValue value;
    switch (a->type()) {
      case pb::AttributeProto::FLOAT:
        value = a->f();
        break;
      case pb::AttributeProto::INT: {
        const auto current = attrs.Get(ours);
        value = a->i();
        if (current && std::holds_alternative<bool>(*current)) value = a->i() != 0;
        break;
      }
      case pb::AttributeProto::STRING:
        value = a->s();
        break;
      case pb::AttributeProto::INTS:
        value = ctx.Ints(theirs);
        break;
      case pb::AttributeProto::FLOATS:
        value = ctx.Floats(theirs);
        break;
      default:
        return ModelError("attribute {} has unexpected type {}", theirs,
                          pb::AttributeProto::AttributeType_Name(a->type()));
    }
    NN_ASSIGN(attrs, attrs.With(ours, value));
  }
  std::vector<Value*> inputs;
  for (size_t i = 0; i < ctx.input_count(); ++i) inputs.push_back(ctx.input(i));
  NN_RETURN_IF_ERROR(ctx.Emit(op->name, std::move(inputs), std::move(attrs)));
  return true;
}

}  // namespace

Result<Value*> ImportContext::Required(size_t i) const {
  if (input(i) == nullptr) return ModelError("input {} is missing", i);
  return input(i);
}

const Tensor* ImportContext::Constant(size_t i) const {
  const Value* v = input(i);
  return v != nullptr && v->is_constant() ? &v->constant() : nullptr;
}

const pb::AttributeProto* ImportContext::FindAttr(std::string_view name) const {
  for (const auto& a : node_.attribute())
    if (a.name() == name) return Resolve(a);
  return nullptr;
}

const pb::AttributeProto* ImportContext::Resolve(const pb::AttributeProto& a) const {
  if (a.ref_attr_name().empty()) return &a;
  if (bindings_ == nullptr) return nullptr;
  const auto it = bindings_->find(a.ref_attr_name());
  return it == bindings_->end() ? nullptr : it->second;
}

int64_t ImportContext::Int(std::string_view name, int64_t fallback) const {
  const auto* a = FindAttr(name);
  return a == nullptr ? fallback : a->i();
}

Result<int64_t> ImportContext::RequiredInt(std::string_view name) const {
  const auto* a = FindAttr(name);
  if (a == nullptr) return ModelError("attribute {} is missing", name);
  return a->i();
}

float ImportContext::Float(std::string_view name, float fallback) const {
  const auto* a = FindAttr(name);
  return a == nullptr ? fallback : a->f();
}

std::string ImportContext::String(std::string_view name, std::string_view fallback) const {
  const auto* a = FindAttr(name);
  return a == nullptr ? std::string(fallback) : a->s();
}

std::vector<int64_t> ImportContext::Ints(std::string_view name) const {
  const auto* a = FindAttr(name);
  if (a == nullptr) return {};
  return {a->ints().begin(), a->ints().end()};
}

std::vector<float> ImportContext::Floats(std::string_view name) const {
  const auto* a = FindAttr(name);
  if (a == nullptr) return {};
  if (const auto blob = model_.payloads.Find(*a, pb::AttributeProto::kFloatsFieldNumber)) {
    std::vector<float> out(blob->size() / sizeof(float));
    std::memcpy(out.data(), blob->data(), blob->size());
    return out;
  }
  return {a->floats().begin(), a->floats().end()};
}

Result<Tensor> ImportContext::TensorAttr(std::string_view name) const {
  const auto* a = FindAttr(name);
  if (a == nullptr || !a->has_t()) return ModelError("attribute {} is missing", name);
  return ReadTensor(a->t(), model_);
}

Result<Tensor> ImportContext::SparseTensorAttr(std::string_view name) const {
  const auto* a = FindAttr(name);
  if (a == nullptr || !a->has_sparse_tensor()) return ModelError("attribute {} is missing", name);
  return ReadSparseTensor(a->sparse_tensor(), model_);
}

namespace {

// What an operator does with the scales and zero points of its operands. The operators of ONNX are
// defined on plain integers.
enum class Mapping : uint8_t {
  kOwn,      // it reads them, or has none in its result
  kKept,     // it moves or selects elements, so those of the result are those of its operands
  kDropped,  // it computes with the integers
};

Mapping MappingOf(const OpDef& op) {
  if (op.quant_rule == QuantRule::kStored || op.category == Category::kQuantization)
    return Mapping::kOwn;
  if (op.quant_rule == QuantRule::kSame || op.category == Category::kMovement)
    return Mapping::kKept;
  return Mapping::kDropped;
}

bool IsQuantizedValue(const Value* v) {
  return v != nullptr && v->type().quantized();
}

// Gives constants the mapping of the quantized operands of their element type; false if a value
// has another one.
bool ShareMapping(Graph& graph, std::vector<Value*>& inputs) {
  const auto first = std::ranges::find_if(inputs, IsQuantizedValue);
  const auto quant = (*first)->type().quant;
  const DType dtype = (*first)->dtype();
  for (Value*& v : inputs) {
    if (v == nullptr || v->dtype() != dtype) continue;
    if (v->type().quantized() ? !v->type().quant->SameMapping(*quant)
                              : !v->is_constant() || quant->per_axis())
      return false;
  }
  for (Value*& v : inputs)
    if (v != nullptr && v->dtype() == dtype && !v->type().quantized())
      v = graph.AddConstant(v->constant(), v->name(), quant);
  return true;
}

// Replaces quantized values by their stored integers.
Status DropMappings(Graph& graph, std::vector<Value*>& inputs) {
  for (Value*& v : inputs) {
    if (!IsQuantizedValue(v)) continue;
    if (v->is_constant()) {
      v = graph.AddConstant(v->constant(), v->name());
      continue;
    }
    NN_ASSIGN(Node* const integers, graph.Append("cast", {v}, CastAttrs{.to = v->dtype()}));
    v = integers->output();
  }
  return {};
}

}  // namespace

Result<Node*> ImportContext::AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                                     size_t output_count) {
  std::shared_ptr<const Quant> mapping;  // of the results
  if (const OpDef* def = Ops().Find(op);
      def != nullptr && std::ranges::any_of(inputs, IsQuantizedValue)) {
    const Mapping of_op = MappingOf(*def);
    if (of_op == Mapping::kDropped || (of_op == Mapping::kKept && !ShareMapping(graph_, inputs))) {
      NN_RETURN_IF_ERROR(DropMappings(graph_, inputs));
    } else if (def->quant_rule == QuantRule::kSame && IsQuantizedValue(inputs[0]) &&
               !inputs[0]->type().quant->per_axis()) {
      mapping = inputs[0]->type().quant;
    }
  }
  auto node = graph_.Append(op, std::move(inputs), std::move(attrs), output_count);
  if (!node) return node;
  for (Value* y : (*node)->outputs()) {
    if (mapping == nullptr || y->dtype() != (*node)->input(0)->dtype()) continue;
    Type type = y->type();
    type.quant = mapping;
    y->set_type(std::move(type));
  }
  graph_.SetSource(*node, node_.op_type(), index_, place_);
  (*node)->set_name(node_.name());
  return node;
}

Result<Node*> ImportContext::AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                                     size_t output_count, std::span<Graph> regions) {
  const OpDef* const def = Ops().Find(op);
  if (def == nullptr) return InternalError("no operator named {}", op);
  Node* const node = graph_.AddNode(*def, std::move(inputs), std::move(attrs), output_count);
  for (Graph& region : regions) node->AddRegion(std::move(region));
  graph_.SetSource(node, node_.op_type(), index_, place_);
  node->set_name(node_.name());
  return graph_.InferAdded(node);
}

Result<Value*> ImportContext::Number(DType dtype, double v) {
  NN_ASSIGN(Tensor number, nn::Number(dtype, v));
  return Constant(std::move(number));
}

Term As(Value* v, DType to) {
  return v->dtype() == to && !v->type().quantized() ? Term(v) : Cast(v, to);
}

Term As(Term x, DType from, DType to) {
  return from == to ? std::move(x) : Cast(std::move(x), to);
}

Status ImportContext::EmitTerm(const Term& y, size_t i) {
  NN_ASSIGN(Value* const v, Build(y));
  SetOutput(i, v);
  return {};
}

Status ImportContext::Emit(std::string_view op, Terms operands, Attrs attrs) {
  NN_ASSIGN(std::vector<Value*> inputs, BuildOperands(op, operands));
  const OpDef* def = Ops().Find(op);
  if (def == nullptr) return InternalError("no operator named {}", op);
  const bool variadic = !def->outputs.empty() && def->outputs.back().arity == Arity::kVariadic;
  const size_t count = variadic ? outputs_.size() : std::min(outputs_.size(), def->outputs.size());
  NN_ASSIGN(Node* const node,
            AddNode(op, std::move(inputs), std::move(attrs), std::max<size_t>(count, 1)));
  for (size_t i = 0; i < count; ++i) SetOutput(i, node->output(i));
  return {};
}

namespace {

const VersionTable<const ImportRow*>& Imports() {
  static const auto table = [] {
    VersionTable<const ImportRow*> t;
    for (const Family& family : Families())
      for (const ImportRow& row : family.imports)
        if (row.why_not.empty()) t.Add(row.domain, row.op, row.since, &row);
    return t;
  }();
  return table;
}

// The row of the node's operator; null if it has none, or is one-to-one.
const ImportRow* ImportRowOf(const ImportContext& ctx, std::string_view domain) {
  const ImportRow* const row = Imports().Find(domain, ctx.node().op_type(), ctx.opset());
  return row == nullptr || row->import == kOneToOne ? nullptr : row;
}

// The reason of a row without a function; empty: there is none.
std::string_view WhyNotImported(std::string_view domain, std::string_view op) {
  for (const Family& family : Families())
    for (const ImportRow& row : family.imports)
      if (!row.why_not.empty() && row.op == op && row.domain == domain) return row.why_not;
  return {};
}

}  // namespace

bool IsImported(const ImportContext& ctx, std::string_view domain) {
  const std::string& op = ctx.node().op_type();
  const int version = static_cast<int>(ctx.opset());
  return ImportRowOf(ctx, domain) != nullptr ||
         (domain.empty() && Ops().FindEncoding("onnx", op, version).first != nullptr);
}

Status ImportOp(ImportContext& ctx, std::string_view domain) {
  const std::string& op = ctx.node().op_type();
  if (ctx.opset() == 0)
    return ModelError("the model does not import operator set {}", Quote(ctx.node().domain()));
  if (const ImportRow* const row = ImportRowOf(ctx, domain)) {
    for (size_t i = 0; i < row->inputs; ++i) NN_RETURN_IF_ERROR(ctx.Required(i));
    return row->import(ctx);
  }
  if (domain.empty()) {
    NN_ASSIGN(const bool done, ImportOneToOne(ctx));
    if (done) return {};
  }
  if (const std::string_view reason = WhyNotImported(domain, op); !reason.empty())
    return UnsupportedError("{}: {}", op, reason);
  return UnsupportedError("{} (operator set {}, version {}) is unsupported", Escape(op),
                          domain.empty() ? "ai.onnx" : Escape(domain), ctx.opset());
}

Result<ImportedModel> OnnxImporter::Import(const NativeModel& native, const KnownInputs& known,
                                           bool /*as_float*/) const {
  const auto& model = static_cast<const Model&>(native);
  if (!model.proto.has_graph()) return ModelError("the model has no graph");
  return Importer(model, known).Run();
}

std::vector<OperatorSupport> Operators() {
  std::set<std::string> names;
  for (std::string& name : Imports().Names()) names.insert(std::move(name));
  for (const OpDef* op : Ops().All())
    for (const FormatName& f : op->formats)
      if (f.format == "onnx") names.emplace(f.path);
  names.insert(fmt::format("{}.{}", kMicrosoft, kDynamicLstm));
  std::map<std::string, bool> imported;
  for (const std::string& name : names) imported[name] = true;
  for (const std::string& domain : StandardDomains())
    for (const std::string& op : OperatorsIn(domain))
      imported.try_emplace(domain.empty() ? op : fmt::format("{}.{}", domain, op),
                           IsControlFlow(domain, op));
  std::vector<OperatorSupport> out;
  out.reserve(imported.size());
  for (const auto& [name, is_imported] : imported) out.push_back({name, is_imported});
  return out;
}

}  // namespace nn::onnx
