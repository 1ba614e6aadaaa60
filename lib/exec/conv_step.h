// What the steps of convolutions and transposed convolutions of float32 share.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "exec/conv_geometry.h"
#include "exec/kernels/matrix_f32.h"
#include "exec/step.h"
#include "exec/tail.h"

namespace nn {

inline float LoadFloat(const std::byte* p, size_t index) {
  float v;
  std::memcpy(&v, p + index * sizeof(float), sizeof(v));
  return v;
}

inline bool AllFinite(const Tensor& t) {
  for (size_t i = 0; i < static_cast<size_t>(t.elements()); ++i)
    if (!std::isfinite(LoadFloat(t.blob().data(), i))) return false;
  return true;
}

inline std::vector<float> FloatsOf(const Tensor& t) {
  std::vector<float> v(static_cast<size_t>(t.elements()));
  std::memcpy(v.data(), t.blob().data(), v.size() * sizeof(float));
  return v;
}

// Geometry, places, and what happens to the results.
class ConvStepBase : public Step {
 public:
  ConvGeometry g;
  Spatial3 s;
  Place in, out;
  EpilogueF32 epilogue;
  EpilogueSources sources;
  TailProgram tail;

 protected:
  // The epilogue for results that begin at a row (of all positions) and a channel.
  EpilogueF32 EpilogueAt(const Memory& memory, size_t row, size_t channel) const {
    EpilogueF32 e = epilogue;
    if (!sources.bias.empty()) e.bias = sources.bias.data() + channel;
    if (!sources.scale.empty()) {
      e.scale = sources.scale.data() + channel;
      e.shift = sources.shift.data() + channel;
    }
    if (sources.residual) {
      e.residual =
          sources.residual->As<const float>(memory) + row * sources.residual->row_stride + channel;
      e.residual_stride = sources.residual->row_stride;
    }
    return e;
  }
};

}  // namespace nn
