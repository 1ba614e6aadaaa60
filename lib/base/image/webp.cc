// WebP images, by libwebp.
#include <webp/decode.h>

#include "base/image/image_impl.h"

namespace nn {
namespace {

bool IsWebp(std::span<const uint8_t> file) {
  return StartsWith(file, "RIFF") && file.size() >= 12 && StartsWith(file.subspan(8), "WEBP");
}

Result<ImageSize> WebpSize(std::span<const uint8_t> file) {
  WebPBitstreamFeatures features;
  const VP8StatusCode status = WebPGetFeatures(file.data(), file.size(), &features);
  if (status == VP8_STATUS_NOT_ENOUGH_DATA) return TruncatedImage();
  if (status != VP8_STATUS_OK) return ModelError("the header is damaged");
  if (features.has_animation != 0) return UnsupportedError("animations are not supported");
  return ImageSize{features.height, features.width};
}

Status DecodeWebp(std::span<const uint8_t> file, ImageSize size, std::span<uint8_t> rgb) {
  if (WebPDecodeRGBInto(file.data(), file.size(), rgb.data(), rgb.size(),
                        static_cast<int>(3 * size.width)) == nullptr)
    return ModelError("the file is truncated or damaged");
  return {};
}

}  // namespace

ImageFormat WebpImages() {
  return {"WebP", IsWebp, WebpSize, DecodeWebp};
}

}  // namespace nn
