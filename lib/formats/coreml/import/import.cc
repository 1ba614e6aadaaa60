#include "formats/coreml/import/import.h"

#include <fmt/core.h>

#include <cmath>

#include "base/text/text.h"
#include "formats/coreml/coreml.h"
#include "formats/coreml/family.h"
#include "formats/coreml/file/weights.h"
#include "formats/coreml/import/importer.h"
#include "formats/coreml/program/import/importer.h"
#include "formats/coreml/roles.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {
namespace {

// "unary.SQRT" -> "unary".
std::string_view Group(std::string_view kind) {
  return kind.substr(0, kind.find('.'));
}

const ImportRow* FindImport(std::string_view kind) {
  static const auto table = RowsBy(&ImportRow::layer, &Family::imports, Families());
  const ImportRow* row = FindRow(table, kind);
  if (row == nullptr) row = FindRow(table, Group(kind));
  return row;
}

// Whether a float constant has only integers in the range of i64.
bool HasIntegers(const Tensor& t) {
  for (int64_t i = 0; i < t.elements(); ++i) {
    const double x = t.GetDouble(i);
    if (std::floor(x) != x || std::fabs(x) > 0x1p62) return false;
  }
  return true;
}

// Whether v may be the result of shape arithmetic, which is of few elements.
bool IsIntegral(const Value* v) {
  return v->is_constant() && v->dtype() == DType::kF32 &&
         v->constant().elements() <= InferContext::kMaxElements && HasIntegers(v->constant());
}

}  // namespace

bool IsImported(std::string_view kind) {
  return FindImport(kind) != nullptr || ImportContext::IsOneToOne("coreml", kind);
}

Status ImportKind(ImportContext& ctx) {
  if (const ImportRow* const row = FindImport(ctx.kind())) {
    NN_RETURN_IF_ERROR(ctx.TakeInputs(row->inputs));
    return row->import(ctx);
  }
  NN_ASSIGN(const bool done, ctx.EmitOneToOne("coreml", ctx.kind()));
  if (done) return {};
  return UnsupportedError("layer {} is unsupported", ctx.kind());
}

ImportContext::ImportContext(const Fields& layer, int64_t index, Graph& graph,
                             std::vector<Value*> inputs)
    : OperatorImport({.kind = KindOf(layer), .index = index, .name = layer.Text("name")}, graph,
                     inputs, layer.Count("output")),
      layer_(layer),
      params_(kind().empty() ? layer : layer.Sub(layer.OneOf("layer"))),
      blobs_(std::move(inputs)) {}

Status ImportContext::CheckOutputs() const {
  if (output_count() <= 1) return {};
  return ModelError("there are {} outputs; expected 1", output_count());
}

Status ImportContext::TakeInputsOf(const OpDef& op) {
  NN_RETURN_IF_ERROR(ExpectInputs(op.inputs.size(), op.inputs.size()));
  return TakeInputs(op.keeps_integers ? "+" : std::string(op.inputs.size(), 'f'));
}

Result<std::optional<AttrValue>> ImportContext::ReadAttr(std::string_view name,
                                                         const AttrValue& initial) const {
  const Fields fields =
      Group(kind()) == "activation" ? params_.Sub(params_.OneOf("NonlinearityType")) : params_;
  if (std::holds_alternative<float>(initial)) return fields.Float(name);
  if (std::holds_alternative<bool>(initial)) return fields.Bool(name);
  if (std::holds_alternative<int64_t>(initial)) return fields.Int(name);
  return OperatorImport::ReadAttr(name, initial);
}

Status ImportContext::ExpectInputs(size_t at_least, size_t at_most) const {
  if (input_count() >= at_least && input_count() <= at_most) return {};
  return ModelError("there are {} inputs, which is invalid for this layer", input_count());
}

