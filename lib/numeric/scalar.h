// The scalar machines for elementary-inl.h and functions-inl.h: the operations of one SIMD lane.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/arith.h"

namespace nn {

// The operations that numbers of both precisions have. `Int`: the integers of their width.
template <typename Float, typename Int, typename UInt>
struct ScalarLane {
  using V = Float;
  using I = Int;
  using Mask = bool;

  static V Set(V v) { return v; }
  static I SetI(I v) { return v; }

  static V Add(V a, V b) { return a + b; }
  static V Sub(V a, V b) { return a - b; }
  static V Mul(V a, V b) { return a * b; }
  static V Div(V a, V b) { return a / b; }
  static V Fma(V a, V b, V c) { return nn::Fma(a, b, c); }
  static V Abs(V a) { return std::fabs(a); }
  static V Sqrt(V a) { return std::sqrt(a); }
  static V Max(V a, V b) {
    NN_HIDE_CONSTANT(a);
    NN_HIDE_CONSTANT(b);
    return a > b ? a : b;
  }
  static V Min(V a, V b) {
    NN_HIDE_CONSTANT(a);
    NN_HIDE_CONSTANT(b);
    return a < b ? a : b;
  }

  static I AddI(I a, I b) { return Wrap(Unsigned(a) + Unsigned(b)); }
  static I SubI(I a, I b) { return Wrap(Unsigned(a) - Unsigned(b)); }
  static I AndI(I a, I b) { return a & b; }
  static I OrI(I a, I b) { return a | b; }
  static I XorI(I a, I b) { return a ^ b; }
  template <int k>
  static I Shl(I a) {
    return Wrap(Unsigned(a) << k);
  }
  static I Bits(V a) { return std::bit_cast<I>(a); }
  static V FromBits(I a) { return std::bit_cast<V>(a); }

  static Mask Lt(V a, V b) { return a < b; }
  static Mask Eq(V a, V b) { return a == b; }
  static Mask EqI(I a, I b) { return a == b; }
  static V Select(Mask m, V yes, V no) { return m ? yes : no; }
  static I SelectI(Mask m, I yes, I no) { return m ? yes : no; }
  static bool AnyTrue(Mask m) { return m; }

 protected:
  static UInt Unsigned(I a) { return static_cast<UInt>(a); }
  static I Wrap(UInt a) { return static_cast<I>(a); }
};

struct ScalarDoubles : ScalarLane<double, int64_t, uint64_t> {
  template <int k>
  static I Shr(I a) {
    return Wrap(Unsigned(a) >> k);
  }
  static V Gather(const double* table, I index) { return table[index]; }
};

struct ScalarMachine : ScalarLane<float, int32_t, uint32_t> {
  static V Neg(V a) { return -a; }
  static V Fms(V a, V b, V c) { return nn::Fma(a, b, -c); }
  static V Fnma(V a, V b, V c) { return nn::Fma(-a, b, c); }
  static V Round(V a) { return std::nearbyint(a); }
  static V Floor(V a) { return std::floor(a); }
  static V Ceil(V a) { return std::ceil(a); }
  static V Trunc(V a) { return std::trunc(a); }
  static V CopySign(V magnitude, V sign) { return std::copysign(magnitude, sign); }

  template <int k>
  static I Shr(I a) {
    return a >> k;
  }

  static I ToInt(V a) { return a > -0x1p31f && a < 0x1p31f ? static_cast<I>(a) : 0; }
  static V ToFloat(I a) { return static_cast<V>(a); }

  static Mask Le(V a, V b) { return a <= b; }
  static Mask Gt(V a, V b) { return a > b; }
  static Mask Ge(V a, V b) { return a >= b; }
  static Mask IsNan(V a) { return a != a; }
  static Mask And(Mask a, Mask b) { return a && b; }
  static Mask Or(Mask a, Mask b) { return a || b; }
  static Mask Not(Mask a) { return !a; }

  using Doubles = ScalarDoubles;
  static double Widen(V a) { return static_cast<double>(a); }
  static V Narrow(double a) { return static_cast<V>(a); }
};

}  // namespace nn
