#include "formats/onnx/infer/window.h"

#include <algorithm>

namespace nn::onnx {
namespace {

// A list attribute with one or two entries per axis; `fallback` for each if it is absent.
Result<std::vector<int64_t>> PerAxis(const TypeContext& ctx, std::string_view name, size_t count,
                                     int64_t fallback, int64_t least) {
  if (!ctx.node().HasAttr(name)) return std::vector<int64_t>(count, fallback);
  auto values = ctx.node().Ints(name);
  if (values.size() != count)
    return ModelError("{} has {} entries; the input needs {}", name, values.size(), count);
  for (const int64_t v : values)
    if (v < least) return ModelError("{} has the invalid entry {}", name, v);
  return values;
}

}  // namespace

Result<std::optional<Dims>> WindowDims(TypeContext& ctx, size_t x, size_t w) {
  const Dims* image = ctx.dims(x);
  const Dims* filter = ctx.dims(w);
  if (image == nullptr || filter == nullptr) return std::optional<Dims>();
  if (image->size() < 2)
    return ModelError("input {} is {}; it must have rank 2 or more", x, ctx.in(x).ToString());
  if (filter->size() != image->size())
    return ModelError("filter {} does not match input {}", ctx.in(w).ToString(),
                      ctx.in(x).ToString());
  const size_t axes = image->size() - 2;
  NN_ASSIGN(const auto strides, PerAxis(ctx, "strides", axes, 1, 1));
  NN_ASSIGN(const auto dilations, PerAxis(ctx, "dilations", axes, 1, 1));
  NN_ASSIGN(const auto pads, PerAxis(ctx, "pads", 2 * axes, 0, INT64_MIN));
  const auto kernel = ctx.node().Ints("kernel_shape");
  if (!kernel.empty() && kernel.size() != axes)
    return ModelError("kernel_shape has {} entries; the input needs {}", kernel.size(), axes);
  const std::string auto_pad = ctx.node().String("auto_pad", "NOTSET");
  Dims out = {(*image)[0], (*filter)[0]};
  for (size_t i = 0; i < axes; ++i) {
    const Dim& in = (*image)[i + 2];
    const Dim k = kernel.empty() ? (*filter)[i + 2] : Dim(kernel[i]);
    if (auto_pad.starts_with("SAME")) {
      out.push_back(Dim::CeilDiv(in, strides[i]));
      continue;
    }
    Dim padded = in - ((k - 1) * dilations[i] + 1);
    if (auto_pad != "VALID") padded = padded + pads[i] + pads[i + axes];
    out.push_back(Dim::FloorDiv(padded, strides[i]) + 1);
    Dim& d = out.back();
    if (in == 0 && d.is_const()) d = Dim(std::max<int64_t>(d.value(), 0));
    if (!d.is_valid() || (d.is_const() && d.value() < 0))
      return ModelError("a window of {} does not fit the size {} of axis {}", k.ToString(),
                        in.ToString(), i + 2);
  }
  return std::optional(std::move(out));
}

Status CheckPads(const ImportContext& node) {
  if (node.node().op_type() == "Pad") return {};
  for (const int64_t pad : node.Ints("pads"))
    if (pad < 0) return ModelError("pads has the negative entry {}", pad);
  if (node.node().op_type() == "ConvTranspose" && node.HasAttr("pads") &&
      node.String("auto_pad", "NOTSET") != "NOTSET")
    return ModelError("pads and auto_pad cannot both be set");
  return {};
}

}  // namespace nn::onnx