Status ImportContext::TakeInputs(std::string_view kinds) {
  if (kinds == "+") {
    NN_RETURN_IF_ERROR(ExpectInputs(1, SIZE_MAX));
    NN_ASSIGN(const std::vector<Value*> alike, Alike());
    for (size_t i = 0; i < alike.size(); ++i) SetInput(i, alike[i]);
    return {};
  }
  std::string types(kinds);
  const size_t required = std::min(types.find('?'), types.size());
  std::erase(types, '?');
  NN_RETURN_IF_ERROR(ExpectInputs(required, types.size()));
  for (size_t i = 0; i < input_count(); ++i) {
    const char type = types[i];
    NN_ASSIGN(Value* const v, type == 'f'   ? Float(i)
                              : type == 'b' ? Bool(i)
                              : type == 'i' ? Index(i)
                              : type == 'p' ? Position(i)
                              : type == 's' ? Spatial(i)
                                            : Any(i));
    SetInput(i, v);
  }
  return {};
}

Result<Value*> ImportContext::Any(size_t i) const {
  if (i >= blobs_.size()) return ModelError("input {} is missing", i);
  if (!blobs_[i]->type().ranked()) return UnsupportedError("the rank of input {} is unknown", i);
  return blobs_[i];
}

Result<Value*> ConvertTo(Graph& graph, Value* v, DType dtype) {
  if (v->dtype() == dtype) return v;
  if (!v->is_constant()) {
    NN_ASSIGN(Node* const cast, graph.Append("cast", {v}, CastAttrs{.to = dtype}));
    return cast->output();
  }
  const Tensor& t = v->constant();
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(dtype, t.dims()));
  for (int64_t i = 0; i < t.elements(); ++i) {
    if (IsFloat(dtype))
      out.SetDouble(i, t.GetDouble(i));
    else
      out.SetInt(i, IsFloat(t.dtype()) ? static_cast<int64_t>(t.GetDouble(i)) : t.GetInt(i));
  }
  return graph.AddConstant(out.Finish(), v->name());
}

Result<std::optional<std::vector<int64_t>>> ImportContext::KnownInts(size_t input,
                                                                     std::vector<int64_t> field) {
  if (input >= input_count()) return field;
  const auto elements = Elements(input);
  return elements ? ConstDims(*elements) : std::nullopt;
}

Result<Value*> ImportContext::AsFloat(Value* v) {
  return ConvertTo(graph(), v, DType::kF32);
}

Result<Value*> ImportContext::Float(size_t i) {
  NN_ASSIGN(Value* const v, Any(i));
  return AsFloat(v);
}

Result<Value*> ImportContext::Bool(size_t i) {
  NN_ASSIGN(Value* const v, Any(i));
  return AsBool(v);
}

Result<Value*> ImportContext::AsBool(Value* v) {
  if (v->dtype() == DType::kBool) return v;
  NN_ASSIGN(Value* const number, AsFloat(v));
  return Add("not_equal", {number, 0});
}

Result<Value*> ImportContext::Index(size_t i) {
  NN_ASSIGN(Value* const v, Any(i));
  if (v->is_constant() && v->dtype() == DType::kF32 && !HasIntegers(v->constant()))
    return ModelError("input {} has a value that is not an index", i);
  return ConvertTo(graph(), v, DType::kI64);
}

Result<Value*> ImportContext::Position(size_t i) {
  NN_ASSIGN(Value* const v, Any(i));
  return v->dtype() == DType::kF32 && !v->is_constant() ? v : Index(i);
}

Result<std::vector<Value*>> ImportContext::Alike() {
  bool same = true, integral = true;
  for (size_t i = 0; i < blobs_.size(); ++i) {
    NN_ASSIGN(const Value* const v, Any(i));
    same &= v->dtype() == blobs_[0]->dtype() && v->dtype() != DType::kBool;
    integral &= v->dtype() == DType::kI64 || IsIntegral(v);
  }
  if (same) return blobs_;
  std::vector<Value*> out;
  for (Value* v : blobs_) {
    NN_ASSIGN(Value* const alike, ConvertTo(graph(), v, integral ? DType::kI64 : DType::kF32));
    out.push_back(alike);
  }
  return out;
}

Result<Value*> ImportContext::Spatial(size_t i, int least_rank) {
  NN_ASSIGN(Value* const x, Float(i));
  const Dims& dims = *x->type().dims;
  if (x->type().rank() < least_rank)
    return ModelError("input {} has rank {}; expected {} or more", i, dims.size(), least_rank);
  if (dims.size() == 4) return x;
  if (dims.size() < 4) return Rearrange(graph(), x, AxisMap::Insert(x->type().rank(), 0));
  Dims merged = {Product(Dims(dims.begin(), dims.end() - 3))};
  merged.insert(merged.end(), dims.end() - 3, dims.end());
  if (dims.size() == 5 && dims[0] == 1) return Rearrange(graph(), x, AxisMap::Remove(5, 0));
  return Build(Reshape(x, std::move(merged)));
}

