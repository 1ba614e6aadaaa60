// The discrete Fourier transform of one sequence of complex numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nn {

struct Complex {
  double re = 0, im = 0;
};

// y_k = sum over j of x_j w^(j k), with w = e^(-2 pi i / n), or e^(2 pi i / n) and the sum divided
// by n if it is inverse. Computed in double:
//   n odd   the sum in order of j from +0, each product as fused multiply-adds of the real part,
//           then of the imaginary part of x_j
//   n even  e_k + w^k o_k and e_k - w^k o_k for k < n / 2, from the transforms e of the elements
//           at even and o at odd positions; a product a b is (fma(a.re, b.re, -(a.im b.im)),
//           fma(a.re, b.im, a.im b.re))
// The powers of w are those of UnitRootOf() (numeric/doubles.h).
class FourierTransform {
 public:
  FourierTransform(size_t n, bool inverse);

  size_t size() const { return roots_.size(); }
  // Both have n elements and do not overlap.
  void Run(std::span<const Complex> x, std::span<Complex> y) const;

  // The number of products of a transform; nullopt if it overflows.
  static std::optional<int64_t> Products(int64_t n);

 private:
  // The elements x[0], x[step], ..., of which there are n.
  void Run(const Complex* x, size_t step, size_t n, Complex* y) const;

  bool inverse_;
  std::vector<Complex> roots_;  // powers of w
};

}  // namespace nn
