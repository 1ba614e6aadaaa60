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
//
// Design: docs/design/017-image-decoding.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/status.h"

namespace nn {

struct ImageSize {
  int64_t height = 0, width = 0;
};

// Limit of runs: pixels of an image that an operator decodes, or that --image-fit crop scales. Also
// the default of --max-image-pixels.
inline constexpr int64_t kMaxImagePixels = int64_t{1} << 28;

// Whether the first bytes are those of a format above. The rest may be damaged.
bool IsImage(std::span<const uint8_t> file);

// The size according to the header: at least one pixel. kModel if the bytes are not an image,
// kUnsupported for a format that is known but not supported, kLimit for more than `max_pixels`.
// Allocates little, whatever the size is.
Result<ImageSize> ReadImageSize(std::span<const uint8_t> file,
                                int64_t max_pixels = kMaxImagePixels);

// Writes the pixels, row by row from the top: 3 bytes each, red first. `size` is that of
// ReadImageSize; `rgb` has 3 height width bytes. Damaged and truncated files are errors.
Status DecodeImage(std::span<const uint8_t> file, ImageSize size, std::span<uint8_t> rgb);

// Takes the next whole rows, one or more; an error ends the decoding.
using TakeRows = std::function<Status(std::span<const uint8_t> rgb)>;

// The same pixels in bands, which are decoded as they are taken. JPEG, PNG, PNM and TIFF are
// never in memory as a whole, unless the file has them in another order: interlaced, progressive,
// or with an orientation.
Status DecodeImageRows(std::span<const uint8_t> file, ImageSize size, const TakeRows& take);

}  // namespace nn
