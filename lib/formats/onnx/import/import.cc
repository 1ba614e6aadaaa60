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

Result<std::optional<AttrValue>> ImportContext::ReadAttr(std::string_view name,
                                                         const AttrValue& initial) const {
  const pb::AttributeProto* const a = FindAttr(name);
  if (a == nullptr) return std::nullopt;
  switch (a->type()) {
    case pb::AttributeProto::FLOAT:
      return a->f();
    case pb::AttributeProto::INT:
      if (std::holds_alternative<bool>(initial)) return a->i() != 0;
      return a->i();
    case pb::AttributeProto::STRING:
      return a->s();
    case pb::AttributeProto::INTS:
      return Ints(name);
    case pb::AttributeProto::FLOATS:
      return Floats(name);
    default:
      return ModelError("attribute {} has unexpected type {}", name,
                        pb::AttributeProto::AttributeType_Name(a->type()));
  }
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

Result<Node*> ImportContext::Insert(const OpDef& op, std::vector<Value*> inputs, Attrs attrs,
                                    std::span<const Type> types, std::span<Graph> regions) {
  std::shared_ptr<const Quant> mapping;  // of the results
  if (std::ranges::any_of(inputs, IsQuantizedValue)) {
    const Mapping of_op = MappingOf(op);
    if (of_op == Mapping::kDropped || (of_op == Mapping::kKept && !ShareMapping(graph(), inputs))) {
      NN_RETURN_IF_ERROR(DropMappings(graph(), inputs));
    } else if (op.quant_rule == QuantRule::kSame && IsQuantizedValue(inputs[0]) &&
               !inputs[0]->type().quant->per_axis()) {
      mapping = inputs[0]->type().quant;
    }
  }
  NN_ASSIGN(Node* const node,
            OperatorImport::Insert(op, std::move(inputs), std::move(attrs), types, regions));
  for (Value* y : node->outputs()) {
    if (mapping == nullptr || y->dtype() != node->input(0)->dtype()) continue;
    Type type = y->type();
    type.quant = mapping;
    y->set_type(std::move(type));
  }
  return node;
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
         (domain.empty() && ctx.IsOneToOne("onnx", op, version));
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
    NN_ASSIGN(const bool done, ctx.EmitOneToOne("onnx", op, static_cast<int>(ctx.opset())));
    if (done) return {};
  }
  if (const std::string_view reason = WhyNotImported(domain, op); !reason.empty())
    return UnsupportedError("{}: {}", op, reason);
  return UnsupportedError("{} (operator set {}, version {}) is unsupported", Escape(op),
                          domain.empty() ? "ai.onnx" : Escape(domain), ctx.opset());
}

Result<ImportedModel> OnnxImporter::Import(const NativeModel& native, const KnownInputs& known,
                                           bool /*as_float*/) const {
  const auto& model = ModelOf(native);
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
