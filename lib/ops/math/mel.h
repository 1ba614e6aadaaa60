// mel_weight_matrix(bins, length, rate, low, high): the weights of a spectrum of `length` / 2 + 1
// frequencies in `bins` triangular filters, [frequencies, bins] (ONNX MelWeightMatrix-17). `rate`
// is the number of samples a second; `low` and `high`, in hertz, are the edges of the filters.
//
// Computed in double. The corners of the filters, c_0 ... c_(bins + 1), are at equal distances of
// (mel(high) - mel(low)) / (bins + 2) on the scale mel(f) = 2595 log10(1 + f / 700):
//   f_i = low + (700 + low) (exp(i / (bins + 2) * log((700 + high) / (700 + low))) - 1)
//   c_i = floor((length + 1) * f_i / rate), for i = 0 with f_0 = low
// Filter i rises from c_i to c_(i + 1), and falls to c_(i + 2): the weight of frequency j is
// (j - c_i) / (c_(i + 1) - c_i) and (c_(i + 2) - j) / (c_(i + 2) - c_(i + 1)), and 1 at c_(i + 1).
// Weights of frequencies outside the spectrum are dropped. Integer types hold the weights rounded
// toward zero.
#pragma once

#include <span>

#include "ir/attrs.h"
#include "ir/types/dtype.h"

namespace nn {

struct MelWeightMatrixAttrs {
  DType dtype = DType::kF32;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