Result<Value*> ImportContext::Unspatial(Value* y, size_t i) {
  const Dims& dims = *blobs_[i]->type().dims;
  if (dims.size() == 4) return y;
  if (dims.size() < 4) return Rearrange(graph(), y, AxisMap::Remove(4, 0));
  if (dims.size() == 5 && dims[0] == 1) return Rearrange(graph(), y, AxisMap::Insert(4, 0));
  Dims split(dims.begin(), dims.end() - 3);
  const Dims& last = *y->type().dims;
  split.insert(split.end(), last.begin() + 1, last.end());
  return Build(Reshape(y, std::move(split)));
}

Result<Value*> ImportContext::Weights(std::string_view field, std::vector<int64_t> dims) {
  const Message* const message = &params_.Sub(field).message();
  const bool is_shared = weights_ != nullptr && params_.Has(field);
  if (is_shared)
    if (const auto it = weights_->find(message);
        it != weights_->end() && it->second->constant().dims() == dims)
      return it->second;
  auto tensor = ReadWeights(params_.Sub(field), std::move(dims));
  if (!tensor) return tl::unexpected(tensor.error().In(field));
  Value* const v =
      graph().AddConstant(*std::move(tensor), fmt::format("{}.{}", layer_.Text("name"), field));
  if (is_shared) (*weights_)[message] = v;
  return v;
}

Result<Terms> ImportContext::WithWeights(std::vector<Term> operands,
                                         std::initializer_list<std::string_view> fields,
                                         const std::vector<int64_t>& dims) {
  for (const std::string_view field : fields) {
    NN_ASSIGN(operands.emplace_back(), Weights(field, dims));
  }
  return Terms(std::move(operands));
}

Result<Terms> ImportContext::WithBias(std::vector<Term> operands, int64_t size) {
  if (params().Bool("hasBias")) return WithWeights(std::move(operands), {"bias"}, {size});
  return Terms(std::move(operands));
}

Result<Terms> ImportContext::Weighted(Term x, std::vector<int64_t> dims, int64_t outputs) {
  NN_ASSIGN(Value* const weights, Weights("weights", std::move(dims)));
  return WithBias({std::move(x), weights}, outputs);
}

Status ImportContext::EmitSpatial(std::string_view op, Terms operands, Attrs attrs) {
  NN_ASSIGN(Value* const y, Add(op, std::move(operands), std::move(attrs)));
  NN_ASSIGN(Value* const out, Unspatial(y, 0));
  return EmitTerm(out);
}

namespace {

Result<ImportedModel> ImportNetwork(const NativeModel& native, const Shapes& shapes,
                                    const KnownInputs& known) {
  const auto& model = ModelOf(native);
  if (model.has_network()) return Importer(model, shapes, known).Run();
  if (model.kind() == "mlProgram") return program::Importer(model, known).Run();
  return UnsupportedError("{}: only neural networks and ML Programs are supported",
                          DescribeKind(model.root()));
}

}  // namespace

Result<ImportedModel> CoremlImporter::ImportWithShapes(const NativeModel& model,
                                                       const Shapes& shapes) const {
  return ImportNetwork(model, shapes, {});
}

Result<ImportedModel> CoremlImporter::Import(const NativeModel& model, const KnownInputs& known,
                                             bool /*as_float*/) const {
  return ImportNetwork(model, {}, known);
}

std::vector<OperatorSupport> Operators() {
  std::vector<OperatorSupport> out;
  for (std::string& kind : LayerKinds()) {
    const bool imported = IsImported(kind) || IsControlFlow(kind);
    out.push_back({std::move(kind), imported});
  }
  for (OperatorSupport& operation : program::Operators()) {
    operation.name = "mlProgram." + operation.name;
    out.push_back(std::move(operation));
  }
  return out;
}

}  // namespace nn::coreml
