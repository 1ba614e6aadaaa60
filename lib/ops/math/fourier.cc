#include "ops/math/fourier.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "numeric/doubles.h"
#include "ops/math/fourier-inl.h"

namespace nn {
namespace {

// The factors in the order of the steps.
std::vector<size_t> FactorsOf(size_t n) {
  std::vector<size_t> factors;
  for (const size_t f : {4, 2, 3, 5})
    for (; n % f == 0; n /= f) factors.push_back(f);
  for (size_t f = 7; f <= n / f; f += 2)
    for (; n % f == 0; n /= f) factors.push_back(f);
  if (n > 1) factors.push_back(n);
  return factors;
}

bool HasLargePrime(const std::vector<size_t>& factors) {
  return !factors.empty() && factors.back() > FourierTransform::kLargestPrime;
}

// The least 2^i or 3 * 2^i that is at least 2 n - 1.
size_t Padded(size_t n) {
  const size_t least = 2 * n - 1;
  size_t power = 1;
  while (power < least) power *= 2;
  return power >= 4 && power / 4 * 3 >= least ? power / 4 * 3 : power;
}

// w^k as a pair.
std::pair<double, double> Power(size_t k, size_t n, bool inverse) {
  const UnitRoot root = UnitRootOf(static_cast<int64_t>(k), static_cast<int64_t>(n));
  return {root.cos, inverse ? root.sin : -root.sin};
}

FourierTransform::Stage StageOf(size_t n, size_t radix, size_t stride, bool inverse) {
  FourierTransform::Stage s{radix, n / (radix * stride), stride, {}, {}, {}};
  for (size_t p = 1; p < s.groups; ++p)
    for (size_t j = 1; j < radix; ++j) {
      const auto [re, im] = Power(stride * p * j % n, n, inverse);
      s.twiddles.push_back(re);
      s.twiddles.push_back(im);
    }
  for (size_t k = 0; k < radix; ++k) {
    const auto [re, im] = Power(k, radix, inverse);
    s.cosines.push_back(re);
    s.sines.push_back(im);
  }
  return s;
}

}  // namespace

FourierTransform::Convolution::Convolution(size_t n, bool inverse) {
  const size_t size = Padded(n);
  forward = std::make_unique<FourierTransform>(size, false);
  backward = std::make_unique<FourierTransform>(size, true);
  d_re.resize(size);
  d_im.resize(size);
  size_t square = 0;  // k k modulo 2 n
  for (size_t k = 0; k < n; ++k) {
    const auto [re, im] = Power(square, 2 * n, inverse);
    c_re.push_back(re);
    c_im.push_back(im);
    for (const size_t at : {k, (size - k) % size}) {
      d_re[at] = re;
      d_im[at] = -im;
    }
    square = (square + 2 * k + 1) % (2 * n);
  }
  std::vector<double> re(size), im(size);
  RunFourier(*forward, {d_re.data(), d_im.data(), re.data(), im.data(), 1});
}

FourierTransform::FourierTransform(size_t n, bool inverse) : n_(n), inverse_(inverse) {
  const std::vector<size_t> factors = FactorsOf(n);
  if (HasLargePrime(factors)) {
    convolution_ = std::make_unique<Convolution>(n, inverse);
    return;
  }
  size_t stride = 1;
  for (const size_t f : factors) {
    stages_.push_back(StageOf(n, f, stride, inverse));
    stride *= f;
  }
}

std::optional<int64_t> FourierTransform::Products(int64_t n) {
  constexpr int64_t kLongest = int64_t{1} << 40;
  if (n <= 0) return 0;
  if (n > kLongest) return std::nullopt;
  const std::vector<size_t> factors = FactorsOf(static_cast<size_t>(n));
  if (HasLargePrime(factors)) {
    const auto size = static_cast<int64_t>(Padded(static_cast<size_t>(n)));
    return 2 * *Products(size) + 4 * size;
  }
  int64_t each = 2;
  for (const size_t f : factors) each += static_cast<int64_t>(f);
  return CheckedMul<int64_t>(n, each);
}

void RunFourier(const FourierTransform& transform, const FourierArrays& arrays) {
  scalar::FourierSteps<scalar::OneDouble>::Run(transform, arrays);
}

}  // namespace nn
