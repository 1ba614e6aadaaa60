#include "formats/nnapi/import/import.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text/text.h"
#include "formats/common/known_inputs.h"
#include "formats/nnapi/family.h"
#include "formats/nnapi/roles.h"
#include "formats/nnapi/spec/signature.h"
#include "ir/op_def.h"
#include "ir/verify.h"
#include "ops/array/opaque.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::nnapi {
namespace {

const ImportRow* FindImport(OperationType type) {
  static const auto table = RowsBy(&ImportRow::operation, &Family::imports, Families());
  return FindRow(table, type);
}

std::string Describe(uint32_t index, const Operand& o) {
  std::string text = fmt::format("operand {}", index);
  if (!o.name.empty()) text += " " + Quote(o.name);
  return text;
}

DType ElementOf(OperandType type) {
  switch (type) {
    case OperandType::kFloat32:
    case OperandType::kTensorFloat32:
      return DType::kF32;
    case OperandType::kInt32:
    case OperandType::kTensorInt32:
      return DType::kI32;
    case OperandType::kUint32:
      return DType::kU32;
    case OperandType::kTensorQuant8Asymm:
    case OperandType::kOem:
    case OperandType::kTensorOemByte:
      return DType::kU8;
  }
  return DType::kUnknown;
}

Result<std::shared_ptr<const Quant>> QuantOf(const Operand& o) {
  const bool bytes = o.type == OperandType::kTensorQuant8Asymm;
  if (!bytes && (o.type != OperandType::kTensorInt32 || o.scale == 0)) return nullptr;
  if (!std::isfinite(o.scale) || o.scale <= 0)
    return ModelError("the scale must be positive and finite, not {}", o.scale);
  if (bytes ? o.zero_point < 0 || o.zero_point > 255 : o.zero_point != 0)
    return ModelError("{} cannot have zero point {}", TextOf(o.type), o.zero_point);
  return Quant::PerTensor(o.scale, o.zero_point);
}

// Unspecified sizes become symbols; a tensor without dimensions has unknown rank.
Result<Type> TypeOf(uint32_t index, const Operand& o) {
  if (ElementOf(o.type) == DType::kUnknown)
    return ModelError("type {} is unknown in NNAPI 1.0", TextOf(o.type));
  Type type;
  type.dtype = ElementOf(o.type);
  NN_ASSIGN(type.quant, QuantOf(o));
  if (IsScalar(o.type) && !o.dimensions.empty())
    return ModelError("the scalar has {} dimensions", o.dimensions.size());
  if (o.type == OperandType::kOem) {
    type.dims = Dims{Dim(o.location.length)};
  } else if (IsScalar(o.type) || !o.dimensions.empty()) {
    Dims dims;
    for (size_t i = 0; i < o.dimensions.size(); ++i)
      dims.push_back(o.dimensions[i] == 0 ? Dim::Symbol(fmt::format("operand{}_{}", index, i))
                                          : Dim(o.dimensions[i]));
    type.dims = std::move(dims);
  }
  return type;
}

class Importer {
 public:
  Importer(const Model& model, const KnownInputs& known)
      : model_(model), known_inputs_(known), values_(model.operands.size(), nullptr) {}

  Result<ImportedModel> Run() {
    graph_.name = model_.name;
    size_t position = 0;
    for (const uint32_t i : model_.input_indexes) NN_RETURN_IF_ERROR(AddInput(i, position++));
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      const Operation& o = model_.operations[i];
      if (auto s = ImportOperation(o, static_cast<int64_t>(i)); !s)
        return tl::unexpected(s.error().In(fmt::format("operation {} ({})", i, TextOf(o.type))));
    }
    for (const uint32_t i : model_.output_indexes) {
      NN_ASSIGN(Value* const v, ValueOf(i));
      if (v == nullptr) return ModelError("output operand {} has no value", i);
      graph_.AddOutput("", v);
    }
    NN_RETURN_IF_ERROR(Verify(graph_));
    return ImportedModel{std::move(graph_), std::move(unsupported_)};
  }

