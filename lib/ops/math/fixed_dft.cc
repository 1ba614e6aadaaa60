#include "ops/math/fixed_dft.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>
#include <vector>

#include "base/arith.h"
#include "ir/op_def.h"
#include "numeric/doubles.h"
#include "ops/families.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> FixedDftAttrs::Fields() {
  static const AttrField fields[] = {Field<&FixedDftAttrs::length>("length"),
                                     Field<&FixedDftAttrs::inverse>("inverse")};
  return fields;
}

namespace {

// Limit of all formats: length of a Fourier transform of fixed-point numbers.
constexpr int64_t kMaxFixedDft = int64_t{1} << 20;

Status InferFixedDft(InferContext& ctx) {
  const auto& a = ctx.attrs<FixedDftAttrs>();
  const Type& x = ctx.in(0);
  if (x.dtype != DType::kUnknown && x.dtype != DType::kI16 && x.dtype != DType::kI32)
    return UnsupportedError("{} is not supported", DTypeName(x.dtype));
  if (x.quantized()) return UnsupportedError("quantized numbers are not supported");
  if (a.length < 2 || a.length > kMaxFixedDft || a.length % 2 != 0)
    return ModelError("length is {}; must be an even number from 2 to {}", a.length, kMaxFixedDft);
  if (!x.ranked()) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  Dims dims = *x.dims;
  const Dim& size = dims.back();
  const int64_t pairs = a.length + 2;
  const bool fits =
      !size.is_const() || (a.inverse ? size.value() == pairs : size.value() <= a.length);
  if (!fits)
    return ModelError("the last axis has {} elements; the length is {}", size.ToString(), a.length);
  dims.back() = a.inverse ? a.length : pairs;
  ctx.set_out(0, x.WithDims(std::move(dims)));
  return {};
}

// The cosine and sine of `phase`, which was computed for the angle 2 pi k / n, correctly rounded
// where the exact angle has one of 1/2: only there does the last bit of a double decide about that
// of the fixed-point number.
UnitRoot RootAt(double phase, int64_t k, int64_t n) {
  UnitRoot root = UnitRootOf(k, n);
  const int64_t twelfths = 12 * k % n == 0 ? 12 * k / n : 0;
  if (twelfths % 2 == 0 && twelfths % 6 != 0) root.cos = std::copysign(0.5, root.cos);
  if (twelfths % 2 != 0 && twelfths % 6 != 3) root.sin = std::copysign(0.5, root.sin);
  // How far the phase is from the angle, in three parts of 2 pi.
  constexpr double kTurn = 2 * std::numbers::pi, kRest = 2.4492935982947064e-16;
  const auto i = static_cast<double>(k), count = static_cast<double>(n);
  const double product = phase * count, exact = kTurn * i;
  const double low = Fma(phase, count, -product) - Fma(kTurn, i, -exact);
  const double error = ((product - exact) + (low - kRest * i)) / count;
  return {Fma(-root.sin, error, root.cos), Fma(root.cos, error, root.sin)};
}

// Transforms of numbers of type S.
template <typename S>
class FixedTransform {
 public:
  struct Complex {
    S r, i;
  };

  FixedTransform(int64_t length, bool inverse)
      : inverse_(inverse), n_(static_cast<size_t>(length / 2)) {
    for (size_t k = 0; k < n_; ++k) {
      const double phase = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n_);
      twiddles_.push_back(Fixed(phase, k, n_));
    }
    for (size_t k = 1; k <= n_ / 2; ++k) {
      const double turn = static_cast<double>(k) / static_cast<double>(n_) + 0.5;
      super_.push_back(Fixed(std::numbers::pi * turn, 2 * k + n_, 4 * n_));
    }
    // Radices of 4, 2, 3, 5 and all odd numbers; what is left above the root is one.
    const auto most = static_cast<size_t>(std::sqrt(static_cast<double>(n_)));
    size_t rest = n_, p = 4;
    do {
      while (rest % p != 0) {
        p = p == 4 ? 2 : p == 2 ? 3 : p + 2;
        if (p > most) p = rest;
      }
      rest /= p;
      radices_.push_back(p);
    } while (rest > 1);
  }

