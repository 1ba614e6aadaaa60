// Shared by the kernels for 8-bit integers: products of pairs, rescaling as in ops/quant/requant.h
// on vectors of int32, and the conversion back to bytes.
#if defined(NN_EXEC_KERNELS_INT8_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_EXEC_KERNELS_INT8_INL_H_
#undef NN_EXEC_KERNELS_INT8_INL_H_
#else
#define NN_EXEC_KERNELS_INT8_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "exec/kernels/int8/byte_result.h"
#include "exec/kernels/int8/rescale_table.h"
#include "exec/kernels/product_form.h"
#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"

// Whether sums of four products of bytes are available: AVX-512 VNNI, which every processor of this
// SIMD target has; the dot product of AArch64, which UsesArmDot() reports at run time.
#undef NN_VNNI
#undef NN_QUADS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
#define NN_VNNI 1
#else
#define NN_VNNI 0
#endif
#if NN_VNNI || HWY_ARCH_ARM_A64
#define NN_QUADS 1
#else
#define NN_QUADS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// sum[i] + a[2i] * b[2i] + a[2i + 1] * b[2i + 1] for each lane i of int32; D32 is a full or partial
// vector.
template <class D32, class V32 = hn::Vec<D32>, class V16 = hn::Vec<hn::Repartition<int16_t, D32>>>
HWY_INLINE V32 AddPairDot(D32 d, V32 sum, V16 a, V16 b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  constexpr size_t kBytes = hn::MaxLanes(D32()) * sizeof(int32_t);
#if HWY_TARGET <= HWY_AVX3
  if constexpr (kBytes == 64) {
    return hn::Add(sum, V32{_mm512_madd_epi16(a.raw, b.raw)});
  } else
#endif
#if HWY_TARGET <= HWY_AVX2
      if constexpr (kBytes == 32) {
    return hn::Add(sum, V32{_mm256_madd_epi16(a.raw, b.raw)});
  } else
#endif
  {
    (void)d;
    (void)kBytes;
    return hn::Add(sum, V32{_mm_madd_epi16(a.raw, b.raw)});
  }
#elif HWY_TARGET == HWY_WASM
  (void)d;
  return hn::Add(sum, V32{wasm_i32x4_dot_i16x8(a.raw, b.raw)});
#elif HWY_ARCH_ARM_A64
  (void)d;
  return hn::Add(sum, V32(vpaddq_s32(vmull_s16(vget_low_s16(a.raw), vget_low_s16(b.raw)),
                                     vmull_high_s16(a.raw, b.raw))));
#else
  const auto even = [&](V16 v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(d, v))); };
  const auto odd = [&](V16 v) { return hn::ShiftRight<16>(hn::BitCast(d, v)); };
  return hn::Add(sum, hn::Add(hn::Mul(even(a), even(b)), hn::Mul(odd(a), odd(b))));
#endif
}

#if NN_QUADS
// The same for four adjacent bytes each: `a` unsigned with VNNI, signed on AArch64; `b` signed.
// Uses inline assembly because Highway's targets do not include the instruction sets.
template <class D32, class V32 = hn::Vec<D32>, class V8 = hn::Vec<hn::Repartition<uint8_t, D32>>>
HWY_INLINE V32 AddQuadDot(D32, V32 sum, V8 a, V8 b) {
#if NN_VNNI
  asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
#else
  // sdot %0.4s, %1.16b, %2.16b as an encoded word, because assemblers differ in how to enable it:
  // the symbols are the register numbers.
  asm(".irp "
      "n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
      ".equ .Lnn_v\\n, \\n\n"
      ".endr\n"
      ".inst 0x4e809400 | .Lnn_%2 << 16 | .Lnn_%1 << 5 | .Lnn_%0"
      : "+w"(sum.raw)
      : "w"(a.raw), "w"(b.raw));
#endif
  return sum;
}
#endif
#endif  // HWY_TARGET != HWY_SCALAR

// The forms in which left and right operands are multiplied (product_form.h): elements, and sums of
// kTaps adjacent products.
struct Pairs {
  static constexpr size_t kTaps = 2;
  static constexpr bool kSignedRows = false;
  using Element = int16_t;

#if HWY_TARGET != HWY_SCALAR
  template <class D32, class V32, class V16>
  static HWY_INLINE V32 Add(D32 d, V32 sum, V16 a, V16 b) {
    return AddPairDot(d, sum, a, b);
  }
#endif
};
#if NN_QUADS
struct Quads {
  static constexpr size_t kTaps = 4;
  static constexpr bool kSignedRows = HWY_ARCH_ARM_A64 != 0;
  using Element = uint8_t;

  template <class D32, class V32, class V8>
  static HWY_INLINE V32 Add(D32 d, V32 sum, V8 a, V8 b) {
    return AddQuadDot(d, sum, a, b);
  }
};
#endif

// Calls fn(Quads()) or fn(Pairs()) for `form`, if this SIMD target has it.
template <class Fn>
HWY_INLINE void WithForm(const ProductForm& form, const Fn& fn) {
#if NN_VNNI
  (void)form;
  fn(Quads());
#else
#if NN_QUADS
  if (form.taps == Quads::kTaps) return fn(Quads());
#endif
  (void)form;
  fn(Pairs());
#endif
}