 private:
  Result<const Operand*> OperandAt(uint32_t index) const {
    if (index >= model_.operands.size())
      return ModelError("operand {} does not exist; the model has {}", index,
                        model_.operands.size());
    return &model_.operands[index];
  }

  Result<Type> DeclaredType(uint32_t index) const {
    NN_ASSIGN(const Operand* const o, OperandAt(index));
    auto type = TypeOf(index, *o);
    if (!type) return tl::unexpected(type.error().In(Describe(index, *o)));
    return type;
  }

  Status AddInput(uint32_t index, size_t position) {
    NN_ASSIGN(const Operand* const o, OperandAt(index));
    if (o->lifetime != LifeTime::kModelInput)
      return ModelError("{} is a model input, but its lifetime is {}", Describe(index, *o),
                        TextOf(o->lifetime));
    if (values_[index] != nullptr)
      return ModelError("{} occurs twice in the model inputs", Describe(index, *o));
    NN_ASSIGN(const Type type, DeclaredType(index));
    NN_ASSIGN(values_[index], known_inputs_.AddInput(graph_, position, "", type));
    values_[index]->set_name(o->name);
    return {};
  }

  // The value of an operand to read; null if omitted.
  Result<Value*> ValueOf(uint32_t index) {
    NN_ASSIGN(const Operand* const o, OperandAt(index));
    if (o->lifetime == LifeTime::kNoValue) return nullptr;
    if (values_[index] != nullptr) return values_[index];
    if (o->lifetime == LifeTime::kConstantCopy || o->lifetime == LifeTime::kConstantReference)
      return AddConstant(index, *o);
    return ModelError("{} ({}) is read before it is written", Describe(index, *o),
                      TextOf(o->lifetime));
  }

  Result<Value*> AddConstant(uint32_t index, const Operand& o) {
    NN_ASSIGN(const Type type, DeclaredType(index));
    const auto dims = type.const_dims();
    if (!dims)
      return ModelError("{}: a constant must have a fixed shape, not {}", Describe(index, o),
                        type.ToString());
    const auto bytes = BytesOf(model_, o);
    if (!bytes)
      return ModelError("{}: {} bytes at {} are outside the pool", Describe(index, o),
                        o.location.length, o.location.offset);
    auto tensor = Tensor::Make(type.dtype, *dims, *bytes);
    if (!tensor) return tl::unexpected(tensor.error().In(Describe(index, o)));
    values_[index] = graph_.AddConstant(*std::move(tensor), o.name, type.quant);
    return values_[index];
  }

  Status ImportOperation(const Operation& operation, int64_t index) {
    std::vector<Value*> inputs;
    // Values after an unsupported operation often have unknown shapes; only the first error is
    // reported.
    bool on_opaque = false;
    for (const uint32_t i : operation.inputs) {
      NN_ASSIGN(Value* const v, ValueOf(i));
      inputs.push_back(v);
      on_opaque |= v != nullptr && !v->type().ranked() && !unsupported_.empty();
    }
    const Status omitted = Omit(operation, inputs);
    std::vector<Type> types;
    for (const uint32_t i : operation.outputs) {
      NN_ASSIGN(const Operand* const o, OperandAt(i));
      if (o->lifetime != LifeTime::kTemporaryVariable && o->lifetime != LifeTime::kModelOutput)
        return ModelError("it writes {}, but the lifetime is {}", Describe(i, *o),
                          TextOf(o->lifetime));
      if (values_[i] != nullptr) return ModelError("{} is written twice", Describe(i, *o));
      NN_ASSIGN(Type type, DeclaredType(i));
      types.push_back(std::move(type));
    }
    ImportContext ctx(operation, index, graph_, std::move(inputs), std::move(types));
    auto status = omitted ? ImportOp(ctx) : omitted;
    if (!status && status.error().code() == ErrorCode::kUnsupported)
      status = MakeOpaque(ctx, on_opaque ? std::string() : status.error().message());
    NN_RETURN_IF_ERROR(status);
    for (size_t i = 0; i < operation.outputs.size(); ++i)
      NN_RETURN_IF_ERROR(Declare(ctx.outputs()[i], operation.outputs[i], ctx.output_type(i)));
    return {};
  }

