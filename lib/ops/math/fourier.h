// The discrete Fourier transform of sequences of complex numbers in double.
// Design: docs/design/052-fourier-transforms.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace nn {

// y_k = sum over j of x_j w^(j k), with w = e^(-2 pi i / n), or e^(2 pi i / n) and the sum divided
// by n if it is inverse. The steps, which RunFourier() (ops/math/fourier-inl.h) takes for one
// sequence or for several at a time, are part of the arithmetic contract:
//   - n is a product of factors: as many 4 as possible, then 2, 3, 5, and other primes ascending.
//     For each factor r in this order, with s the product of those before it and m = n / (r s), the
//     r elements at q + s (p + m i) become r elements b, for p < m and q < s: their transform of
//     size r. Element q + s (r p + j) of the result is b_j w^(s p j). Products for p = 0 or j = 0
//     are left out.
//   - If a prime factor is more than kLargestPrime: y_k = c_k (sum over j of (x_j c_j) d_(k - j)),
//     with c_k = w^(k k / 2) and d its conjugate, by transforms of the size that Padded() returns:
//     that of x c is multiplied by that of d, transformed back, divided by the size and
//     multiplied by c.
// Sums and products are rounded each, without fused multiply-adds: a b is (a.re b.re - a.im b.im,
// a.re b.im + a.im b.re). The powers of w are those of UnitRootOf() (numeric/doubles.h).
class FourierTransform {
 public:
  static constexpr size_t kLargestPrime = 50;

  // n > 0
  FourierTransform(size_t n, bool inverse);

  // A factor of n and the numbers of its step.
  struct Stage {
    size_t radix, groups, stride;  // r, m and s
    // Real and imaginary parts of w^(s p j) for 0 < p < m, 0 < j < r.
    std::vector<double> twiddles;
    // Of size r: cosines and sines of 2 pi k / r, the latter negative unless inverse.
    std::vector<double> cosines, sines;
  };
  // The transform by a convolution.
  struct Convolution {
    Convolution(size_t n, bool inverse);

    std::unique_ptr<const FourierTransform> forward, backward;
    std::vector<double> c_re, c_im;  // of n elements
    std::vector<double> d_re, d_im;  // the transform of d
  };

  size_t size() const { return n_; }
  bool inverse() const { return inverse_; }
  const std::vector<Stage>& stages() const { return stages_; }
  const Convolution* convolution() const { return convolution_.get(); }
  // Numbers of each of the four arrays that RunFourier() needs for a sequence.
  size_t room() const { return convolution_ ? convolution_->forward->size() : n_; }

  // The number of products of a transform; nullopt if it overflows.
  static std::optional<int64_t> Products(int64_t n);

 private:
  size_t n_;
  bool inverse_;
  std::vector<Stage> stages_;
  std::unique_ptr<const Convolution> convolution_;
};

// Real and imaginary parts of `width` sequences side by side: element i of sequence l is at i width
// + l. x has the input, and after the transform the result; y is used meanwhile. All have room()
// numbers for each sequence.
struct FourierArrays {
  double *x_re, *x_im, *y_re, *y_im;
  size_t width;
};

// On the calling thread, one number at a time.
void RunFourier(const FourierTransform& transform, const FourierArrays& arrays);

}  // namespace nn
