#include "formats/onnx/import.h"
#include "ops/conv.h"

namespace nn::onnx {
namespace {

Result<Padding> ReadAutoPad(const ImportContext& ctx) {
  const std::string text = ctx.String("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return Padding::kExplicit;
  if (text == "VALID") return Padding::kValid;
  if (text == "SAME_UPPER") return Padding::kSameUpper;
  if (text == "SAME_LOWER") return Padding::kSameLower;
  return ModelError("auto_pad is \"{}\"", text);
}

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
  a.strides = ctx.Ints("strides");
  a.dilations = ctx.Ints("dilations");
  a.groups = ctx.Int("group", 1);
  NN_ASSIGN(a.padding, ReadAutoPad(ctx));
  if (a.padding == Padding::kExplicit) a.pads = ctx.Ints("pads");
  std::vector<Value*> inputs = {x, w};
  if (Value* bias = ctx.input(2)) inputs.push_back(bias);
  return ctx.Emit("conv", std::move(inputs), std::move(a));
}

}  // namespace

void AddConvImports(ImportTable& t) { t.Add("", "Conv", 1, ImportConv); }

}  // namespace nn::onnx
