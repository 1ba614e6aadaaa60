#include "passes/quantize/palette.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace nn {
namespace {

constexpr int kRounds = 30;

// The index of the first number that is nearer to the following center, for each center.
std::vector<size_t> EndsOf(const std::vector<double>& sorted, const std::vector<double>& centers) {
  std::vector<size_t> ends;
  for (size_t k = 0; k + 1 < centers.size(); ++k) {
    const double middle = (centers[k] + centers[k + 1]) / 2;
    ends.push_back(static_cast<size_t>(
        std::ranges::distance(sorted.begin(), std::ranges::lower_bound(sorted, middle))));
  }
  ends.push_back(sorted.size());
  return ends;
}

}  // namespace

Result<Tensor> Palettized(const Tensor& tensor, int bits) {
  std::vector<double> sorted = tensor.ToDoubles();
  std::ranges::sort(sorted);
  std::vector<double> sums = {0};
  for (const double x : sorted) sums.push_back(sums.back() + x);
  const size_t n = sorted.size();
  const size_t count = std::min(size_t{1} << bits, std::max<size_t>(n, 1));
  // Half of the centers follow the density of the numbers, and half are equally far apart.
  std::vector<double> centers;
  for (size_t k = 0; n > 0 && k < count; ++k) {
    const double part = (static_cast<double>(k) + 0.5) / static_cast<double>(count);
    const double even = sorted.front() + part * (sorted.back() - sorted.front());
    const auto at = static_cast<size_t>(part * static_cast<double>(n));
    centers.push_back((even + sorted[std::min(at, n - 1)]) / 2);
  }
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<size_t> ends = EndsOf(sorted, centers);
    size_t begin = 0;
    for (size_t k = 0; k < centers.size(); ++k) {
      if (ends[k] > begin)
        centers[k] = (sums[ends[k]] - sums[begin]) / static_cast<double>(ends[k] - begin);
      begin = std::max(begin, ends[k]);
    }
  }
  for (double& c : centers) c = static_cast<double>(static_cast<float>(c));
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(DType::kF32, tensor.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) {
    const double x = tensor.GetDouble(i);
    size_t k = static_cast<size_t>(
        std::ranges::distance(centers.begin(), std::ranges::lower_bound(centers, x)));
    if (k == centers.size() || (k > 0 && x - centers[k - 1] < centers[k] - x)) --k;
    b.SetDouble(i, centers[k]);
  }
  return b.Finish();
}

}  // namespace nn
