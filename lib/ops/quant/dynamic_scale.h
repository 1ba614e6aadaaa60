#pragma once

#include <cstdint>

namespace nn {

// The scale and zero point of dynamic_quantize.
struct DynamicScale {
  float scale = 1;
  uint8_t zero_point = 0;
};

// Of the smallest and largest of the elements and 0, which are NaN if an element is.
DynamicScale DynamicScaleOf(float low, float high);

}  // namespace nn
