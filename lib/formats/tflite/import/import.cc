#include "formats/tflite/import/import.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "formats/tflite/family.h"
#include "formats/tflite/file/blockwise.h"
#include "formats/tflite/file/options.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/import/importer.h"
#include "formats/tflite/roles.h"
#include "formats/tflite/spec/signature.h"
#include "formats/tflite/tflite.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/quantized.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {
namespace {

struct Activation {
  std::string_view op;
  Attrs attrs;
};

// nullopt for NONE.
Result<std::optional<Activation>> ActivationOf(fb::ActivationFunctionType type) {
  using A = fb::ActivationFunctionType;
  switch (type) {
    case A::NONE:
      return std::nullopt;
    case A::RELU:
      return Activation{"relu", {}};
    case A::RELU_N1_TO_1:
      return Activation{"clip", ClipAttrs{-1, 1}};
    case A::RELU6:
      return Activation{"clip", ClipAttrs{0, 6}};
    case A::TANH:
      return Activation{"tanh", {}};
    case A::SIGN_BIT:
      break;
  }
  return UnsupportedError("fused activation {} is unsupported", static_cast<int>(type));
}

}  // namespace

Status ImportContext::CheckInputs(std::string_view kinds) const {
  for (size_t i = 0; i < kinds.size(); ++i)
    if (kinds[i] != '-') NN_RETURN_IF_ERROR(kinds[i] == 'r' ? Ranked(i) : Required(i));
  return {};
}

Result<Value*> ImportContext::Ranked(size_t i) const {
  NN_ASSIGN(Value* const v, Required(i));
  if (!v->type().ranked()) return UnsupportedError("the rank of input {} is unknown", i);
  return v;
}

Result<std::vector<int64_t>> ImportContext::KnownInts(size_t i, std::string_view what) const {
  NN_RETURN_IF_ERROR(Required(i));
  const auto elements = Elements(i);
  const auto ints = elements ? ConstDims(*elements) : std::nullopt;
  if (!ints) return UnsupportedError("{} must be constant", what);
  return *ints;
}

const void* ImportContext::DefaultOptions() const {
  const Signature* signature = FindSignature(OperatorOf(code_));
  if (op_.builtin_options() != nullptr || signature == nullptr || signature->needs_options)
    return nullptr;
  static const flatbuffers::DetachedBuffer buffer = [] {
    flatbuffers::FlatBufferBuilder builder;
    const auto table = builder.StartTable();
    builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(table)));
    return builder.Release();
  }();
  return buffer.data();
}

Result<Type> ImportContext::DeclaredType(const flatbuffers::Vector<int32_t>* list, size_t i) const {
  const auto at = static_cast<flatbuffers::uoffset_t>(i);
  const int64_t index = at < SizeOf(list) ? list->Get(at) : -1;
  const fb::Tensor* const tensor = At(subgraph_.tensors(), index);
  if (tensor == nullptr) return ModelError("tensor {} does not exist", index);
  return ReadType(*tensor, NameOfTensor(*tensor, index));
}

Result<std::optional<AttrValue>> ImportContext::ReadAttr(std::string_view name,
                                                         const AttrValue& /*initial*/) const {
  return ReadOption(op_, OptionsOf(OperatorOf(code_)), name);
}

Status ImportContext::CheckOutputs() const {
  if (output_types_.empty()) return ModelError("the operator has no output");
  return {};
}

Result<Value*> ImportContext::Add(std::string_view op, const Terms& operands, Attrs attrs,
                                  std::shared_ptr<const Quant> quant) {
  Type type;
  type.quant = std::move(quant);
  return Add(op, operands, std::move(attrs), type);
}

Status ImportContext::EmitTerms(const Terms& ys) {
  for (size_t i = 0; i < std::min(ys.list().size(), output_count()); ++i)
    NN_RETURN_IF_ERROR(EmitTerm(ys.list()[i], i));
  return {};
}

