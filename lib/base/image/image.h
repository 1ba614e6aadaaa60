// Decoding of image files: BMP, JPEG, JPEG 2000, PNG, PNM (PBM, PGM, PPM), TIFF and WebP. The bytes
// are not trusted. BMP and PNM are read here, the others by libjpeg, OpenJPEG, libpng, libtiff and
// libwebp.
//
// Pixels have 8 bits of red, green and blue:
// - Alpha is dropped, without blending. Gray becomes equal parts.
// - 16-bit samples are scaled to 8 bits and rounded, except that libtiff truncates those of gray.
//   Other depths are scaled to 8 bits as well.
// - CMYK (JPEG) becomes (1 - c) (1 - k); ICC profiles and gamma are ignored.
// - The orientation is that of the file, which only TIFF's own tag changes.
// - JPEG: the accurate integer transform, and interpolated ("fancy") chroma. The bits of formats
//   that lose information (JPEG, JPEG 2000, WebP, and TIFF with them) depend on the version of the
//   library.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"

namespace nn {

struct ImageSize {
  int64_t height = 0, width = 0;
};

inline constexpr int64_t kMaxImagePixels = int64_t{1} << 28;

// Whether the first bytes are those of a format above. The rest may be damaged.
bool IsImage(std::span<const uint8_t> file);

// The size according to the header: at least one pixel. kModel if the bytes are not an image,
// kUnsupported for a format that is known but not supported, kLimit for more than kMaxImagePixels.
Result<ImageSize> ReadImageSize(std::span<const uint8_t> file);

// Writes the pixels, row by row from the top: 3 bytes each, red first. `size` is that of
// ReadImageSize; `rgb` has 3 height width bytes. Damaged and truncated files are errors.
Status DecodeImage(std::span<const uint8_t> file, ImageSize size, std::span<uint8_t> rgb);

}  // namespace nn
