// The steps of FourierTransform (ops/math/fourier.h), for one number or for a SIMD vector of
// adjacent numbers.
#if defined(NN_OPS_FOURIER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_OPS_FOURIER_INL_H_
#undef NN_OPS_FOURIER_INL_H_
#else
#define NN_OPS_FOURIER_INL_H_
#endif

#include <array>
#include <cstddef>
#include <utility>

#include "numeric/target-inl.h"
#include "ops/math/fourier.h"

NN_BEFORE_NAMESPACE
namespace nn {
namespace NN_TARGET_NAMESPACE {

// The machine for a single number.
struct OneDouble {
  using V = double;
  static constexpr size_t kLanes = 1;

  static NN_INLINE V Set(double v) { return v; }
  static NN_INLINE V Load(const double* p) { return *p; }
  static NN_INLINE void Store(V v, double* p) { *p = v; }
  static NN_INLINE V Add(V a, V b) { return a + b; }
  static NN_INLINE V Sub(V a, V b) { return a - b; }
  static NN_INLINE V Mul(V a, V b) { return a * b; }
  static NN_INLINE V Div(V a, V b) { return a / b; }
};

template <class M>
struct ComplexOf {
  typename M::V re, im;

  static NN_INLINE ComplexOf Load(const double* re, const double* im) {
    return {M::Load(re), M::Load(im)};
  }
  NN_INLINE void Store(double* to_re, double* to_im) const {
    M::Store(re, to_re);
    M::Store(im, to_im);
  }
  NN_INLINE ComplexOf operator+(ComplexOf b) const { return {M::Add(re, b.re), M::Add(im, b.im)}; }
  NN_INLINE ComplexOf operator-(ComplexOf b) const { return {M::Sub(re, b.re), M::Sub(im, b.im)}; }
  // By a real number.
  NN_INLINE ComplexOf operator*(typename M::V b) const { return {M::Mul(re, b), M::Mul(im, b)}; }
  NN_INLINE ComplexOf operator*(ComplexOf b) const {
    return {M::Sub(M::Mul(re, b.re), M::Mul(im, b.im)), M::Add(M::Mul(re, b.im), M::Mul(im, b.re))};
  }
  // *this + i b and *this - i b
  NN_INLINE ComplexOf PlusI(ComplexOf b) const { return {M::Sub(re, b.im), M::Add(im, b.re)}; }
  NN_INLINE ComplexOf MinusI(ComplexOf b) const { return {M::Add(re, b.im), M::Sub(im, b.re)}; }
};

// One step on the sequences at all q of a p: element (i, q) of the input is at i * in_step + q, and
// the results are at j * out_step + q. `M` handles whole vectors, OneDouble the rest.
struct FourierGroup {
  const FourierTransform::Stage* stage;
  const double* twiddle;  // of j = 1; null for p = 0
  const double *in_re, *in_im;
  double *out_re, *out_im;
  size_t in_step, out_step;
};

template <class M>
class FourierStep {
 public:
  using C = ComplexOf<M>;

  FourierStep(const FourierGroup& g, size_t q) : g_(g), q_(q) {}

  void Run() const {
    switch (g_.stage->radix) {
      case 2:
        return Two();
      case 3:
        return Three();
      case 4:
        return Four();
      case 5:
        return Five();
      default:
        return Odd();
    }
  }

 private:
  NN_INLINE C In(size_t i) const {
    return C::Load(g_.in_re + i * g_.in_step + q_, g_.in_im + i * g_.in_step + q_);
  }
  NN_INLINE void Out(size_t j, C v) const {
    if (g_.twiddle != nullptr && j != 0) {
      const double* w = g_.twiddle + 2 * (j - 1);
      v = v * C{M::Set(w[0]), M::Set(w[1])};
    }
    v.Store(g_.out_re + j * g_.out_step + q_, g_.out_im + j * g_.out_step + q_);
  }
  NN_INLINE typename M::V Cosine(size_t k) const { return M::Set(g_.stage->cosines[k]); }
  NN_INLINE typename M::V Sine(size_t k) const { return M::Set(g_.stage->sines[k]); }

