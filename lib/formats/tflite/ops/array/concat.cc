#include <algorithm>

#include "formats/tflite/family.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/support/types.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

Status ImportConcatenation(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ConcatenationOptions>());
  return ctx.EmitActivated(o->fused_activation_function(), "concat", ctx.inputs(),
                           ConcatAttrs{o->axis()});
}

// An axis that is known before the run.
Result<int64_t> KnownAxis(const ImportContext& ctx, size_t i) {
  NN_ASSIGN(const auto axis, ctx.KnownInts(i, "the axis"));
  if (axis.size() != 1) return ModelError("the axis must have 1 element; it has {}", axis.size());
  return axis[0];
}

Status ImportSplit(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::SplitOptions>());
  NN_ASSIGN(const int64_t axis, KnownAxis(ctx, 0));
  Value* const x = ctx.input(1);
  if (o->num_splits() != static_cast<int64_t>(ctx.output_count()))
    return ModelError("num_splits is {}, but there are {} outputs", o->num_splits(),
                      ctx.output_count());
  NN_ASSIGN(const int at, NormalizeAxis(axis, x->type().rank()));
  const Dim& size = x->type().dim(at);
  if (size.is_const() && o->num_splits() > 0 && size.value() % o->num_splits() != 0)
    return ModelError("an axis of size {} cannot be split into {} equal parts", size.value(),
                      o->num_splits());
  return ctx.Emit("split", {x}, SplitAttrs{axis, {}});
}

Status ImportSplitV(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const sizes = ctx.input(1);
  NN_ASSIGN(const int64_t axis, KnownAxis(ctx, 2));
  return ctx.Emit("split", {x, sizes}, SplitAttrs{axis, {}});
}

Status ImportPack(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::PackOptions>());
  std::vector<Value*> parts;
  for (Value* x : ctx.inputs()) {
    if (x == nullptr) return ModelError("an input is missing");
    NN_ASSIGN(Value* const part,
              ctx.Add("expand_dims", {x}, AxesAttrs{{o->axis()}}, x->type().quant));
    parts.push_back(part);
  }
  return ctx.Emit("concat", std::move(parts), ConcatAttrs{o->axis()});
}

Status ImportUnpack(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::UnpackOptions>());
  Value* const x = ctx.input(0);
  NN_ASSIGN(const int axis, NormalizeAxis(o->axis(), x->type().rank()));
  const auto count = static_cast<int64_t>(ctx.output_count());
  if (const Dim& size = x->type().dim(axis); size.is_const() && size.value() != count)
    return ModelError("an axis of size {} does not match {} outputs", size.value(), count);
  for (int64_t i = 0; i < count; ++i) {
    NN_ASSIGN(Value* const part,
              ctx.Add("slice", {x}, SliceAttrs{{axis}, {i}, {i + 1}, {}}, x->type().quant));
    NN_ASSIGN(Value* const y, ctx.Add("squeeze", {part}, AxesAttrs{{axis}}, x->type().quant));
    ctx.SetOutput(static_cast<size_t>(i), y);
  }
  return {};
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

Status WriteConcat(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::CONCATENATION, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateConcatenationOptions(
                      ctx.builder(), static_cast<int32_t>(node.attrs<ConcatAttrs>().axis)));
  return {};
}

// The sizes of the parts, from their types.
std::optional<std::vector<int64_t>> PartSizes(const Node& node) {
  const auto axis = NormalizeAxis(node.attrs<SplitAttrs>().axis, node.input(0)->type().rank());
  if (!axis) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const Value* part : node.outputs()) {
    if (!part->type().ranked() || !part->type().dim(*axis).is_const()) return std::nullopt;
    sizes.push_back(part->type().dim(*axis).value());
  }
  return sizes;
}

Status WriteSplit(ExportContext& ctx, const Node& node) {
  const auto sizes = PartSizes(node);
  const auto count = static_cast<int32_t>(node.outputs().size());
  NN_ASSIGN(const TensorIndex axis, ctx.AddInt(node.attrs<SplitAttrs>().axis, "axis"));
  const TensorIndex x = ctx.TensorOf(node.input(0));
  if (sizes && std::count(sizes->begin(), sizes->end(), sizes->front()) == count) {
    ctx.AddOperator(Op::SPLIT, {ctx.ResultsOf(node), {axis, x}},
                    fb::CreateSplitOptions(ctx.builder(), count));
    return {};
  }
  TensorIndex parts = kNoTensor;
  if (sizes) {
    NN_ASSIGN(parts, ctx.AddInts(*sizes, "sizes"));
  } else {
    parts = ctx.TensorAs(node.input(1), DType::kI32);
  }
  ctx.AddOperator(Op::SPLIT_V, {ctx.ResultsOf(node), {x, parts, axis}},
                  fb::CreateSplitVOptions(ctx.builder(), count));
  return {};
}

std::optional<std::string> WhyNotSplit(const Node& node) {
  if (!node.input(0)->type().ranked()) return "its rank must be known";
  if (!PartSizes(node) && node.input(1) == nullptr) return "the sizes of the parts must be known";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kConcatImports[] = {
    {.op = Op::CONCATENATION, .import = ImportConcatenation},
    {.op = Op::SPLIT, .import = ImportSplit, .inputs = "-r"},
    {.op = Op::SPLIT_V, .import = ImportSplitV, .inputs = "aa"},
    {.op = Op::PACK, .import = ImportPack},
    {.op = Op::UNPACK, .import = ImportUnpack, .inputs = "r"},
};

constexpr ExportRow kConcatExports[] = {
    {.op = "concat", .write = WriteConcat, .any_type = true},
    {.op = "split", .write = WriteSplit, .why_not = WhyNotSplit, .any_type = true},
};

}  // namespace

Family ConcatFamily() {
  return {.imports = kConcatImports, .exports = kConcatExports};
}

}  // namespace nn::tflite
