// Bins of regions of images, channels last.
#pragma once

#include <cstddef>

#include "ops/nn/detect/roi_samples.h"

namespace nn {

// One bin of roi_align: out[c] is the average of its samples, or the largest product of an element
// and its weight. Offsets of samples are in elements.
struct RoiBinF32 {
  const float* x = nullptr;  // of the image
  const RoiBin<float>* rows = nullptr;
  const RoiBin<float>* columns = nullptr;
  RoiMode mode = RoiMode::kAvg;
  float count = 0;  // of samples, with those outside
  size_t channels = 0;
  float* out = nullptr;
};
void RunRoiBinF32(const RoiBinF32& bin);

}  // namespace nn
