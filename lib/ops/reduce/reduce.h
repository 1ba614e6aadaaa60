// Reductions over axes.
//
// The operators, and the result for the elements x_0 .. x_(n-1) of a row:
//   reduce_sum           sum x             reduce_mean        (sum x) / n
//   reduce_sum_square    sum x * x         reduce_l1          sum |x|
//   reduce_l2            sqrt(sum x * x)   reduce_prod        product x
//   reduce_max reduce_min                  reduce_log_sum     log(sum x)
//   reduce_log_sum_exp   log(sum exp(x - m)) + m with m the maximum, or 0 if that is not finite
//   reduce_any reduce_all                  of bool
// Sums and products use 16 lanes (ops/reduce/reduction.h). Maximum and minimum are NaN if any
// element is NaN, and +0 if they are zero of either sign, so that they do not depend on the order;
// of no elements they are the opposite bound of the type. Integers: sums and products wrap, mean
// and l2 round toward zero.
//
// The axes come from the attribute or, if that is not known, from the input `axes`
// (one-dimensional, in any order; without elements it means all axes).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/attrs.h"

namespace nn {

struct ReduceAttrs {
  // Empty: all axes. The elements of a row are in row-major order over the axes as listed, so
  // importers list them in ascending order.
  std::vector<int64_t> axes;
  bool keep_dims = true;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
