#include "base/image/image.h"

#include <algorithm>

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

Result<ImageSize> CheckedSize(const ImageFormat& format, std::span<const uint8_t> file,
                              int64_t max_pixels) {
  NN_ASSIGN(const ImageSize size, format.size(file));
  const auto [height, width] = size;
  if (height < 1 || width < 1)
    return ModelError("the size is {} x {}; must have a pixel", width, height);
  if (height > max_pixels / width)
    return LimitError("the size is {} x {}; must have at most {} pixels (max-image-pixels)", width,
                      height, max_pixels);
  return size;
}

}  // namespace

bool IsImage(std::span<const uint8_t> file) {
  return FormatOf(file) != nullptr;
}

Result<ImageSize> ReadImageSize(std::span<const uint8_t> file, int64_t max_pixels) {
  const ImageFormat* const format = FormatOf(file);
  if (format == nullptr)
    return ModelError(
        "the {} bytes are not an image in BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP format",
        file.size());
  auto size = CheckedSize(*format, file, max_pixels);
  if (!size) return tl::unexpected(size.error().In(fmt::format("{} image", format->name)));
  return size;
}

Status DecodeImage(std::span<const uint8_t> file, ImageSize size, std::span<uint8_t> rgb) {
  const ImageFormat* const format = FormatOf(file);
  if (format == nullptr || rgb.size() != static_cast<size_t>(3 * size.height * size.width))
    return InternalError("DecodeImage without ReadImageSize");
  const auto copy = [to = rgb.begin()](std::span<const uint8_t> rows) mutable -> Status {
    to = std::ranges::copy(rows, to).out;
    return {};
  };
  const Status done =
      format->rows != nullptr ? format->rows(file, size, copy) : format->decode(file, size, rgb);
  if (!done) return tl::unexpected(done.error().In(fmt::format("{} image", format->name)));
  return {};
}

Status DecodeImageRows(std::span<const uint8_t> file, ImageSize size, const TakeRows& take) {
  const ImageFormat* const format = FormatOf(file);
  if (format == nullptr) return InternalError("DecodeImageRows without ReadImageSize");
  const auto decode = [&]() -> Status {
    if (format->rows != nullptr) return format->rows(file, size, take);
    const auto bytes = static_cast<size_t>(3 * size.height * size.width);
    NN_ASSIGN(const auto rgb, NewPixels<uint8_t>(3 * size.height * size.width));
    NN_RETURN_IF_ERROR(format->decode(file, size, {rgb.get(), bytes}));
    return take({rgb.get(), bytes});
  };
  if (const Status done = decode(); !done)
    return tl::unexpected(done.error().In(fmt::format("{} image", format->name)));
  return {};
}

}  // namespace nn