Status ImportContext::EmitActivated(fb::ActivationFunctionType activation, std::string_view op,
                                    const Terms& operands, Attrs attrs) {
  NN_ASSIGN(const auto after, ActivationOf(activation));
  if (!after) return Emit(op, operands, std::move(attrs));
  NN_RETURN_IF_ERROR(CheckOutputs());
  NN_ASSIGN(Value* const y, Add(op, operands, std::move(attrs), output_types_[0]));
  return Emit(after->op, {y}, after->attrs);
}

Status ImportContext::EmitActivation(fb::ActivationFunctionType activation, Value* value) {
  NN_ASSIGN(const auto after, ActivationOf(activation));
  if (after) return Emit(after->op, {value}, after->attrs);
  SetOutput(0, value);
  return {};
}

size_t ImportContext::OwnVariable(std::string_view name) {
  return variables_.OfOperator(subgraph_, index(),
                               fmt::format("{}_{}_{}", Text(code_.custom_code()), index(), name));
}

Result<Value*> ImportContext::ReadOwn(std::string_view name, const Type& type) {
  return variables_.Read(graph(), known_inputs_, OwnVariable(name), type);
}

Status ImportContext::AssignOwn(std::string_view name, const Term& value) {
  NN_ASSIGN(Value* const v, Build(value));
  return variables_.Assign(OwnVariable(name), v);
}

Status ImportContext::SetState(size_t i, Value* value) {
  NN_ASSIGN(const Type declared, DeclaredInput(i));
  if (value->type().dims != declared.dims && declared.ranked()) {
    NN_ASSIGN(value, Add("reshape", {value}, ReshapeAttrs{*declared.dims}, value->type().quant));
  }
  states_[i] = value;
  return {};
}

Result<Value*> ImportContext::FloatWeights(Value* weights) {
  if (!weights->type().quantized()) return weights;
  if (!hybrid_as_float_) {
    Type type = weights->type();
    type.quant = nullptr;  // the scales of many channels
    return UnsupportedError(
        "{} weights in a float computation are unsupported (hybrid kernel); nnconvert --dequantize "
        "converts them to floats",
        type.ToString());
  }
  NN_ASSIGN(Value* const floats, Add("dequantize", {weights}, DequantizeAttrs{}));
  ++hybrids_;
  return floats;
}

namespace {

// The integers of a hybrid kernel, which reads those of UINT8 as INT8 and ignores zero points.
Result<Value*> HybridIntegers(Graph& graph, Value* weights) {
  if (HasZeroPoints(*weights->type().quant))
    return UnsupportedError(
        "{} weights with a zero point in a float computation are unsupported, because hybrid "
        "kernels ignore it; nnconvert --dequantize converts them to floats",
        DTypeName(weights->dtype()));
  if (weights->dtype() != DType::kU8) return weights;
  if (!weights->is_constant())
    return UnsupportedError("u8 weights in a float computation must be constant");
  const Tensor& t = weights->constant();
  return graph.AddConstant(Tensor(DType::kI8, t.dims(), t.blob()), std::string(weights->name()),
                           weights->type().quant);
}

}  // namespace

Result<Value*> ImportContext::HybridWeights(Value* weights) {
  if (!rounds_inputs()) return FloatWeights(weights);
  NN_ASSIGN(Value* const integers, HybridIntegers(graph(), weights));
  return Add("dequantize", {integers}, DequantizeAttrs{});
}

Status ImportContext::MakeHybrid(Value*& x, Value*& weights, DynamicFakeQuantizeAttrs rows) {
  if (x->type().quantized() || !weights->type().quantized()) return {};
  NN_ASSIGN(weights, HybridWeights(weights));
  if (!rounds_inputs()) return {};
  NN_ASSIGN(x, Add("dynamic_fake_quantize", {x}, std::move(rows)));
  return {};
}

