// What the steps of convolutions and transposed convolutions of float32 share.
#pragma once

#include <cstring>
#include <memory>

#include "exec/conv_geometry.h"
#include "exec/kernels/matrix_f32.h"
#include "exec/plan.h"
#include "exec/step.h"
#include "exec/tail.h"

namespace nn {

inline float LoadFloat(const std::byte* p, size_t index) {
  float v;
  std::memcpy(&v, p + index * sizeof(float), sizeof(v));
  return v;
}

// Geometry, places, and what happens to the results.
class ConvStepBase : public Step {
 public:
  ConvGeometry g;
  Spatial3 s;
  Place in, out;
  BufferId packed = 0;  // the filter
  EpilogueF32 epilogue;
  EpilogueSources sources;
  TailProgram tail;

 protected:
  // The epilogue for results that begin at a row (of all positions) and a channel.
  EpilogueF32 EpilogueAt(const Memory& memory, size_t row, size_t channel) const {
    return sources.At(memory, epilogue, row, channel);
  }
};

// Whether a node is one for the kernels: float32, channels last, with a constant filter and bias.
bool HasConstantFilter(const Node& node, Layout layout);

// Whether the kernels take a filter: no more than three axes and so many taps; all of it finite,
// because padding is skipped or read as zeros.
bool TakesFilter(const ConvGeometry& g, const Tensor& filter, size_t most_taps);

// Whether each group has one channel and the kernel no more than so many rows.
bool IsDepthwise(const ConvGeometry& g, size_t most_rows);

// Gives the step its bias, tail and output, and adds it. rows_follow: see TailProgram::MoveInto.
void AddConvStep(PlanContext& ctx, std::unique_ptr<ConvStepBase> step, TailProgram tail,
                 bool rows_follow);

}  // namespace nn