  // Optional operands without elements are omitted ones: models that compute them, or take them as
  // inputs, cannot do without. kUnsupported if only a run knows.
  static Status Omit(const Operation& operation, std::vector<Value*>& inputs) {
    const Signature* const signature = FindSignature(operation.type, inputs.size());
    if (signature == nullptr) return {};
    for (size_t i = 0; i < inputs.size(); ++i) {
      Value*& v = inputs[i];
      if (v == nullptr || !signature->InputAt(i, inputs.size()).optional) continue;
      const Type& type = v->type();
      const bool is_empty = type.ranked() && std::ranges::any_of(*type.dims, [](const Dim& d) {
                              return d == int64_t{0};
                            });
      if (is_empty) {
        v = nullptr;
      } else if (!type.const_dims()) {
        return UnsupportedError(
            "input {} may be omitted, and {} says so only when it has a shape; set the shapes of "
            "inputs with --input-shape, with a size of 0 for what is omitted",
            i, Quote(v->name()));
      }
    }
    return {};
  }

  static Status ImportOp(ImportContext& ctx) {
    if (const ImportRow* row = FindImport(ctx.type())) {
      NN_RETURN_IF_ERROR(ctx.CheckCounts());
      return row->import(ctx);
    }
    const auto name = NameOf(ctx.type());
    if (!name) return ModelError("NNAPI 1.0 has no operation of this code");
    NN_ASSIGN(const bool done, ctx.EmitOneToOne("nnapi", *name));
    if (!done) return UnsupportedError("{} is unsupported", *name);
    return {};
  }

  // Names a result after its operand and refines its type by the declaration.
  Status Declare(Value* v, uint32_t index, const Type& type) {
    const Operand& o = model_.operands[index];
    if (v == nullptr) return UnsupportedError("{} is not computed", Describe(index, o));
    // An operation that copies the integers of its input cannot change their scale.
    const bool same_scale = type.quant == nullptr || v->type().quant == nullptr ||
                            type.quant->SameMapping(*v->type().quant);
    if (!same_scale || !Compatible(type, v->type()))
      return ModelError("{} is declared as {}, but is {}", Describe(index, o), type.ToString(),
                        v->type().ToString());
    v->set_type(Refine(v->type(), type));
    if (!v->is_input() && v->name().empty()) v->set_name(o.name);
    values_[index] = v;
    return {};
  }

  Status MakeOpaque(ImportContext& ctx, std::string reason) {
    NN_ASSIGN(Node* const opaque,
              ctx.EmitOpaque(ctx.output_count(), std::move(reason), unsupported_));
    if (OnQuantizedTypes(*opaque)) opaque->set_arithmetic(Arithmetic::kTflite);
    return {};
  }

  const Model& model_;
  const KnownInputs& known_inputs_;
  Graph graph_;
  std::vector<Value*> values_;  // by operand
  std::vector<UnsupportedNode> unsupported_;
};

}  // namespace

Result<std::vector<Value*>> ImportContext::RequiredInputs(size_t count) const {
  std::vector<Value*> values;
  for (size_t i = 0; i < count; ++i) {
    NN_ASSIGN(values.emplace_back(), Required(i));
  }
  return values;
}

Status ImportContext::CheckCounts() const {
  const Signature* signature = FindSignature(type(), input_count());
  if (signature == nullptr)
    return ModelError("there are {} inputs; expected {}", input_count(), InputCounts(type()));
  if (types_.size() != signature->outputs.size())
    return ModelError("there are {} outputs; expected {}", types_.size(),
                      signature->outputs.size());
  return {};
}

