#include "exec/kernels/move/rows.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "exec/kernels/half.h"
#include "exec/kernels/move/select.h"
#include "numeric/integers.h"

namespace nn {
namespace {

template <typename T>
const T* Operand(const RowOperands& r, size_t i) {
  return reinterpret_cast<const T*>(r.in[i]);
}

// y[i] = fn(a[i])
template <typename A, typename Y, typename Fn>
void Loop1(const RowOperands& r, Fn fn) {
  const A* a = Operand<A>(r, 0);
  Y* y = reinterpret_cast<Y*>(r.out);
  if (r.scalar[0]) {
    std::fill_n(y, r.n, fn(a[0]));
    return;
  }
  for (size_t i = 0; i < r.n; ++i) y[i] = fn(a[i]);
}

// y[i] = fn(a[i], b[i])
template <typename T, typename Y, typename Fn>
void Loop2(const RowOperands& r, Fn fn) {
  const T* a = Operand<T>(r, 0);
  const T* b = Operand<T>(r, 1);
  Y* y = reinterpret_cast<Y*>(r.out);
  if (r.scalar[1]) {
    const T other = b[0];
    for (size_t i = 0; i < r.n; ++i) y[i] = fn(a[r.scalar[0] ? 0 : i], other);
  } else if (r.scalar[0]) {
    const T other = a[0];
    for (size_t i = 0; i < r.n; ++i) y[i] = fn(other, b[i]);
  } else {
    for (size_t i = 0; i < r.n; ++i) y[i] = fn(a[i], b[i]);
  }
}

// ---- Arithmetic, comparisons, logic

template <typename T, typename Op>
void Integers(const RowOperands& r) {
  Loop2<T, T>(r, [](T a, T b) {
    return static_cast<T>(Op::template Run<int64_t>(a, b, static_cast<int>(8 * sizeof(T))));
  });
}

template <typename Op>
RowFn IntegerFn(DType type) {
  if (type == DType::kI32) return Integers<int32_t, Op>;
  if (type == DType::kI64) return Integers<int64_t, Op>;
  return nullptr;
}

template <typename T, typename Test>
void Compare(const RowOperands& r) {
  Loop2<T, uint8_t>(r, [](T a, T b) { return static_cast<uint8_t>(Test()(a, b)); });
}

template <typename Test>
RowFn CompareFn(DType type) {
  if (type == DType::kF32) return Compare<float, Test>;
  if (type == DType::kI32) return Compare<int32_t, Test>;
  if (type == DType::kI64) return Compare<int64_t, Test>;
  if (type == DType::kU8) return Compare<uint8_t, Test>;
  return nullptr;
}

// Any nonzero byte is true.
template <typename Test>
void Logic(const RowOperands& r) {
  Loop2<uint8_t, uint8_t>(
      r, [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(Test()(a != 0, b != 0)); });
}

void Not(const RowOperands& r) {
  Loop1<uint8_t, uint8_t>(r, [](uint8_t a) { return static_cast<uint8_t>(a == 0); });
}

// ---- Casts, as in ops/math/elementwise/cast.cc

struct Bool {
  uint8_t byte;
};

template <typename To>
To Truncated(double value) {
  constexpr To kLow = std::numeric_limits<To>::min();
  constexpr To kHigh = std::numeric_limits<To>::max();
  if (value != value) return 0;
  if (value <= static_cast<double>(kLow)) return kLow;
  return value >= static_cast<double>(kHigh) ? kHigh : static_cast<To>(value);
}

template <typename From, typename To>
void Cast(const RowOperands& r) {
  Loop1<From, To>(r, [](From a) {
    if constexpr (std::is_same_v<From, To>)
      return a;
    else if constexpr (std::is_same_v<From, Bool>)
      return static_cast<To>(a.byte != 0);
    else if constexpr (std::is_same_v<To, Bool>)
      return Bool{static_cast<uint8_t>(a != 0)};
    else if constexpr (std::is_same_v<From, float>)
      return Truncated<To>(a);
    else
      return static_cast<To>(a);
  });
}

template <typename From>
RowFn CastTo(DType to) {
  switch (to) {
    case DType::kF32:
      return Cast<From, float>;
    case DType::kI32:
      return Cast<From, int32_t>;
    case DType::kI64:
      return Cast<From, int64_t>;
    case DType::kU8:
      return Cast<From, uint8_t>;
    case DType::kI8:
      return Cast<From, int8_t>;
    case DType::kBool:
      return Cast<From, Bool>;
    default:
      return nullptr;
  }
}

// Between float32 and the 16-bit types.
template <auto kRun, typename From, typename To>
void CastHalf(const RowOperands& r) {
  To* y = reinterpret_cast<To*>(r.out);
  kRun(Operand<From>(r, 0), y, r.scalar[0] ? 1 : r.n);
  if (r.scalar[0]) std::fill_n(y, r.n, To{y[0]});
}

RowFn CastFn(DType from, DType to) {
  if (from == DType::kF16 && to == DType::kF32) return CastHalf<RunWidenF16, uint16_t, float>;
  if (from == DType::kBF16 && to == DType::kF32) return CastHalf<RunWidenBf16, uint16_t, float>;
  if (from == DType::kF32 && to == DType::kF16) return CastHalf<RunNarrowF16, float, uint16_t>;
  if (from == DType::kF32 && to == DType::kBF16) return CastHalf<RunNarrowBf16, float, uint16_t>;
  switch (from) {
    case DType::kF32:
      return CastTo<float>(to);
    case DType::kI32:
      return CastTo<int32_t>(to);
    case DType::kI64:
      return CastTo<int64_t>(to);
    case DType::kU8:
      return CastTo<uint8_t>(to);
    case DType::kI8:
      return CastTo<int8_t>(to);
    case DType::kBool:
      return CastTo<Bool>(to);
    default:
      return nullptr;
  }
}

// ---- Select

template <typename T>
void Select(const RowOperands& r) {
  const uint8_t* c = Operand<uint8_t>(r, 0);
  const T* a = Operand<T>(r, 1);
  const T* b = Operand<T>(r, 2);
  T* y = reinterpret_cast<T*>(r.out);
  const bool vector[] = {!r.scalar[0], !r.scalar[1], !r.scalar[2]};
  for (size_t i = 0; i < r.n; ++i)
    y[i] = c[vector[0] ? i : 0] != 0 ? a[vector[1] ? i : 0] : b[vector[2] ? i : 0];
}

void Select32(const RowOperands& r) {
  if (r.scalar[0]) return Select<uint32_t>(r);
  RunSelect32(Operand<uint8_t>(r, 0), Operand<uint32_t>(r, 1), r.scalar[1], Operand<uint32_t>(r, 2),
              r.scalar[2], reinterpret_cast<uint32_t*>(r.out), r.n);
}

struct Row {
  std::string_view op;
  RowFn (*find)(DType);
};

constexpr Row kArithmetic[] = {
    {"add", IntegerFn<AddInt>},
    {"sub", IntegerFn<SubInt>},
    {"mul", IntegerFn<MulInt>},
    {"div", IntegerFn<DivInt>},
    {"floor_div", IntegerFn<FloorDivInt>},
    {"mod", IntegerFn<ModInt>},
    {"fmod", IntegerFn<FmodInt>},
    {"minimum", IntegerFn<MinimumInt>},
    {"maximum", IntegerFn<MaximumInt>},
    {"pow", IntegerFn<PowInt>},
};
constexpr Row kComparisons[] = {
    {"equal", CompareFn<std::equal_to<>>},  {"not_equal", CompareFn<std::not_equal_to<>>},
    {"less", CompareFn<std::less<>>},       {"less_equal", CompareFn<std::less_equal<>>},
    {"greater", CompareFn<std::greater<>>}, {"greater_equal", CompareFn<std::greater_equal<>>},
};
constexpr std::pair<std::string_view, RowFn> kLogic[] = {
    {"not", Not},
    {"and", Logic<std::logical_and<>>},
    {"or", Logic<std::logical_or<>>},
    {"xor", Logic<std::not_equal_to<>>},
    {"equal", Logic<std::equal_to<>>},
    {"not_equal", Logic<std::not_equal_to<>>},
};

}  // namespace

RowFn FindRowFn(std::string_view op, DType x, DType y) {
  if (op == "cast") return CastFn(x, y);
  if (x == DType::kBool) {
    for (const auto& [name, fn] : kLogic)
      if (name == op) return fn;
    return nullptr;
  }
  for (const Row& row : kComparisons)
    if (row.op == op) return row.find(x);
  for (const Row& row : kArithmetic)
    if (row.op == op && x == y) return row.find(x);
  return nullptr;
}

RowFn FindSelectFn(size_t element) {
  switch (element) {
    case 1:
      return Select<uint8_t>;
    case 2:
      return Select<uint16_t>;
    case 4:
      return Select32;
    case 8:
      return Select<uint64_t>;
    case 16:
      return Select<std::array<uint64_t, 2>>;
    default:
      return nullptr;
  }
}

}  // namespace nn
