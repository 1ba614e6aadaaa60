// svdf: a fully connected layer over the last steps of a sequence, factorized into features of each
// step and weights of the steps (singular value decomposition filter).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/attrs.h"

namespace nn {

// Sizes: B sequences, I inputs, F filters, M steps, U = F / rank units.
//
//   x [B, I], feature [F, I], time [F, M], bias [U], state [B, F, M] (0 if absent)
//   y [B, U], optionally new_state [B, F, M]
//
// Step: the features of x, feature x, follow those of the last M - 1 steps in the state, whose
// oldest ones are dropped. y is the sum over `rank` consecutive filters of their dot products with
// `time`, plus the bias. The new state is the state without its oldest features and with those of
// the step. Float products are dot products of the
// arithmetic contract; the sum over filters adds one after the other to +0, then the bias, or +0.
//
// On quantized types as TensorFlow Lite's kernels: x, feature and y i8, time and state both i16 or
// both i8, bias i32 in units of the scales of state and time; feature, time and a state of i16 per
// tensor with zero point 0. The state is required, because it gives the scale of the features. A
// state of i8 has a zero point, which is added to the saturated features modulo 2^8.
struct SvdfAttrs {
  int64_t rank = 1;
  static std::span<const AttrField> Fields();
};

// Positions of the operands.
enum SvdfInput : size_t { kSvdfX, kSvdfFeature, kSvdfTime, kSvdfBias, kSvdfState };

}  // namespace nn
