#include "passes/quantize/prune.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace nn {

Result<Tensor> Pruned(const Tensor& tensor, double part) {
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(DType::kF32, tensor.dims()));
  out.Copy(0, tensor, 0, tensor.elements());
  const auto numbers = out.As<float>();
  auto left = static_cast<size_t>(part * static_cast<double>(numbers.size()));
  if (left == 0) return out.Finish();
  std::vector<float> magnitudes(numbers.size());
  std::ranges::transform(numbers, magnitudes.begin(), [](float x) { return std::abs(x); });
  const auto last = magnitudes.begin() + static_cast<ptrdiff_t>(left) - 1;
  std::ranges::nth_element(magnitudes, last);
  const float largest = *last;  // that becomes 0, together with smaller ones
  left -= static_cast<size_t>(
      std::ranges::count_if(numbers, [&](float x) { return std::abs(x) < largest; }));
  for (float& x : numbers) {
    if (std::abs(x) > largest || (std::abs(x) == largest && left == 0)) continue;
    if (std::abs(x) == largest) --left;
    x = 0;
  }
  return out.Finish();
}

}  // namespace nn
