// The formats of images. Each is implemented by one source.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>

#include "base/image/image.h"
#include "base/status.h"

namespace nn {

struct ImageFormat {
  std::string_view name;
  // Whether the file begins like one of this format.
  bool (*recognize)(std::span<const uint8_t> file);
  // Allocates little; the caller checks the size before `decode`.
  Result<ImageSize> (*size)(std::span<const uint8_t> file);
  // One of them: to all of the pixels, or in bands.
  Status (*decode)(std::span<const uint8_t> file, ImageSize size, std::span<uint8_t> rgb);
  Status (*rows)(std::span<const uint8_t> file, ImageSize size, const TakeRows& take) = nullptr;
};

ImageFormat BmpImages();
ImageFormat JpegImages();
ImageFormat Jpeg2000Images();
ImageFormat PngImages();
ImageFormat PnmImages();
ImageFormat TiffImages();
ImageFormat WebpImages();

inline bool StartsWith(std::span<const uint8_t> file, std::string_view magic) {
  if (file.size() < magic.size()) return false;
  for (size_t i = 0; i < magic.size(); ++i)
    if (file[i] != static_cast<uint8_t>(magic[i])) return false;
  return true;
}

// Requires a tested range.
inline uint32_t LittleEndian(std::span<const uint8_t> file, size_t at, size_t bytes) {
  uint32_t v = 0;
  for (size_t i = bytes; i-- > 0;) v = v << 8 | file[at + i];
  return v;
}
inline uint32_t BigEndian(std::span<const uint8_t> file, size_t at, size_t bytes) {
  uint32_t v = 0;
  for (size_t i = 0; i < bytes; ++i) v = v << 8 | file[at + i];
  return v;
}

// Without contents, so that no page is touched before it is written. kLimit if memory is exhausted.
template <typename T>
Result<std::unique_ptr<T[]>> NewPixels(int64_t n) {
  std::unique_ptr<T[]> pixels(new (std::nothrow) T[static_cast<size_t>(n)]);
  if (pixels == nullptr) return LimitError("no memory for {} pixels", n);
  return pixels;
}

inline tl::unexpected<Error> TruncatedImage() {
  return ModelError("the file is truncated");
}

}  // namespace nn
