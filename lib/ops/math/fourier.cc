#include "ops/math/fourier.h"

#include <bit>

#include "base/arith.h"
#include "base/checked_math.h"
#include "numeric/doubles.h"

namespace nn {

FourierTransform::FourierTransform(size_t n, bool inverse) : inverse_(inverse), roots_(n) {
  for (size_t k = 0; k < n; ++k) {
    const UnitRoot root = UnitRootOf(static_cast<int64_t>(k), static_cast<int64_t>(n));
    roots_[k] = {root.cos, inverse ? root.sin : -root.sin};
  }
}

void FourierTransform::Run(const Complex* x, size_t step, size_t n, Complex* y) const {
  const size_t root_step = roots_.size() / n;
  if (n % 2 != 0) {
    for (size_t k = 0; k < n; ++k) {
      Complex sum;
      size_t power = 0;  // j * k modulo n
      for (size_t j = 0; j < n; ++j) {
        const Complex& w = roots_[power * root_step];
        const Complex& v = x[j * step];
        sum.re = Fma(-w.im, v.im, Fma(w.re, v.re, sum.re));
        sum.im = Fma(w.re, v.im, Fma(w.im, v.re, sum.im));
        power += k;
        if (power >= n) power -= n;
      }
      y[k] = sum;
    }
    return;
  }
  const size_t half = n / 2;
  Run(x, 2 * step, half, y);
  Run(x + step, 2 * step, half, y + half);
  for (size_t k = 0; k < half; ++k) {
    const Complex& w = roots_[k * root_step];
    const Complex e = y[k], o = y[k + half];
    const Complex p = {Fma(w.re, o.re, -(w.im * o.im)), Fma(w.re, o.im, w.im * o.re)};
    y[k] = {e.re + p.re, e.im + p.im};
    y[k + half] = {e.re - p.re, e.im - p.im};
  }
}

void FourierTransform::Run(std::span<const Complex> x, std::span<Complex> y) const {
  if (roots_.empty()) return;
  Run(x.data(), 1, roots_.size(), y.data());
  if (!inverse_) return;
  const auto n = static_cast<double>(roots_.size());
  for (Complex& v : y) v = {v.re / n, v.im / n};
}

std::optional<int64_t> FourierTransform::Products(int64_t n) {
  if (n <= 0) return 0;
  const int levels = std::countr_zero(static_cast<uint64_t>(n));
  return CheckedMul<int64_t>(n, (n >> levels) + levels);
}

}  // namespace nn
