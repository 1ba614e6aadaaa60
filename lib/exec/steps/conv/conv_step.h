// Shared by the steps of float32 convolutions and transposed convolutions.
#pragma once

#include <cstring>
#include <memory>

#include "exec/kernels/matrix_f32.h"
#include "exec/runtime/planning/plan.h"
#include "exec/runtime/step.h"
#include "exec/steps/conv/conv_geometry.h"
#include "exec/steps/post_ops.h"

namespace nn {

inline float LoadFloat(const std::byte* p, size_t index) {
  float v;
  std::memcpy(&v, p + index * sizeof(float), sizeof(v));
  return v;
}

// The geometry, the views of the operands, and the post-ops.
class ConvStepBase : public Step {
 public:
  ConvGeometry g;
  Spatial3 s;
  MemoryView in, out;
  BufferId packed = 0;  // the filter
  EpilogueF32 epilogue;
  EpilogueSources sources;
  PostOpProgram post_ops;

 protected:
  // The epilogue for results that start at a row (over all positions) and a channel.
  EpilogueF32 EpilogueAt(const Memory& memory, size_t row, size_t channel) const {
    return sources.At(memory, epilogue, row, channel);
  }
};

// Whether the kernels support a node: float32, channels last, with a constant filter and bias.
bool HasConstantFilter(const Node& node, Layout layout);

// Whether the kernels support a filter: at most three axes and `most_taps` taps, all of it finite
// because padding is skipped or read as zeros.
bool TakesFilter(const ConvGeometry& g, const Tensor& filter, size_t most_taps);

// Whether each group has one channel and the kernel at most `most_rows` rows.
bool IsDepthwise(const ConvGeometry& g, size_t most_rows);

// Sets the step's bias, post-ops and output, and adds it. rows_follow: see PostOpProgram::MoveInto.
void AddConvStep(PlanContext& ctx, std::unique_ptr<ConvStepBase> step, PostOpProgram post_ops,
                 bool rows_follow);

}  // namespace nn
