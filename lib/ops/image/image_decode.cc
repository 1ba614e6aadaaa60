#include "ops/image/image_decode.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/image/image.h"
#include "base/text/text.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/support/domain.h"

namespace nn {

std::span<const AttrField> ImageDecodeAttrs::Fields() {
  static const AttrField fields[] = {Field<&ImageDecodeAttrs::pixel_format>("pixel_format")};
  return fields;
}

namespace {

int64_t Channels(PixelFormat format) {
  return format == PixelFormat::kGrayscale ? 1 : 3;
}

std::span<const uint8_t> FileOf(const Tensor& x) {
  return x.As<uint8_t>();
}

// The size is in the header. Constants with a damaged one fail when they are decoded.
Status InferImageDecode(InferContext& ctx) {
  const Type& x = ctx.in(0);
  if (x.dtype != DType::kUnknown && (x.dtype != DType::kU8 || x.quantized()))
    return ModelError("the image is {}; must be u8", x.ToString());
  if (x.ranked() && x.rank() != 1)
    return ModelError("the image is {}; must be a vector", x.ToString());
  Dim height = ctx.NewSymbol();
  Dim width = ctx.NewSymbol();
  if (const Tensor* const file = ctx.constant(0)) {
    if (const auto size = ReadImageSize(FileOf(*file))) {
      height = Dim(size->height);
      width = Dim(size->width);
    }
  }
  const int64_t channels = Channels(ctx.attrs<ImageDecodeAttrs>().pixel_format);
  ctx.set_out(0, Type(DType::kU8, {height, width, Dim(channels)}));
  return {};
}

void ToLuma(std::span<const uint8_t> rgb, std::span<uint8_t> y) {
  for (size_t i = 0; i < y.size(); ++i) {
    const uint32_t sum = 19595U * rgb[3 * i] + 38470U * rgb[3 * i + 1] + 7471U * rgb[3 * i + 2];
    y[i] = static_cast<uint8_t>((sum + (1U << 15)) >> 16);
  }
}

Status EvalImageDecode(EvalContext& ctx) {
  const auto file = FileOf(ctx.in(0));
  NN_ASSIGN(const ImageSize size, ReadImageSize(file));
  const PixelFormat format = ctx.attrs<ImageDecodeAttrs>().pixel_format;
  // Gray has colors first.
  const auto bytes = static_cast<uint64_t>(3 * size.height * size.width);
  if (bytes > ctx.budget().bytes)
    return LimitError("an image of {} x {} pixels needs {}, but only {} of memory remain",
                      size.width, size.height, HumanBytes(bytes), HumanBytes(ctx.budget().bytes));
  NN_ASSIGN(TensorBuilder pixels, TensorBuilder::Create(DType::kU8, {size.height, size.width, 3}));
  const auto rgb = pixels.As<uint8_t>();
  NN_RETURN_IF_ERROR(DecodeImage(file, size, rgb));
  if (format == PixelFormat::kGrayscale) {
    NN_ASSIGN(TensorBuilder luma, ctx.NewOutput());
    ToLuma(rgb, luma.As<uint8_t>());
    ctx.set_out(0, luma.Finish());
    return {};
  }
  if (format == PixelFormat::kBgr)
    for (size_t i = 0; i < rgb.size(); i += 3) std::swap(rgb[i], rgb[i + 2]);
  ctx.set_out(0, pixels.Finish());
  return {};
}

// A PPM image of one row that fills the vector. Bytes after an image are ignored.
Domain ImageDecodeDomain(const Node& node, size_t, std::span<const Domain>) {
  const auto dims = DimsOf(node.input(0));
  if (!dims || dims->size() != 1) return {};
  const int64_t n = dims->front();
  constexpr int64_t kMaxHeader = 24, kMaxPixels = 1024;
  const int64_t width = std::clamp<int64_t>((n - kMaxHeader) / 3, 1, kMaxPixels);
  const std::string header = "P6 " + std::to_string(width) + " 1 255\n";
  if (n < std::ssize(header) + 3 * width) return {};
  std::vector<int64_t> contents(header.begin(), header.end());
  for (int64_t i = std::ssize(contents); i < n; ++i) contents.push_back(i * 37 % 256);
  return Exactly(contents);
}

}  // namespace

void RegisterImageOps(OpRegistry& ops) {
  OpDef op;
  op.name = "image_decode";
  op.summary = "the pixels of an encoded image";
  op.category = Category::kOther;
  op.attrs = AttrsInfoOf<ImageDecodeAttrs>();
  op.inputs = {{"x"}};
  op.infer = InferImageDecode;
  op.eval = EvalImageDecode;
  ops.Add(std::move(op));
}

void AddImageDomains(DomainTable& domains) {
  domains["image_decode"] = ImageDecodeDomain;
}

}  // namespace nn
