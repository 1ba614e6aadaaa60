// Scans: each element of the result combines the elements before it along an axis.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"

namespace nn {

// cum_sum: y_i = x_0 + ... + x_i, added one by one from +0; cum_prod: y_i = x_0 * ... * x_i,
// multiplied one by one from 1. exclusive: without x_i; reverse: from the end. The axis comes from
// the attribute or, if that is not known, from the input `axis` with one integer.
struct ScanAttrs {
  int64_t axis = 0;
  bool exclusive = false;
  bool reverse = false;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
