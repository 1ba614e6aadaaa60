// Arrays of users as contents of inputs: other numeric types, and other axes of size 1.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "formats/format.h"
#include "ir/tensor.h"
#include "ir/types/type.h"

namespace nn {

// Which values may change when an array is converted to the type of an input.
enum class Casting : uint8_t {
  kExact,    // none
  kReals,    // those that become real numbers: they are rounded
  kNearest,  // all but NaN, which integers and bools do not have
};

// The numbers of `array` as elements of `type`, whose integers are those of the file if it is
// quantized. A number that changes becomes the nearest number of the type; of two, the even one.
// Integers saturate; real numbers beyond the range become infinite, or the largest number of an
// 8-bit or 4-bit type. Every number except 0 is true. kUsage for the first value that may not
// change, for types that are not numeric, and for real numbers if `type` is quantized.
Result<Tensor> FitType(const Tensor& array, const Type& type, Casting casting);

// An image as picture files have it, [H, W], [H, W, C] or [1, H, W, C] with colors in RGB order, as
// an input of `type` [1, C, H, W] with the order `colors`. The array if it fits `type`, or is not
// such an image. Of a rank 3 that can be read as [H, W, C] or [C, H, W], it is [H, W, C].
Result<Tensor> FitImage(const Tensor& array, const Type& type, ImageColors colors);

// The elements of `array` in the shape of `type`, if the shapes differ only in axes of size 1; the
// array if they are equal, or differ otherwise. kUsage for shapes that differ, unless `reshape` is
// set, and if dynamic dimensions permit several shapes.
Result<Tensor> FitAxes(const Tensor& array, const Type& type, bool reshape);

}  // namespace nn