  // From `length` numbers to length / 2 + 1 pairs.
  void Forward(const S* x, Complex* y) {
    std::vector<Complex> in(n_), z(n_);
    for (size_t k = 0; k < n_; ++k) in[k] = {x[2 * k], x[2 * k + 1]};
    Stage(z.data(), in.data(), 1, 0);
    const Complex first = Divided(z[0], 2);
    y[0] = {Sum(first.r, first.i), 0};
    y[n_] = {Difference(first.r, first.i), 0};
    for (size_t k = 1; k <= n_ / 2; ++k) {
      const Complex a = Divided(z[k], 2);
      const Complex b = Divided({z[n_ - k].r, Negated(z[n_ - k].i)}, 2);
      const Complex even = Add(a, b), odd = Mul(Sub(a, b), super_[k - 1]);
      y[k] = {HalfSum(even.r, odd.r), HalfSum(even.i, odd.i)};
      y[n_ - k] = {HalfDifference(even.r, odd.r), HalfDifference(odd.i, even.i)};
    }
  }

  // From the pairs to the numbers.
  void Inverse(const Complex* x, S* y) {
    std::vector<Complex> z(n_), out(n_);
    z[0] = Divided({Sum(x[0].r, x[n_].r), Difference(x[0].r, x[n_].r)}, 2);
    for (size_t k = 1; k <= n_ / 2; ++k) {
      const Complex a = Divided(x[k], 2);
      const Complex b = Divided({x[n_ - k].r, Negated(x[n_ - k].i)}, 2);
      const Complex even = Add(a, b), odd = Mul(Sub(a, b), super_[k - 1]);
      z[k] = Add(even, odd);
      z[n_ - k] = Sub(even, odd);
      z[n_ - k].i = Negated(z[n_ - k].i);
    }
    Stage(out.data(), z.data(), 1, 0);
    for (size_t k = 0; k < n_; ++k) {
      y[2 * k] = out[k].r;
      y[2 * k + 1] = out[k].i;
    }
  }

 private:
  using Wide = std::conditional_t<sizeof(S) == 2, int32_t, int64_t>;
  static constexpr int kBits = sizeof(S) * 8 - 1;
  static constexpr S kMax = std::numeric_limits<S>::max();

  Complex Fixed(double phase, size_t k, size_t n) const {
    const UnitRoot root = RootAt(phase, static_cast<int64_t>(k), static_cast<int64_t>(n));
    const double most = kMax, sine = inverse_ ? root.sin : -root.sin;
    return {static_cast<S>(std::floor(0.5 + most * root.cos)),
            static_cast<S>(std::floor(0.5 + most * sine))};
  }

  // Sums wrap in 32 bits before they are halved, and in S where they are stored.
  static int32_t Int(int64_t v) { return static_cast<int32_t>(static_cast<uint32_t>(v)); }
  static S Stored(int64_t v) { return static_cast<S>(Int(v)); }
  static S Sum(S a, S b) { return Stored(int64_t{a} + b); }
  static S Difference(S a, S b) { return Stored(int64_t{a} - b); }
  static S Negated(S a) { return Stored(-int64_t{a}); }
  static S Half(S a) { return static_cast<S>(a >> 1); }
  static S HalfSum(S a, S b) { return static_cast<S>(Int(int64_t{a} + b) >> 1); }
  static S HalfDifference(S a, S b) { return static_cast<S>(Int(int64_t{a} - b) >> 1); }

  // A sum of products of two numbers each, as one number.
  static S Rounded(uint64_t sum) {
    sum += uint64_t{1} << (kBits - 1);
    const auto wide = static_cast<Wide>(static_cast<std::make_unsigned_t<Wide>>(sum));
    return static_cast<S>(wide >> kBits);
  }
  static uint64_t Product(S a, S b) { return static_cast<uint64_t>(int64_t{a} * b); }
  static S Mul(S a, S b) { return Rounded(Product(a, b)); }