#if HWY_TARGET != HWY_SCALAR
// Four vectors of int32 plus `zero` as bytes, saturated: of each block of four lanes first those of
// y0, then those of y1, y2, y3. `zero` is from 0 to 255, so that saturation to 16 bits first
// changes nothing.
template <class D8, class V32, class V16>
HWY_INLINE hn::Vec<D8> NarrowToBytes(D8 d8, V32 y0, V32 y1, V32 y2, V32 y3, V16 zero) {
  const hn::Repartition<int16_t, D8> d16;
  const auto low = hn::SaturatedAdd(hn::ReorderDemote2To(d16, y0, y1), zero);
  const auto high = hn::SaturatedAdd(hn::ReorderDemote2To(d16, y2, y3), zero);
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  (void)d8;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(D8()) == 64)
    return hn::Vec<D8>{_mm512_packus_epi16(low.raw, high.raw)};
  else
#endif
#if HWY_TARGET <= HWY_AVX2
      if constexpr (hn::MaxLanes(D8()) == 32)
    return hn::Vec<D8>{_mm256_packus_epi16(low.raw, high.raw)};
  else
#endif
    return hn::Vec<D8>{_mm_packus_epi16(low.raw, high.raw)};
#elif HWY_TARGET == HWY_WASM
  (void)d8;
  return hn::Vec<D8>{wasm_u8x16_narrow_i16x8(low.raw, high.raw)};
#elif HWY_ARCH_ARM_A64
  (void)d8;
  return hn::Vec<D8>(vcombine_u8(vqmovun_s16(low.raw), vqmovun_s16(high.raw)));
#else
  const hn::Half<D8> half;
  return hn::Combine(d8, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
#endif
}

// ToByte for four vectors, in the order of NarrowToBytes. Bytes narrow and widen as 0 to 255;
// int8 differs in the highest bit.
template <class D8>
class ToBytes {
 public:
  using V8 = hn::Vec<D8>;

  HWY_INLINE explicit ToBytes(const ByteResult& r)
      : zero_(hn::Set(D16(), static_cast<int16_t>(r.zero + Up(r)))),
        low_(hn::Set(D8(), static_cast<uint8_t>(r.min + Up(r)))),
        high_(hn::Set(D8(), static_cast<uint8_t>(r.max + Up(r)))),
        flip_(hn::Set(D8(), static_cast<uint8_t>(Up(r)))) {}

  template <class V32>
  HWY_INLINE V8 operator()(V32 y0, V32 y1, V32 y2, V32 y3) const {
    const V8 bytes = NarrowToBytes(D8(), y0, y1, y2, y3, zero_);
    return Flip(hn::Min(high_, hn::Max(low_, bytes)));
  }
  // Converts stored bytes to 0 to 255 and back.
  HWY_INLINE V8 Flip(V8 bytes) const { return hn::Xor(bytes, flip_); }
  // The offset that this adds to an integer.
  static HWY_INLINE int32_t Up(const ByteResult& r) { return r.is_signed ? 128 : 0; }

 private:
  using D16 = hn::Repartition<int16_t, D8>;

  hn::Vec<D16> zero_;
  V8 low_, high_, flip_;
};

// n bytes, 1 to 8, as the low ones of a word.
HWY_INLINE uint64_t LoadWord(const uint8_t* p, size_t n) {
  if (n == 8) {
    uint64_t whole;
    std::memcpy(&whole, p, sizeof(whole));
    return whole;
  }
  if (n >= 4) {
    uint32_t first, last;
    std::memcpy(&first, p, sizeof(first));
    std::memcpy(&last, p + n - 4, sizeof(last));
    return first | uint64_t{last} << (8 * (n - 4));
  }
  return p[0] | uint64_t{p[n / 2]} << (8 * (n / 2)) | uint64_t{p[n - 1]} << (8 * (n - 1));
}

HWY_INLINE void StoreWord(uint64_t word, uint8_t* p, size_t n) {
  if (n == 8) {
    std::memcpy(p, &word, sizeof(word));
    return;
  }
  if (n >= 4) {
    const auto first = static_cast<uint32_t>(word);
    const auto last = static_cast<uint32_t>(word >> (8 * (n - 4)));
    std::memcpy(p, &first, sizeof(first));
    std::memcpy(p + n - 4, &last, sizeof(last));
    return;
  }
  for (size_t i = 0; i < n; ++i) p[i] = static_cast<uint8_t>(word >> (8 * i));
}

// n bytes, 1 to 16; without a call, and without a stall after narrow stores.
HWY_INLINE void CopyPart(const uint8_t* from, uint8_t* to, size_t n) {
  StoreWord(LoadWord(from, std::min<size_t>(n, 8)), to, std::min<size_t>(n, 8));
  if (n > 8) StoreWord(LoadWord(from + 8, n - 8), to + 8, n - 8);
}

#endif  // HWY_TARGET != HWY_SCALAR

