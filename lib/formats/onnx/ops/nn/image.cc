#include "ops/image/image_decode.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text/text.h"
#include "formats/onnx/family.h"

namespace nn::onnx {
namespace {

// The formats by PixelFormat.
constexpr std::string_view kPixelFormats[] = {"RGB", "BGR", "Grayscale"};

Status ImportImageDecoder(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const std::string format = ctx.String("pixel_format", kPixelFormats[0]);
  const auto known = std::ranges::find(kPixelFormats, format);
  if (known == std::end(kPixelFormats)) return ModelError("unknown pixel_format {}", Quote(format));
  ImageDecodeAttrs a;
  a.pixel_format = static_cast<PixelFormat>(known - std::begin(kPixelFormats));
  return ctx.Emit("image_decode", {x}, std::move(a));
}

Status WriteImageDecoder(ExportContext& ctx, const Node& node) {
  const auto format = node.attrs<ImageDecodeAttrs>().pixel_format;
  SetString(ctx.AddNode(node, "ImageDecoder"), "pixel_format",
            kPixelFormats[static_cast<size_t>(format)]);
  return {};
}

constexpr ImportRow kImageImports[] = {
    {.op = "ImageDecoder", .since = 20, .import = ImportImageDecoder, .inputs = 1}};

constexpr ExportRow kImageExports[] = {
    {.op = "image_decode", .write = WriteImageDecoder, .min_opset = Since<20>}};

}  // namespace

Family ImageFamily() {
  return {.imports = kImageImports, .exports = kImageExports};
}

}  // namespace nn::onnx
