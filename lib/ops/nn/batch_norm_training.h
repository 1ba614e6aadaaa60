// batch_norm_training: batch_norm with the statistics of the batch, which update running ones.
//
// batch_norm_training(x, scale, bias, mean, variance): each channel of x, over the batch and all
// positions (ONNX BatchNormalization-15 with training_mode), has
//   m = (sum x) / n, v = (sum d * d) / n with d = x - m     as reduce_mean; the variance of a
//                                                            population, not of a sample
//   y                 batch_norm(x, scale, bias, m, v)
//   running_mean      mean * momentum + m * (1 - momentum)
//   running_variance  variance * momentum + v * (1 - momentum)
//   batch_mean, batch_variance   m and v; both may be missing
// The results but y have the type of the input `mean`. The operator is defined by its decomposition
// into these operators (OpDef::eval), computed in double if x is f64 and in float32 otherwise, with
// one rounding of each result.
#pragma once

#include <span>

#include "ir/attrs.h"
#include "ops/support/window.h"

namespace nn {

struct BatchNormTrainingAttrs {
  float epsilon = 1e-5f;
  float momentum = 0.9f;
  Layout layout = Layout::kNcx;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
