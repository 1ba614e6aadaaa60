#include <algorithm>

#include "base/checked_math.h"
#include "base/text.h"
#include "formats/onnx/import.h"
#include "formats/onnx/tensor.h"
#include "ops/concat.h"
#include "ops/pad.h"
#include "ops/slice.h"
#include "ops/types.h"

namespace nn::onnx {
namespace {

std::vector<Value*> AllInputs(const ImportContext& ctx) {
  std::vector<Value*> inputs;
  for (size_t i = 0; i < ctx.input_count(); ++i) inputs.push_back(ctx.input(i));
  return inputs;
}

// ---- Concat, Split ------------------------------------------------------------------------------

Status ImportConcat1(ImportContext& ctx) {
  return ctx.Emit("concat", AllInputs(ctx), ConcatAttrs{ctx.Int("axis", 1)});
}

Status ImportConcat4(ImportContext& ctx) {
  NN_ASSIGN(const int64_t axis, ctx.RequiredInt("axis"));
  return ctx.Emit("concat", AllInputs(ctx), ConcatAttrs{axis});
}

// Parts of equal size, which before operator set 18 the axis must divide into.
Status CheckEvenSplit(const ImportContext& ctx, const Type& x, int64_t axis) {
  if (!x.ranked()) return {};
  NN_ASSIGN(const int at, NormalizeAxis(axis, x.rank()));
  const Dim& size = x.dim(at);
  const auto parts = static_cast<int64_t>(ctx.output_count());
  if (size.is_const() && parts > 0 && size.value() % parts != 0)
    return ModelError("an axis of size {} does not split into {} equal parts", size.value(), parts);
  return {};
}

// Sizes as an attribute; Split-1 may have them as an input instead.
Status ImportSplit1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  SplitAttrs a{ctx.Int("axis", 0), ctx.Ints("split")};
  if (ctx.input(1) != nullptr && a.sizes.empty()) {
    if (ctx.Constant(1) == nullptr) return UnsupportedError("sizes that are not constant");
    a.sizes = ctx.Constant(1)->ToInts();
  }
  if (a.sizes.empty()) NN_RETURN_IF_ERROR(CheckEvenSplit(ctx, x->type(), a.axis));
  return ctx.Emit("split", {x}, std::move(a));
}

Status ImportSplit13(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const SplitAttrs a{ctx.Int("axis", 0), {}};
  if (Value* sizes = ctx.input(1)) return ctx.Emit("split", {x, sizes}, a);
  if (ctx.opset() < 18) {
    NN_RETURN_IF_ERROR(CheckEvenSplit(ctx, x->type(), a.axis));
  } else {
    NN_ASSIGN(const int64_t parts, ctx.RequiredInt("num_outputs"));
    if (parts != static_cast<int64_t>(ctx.output_count()))
      return ModelError("num_outputs is {} for {} outputs", parts, ctx.output_count());
  }
  return ctx.Emit("split", {x}, a);
}

// ---- Slice --------------------------------------------------------------------------------------

Status ImportSlice1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("slice", {x},
                  SliceAttrs{ctx.Ints("axes"), ctx.Ints("starts"), ctx.Ints("ends"), {}});
}

Status ImportSlice10(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.Required(1));
  NN_RETURN_IF_ERROR(ctx.Required(2));
  return ctx.Emit("slice", AllInputs(ctx), SliceAttrs{});
}

// ---- Pad ----------------------------------------------------------------------------------------

Result<PadMode> ReadMode(const ImportContext& ctx) {
  const std::string text = ctx.String("mode", "constant");
  const auto mode = ParseEnum<PadMode>(text);
  if (!mode || *mode == PadMode::kSymmetric) return ModelError("mode is {}", Quote(text));
  return *mode;
}

// Pads and value as attributes; in operator set 1 the pads have another name.
Status ImportPad1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  PadAttrs a;
  NN_ASSIGN(a.mode, ReadMode(ctx));
  a.pads = ctx.Ints(ctx.opset() < 2 ? "paddings" : "pads");
  std::vector<Value*> inputs = {x};
  const float value = ctx.Float("value", 0);
  if (value != 0 && a.mode == PadMode::kConstant) {
    if (!IsFloat(x->dtype())) return UnsupportedError("a value for {}", x->type().ToString());
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(x->dtype(), {}));
    b.SetDouble(0, value);
    inputs.push_back(ctx.Constant(b.Finish()));
  }
  return ctx.Emit("pad", std::move(inputs), std::move(a));
}

Status ImportPad11(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const pads, ctx.Required(1));
  PadAttrs a;
  NN_ASSIGN(a.mode, ReadMode(ctx));
  std::vector<Value*> inputs = {x, ctx.input(2), pads};
  if (Value* axes = ctx.input(3)) inputs.push_back(axes);
  return ctx.Emit("pad", std::move(inputs), std::move(a));
}

// Cuts or pads each axis to a size; the odd element goes to the end.
Status ImportCenterCropPad(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const auto dims = x->type().const_dims();
  const auto elements = ctx.Elements(1);
  const auto shape = elements ? ConstDims(*elements) : std::nullopt;
  if (!dims || !shape) return UnsupportedError("CenterCropPad with shapes that are not known");
  std::vector<int64_t> axes = ctx.Ints("axes");
  if (!ctx.HasAttr("axes"))
    for (size_t d = 0; d < dims->size(); ++d) axes.push_back(static_cast<int64_t>(d));
  if (axes.size() != shape->size())
    return ModelError("{} sizes for {} axes", shape->size(), axes.size());
  NN_ASSIGN(const auto normal, NormalizeAxes(axes, x->type().rank()));
  PadAttrs a;
  a.pads.assign(2 * dims->size(), 0);
  for (size_t i = 0; i < normal.size(); ++i) {
    const auto at = static_cast<size_t>(normal[i]);
    const int64_t size = (*shape)[i];
    const int64_t have = (*dims)[at];
    if (size < 0) return ModelError("a size of {}", size);
    const int64_t begin = size < have ? -((have - size) / 2) : (size - have) / 2;
    a.pads[at] = begin;
    a.pads[dims->size() + at] = size - have - begin;
  }
  return ctx.Emit("pad", {x}, std::move(a));
}

}  // namespace

void AddSliceImports(ImportTable& t) {
  t.Add("", "Concat", 1, ImportConcat1);
  t.Add("", "Concat", 4, ImportConcat4);
  t.Add("", "Split", 1, ImportSplit1);
  t.Add("", "Split", 13, ImportSplit13);
  t.Add("", "Slice", 1, ImportSlice1);
  t.Add("", "Slice", 10, ImportSlice10);
  t.Add("", "Pad", 1, ImportPad1);
  t.Add("", "Pad", 11, ImportPad11);
  t.Add("", "CenterCropPad", 18, ImportCenterCropPad);
}

}  // namespace nn::onnx
