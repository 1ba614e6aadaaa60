#include "exec/kernels/elementwise.h"

#include <cmath>
#include <cstring>

#include "hwy/cache_control.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/elementwise.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"
#include "numeric/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D = hn::CappedTag<float, 16>;
using M = SimdMachine<D>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());

// A row of operand x of a chain, or of the other operand.
struct Operand {
  const float* at;
  bool scalar;
  V whole;  // a scalar, all of a short row, or the last vector
  bool kept;

  HWY_INLINE Operand(const float* p, bool is_scalar, size_t n)
      : at(p),
        scalar(is_scalar),
        whole(is_scalar    ? hn::Set(D(), *p)
              : n < kLanes ? LoadSome(D(), p, n)
                           : hn::LoadU(D(), p + n - kLanes)),
        kept(is_scalar || n < kLanes) {}
  HWY_INLINE V Get(size_t i, bool last) const {
    return kept || last ? whole : hn::LoadU(D(), at + i);
  }
};

// y[i] = fn(i, last) for a row; streams: as in RowsF32.
template <class Fn>
HWY_INLINE void StoreRow(float* y, size_t n, bool streams, Fn fn) {
  const D d;
  if (n < kLanes) {
    StoreSome(fn(size_t{0}, true), d, y, n);
    return;
  }
  const bool past = streams && reinterpret_cast<uintptr_t>(y) % sizeof(V) == 0;
  // A single loop body for all vectors, so that a function is compiled once.
  for (size_t i = 0; i < n; i += kLanes) {
    const bool last = i + kLanes > n;
    if (last) i = n - kLanes;
    const V v = fn(i, last);
    if (past && !last)
      hn::Stream(v, d, y + i);
    else
      hn::StoreU(v, d, y + i);
    if (last) break;
  }
  if (past) hwy::FlushStream();
}

template <template <class> class F>
HWY_NOINLINE void UnaryRows(const FunctionParams& params, const RowsF32& rows) {
  for (size_t r = 0; r < rows.count; ++r) {
    const Operand x(rows.x + r * rows.x_stride, false, rows.n);
    StoreRow(rows.y + r * rows.y_stride, rows.n, rows.streams, [&](size_t i, bool last) {
      const V v = x.Get(i, last);
      const V y = F<M>::Run(v, params);
      return rows.times_x ? hn::Mul(v, y) : y;
    });
  }
}

template <template <class> class F>
HWY_NOINLINE void BinaryRows(const RowsF32& rows, const OtherRows& other) {
  for (size_t r = 0; r < rows.count; ++r) {
    const Operand x(rows.x + r * rows.x_stride, false, rows.n);
    const Operand o(other.rows[r], other.scalar, rows.n);
    float* y = rows.y + r * rows.y_stride;
    const Operand& a = other.left ? o : x;
    const Operand& b = other.left ? x : o;
    StoreRow(y, rows.n, rows.streams,
             [&](size_t i, bool last) { return F<M>::Run(a.Get(i, last), b.Get(i, last)); });
  }
}

void Unary(size_t function, const FunctionParams& params, const RowsF32& rows) {
  using Fn = void (*)(const FunctionParams&, const RowsF32&);
  static constexpr Fn kTable[] = {
#define NN_ROW(name, fn) &UnaryRows<fn>,
      NN_UNARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
  };
  kTable[function](params, rows);
}

void Binary(size_t function, const RowsF32& rows, const OtherRows& other) {
  using Fn = void (*)(const RowsF32&, const OtherRows&);
  static constexpr Fn kTable[] = {
#define NN_ROW(name, fn) &BinaryRows<fn>,
      NN_BINARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
  };
  kTable[function](rows, other);
}

void MulAdd(const RowsF32& rows, const float* scale, const float* shift) {
  const Operand a(scale, false, rows.n);
  const Operand b(shift, false, rows.n);
  for (size_t r = 0; r < rows.count; ++r) {
    const Operand x(rows.x + r * rows.x_stride, false, rows.n);
    StoreRow(rows.y + r * rows.y_stride, rows.n, rows.streams, [&](size_t i, bool last) {
      return hn::Add(hn::Mul(x.Get(i, last), a.Get(i, last)), b.Get(i, last));
    });
  }
}

