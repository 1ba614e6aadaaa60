#include "base/image/image.h"

#include <fmt/format.h>

#include "base/image/image_impl.h"

namespace nn {
namespace {

const ImageFormat* FormatOf(std::span<const uint8_t> file) {
  static const ImageFormat formats[] = {BmpImages(), JpegImages(), Jpeg2000Images(), PngImages(),
                                        PnmImages(), TiffImages(), WebpImages()};
  for (const ImageFormat& f : formats)
    if (f.recognize(file)) return &f;
  return nullptr;
}

Result<ImageSize> CheckedSize(const ImageFormat& format, std::span<const uint8_t> file) {
  NN_ASSIGN(const ImageSize size, format.size(file));
  const auto [height, width] = size;
  if (height < 1 || width < 1)
    return ModelError("the size is {} x {}; must have a pixel", width, height);
  if (height > kMaxImagePixels / width)
    return LimitError("the size is {} x {}; must have at most {} pixels", width, height,
                      kMaxImagePixels);
  return size;
}

}  // namespace

bool IsImage(std::span<const uint8_t> file) {
  return FormatOf(file) != nullptr;
}

Result<ImageSize> ReadImageSize(std::span<const uint8_t> file) {
  const ImageFormat* const format = FormatOf(file);
  if (format == nullptr)
    return ModelError(
        "the {} bytes are not an image in BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP format",
        file.size());
  auto size = CheckedSize(*format, file);
  if (!size) return tl::unexpected(size.error().In(fmt::format("{} image", format->name)));
  return size;
}

Status DecodeImage(std::span<const uint8_t> file, ImageSize size, std::span<uint8_t> rgb) {
  const ImageFormat* const format = FormatOf(file);
  if (format == nullptr || rgb.size() != static_cast<size_t>(3 * size.height * size.width))
    return InternalError("DecodeImage without ReadImageSize");
  if (auto s = format->decode(file, size, rgb); !s)
    return tl::unexpected(s.error().In(fmt::format("{} image", format->name)));
  return {};
}

}  // namespace nn