  static Complex Add(Complex a, Complex b) { return {Sum(a.r, b.r), Sum(a.i, b.i)}; }
  static Complex Sub(Complex a, Complex b) { return {Difference(a.r, b.r), Difference(a.i, b.i)}; }
  static Complex Mul(Complex a, Complex b) {
    return {Rounded(Product(a.r, b.r) - Product(a.i, b.i)),
            Rounded(Product(a.r, b.i) + Product(a.i, b.r))};
  }
  static Complex Divided(Complex a, size_t by) {
    const auto factor = static_cast<S>(static_cast<size_t>(kMax) / by);
    return {Mul(a.r, factor), Mul(a.i, factor)};
  }

  // The transform of the elements of `x` that are `stride` apart, from radix `depth` on.
  void Stage(Complex* y, const Complex* x, size_t stride, size_t depth) {
    const size_t p = radices_[depth];
    size_t m = n_ / stride / p;
    for (size_t k = 0; k < p; ++k) {
      if (m == 1)
        y[k] = x[k * stride];
      else
        Stage(y + k * m, x + k * stride, stride * p, depth + 1);
    }
    switch (p) {
      case 2:
        return Combine2(y, stride, m);
      case 3:
        return Combine3(y, stride, m);
      case 4:
        return Combine4(y, stride, m);
      case 5:
        return Combine5(y, stride, m);
      default:
        return CombineAny(y, stride, m, p);
    }
  }

  void Combine2(Complex* y, size_t stride, size_t m) const {
    for (size_t k = 0; k < m; ++k) {
      const Complex a = Divided(y[k], 2);
      const Complex b = Mul(Divided(y[k + m], 2), twiddles_[k * stride]);
      y[k + m] = Sub(a, b);
      y[k] = Add(a, b);
    }
  }

  void Combine4(Complex* y, size_t stride, size_t m) const {
    for (size_t k = 0; k < m; ++k) {
      Complex v[4];
      for (size_t j = 0; j < 4; ++j) {
        v[j] = Divided(y[k + j * m], 4);
        if (j > 0) v[j] = Mul(v[j], twiddles_[j * k * stride]);
      }
      const Complex across = Sub(v[0], v[2]), first = Add(v[0], v[2]);
      const Complex sum = Add(v[1], v[3]), d = Sub(v[1], v[3]);
      y[k + 2 * m] = Sub(first, sum);
      y[k] = Add(first, sum);
      const Complex minus = {Difference(across.r, d.i), Sum(across.i, d.r)};
      const Complex plus = {Sum(across.r, d.i), Difference(across.i, d.r)};
      y[k + m] = inverse_ ? minus : plus;
      y[k + 3 * m] = inverse_ ? plus : minus;
    }
  }

  void Combine3(Complex* y, size_t stride, size_t m) const {
    const S third = twiddles_[stride * m].i;
    for (size_t k = 0; k < m; ++k) {
      const Complex a = Divided(y[k], 3);
      const Complex b = Mul(Divided(y[k + m], 3), twiddles_[k * stride]);
      const Complex c = Mul(Divided(y[k + 2 * m], 3), twiddles_[2 * k * stride]);
      const Complex sum = Add(b, c), d = Sub(b, c);
      const Complex middle = {Difference(a.r, Half(sum.r)), Difference(a.i, Half(sum.i))};
      const Complex turned = {Mul(d.r, third), Mul(d.i, third)};
      y[k] = Add(a, sum);
      y[k + 2 * m] = {Sum(middle.r, turned.i), Difference(middle.i, turned.r)};
      y[k + m] = {Difference(middle.r, turned.i), Sum(middle.i, turned.r)};
    }
  }

