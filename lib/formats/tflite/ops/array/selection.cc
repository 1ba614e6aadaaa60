#include "ops/reduce/selection.h"
#include "formats/tflite/family.h"
#include "formats/tflite/file/tensor.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

Status EmitArg(ImportContext& ctx, std::string_view op, fb::TensorType type) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(const auto axis, ctx.KnownInts(1, "the axis"));
  if (axis.size() != 1) return ModelError("the axis has {} elements; expected 1", axis.size());
  ArgAttrs a;
  a.axis = axis[0];
  a.keep_dims = false;
  a.output_type = DTypeOf(type);
  return ctx.Emit(op, {x}, a);
}

Status ImportArgMax(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ArgMaxOptions>());
  return EmitArg(ctx, "arg_max", o->output_type());
}

Status ImportArgMin(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ArgMinOptions>());
  return EmitArg(ctx, "arg_min", o->output_type());
}

Status ImportTopK(ImportContext& ctx) {
  TopKAttrs a;
  a.index_type = ctx.output_count() > 1 ? ctx.output_type(1).dtype : DType::kI32;
  if (a.index_type != DType::kI32 && a.index_type != DType::kI64)
    return UnsupportedError("indices of type {} are unsupported", DTypeName(a.index_type));
  return ctx.Emit("top_k", ctx.inputs(), a);
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

// The operators drop the axis; a RESHAPE restores it for keep_dims.
template <Op op>
Status WriteArg(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ArgAttrs>();
  const fb::TensorType type = *TensorTypeOf(a.output_type);
  NN_ASSIGN(const TensorIndex axis, ctx.AddInt(a.axis, "axis"));
  TensorIndex y = ctx.ResultOf(node);
  if (a.keep_dims) {
    const Type& kept = node.output()->type();
    Dims dims = *kept.dims;
    dims.erase(dims.begin() + (a.axis < 0 ? a.axis + kept.rank() : a.axis));
    y = ctx.AddTensor(kept.WithDims(std::move(dims)), node.output()->name());
  }
  std::vector<TensorIndex> inputs = {ctx.TensorOf(node.input(0)), axis};
  if constexpr (op == Op::ARG_MAX)
    ctx.AddOperator(op, {{y}, inputs}, fb::CreateArgMaxOptions(ctx.builder(), type));
  else
    ctx.AddOperator(op, {{y}, inputs}, fb::CreateArgMinOptions(ctx.builder(), type));
  if (!a.keep_dims) return {};
  NN_ASSIGN(const TensorIndex at, ctx.AddInt(a.axis, "axis"));
  ctx.AddOperator(Op::EXPAND_DIMS, {ctx.ResultsOf(node), {y, at}},
                  fb::CreateExpandDimsOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotArg(const Node& node) {
  if (!node.output()->type().ranked()) return "its rank must be known";
  if (node.attrs<ArgAttrs>().select_last_index)
    return "select_last_index must be 0; TensorFlow Lite returns the first of equal elements";
  return std::nullopt;
}

// Along the last axis, with indices of i32.
Status WriteTopK(ExportContext& ctx, const Node& node) {
  TensorIndex k = ctx.TensorAs(node.input(1), DType::kI32);
  if (node.input(1)->is_constant()) {
    NN_ASSIGN(k, ctx.AddInt(node.input(1)->constant().GetInt(0), "k"));
  }
  const Value* indices = node.output(1);
  TensorIndex narrow = ctx.TensorOf(indices);
  if (indices->dtype() != DType::kI32)
    narrow = ctx.AddTensor(Type(DType::kI32, *indices->type().dims), indices->name());
  ctx.AddOperator(Op::TOPK_V2,
                  {{ctx.TensorOf(node.output()), narrow}, {ctx.TensorOf(node.input(0)), k}},
                  fb::CreateTopKV2Options(ctx.builder()));
  if (indices->dtype() != DType::kI32) ctx.AddCast(narrow, ctx.TensorOf(indices));
  return {};
}

std::optional<std::string> WhyNotTopK(const Node& node) {
  const auto& a = node.attrs<TopKAttrs>();
  if (!a.largest) return "TOPK_V2 has no order for the smallest elements";
  if (node.outputs().size() < 2) return "TOPK_V2 also has the indices as an output";
  if (!node.output(1)->type().ranked()) return "its rank must be known";
  if (a.axis != -1 && a.axis != node.input(0)->type().rank() - 1)
    return fmt::format("axis {} must be the last", a.axis);
  const Type& k = node.input(1)->type();
  if (!node.input(1)->is_constant() && !(k.ranked() && k.rank() == 0))
    return "the number of elements must be a scalar";
  return std::nullopt;
}

constexpr ImportRow kSelectionImports[] = {
    {.op = Op::ARG_MAX, .import = ImportArgMax},
    {.op = Op::ARG_MIN, .import = ImportArgMin},
    {.op = Op::TOPK_V2, .import = ImportTopK},
};

constexpr ExportRow kSelectionExports[] = {
    {.op = "arg_max", .write = WriteArg<Op::ARG_MAX>, .why_not = WhyNotArg},
    {.op = "arg_min", .write = WriteArg<Op::ARG_MIN>, .why_not = WhyNotArg},
    {.op = "top_k", .write = WriteTopK, .why_not = WhyNotTopK},
};

}  // namespace

Family SelectionFamily() {
  return {.imports = kSelectionImports, .exports = kSelectionExports};
}

}  // namespace nn::tflite
