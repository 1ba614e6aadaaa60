// Brings a tensor of one model to the type and the axes of its counterpart in another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/tensor.h"
#include "ir/types/axis_map.h"
#include "ir/types/type.h"
#include "tensorio/compare.h"

namespace nn::against {

// The maps from axes of sizes `from` to axes of sizes `to`, at most `most` of them. Axes of equal
// size keep their order in the first one.
std::vector<AxisMap> MapsBetween(const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                                 size_t most);

// Whether there is such a map, whatever the sizes that are not numbers.
bool SameAxes(const Type& a, const Type& b);

// Both tensors in the element type that has the numbers of both: reals, or integers. kUnsupported
// if there is none, as for strings and numbers.
struct SameType {
  Tensor want, got;
};
Result<SameType> InOneType(const Tensor& want, const Tensor& got);

struct Aligned {
  Comparison comparison;  // in the axes of `got`
  Tensor want;            // in the axes and the element type of the comparison
  Tensor got;
  // From the axes of `want`; nullopt if the elements are compared in the order of memory, because
  // only their number is equal.
  std::optional<AxisMap> axes;
};

// Compares real tensors (RealTensor() of quantized ones) in the axes in which they are most alike.
// Their shapes may differ by the order of axes, axes of size 1, and how axes are joined. The
// tolerance is ScaledTolerance(), and `step` is added to it.
Result<Aligned> CompareAligned(const Tensor& want, const Tensor& got, double atol, double rtol,
                               double step);

// The number of elements of a real tensor that are NaN, and that are infinite.
struct NotFinite {
  int64_t nan = 0;
  int64_t infinite = 0;
};
NotFinite CountNotFinite(const Tensor& tensor);

}  // namespace nn::against