  void Combine5(Complex* y, size_t stride, size_t m) const {
    const Complex a = twiddles_[stride * m], b = twiddles_[2 * stride * m];
    for (size_t k = 0; k < m; ++k) {
      Complex v[5];
      for (size_t j = 0; j < 5; ++j) {
        v[j] = Divided(y[k + j * m], 5);
        if (j > 0) v[j] = Mul(v[j], twiddles_[j * k * stride]);
      }
      const Complex outer = Add(v[1], v[4]), outer_d = Sub(v[1], v[4]);
      const Complex inner = Add(v[2], v[3]), inner_d = Sub(v[2], v[3]);
      // Sums of three are stored once.
      const auto sum = [](int64_t x, int64_t s, int64_t t) { return Stored(x + s + t); };
      y[k] = {sum(v[0].r, outer.r, inner.r), sum(v[0].i, outer.i, inner.i)};
      const auto real = [&](S p, S q) {
        return Complex{sum(v[0].r, Mul(outer.r, p), Mul(inner.r, q)),
                       sum(v[0].i, Mul(outer.i, p), Mul(inner.i, q))};
      };
      const Complex near = real(a.r, b.r), far = real(b.r, a.r);
      const Complex near_d = {sum(0, Mul(outer_d.i, a.i), Mul(inner_d.i, b.i)),
                              sum(0, -int64_t{Mul(outer_d.r, a.i)}, -int64_t{Mul(inner_d.r, b.i)})};
      const Complex far_d = {sum(0, -int64_t{Mul(outer_d.i, b.i)}, Mul(inner_d.i, a.i)),
                             sum(0, Mul(outer_d.r, b.i), -int64_t{Mul(inner_d.r, a.i)})};
      y[k + m] = Sub(near, near_d);
      y[k + 4 * m] = Add(near, near_d);
      y[k + 2 * m] = Add(far, far_d);
      y[k + 3 * m] = Sub(far, far_d);
    }
  }

  void CombineAny(Complex* y, size_t stride, size_t m, size_t p) const {
    std::vector<Complex> v(p);
    for (size_t u = 0; u < m; ++u) {
      for (size_t j = 0; j < p; ++j) v[j] = Divided(y[u + j * m], p);
      for (size_t k = u; k < p * m; k += m) {
        y[k] = v[0];
        size_t at = 0;
        for (size_t j = 1; j < p; ++j) {
          at = (at + stride * k) % n_;
          y[k] = Add(y[k], Mul(v[j], twiddles_[at]));
        }
      }
    }
  }

  bool inverse_;
  size_t n_;  // complex numbers
  std::vector<size_t> radices_;
  std::vector<Complex> twiddles_, super_;
};

template <typename S>
Status EvalFixedDftOf(EvalContext& ctx) {
  const auto& a = ctx.attrs<FixedDftAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const auto length = static_cast<size_t>(a.length), pairs = length / 2 + 1;
  const auto in = x.As<S>();
  const auto out = y.As<S>();
  const size_t size = static_cast<size_t>(x.dims().back());
  const size_t out_size = a.inverse ? length : 2 * pairs;
  FixedTransform<S> transform(a.length, a.inverse);
  std::vector<S> row(length);
  std::vector<typename FixedTransform<S>::Complex> half(pairs);
  for (size_t i = 0; i * out_size < out.size(); ++i) {
    const S* const from = in.data() + i * size;
    S* const to = out.data() + i * out_size;
    if (a.inverse) {
      for (size_t k = 0; k < pairs; ++k) half[k] = {from[2 * k], from[2 * k + 1]};
      transform.Inverse(half.data(), to);
      continue;
    }
    std::copy_n(from, size, row.begin());
    std::fill(row.begin() + static_cast<ptrdiff_t>(size), row.end(), S{0});
    transform.Forward(row.data(), half.data());
    for (size_t k = 0; k < pairs; ++k) {
      to[2 * k] = half[k].r;
      to[2 * k + 1] = half[k].i;
    }
  }
  ctx.set_out(0, y.Finish());
  return {};
}

Status EvalFixedDft(EvalContext& ctx) {
  return ctx.in(0).dtype() == DType::kI16 ? EvalFixedDftOf<int16_t>(ctx)
                                          : EvalFixedDftOf<int32_t>(ctx);
}

}  // namespace

void RegisterFixedDftOps(OpRegistry& ops) {
  OpDef op;
  op.name = "fixed_dft";
  op.summary = "spectra of fixed-point numbers in the last axis";
  op.category = Category::kArithmetic;
  op.attrs = AttrsInfoOf<FixedDftAttrs>();
  op.inputs = {{"x"}};
  op.infer = InferFixedDft;
  op.eval = EvalFixedDft;
  ops.Add(std::move(op));
}

}  // namespace nn
