// image_decode(x): the pixels of an encoded image, x: u8[n], as u8[height, width, channels] (ONNX
// ImageDecoder-20). channels is 3, or 1 for gray. base/image/image.h has the formats and what
// becomes of alpha and of other depths than 8 bits.
//
// ONNX's text says that the result is empty if the image cannot be decoded, while its reference
// fails; here, the run fails, with the reason. The reference returns the channels that Pillow has
// for a file (4 with alpha, none for gray); the result here has those of the pixel format.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/attrs.h"

namespace nn {

// Gray is the luma of ITU-R BT.601 as Pillow rounds it: (19595 R + 38470 G + 7471 B + 2^15) / 2^16.
enum class PixelFormat : uint8_t { kRgb, kBgr, kGrayscale };
template <>
struct EnumNames<PixelFormat> {
  static constexpr std::string_view kNames[] = {"rgb", "bgr", "grayscale"};
};

struct ImageDecodeAttrs {
  PixelFormat pixel_format = PixelFormat::kRgb;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