void FusedMulAdd(const float* a, const float* b, const float* c, float* y, size_t n) {
  const Operand x(a, false, n);
  const Operand w(b, false, n);
  const Operand added(c, false, n);
  StoreRow(y, n, false, [&](size_t i, bool last) {
    return M::Fma(x.Get(i, last), w.Get(i, last), added.Get(i, last));
  });
}

void OneNan(float* x, size_t n) {
  const D d;
  const V nan = hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), kNanBits));
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const V v = hn::LoadU(d, x + i);
    const auto mask = hn::IsNaN(v);
    if (!hn::AllFalse(d, mask)) hn::StoreU(hn::IfThenElse(mask, nan, v), d, x + i);
  }
  for (; i < n; ++i)
    if (std::isnan(x[i])) std::memcpy(x + i, &kNanBits, sizeof(float));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Unary);
HWY_EXPORT(Binary);
HWY_EXPORT(MulAdd);
HWY_EXPORT(FusedMulAdd);
HWY_EXPORT(OneNan);

namespace {

constexpr std::string_view kUnaryNames[] = {
#define NN_ROW(name, fn) name,
    NN_UNARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
};
constexpr std::string_view kBinaryNames[] = {
#define NN_ROW(name, fn) name,
    NN_BINARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
};

template <size_t N>
std::optional<size_t> IndexOf(const std::string_view (&names)[N], std::string_view op) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == op) return i;
  return std::nullopt;
}

}  // namespace

std::optional<size_t> UnaryFunctionId(std::string_view op) {
  return IndexOf(kUnaryNames, op);
}
std::optional<size_t> BinaryFunctionId(std::string_view op) {
  return IndexOf(kBinaryNames, op);
}

void RunUnaryRowsF32(size_t function, const FunctionParams& params, const RowsF32& rows) {
  if (rows.n != 0)
    HWY_DYNAMIC_DISPATCH(Unary)(function, params, rows.IsDense() ? rows.Joined() : rows);
}

void RunBinaryRowsF32(size_t function, const RowsF32& rows, const OtherRows& other) {
  if (rows.n == 0) return;
  // The other operand may also be one long row, or one element for all.
  const size_t step = other.scalar ? 0 : rows.n;
  bool joins = rows.IsDense();
  for (size_t r = 1; joins && r < rows.count; ++r)
    joins = other.rows[r] == other.rows[r - 1] + step;
  HWY_DYNAMIC_DISPATCH(Binary)(function, joins ? rows.Joined() : rows, other);
}

void RunMulAddRowsF32(const RowsF32& rows, const float* scale, const float* shift) {
  if (rows.n != 0) HWY_DYNAMIC_DISPATCH(MulAdd)(rows, scale, shift);
}

void RunUnaryF32(size_t function, const FunctionParams& params, const float* x, float* y,
                 size_t n) {
  RunUnaryRowsF32(function, params, {.x = x, .y = y, .n = n});
}

void RunBinaryF32(size_t function, BinaryForm form, const float* a, const float* b, float* y,
                  size_t n) {
  const bool left = form == BinaryForm::kScalarVector;
  const float* const other = left ? a : b;
  RunBinaryRowsF32(function, {.x = left ? b : a, .y = y, .n = n},
                   {.rows = &other, .scalar = form != BinaryForm::kVectorVector, .left = left});
}

void RunFmaF32(const float* a, const float* b, const float* c, float* y, size_t n) {
  if (n != 0) HWY_DYNAMIC_DISPATCH(FusedMulAdd)(a, b, c, y, n);
}

void SetOneNanF32(float* x, size_t n) {
  HWY_DYNAMIC_DISPATCH(OneNan)(x, n);
}

}  // namespace nn
#endif  // HWY_ONCE