  void Two() const {
    const C a0 = In(0), a1 = In(1);
    Out(0, a0 + a1);
    Out(1, a0 - a1);
  }
  void Three() const {
    const C a0 = In(0), a1 = In(1), a2 = In(2);
    const C t = a1 + a2;
    const C u = a0 + t * Cosine(1);
    const C v = (a1 - a2) * Sine(1);
    Out(0, a0 + t);
    Out(1, u.PlusI(v));
    Out(2, u.MinusI(v));
  }
  void Four() const {
    const C a0 = In(0), a1 = In(1), a2 = In(2), a3 = In(3);
    const C even = a0 + a2, other = a0 - a2, odd = a1 + a3;
    const C v = (a1 - a3) * Sine(1);  // 1 or -1
    Out(0, even + odd);
    Out(1, other.PlusI(v));
    Out(2, even - odd);
    Out(3, other.MinusI(v));
  }
  void Five() const {
    const C a0 = In(0), a1 = In(1), a2 = In(2), a3 = In(3), a4 = In(4);
    const C t1 = a1 + a4, t2 = a2 + a3, d1 = a1 - a4, d2 = a2 - a3;
    const C u1 = (a0 + t1 * Cosine(1)) + t2 * Cosine(2);
    const C u2 = (a0 + t1 * Cosine(2)) + t2 * Cosine(1);
    const C v1 = d1 * Sine(1) + d2 * Sine(2);
    const C v2 = d1 * Sine(2) - d2 * Sine(1);
    Out(0, (a0 + t1) + t2);
    Out(1, u1.PlusI(v1));
    Out(2, u2.PlusI(v2));
    Out(3, u2.MinusI(v2));
    Out(4, u1.MinusI(v1));
  }
  // The sums of opposite elements with cosines, and their differences with sines, in order.
  void Odd() const {
    constexpr size_t kMax = FourierTransform::kLargestPrime / 2;
    const size_t r = g_.stage->radix, half = r / 2;
    // Numbers, because constructors of arrays of vectors are not compiled for the target.
    std::array<double, kMax * M::kLanes> t_re, t_im, d_re, d_im;
    const C a0 = In(0);
    C sum = a0;
    for (size_t k = 0; k < half; ++k) {
      const C a = In(k + 1), b = In(r - k - 1);
      const C t = a + b;
      t.Store(&t_re[k * M::kLanes], &t_im[k * M::kLanes]);
      (a - b).Store(&d_re[k * M::kLanes], &d_im[k * M::kLanes]);
      sum = sum + t;
    }
    Out(0, sum);
    for (size_t j = 1; j <= half; ++j) {
      C u = a0 + C::Load(t_re.data(), t_im.data()) * Cosine(j);
      C v = C::Load(d_re.data(), d_im.data()) * Sine(j);
      for (size_t k = 1; k < half; ++k) {
        const size_t at = k * M::kLanes;
        u = u + C::Load(&t_re[at], &t_im[at]) * Cosine(j * (k + 1) % r);
        v = v + C::Load(&d_re[at], &d_im[at]) * Sine(j * (k + 1) % r);
      }
      Out(j, u.PlusI(v));
      Out(r - j, u.MinusI(v));
    }
  }

  const FourierGroup& g_;
  size_t q_;
};

template <class M>
class FourierSteps {
 public:
  static void Run(const FourierTransform& t, FourierArrays a) {
    if (const auto* c = t.convolution()) {
      Convolve(*c, t.size(), a);
    } else {
      double* const result = a.x_re;
      for (const FourierTransform::Stage& s : t.stages()) {
        Step(s, a);
        std::swap(a.x_re, a.y_re);
        std::swap(a.x_im, a.y_im);
      }
      if (a.x_re != result) {
        Copy(a.x_re, a.y_re, t.size() * a.width);
        Copy(a.x_im, a.y_im, t.size() * a.width);
        std::swap(a.x_re, a.y_re);
        std::swap(a.x_im, a.y_im);
      }
    }
    if (!t.inverse()) return;
    for (double* p : {a.x_re, a.x_im}) Divide(p, t.size() * a.width, static_cast<double>(t.size()));
  }

 private:
  using One = OneDouble;

  // fn(machine, i) for all of n numbers.
  template <class Fn>
  static NN_INLINE void ForEach(size_t n, const Fn& fn) {
    size_t i = 0;
    for (; i + M::kLanes <= n; i += M::kLanes) fn(M(), i);
    for (; i < n; ++i) fn(One(), i);
  }

  static void Step(const FourierTransform::Stage& s, const FourierArrays& a) {
    const size_t count = s.stride * a.width;
    for (size_t p = 0; p < s.groups; ++p) {
      const double* const twiddle =
          p == 0 ? nullptr : s.twiddles.data() + 2 * (p - 1) * (s.radix - 1);
      const size_t from = p * count, to = p * s.radix * count;
      const FourierGroup g = {&s,          twiddle,     a.x_re + from,    a.x_im + from,
                              a.y_re + to, a.y_im + to, s.groups * count, count};
      size_t q = 0;
      for (; q + M::kLanes <= count; q += M::kLanes) FourierStep<M>(g, q).Run();
      for (; q < count; ++q) FourierStep<One>(g, q).Run();
    }
  }
  static void Copy(const double* from, double* to, size_t n) {
    for (size_t i = 0; i < n; ++i) to[i] = from[i];
  }
  static void Divide(double* x, size_t n, double by) {
    size_t i = 0;
    for (; i + M::kLanes <= n; i += M::kLanes) M::Store(M::Div(M::Load(x + i), M::Set(by)), x + i);
    for (; i < n; ++i) x[i] = x[i] / by;
  }
  // x = x * c for each element of the sequences.
  static void Multiply(const FourierArrays& a, const std::vector<double>& c_re,
                       const std::vector<double>& c_im) {
    for (size_t k = 0; k < c_re.size(); ++k) {
      double* const re = a.x_re + k * a.width;
      double* const im = a.x_im + k * a.width;
      size_t l = 0;
      for (; l + M::kLanes <= a.width; l += M::kLanes)
        (ComplexOf<M>::Load(re + l, im + l) * ComplexOf<M>{M::Set(c_re[k]), M::Set(c_im[k])})
            .Store(re + l, im + l);
      for (; l < a.width; ++l)
        (ComplexOf<One>::Load(re + l, im + l) * ComplexOf<One>{c_re[k], c_im[k]})
            .Store(re + l, im + l);
    }
  }
  static void Convolve(const FourierTransform::Convolution& c, size_t n, const FourierArrays& a) {
    Multiply(a, c.c_re, c.c_im);
    const size_t end = c.forward->size() * a.width;
    for (double* p : {a.x_re, a.x_im})
      for (size_t i = n * a.width; i < end; ++i) p[i] = 0;
    Run(*c.forward, a);
    Multiply(a, c.d_re, c.d_im);
    Run(*c.backward, a);
    Multiply(a, c.c_re, c.c_im);
  }
};

}  // namespace NN_TARGET_NAMESPACE
}  // namespace nn
NN_AFTER_NAMESPACE

#endif  // NN_OPS_FOURIER_INL_H_