Status ImportContext::TakeInputsOf(const OpDef& /*op*/) {
  NN_RETURN_IF_ERROR(CheckCounts());
  return RequiredInputs(input_count()).map([](const auto&) {});
}

Result<const Tensor*> ImportContext::Scalar(size_t i, DType dtype) const {
  NN_ASSIGN(const Value* const v, Required(i));
  if (v->dtype() != dtype || !v->type().ranked() || v->type().rank() != 0)
    return ModelError("input {} is {}; expected a scalar of {}", i, v->type().ToString(),
                      DTypeName(dtype));
  if (!v->is_constant()) return UnsupportedError("input {} must be constant", i);
  return &v->constant();
}

Result<int64_t> ImportContext::Int(size_t i) const {
  NN_ASSIGN(const Tensor* const t, Scalar(i, DType::kI32));
  return t->GetInt(0);
}

Result<float> ImportContext::Float(size_t i) const {
  NN_ASSIGN(const Tensor* const t, Scalar(i, DType::kF32));
  return static_cast<float>(t->GetDouble(0));
}

Status ImportContext::EmitFused(std::string_view op, const Terms& operands, Attrs attrs,
                                size_t activation) {
  NN_ASSIGN(Value* const y, Add(op, operands, std::move(attrs), result_type()));
  NN_ASSIGN(Value* const activated, Activated(y, activation));
  SetOutput(0, activated);
  return {};
}

Result<Value*> ImportContext::Activated(Value* value, size_t activation) {
  NN_ASSIGN(const int64_t code, Int(activation));
  switch (static_cast<FusedActivation>(code)) {
    case FusedActivation::kNone:
      return value;
    case FusedActivation::kRelu:
      return Add("relu", {value}, {}, result_type());
    case FusedActivation::kRelu1:
      return Add("clip", {value}, ClipAttrs{-1, 1}, result_type());
    case FusedActivation::kRelu6:
      return Add("clip", {value}, ClipAttrs{0, 6}, result_type());
  }
  return ModelError("unknown fused activation {}", code);
}

Result<WindowArguments> ReadWindow(const ImportContext& ctx, size_t first, bool implicit) {
  WindowArguments w;
  size_t i = first;
  if (implicit) {
    NN_ASSIGN(const int64_t code, ctx.Int(i++));
    switch (static_cast<ImplicitPadding>(code)) {
      case ImplicitPadding::kNone:
        break;
      case ImplicitPadding::kSame:
        w.padding = Padding::kSameUpper;
        break;
      case ImplicitPadding::kValid:
        w.padding = Padding::kValid;
        break;
      default:
        return ModelError("unknown padding scheme {}", code);
    }
  } else {
    int64_t pads[4];  // left, right, top, bottom
    for (int64_t& p : pads) {
      NN_ASSIGN(p, ctx.Int(i++));
      if (p < 0) return ModelError("padding must be 0 or more, not {}", p);
    }
    w.pads = {pads[2], pads[0], pads[3], pads[1]};
  }
  NN_ASSIGN(const int64_t width, ctx.Int(i++));
  NN_ASSIGN(const int64_t height, ctx.Int(i++));
  w.strides = {height, width};
  w.next = i;
  return w;
}

Result<ImportedModel> NnapiImporter::Import(const NativeModel& native, const KnownInputs& known,
                                            bool /*as_float*/) const {
  return Importer(ModelOf(native), known).Run();
}

std::vector<OperatorSupport> Operators() {
  std::vector<OperatorSupport> out;
  for (const OperationType type : AllOperations()) {
    const std::string_view name = *NameOf(type);
    out.push_back({std::string(name),
                   FindImport(type) != nullptr || ImportContext::IsOneToOne("nnapi", name)});
  }
  return out;
}

}  // namespace nn::nnapi