#if HWY_TARGET != HWY_SCALAR
// The products of even lanes, as lanes of 64 bits. That of Highway 1.0.3 for WebAssembly takes
// int32 as unsigned.
template <class V32>
HWY_INLINE auto ProductsOfEven(V32 a, V32 b) {
#if HWY_TARGET == HWY_WASM
  const auto even = [](V32 v) { return wasm_i32x4_shuffle(v.raw, v.raw, 0, 2, 0, 2); };
  return hn::Vec<hn::RepartitionToWide<hn::DFromV<V32>>>{
      wasm_i64x2_extmul_low_i32x4(even(a), even(b))};
#else
  return hn::MulEven(a, b);
#endif
}
#endif

// RoundingDoublingHighMul for a non-negative multiplier, which cannot overflow.
template <class D>
HWY_INLINE hn::Vec<D> HighMul(D d, hn::Vec<D> x, hn::Vec<D> multiplier) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, RoundingDoublingHighMul(hn::GetLane(x), hn::GetLane(multiplier)));
#else
  const hn::RepartitionToWide<D> d64;
  const hn::RebindToUnsigned<decltype(d64)> u64;
  const auto nudge = hn::Set(d64, int64_t{1} << 30);
  const auto down = [&](hn::Vec<D> v) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(u64, v)));
  };
  const auto even = hn::Add(ProductsOfEven(x, multiplier), nudge);
  const auto odd = hn::Add(ProductsOfEven(down(x), down(multiplier)), nudge);
  // The result is bits 31 to 62: the low half of even lanes, the high half of odd ones.
  const auto low = hn::BitCast(d, hn::ShiftRight<31>(hn::BitCast(u64, even)));
  const auto high = hn::BitCast(d, hn::ShiftLeft<1>(hn::BitCast(u64, odd)));
  return hn::OddEven(high, low);
#endif
}

// Rescale of ops/quant/requant.h, lane by lane, by the factors of some columns.
template <class D>
class Rescaler {
 public:
  using V = hn::Vec<D>;

  HWY_INLINE Rescaler(const RescaleTable& table, size_t at)
      : multiplier_(hn::LoadU(D(), table.multiplier.data() + at)),
        left_(hn::LoadU(D(), table.left.data() + at)),
        cut_(hn::LoadU(D(), table.cut.data() + at)),
        last_(hn::LoadU(D(), table.last.data() + at)) {}

  HWY_INLINE V operator()(V x) const {
    const D d;
    const V high = HighMul(d, hn::Shl(x, left_), multiplier_);
    // Subtracting 1 from negative values rounds halves, which the last shift rounds up, down.
    // Nothing overflows: `high` is less than 2^31 - 1 in magnitude.
    const V below = hn::And(hn::ShiftRight<31>(high), last_);
    return hn::Shr(hn::Add(hn::Shr(hn::Sub(high, below), cut_), last_), last_);
  }

 private:
  V multiplier_, left_, cut_, last_;
};

#if HWY_TARGET == HWY_SCALAR

template <class D>
using PlainRescaler = Rescaler<D>;

#else

// The same if RescaleTable is plain.
template <class D>
class PlainRescaler {
 public:
  using V = hn::Vec<D>;

  HWY_INLINE PlainRescaler(const RescaleTable& table, size_t at)
      : even_(hn::LoadU(D(), table.multiplier.data() + at)),
        odd_(Down(even_)),
        cut_(hn::LoadU(D(), table.cut.data() + at)),
        round_even_(hn::LoadU(D64(), table.round_even.data() + at / 2)),
        round_odd_(hn::LoadU(D64(), table.round_odd.data() + at / 2)) {}

  HWY_INLINE V operator()(V x) const {
    const D d;
    const auto e = Rounded(x, even_, round_even_);
    const auto o = Rounded(Down(x), odd_, round_odd_);
#if HWY_TARGET <= HWY_AVX3
    if constexpr (hn::MaxLanes(D()) == 16)
      return hn::Shr(V{_mm512_mask_shuffle_epi32(o.raw, 0x5555, e.raw, _MM_PERM_DDBB)}, cut_);
#endif
    return hn::Shr(hn::OddEven(hn::BitCast(d, o), Down(hn::BitCast(d, e))), cut_);
  }

 private:
  using D64 = hn::RepartitionToWide<D>;
  using U64 = hn::RebindToUnsigned<D64>;
  using V64 = hn::Vec<D64>;

  static HWY_INLINE V Down(V v) {
    return hn::BitCast(D(), hn::ShiftRight<32>(hn::BitCast(U64(), v)));
  }
  static HWY_INLINE V64 Rounded(V x, V multiplier, V64 round) {
    const D64 d64;
    const V64 sign = hn::Set(d64, int64_t{1} << 31);
    return hn::Add(hn::Add(ProductsOfEven(x, multiplier), round),
                   hn::AndNot(hn::BitCast(d64, x), sign));
  }

  V even_, odd_, cut_;
  V64 round_even_, round_odd_;
};

#endif  // HWY_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#endif  // NN_EXEC_KERNELS_INT8_INL_H_
