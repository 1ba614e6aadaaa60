#include "formats/onnx/import.h"
#include "formats/onnx/window_attrs.h"
#include "ops/conv.h"
#include "ops/conv_transpose.h"

namespace nn::onnx {
namespace {

// The kernel_shape attribute repeats the filter's shape; where both are there they must agree.
Status CheckKernelShape(const ImportContext& ctx, const Value* filter) {
  const auto kernel = ctx.Ints("kernel_shape");
  const Type& type = filter->type();
  if (kernel.empty() || !type.ranked()) return {};
  if (kernel.size() + 2 != type.dims->size())
    return ModelError("kernel_shape has {} entries for the filter {}", kernel.size(),
                      type.ToString());
  for (size_t i = 0; i < kernel.size(); ++i) {
    const Dim& d = (*type.dims)[i + 2];
    if (d.is_const() && d.value() != kernel[i])
      return ModelError("kernel_shape[{}] is {}, the filter is {}", i, kernel[i], type.ToString());
  }
  return {};
}

Status ImportConv(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const w, ctx.Required(1));
  NN_RETURN_IF_ERROR(CheckKernelShape(ctx, w));
  ConvAttrs a;
  NN_RETURN_IF_ERROR(ReadWindow(ctx, a));
  a.groups = ctx.Int("group", 1);
  std::vector<Value*> inputs = {x, w};
  if (Value* bias = ctx.input(2)) inputs.push_back(bias);
  return ctx.Emit("conv", std::move(inputs), std::move(a));
}

// With output_shape the pads are derived: the odd element of padding goes to the begin, in the text
// of version 1 without auto_pad to the end.
template <Padding split>
Status ImportConvTranspose(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const w, ctx.Required(1));
  NN_RETURN_IF_ERROR(CheckKernelShape(ctx, w));
  ConvTransposeAttrs a;
  NN_RETURN_IF_ERROR(ReadWindow(ctx, a));
  a.groups = ctx.Int("group", 1);
  a.output_padding = ctx.Ints("output_padding");
  if (auto shape = ctx.Ints("output_shape"); !shape.empty()) {
    // Some exporters write batch and channels too.
    if (w->type().ranked() && shape.size() == w->type().dims->size())
      shape.erase(shape.begin(), shape.begin() + 2);
    a.output_shape = ToDims(shape);
    a.pads.clear();
    if (a.padding == Padding::kExplicit || a.padding == Padding::kValid) a.padding = split;
  }
  std::vector<Value*> inputs = {x, w};
  if (Value* bias = ctx.input(2)) inputs.push_back(bias);
  return ctx.Emit("conv_transpose", std::move(inputs), std::move(a));
}

}  // namespace

void AddConvImports(ImportTable& t) {
  t.Add("", "Conv", 1, ImportConv);
  t.Add("", "ConvTranspose", 1, ImportConvTranspose<Padding::kSameUpper>);
  t.Add("", "ConvTranspose", 11, ImportConvTranspose<Padding::kSameLower>);
}

}  // namespace nn::onnx
