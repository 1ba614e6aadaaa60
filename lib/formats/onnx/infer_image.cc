// Type inference of image region operators.
#include "formats/onnx/dim_names.h"
#include "formats/onnx/infer_window.h"

namespace nn::onnx {
namespace {

Status InferNonMaxSuppression(TypeContext& ctx) {
  ctx.Set(0, DType::kI64, Dims{ctx.Unknown(), 3});
  return {};
}

Status InferImageDecoder(TypeContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.CheckRank(0, 1));
  ctx.Set(0, DType::kU8, ctx.Unknown(3));
  return {};
}

Status InferCol2Im(TypeContext& ctx) {
  DimNames dims(ctx);
  for (const size_t i : {1, 2}) NN_RETURN_IF_ERROR(dims.Match(i, "axes"));
  NN_RETURN_IF_ERROR(dims.Match(0, "N CK L"));
  for (const auto& [name, parts] :
       {std::pair("pads", 2), std::pair("dilations", 1), std::pair("strides", 1)}) {
    if (!ctx.node().HasAttr(name)) continue;
    const auto entries = static_cast<int64_t>(ctx.node().Ints(name).size());
    if (entries % parts != 0)
      return ModelError("{} has an odd number of entries, {}", name, entries);
    if (auto s = dims.Bind("axes", entries / parts); !s) return tl::unexpected(s.error().In(name));
  }
  const auto axes = dims.Number("axes");
  constexpr int64_t kMostAxes = 62;
  if (!axes || *axes < 0 || *axes > kMostAxes) {
    ctx.Set(0, ctx.dtype(0));
    return {};
  }
  Dims out = dims.Make("N");
  out.push_back(ctx.Unknown());
  if (const auto block = ctx.Ints(2)) {
    Dim size = 1;
    for (const int64_t b : *block) {
      if (b <= 0) return ModelError("block_shape has the entry {}; it must be positive", b);
      size = size * Dim(b);
      if (!size.is_valid()) return ModelError("the product of block_shape overflows");
    }
    if (const auto channels = dims.Number("CK"); channels && size.is_const() && size.value() > 0)
      out[1] = Dim(*channels / size.value());
  }
  const auto image = ctx.Ints(1);
  for (size_t i = 0; i < static_cast<size_t>(*axes); ++i)
    out.push_back(image && (*image)[i] >= 0 ? Dim((*image)[i]) : ctx.Unknown());
  ctx.Set(0, ctx.dtype(0), std::move(out));
  return {};
}

}  // namespace

void AddImageInferences(InferTable& t) {
  t.Add("", "NonMaxSuppression", 10, InferNonMaxSuppression);
  t.Add("", "ImageDecoder", 20, InferImageDecoder);
  t.Add("", "Col2Im", 18, InferCol2Im);
}

}  // namespace nn::onnx
