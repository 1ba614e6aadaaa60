// Arithmetic on integers widened to 64 bits, signed or unsigned; results wrap to the width of their
// type, `bits`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace nn {

// Arithmetic modulo 2^64.
template <typename T>
T WrapAdd(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <typename T>
T WrapSub(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <typename T>
T WrapMul(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// Integer arithmetic wraps, as in the formats' own kernels. Division by zero gives 0; hardware
// would trap.
struct AddInt {
  template <typename T>
  static T Run(T a, T b, int) {
    return WrapAdd(a, b);
  }
};
struct SubInt {
  template <typename T>
  static T Run(T a, T b, int) {
    return WrapSub(a, b);
  }
};
struct MulInt {
  template <typename T>
  static T Run(T a, T b, int) {
    return WrapMul(a, b);
  }
};
struct DivInt {
  template <typename T>
  static T Run(T a, T b, int) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return WrapSub<T>(0, a);
    return a / b;
  }
};
struct FmodInt {
  template <typename T>
  static T Run(T a, T b, int bits) {
    return WrapSub(a, WrapMul(DivInt::Run(a, b, bits), b));
  }
};
struct ModInt {
  template <typename T>
  static T Run(T a, T b, int bits) {
    if (b == 0) return 0;
    const T r = FmodInt::Run(a, b, bits);
    return r != 0 && (b < 0) != (r < 0) ? r + b : r;
  }
};
struct FloorDivInt {
  template <typename T>
  static T Run(T a, T b, int bits) {
    const T q = DivInt::Run(a, b, bits);
    return b != 0 && (a < 0) != (b < 0) && FmodInt::Run(a, b, bits) != 0 ? q - 1 : q;
  }
};
struct MinimumInt {
  template <typename T>
  static T Run(T a, T b, int) {
    return std::min(a, b);
  }
};
struct MaximumInt {
  template <typename T>
  static T Run(T a, T b, int) {
    return std::max(a, b);
  }
};
// A negative power is truncated: it is 0 except for bases 1 and -1.
struct PowInt {
  template <typename T>
  static T Run(T a, T b, int) {
    if (b < 0) {
      if (a == 1) return 1;
      return a == static_cast<T>(-1) ? ((b & 1) != 0 ? a : 1) : 0;
    }
    T result = 1;
    for (auto n = static_cast<uint64_t>(b); n != 0; n >>= 1) {
      if ((n & 1) != 0) result = WrapMul(result, a);
      a = WrapMul(a, a);
    }
    return result;
  }
};
struct SquaredDifferenceInt {
  template <typename T>
  static T Run(T a, T b, int) {
    const T d = WrapSub(a, b);
    return WrapMul(d, d);
  }
};
struct PreluInt {
  template <typename T>
  static T Run(T a, T b, int) {
    return a < 0 ? WrapMul(a, b) : a;
  }
};

}  // namespace nn