Result<Value*> ImportContext::Weights(size_t i) {
  const auto at = static_cast<flatbuffers::uoffset_t>(i);
  const int64_t index = i < input_count() && input(i) == nullptr ? op_.inputs()->Get(at) : -1;
  const fb::Tensor* const tensor = At(subgraph_.tensors(), index);
  if (tensor == nullptr || !IsBlockwise(*tensor)) return Ranked(i);
  if (input(0) == nullptr || output_types_.empty() || input(0)->dtype() != DType::kF32 ||
      output_types_[0].dtype != DType::kF32)
    return UnsupportedError(
        "weights with blockwise quantization need an input and a result of f32");
  NN_ASSIGN(Blocks blocks, ReadBlocks(model_, subgraph_, *tensor));
  Value* const integers = graph().AddConstant(
      std::move(blocks.integers), std::string(Text(tensor->name())), std::move(blocks.quant));
  ++hybrids_;
  return Build(Reshape(Apply("dequantize", {integers}, DequantizeAttrs{}), std::move(blocks.dims)));
}

Status ImportOp(ImportContext& ctx) {
  if (const ImportRow* row = FindImport(ctx.code())) {
    NN_RETURN_IF_ERROR(ctx.CheckInputs(row->inputs));
    return row->import(ctx);
  }
  NN_ASSIGN(const bool done,
            ctx.EmitOneToOne("tflite", fb::EnumNameBuiltinOperator(OperatorOf(ctx.code()))));
  if (done) return {};
  // TensorFlow's converter gives its own operators this prefix.
  if (Text(ctx.code().custom_code()).starts_with("Flex"))
    return UnsupportedError(
        "{} is an operator of TensorFlow, which LiteRT runs by its Flex delegate; export the model "
        "without SELECT_TF_OPS, or cut the operator off with nnconvert --extract",
        ctx.kind());
  return UnsupportedError("{} (version {}) is unsupported", ctx.kind(), ctx.code().version());
}

namespace {

const ImportRow* FindBuiltin(fb::BuiltinOperator op) {
  static const auto table = RowsBy(&ImportRow::op, &Family::imports, Families(),
                                   std::optional(fb::BuiltinOperator::CUSTOM));
  return FindRow(table, op);
}

}  // namespace

const ImportRow* FindImport(const fb::OperatorCode& code) {
  const fb::BuiltinOperator op = OperatorOf(code);
  if (op != fb::BuiltinOperator::CUSTOM) return FindBuiltin(op);
  static const auto custom =
      RowsBy(&ImportRow::custom, &Family::imports, Families(), std::optional(std::string_view()));
  const std::string_view name = Text(code.custom_code());
  return name.empty() ? nullptr : FindRow(custom, name);
}

Result<ImportedModel> TfliteImporter::Import(const NativeModel& native, const KnownInputs& known,
                                             bool as_float) const {
  const auto& model = ModelOf(native);
  const fb::SubGraph* main = At(model.root->subgraphs(), 0);
  if (main == nullptr) return ModelError("the model has no subgraph");
  ImportState state{.hybrid_as_float = as_float, .known_inputs = known};
  NN_RETURN_IF_ERROR(Importer(model, *main, state).Run());
  state.contradicted.AddNote(state.result.notes);
  return std::move(state.result);
}

std::vector<OperatorSupport> Operators() {
  std::vector<OperatorSupport> out;
  for (const fb::BuiltinOperator op : fb::EnumValuesBuiltinOperator()) {
    if (op == fb::BuiltinOperator::CUSTOM) continue;  // see below
    const std::string name = fb::EnumNameBuiltinOperator(op);
    out.push_back({name, CallsSubgraphs(op) || FindBuiltin(op) != nullptr ||
                             ImportContext::IsOneToOne("tflite", name)});
  }
  for (const Family& family : Families())
    for (const ImportRow& row : family.imports)
      if (!row.custom.empty()) out.push_back({fmt::format("CUSTOM {}", row.custom), true});
  return out;
}

}  // namespace nn::tflite
