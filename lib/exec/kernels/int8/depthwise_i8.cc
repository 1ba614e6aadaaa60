// The products of up to four rows of the kernel are summed at once: the bytes of these rows in one
// column are interleaved within blocks of 128 bits. Narrowing reverses the interleaving, and the
// channels of the filter are packed in the same order. A column is used for all outputs that have a
// tap in it, and four outputs share the operands of rescaling. If fewer channels are left than a
// vector has bytes, the vector's blocks come from positions a quarter of the line apart. Rescaling
// is the bottleneck: it takes as much time as everything else together.
#include "exec/kernels/int8/depthwise_i8.h"

#include <algorithm>

#include "base/checked_math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/int8/depthwise_i8.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/int8/int8-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

// One channel after the other.
std::vector<uint32_t> Slots(size_t channels) {
  std::vector<uint32_t> slots(channels);
  for (size_t c = 0; c < channels; ++c) slots[c] = static_cast<uint32_t>(c);
  return slots;
}

void Depthwise(const DepthwiseI8& g) {
  const DepthwiseI8Filter& f = *g.filter;
  const auto* words = reinterpret_cast<const int16_t*>(f.words.data());
  const uint8_t flip = f.form.Flip(g.result.is_signed);
  const hn::Sisd<int32_t> d;
  for (size_t i = 0; i < g.count; ++i)
    for (size_t c = 0; c < f.channels; ++c) {
      const int64_t x0 = (g.first + static_cast<int64_t>(i)) * g.stride - g.pad;
      int32_t sum = f.bias[c];
      for (size_t r = 0; r < f.rows; ++r)
        for (size_t k = 0; k < f.kernel; ++k) {
          const int64_t x = x0 + static_cast<int64_t>(k) * g.dilation;
          const bool inside = x >= 0 && x < g.input_width;
          const uint8_t* from =
              inside ? g.rows[r] + static_cast<size_t>(x) * g.in_stride : g.padding;
          sum += (from[c] ^ flip) * words[((r / 2 * f.kernel + k) * f.slots + c) * 2 + r % 2];
        }
      const Rescaler<decltype(d)> rescale(f.rescale, c);
      g.out[i * g.out_stride + c] = ToByte(g.result, hn::GetLane(rescale(hn::Set(d, sum))));
    }
}

#else

constexpr size_t kSmallest = kDepthwiseChannels;
using Largest = hn::CappedTag<uint8_t, 64>;

// Calls body(tag, first channel, first slot) for each block: as many channels as the tag has lanes,
// which are the lanes of the largest vector or, at the end, of its halves. The last block starts
// further left, so that it is whole, unless there are fewer channels.
template <class Body>
HWY_INLINE void ForEachBlock(size_t channels, const Body& body) {
  size_t c = 0, slot = 0;
  const auto one = [&](auto d8, size_t first) HWY_ATTR {
    body(d8, first, slot);
    slot += hn::MaxLanes(Largest());
  };
  const auto all = [&](auto d8) HWY_ATTR {
    for (; c + hn::MaxLanes(d8) <= channels; c += hn::MaxLanes(d8)) one(d8, c);
  };
  all(Largest());
  if constexpr (hn::MaxLanes(Largest()) > 2 * kSmallest)
    all(hn::CappedTag<uint8_t, 2 * kSmallest>());
  const hn::CappedTag<uint8_t, kSmallest> small;
  if constexpr (hn::MaxLanes(Largest()) > kSmallest) all(small);
  if (c < channels) one(small, channels < kSmallest ? 0 : channels - kSmallest);
}

// Lanes of int32 that share the bytes of a vector with three others.
constexpr size_t kLanes = hn::MaxLanes(Largest()) / 4;

// Interleaving works on blocks of 128 bits, so four vectors of int32 hold the channels of a vector
// of bytes as follows: of each 16 the first four, the next four, etc. A vector of several positions
// repeats this for each position.
std::vector<uint32_t> Slots(size_t channels) {
  std::vector<uint32_t> slots;
  ForEachBlock(channels, [&](auto d8, size_t c, size_t) {
    for (size_t v = 0; v < 4; ++v)
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const size_t own = lane % (hn::MaxLanes(d8) / 4);
        slots.push_back(static_cast<uint32_t>(c + own / 4 * 16 + v * 4 + own % 4));
      }
  });
  return slots;
}

// The number of outputs computed at a time: their sums and a column of the input fit into
// registers.
constexpr size_t kOutputs = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 4 : 2;

// The sources of the lanes of a vector: the channels of a block at as many positions, `apart`
// outputs from each other, as fill a vector.
struct Place {
  size_t c = 0, slot = 0;  // the block's first channel and slot
  size_t apart = 0;
};

// Builds vectors from blocks of kBlock channels.
template <class Form, class D8, size_t kBlock>
class Lanes {
 public:
  using D32 = hn::Repartition<int32_t, D8>;
  using V8 = hn::Vec<D8>;
  using V32 = hn::Vec<D32>;
  using Elements = hn::Repartition<typename Form::Element, D8>;
  using Word = typename Form::Element;

  // For outputs starting at `output`.
  HWY_INLINE Lanes(const DepthwiseI8& g, const Place& place, size_t output)
      : g_(g),
        place_(place),
        x0_((g.first + static_cast<int64_t>(output)) * g.stride - g.pad),
        step_(static_cast<int64_t>(g.in_stride)),
        apart_(static_cast<int64_t>(place.apart) * g.stride),
        to_bytes_(g.result),
        flip_(hn::Set(D8(), g.filter->form.Flip(g.result.is_signed))) {}

  HWY_INLINE void Start(V32 (&sums)[4]) const {
    NN_UNROLL
    for (size_t v = 0; v < 4; ++v)
      sums[v] = hn::LoadU(D32(), g_.filter->bias.data() + place_.slot + v * kLanes);
  }

  // Column j, relative to the first tap, of Form::kTaps rows starting at r, of which kRows are
  // needed: the bytes of a channel are adjacent in a lane of int32, the slots in order.
  template <size_t kRows>
  HWY_INLINE void Column(size_t r, int64_t j, hn::Vec<Elements> (&x)[4]) const {
    const D8 d8;
    const V8 none = hn::Zero(d8);
    const V8 a = Row<true>(r, j), b = Row<(kRows > 1)>(r + 1, j);
    const V8 lower = hn::InterleaveLower(d8, a, b);
    const V8 upper = hn::InterleaveUpper(d8, a, b);
    const Elements e;
    if constexpr (Form::kTaps == 2) {
      x[0] = hn::BitCast(e, hn::InterleaveLower(d8, lower, none));
      x[1] = hn::BitCast(e, hn::InterleaveUpper(d8, lower, none));
      x[2] = hn::BitCast(e, hn::InterleaveLower(d8, upper, none));
      x[3] = hn::BitCast(e, hn::InterleaveUpper(d8, upper, none));
    } else {
      const hn::Repartition<uint16_t, D8> d16;
      const V8 c = Row<(kRows > 2)>(r + 2, j), d = Row<(kRows > 3)>(r + 3, j);
      const auto lower_ab = hn::BitCast(d16, lower);
      const auto upper_ab = hn::BitCast(d16, upper);
      const auto lower_cd = hn::BitCast(d16, hn::InterleaveLower(d8, c, d));
      const auto upper_cd = hn::BitCast(d16, hn::InterleaveUpper(d8, c, d));
      x[0] = hn::BitCast(e, hn::InterleaveLower(d16, lower_ab, lower_cd));
      x[1] = hn::BitCast(e, hn::InterleaveUpper(d16, lower_ab, lower_cd));
      x[2] = hn::BitCast(e, hn::InterleaveLower(d16, upper_ab, upper_cd));
      x[3] = hn::BitCast(e, hn::InterleaveUpper(d16, upper_ab, upper_cd));
    }
  }

  // sums += a column times its tap, whose words are at `tap`.
  HWY_INLINE void AddTap(V32 (&sums)[4], const hn::Vec<Elements> (&x)[4], const Word* tap) const {
    const Word* w = tap + place_.slot * Form::kTaps;
    NN_UNROLL
    for (size_t v = 0; v < 4; ++v)
      sums[v] =
          Form::Add(D32(), sums[v], x[v], hn::LoadU(Elements(), w + v * kLanes * Form::kTaps));
  }

  // Rescales and stores outputs starting at `output`.
  template <size_t T>
  HWY_INLINE void Finish(V32 (&sums)[T][4], size_t output) const {
    if (HWY_LIKELY(g_.filter->rescale.plain)) {
      NN_UNROLL
      for (size_t v = 0; v < 4; ++v) {
        const PlainRescaler<D32> rescale(g_.filter->rescale, place_.slot + v * kLanes);
        NN_UNROLL
        for (size_t t = 0; t < T; ++t) sums[t][v] = rescale(sums[t][v]);
      }
    } else {
      V32 copy[T][4];
      NN_UNROLL
      for (size_t t = 0; t < T; ++t) {
        NN_UNROLL
        for (size_t v = 0; v < 4; ++v) copy[t][v] = sums[t][v];
      }
      RescaleAny(T, copy);
      NN_UNROLL
      for (size_t t = 0; t < T; ++t) {
        NN_UNROLL
        for (size_t v = 0; v < 4; ++v) sums[t][v] = copy[t][v];
      }
    }
    NN_UNROLL
    for (size_t t = 0; t < T; ++t)
      Store(to_bytes_(sums[t][0], sums[t][1], sums[t][2], sums[t][3]), D8(),
            g_.out + (output + t) * g_.out_stride + place_.c);
  }

 private:
  // The bytes of row r in column j, or zeros if it is not needed.
  template <bool kWanted>
  HWY_INLINE V8 Row(size_t r, int64_t j) const {
    if constexpr (kWanted)
      return hn::Xor(Load(D8(), g_.rows[r] + place_.c, x0_ + j), flip_);
    else
      return hn::Zero(D8());
  }
  // A block in column x of a row, and the blocks of the other positions.
  template <class D>
  HWY_INLINE hn::Vec<D> Load(D d, const uint8_t* row, int64_t x) const {
    constexpr size_t kBytes = hn::MaxLanes(D());
    if constexpr (kBytes == kBlock) {
      const bool inside = static_cast<uint64_t>(x) < static_cast<uint64_t>(g_.input_width);
      return hn::LoadU(d, inside ? row + x * step_ : g_.padding + place_.c);
    } else {
      const hn::Half<D> half;
      const int64_t further = static_cast<int64_t>(kBytes / kBlock / 2) * apart_;
      return hn::Combine(d, Load(half, row, x + further), Load(half, row, x));
    }
  }
  template <class D>
  HWY_INLINE void Store(hn::Vec<D> y, D d, uint8_t* to) const {
    constexpr size_t kBytes = hn::MaxLanes(D());
    if constexpr (kBytes == kBlock) {
      if (kBlock > kSmallest || HWY_LIKELY(g_.filter->channels >= kSmallest))
        hn::StoreU(y, d, to);
      else
        StoreFew(y, to, g_.filter->channels);
    } else {
      const hn::Half<D> half;
      Store(hn::LowerHalf(half, y), half, to);
      Store(hn::UpperHalf(half, y), half, to + kBytes / kBlock / 2 * place_.apart * g_.out_stride);
    }
  }
  static HWY_NOINLINE void StoreFew(hn::Vec<hn::CappedTag<uint8_t, kBlock>> y, uint8_t* to,
                                    size_t n) {
    HWY_ALIGN uint8_t part[kBlock];
    hn::Store(y, hn::CappedTag<uint8_t, kBlock>(), part);
    CopyPart(part, to, n);
  }
  HWY_NOINLINE void RescaleAny(size_t count, V32 (*sums)[4]) const {
    for (size_t v = 0; v < 4; ++v) {
      const Rescaler<D32> rescale(g_.filter->rescale, place_.slot + v * kLanes);
      for (size_t t = 0; t < count; ++t) sums[t][v] = rescale(sums[t][v]);
    }
  }

  const DepthwiseI8& g_;
  const Place place_;
  const int64_t x0_;     // the column of the first tap
  const int64_t step_;   // bytes between columns
  const int64_t apart_;  // columns between the positions of a vector
  const ToBytes<D8> to_bytes_;
  const V8 flip_;
};

// One output with any filter, at each position of a vector.
template <class Form, class D8, size_t kBlock>
HWY_NOINLINE void OneOutput(const DepthwiseI8& g, const Place& place, size_t output) {
  using L = Lanes<Form, D8, kBlock>;
  const L lanes(g, place, output);
  const DepthwiseI8Filter& f = *g.filter;
  typename L::V32 sums[1][4];
  lanes.Start(sums[0]);
  const auto* tap = reinterpret_cast<const typename L::Word*>(f.words.data());
  for (size_t part = 0; part < f.parts; ++part)
    for (size_t r = 0; r < f.rows; r += Form::kTaps)
      for (size_t k = 0; k < f.kernel; ++k, tap += f.slots * Form::kTaps) {
        hn::Vec<typename L::Elements> x[4];
        lanes.template Column<Form::kTaps>(r, static_cast<int64_t>(k) * g.dilation, x);
        lanes.AddTap(sums[0], x, tap);
      }
  lanes.Finish(sums, output);
}

// kOutputs outputs with a square filter: each column of the input is built once.
template <class Form, class D8, size_t kBlock, size_t kKernel, size_t kStride>
HWY_NOINLINE void SquareOutputs(const DepthwiseI8& g, const Place& place, size_t output) {
  using L = Lanes<Form, D8, kBlock>;
  const L lanes(g, place, output);
  const DepthwiseI8Filter& f = *g.filter;
  typename L::V32 sums[kOutputs][4];
  NN_UNROLL
  for (size_t t = 0; t < kOutputs; ++t) lanes.Start(sums[t]);
  const size_t size = f.slots * Form::kTaps;
  const auto* taps = reinterpret_cast<const typename L::Word*>(f.words.data());
  for (size_t part = 0; part < f.parts; ++part)
    ForEachNumber<CeilDiv(kKernel, Form::kTaps)>([&](auto group) HWY_ATTR {
      constexpr size_t r = decltype(group)::value * Form::kTaps;
      ForEachNumber<(kOutputs - 1) * kStride + kKernel>([&](auto number) HWY_ATTR {
        constexpr size_t j = decltype(number)::value;
        hn::Vec<typename L::Elements> x[4];
        lanes.template Column<std::min(Form::kTaps, kKernel - r)>(r, j, x);
        NN_UNROLL
        for (size_t t = 0; t < kOutputs; ++t) {
          if (j < t * kStride || j >= t * kStride + kKernel) continue;
          lanes.AddTap(sums[t], x, taps + (j - t * kStride) * size);
        }
      });
      taps += kKernel * size;
    });
  lanes.Finish(sums, output);
}

using OutputsFn = void (*)(const DepthwiseI8&, const Place&, size_t);

// The function that computes kOutputs outputs, or null.
template <class Form, size_t kBlock>
OutputsFn PickOutputs(const DepthwiseI8& g) {
  const DepthwiseI8Filter& f = *g.filter;
  const auto is = [&](size_t kernel, int64_t stride) {
    return f.rows == kernel && f.kernel == kernel && g.stride == stride && g.dilation == 1;
  };
  if (is(3, 1)) return &SquareOutputs<Form, Largest, kBlock, 3, 1>;
  if (is(3, 2)) return &SquareOutputs<Form, Largest, kBlock, 3, 2>;
  if (is(5, 1)) return &SquareOutputs<Form, Largest, kBlock, 5, 1>;
  if (is(5, 2)) return &SquareOutputs<Form, Largest, kBlock, 5, 2>;
  return nullptr;
}

// All outputs of a block of kBlock channels.
template <class Form, size_t kBlock>
HWY_INLINE void Block(const DepthwiseI8& g, size_t c, size_t slot) {
  constexpr size_t kPositions = hn::MaxLanes(Largest()) / kBlock;
  const size_t count = g.count / kPositions;
  const Place place{c, slot, count};
  const OutputsFn several = PickOutputs<Form, kBlock>(g);
  if (several == nullptr || count < kOutputs) {
    for (size_t i = 0; i < count; ++i) OneOutput<Form, Largest, kBlock>(g, place, i);
  } else {
    // The last outputs overlap the previous ones.
    for (size_t i = 0; i < count; i += kOutputs) several(g, place, std::min(i, count - kOutputs));
  }
  for (size_t i = count * kPositions; i < g.count; ++i)
    OneOutput<Form, hn::CappedTag<uint8_t, kBlock>, kBlock>(g, place, i);
}

void Depthwise(const DepthwiseI8& g) {
  WithForm(g.filter->form, [&](auto form) HWY_ATTR {
    ForEachBlock(g.filter->channels, [&](auto d8, size_t c, size_t slot) HWY_ATTR {
      Block<decltype(form), hn::MaxLanes(decltype(d8)())>(g, c, slot);
    });
  });
}

#endif  // HWY_TARGET

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Depthwise);
HWY_EXPORT(Slots);

DepthwiseI8Filter PackDepthwiseI8(const DepthwiseI8Weights& w) {
  DepthwiseI8Filter f;
  f.form = ChosenProductForm();
  f.channels = w.channels;
  f.rows = w.rows;
  f.kernel = w.kernel;
  const std::vector<uint32_t> slots = HWY_DYNAMIC_DISPATCH(Slots)(w.channels);
  f.slots = slots.size();
  const size_t taps = f.form.taps;
  const bool bytes = f.form.of_bytes();
  const auto value = [&](size_t tap, size_t c) {
    const uint8_t raw = w.w[tap * w.tap_stride + c * w.channel_stride];
    return (w.is_signed ? static_cast<int8_t>(raw) : raw) - w.zero[w.zero.size() == 1 ? 0 : c];
  };
  // A byte holds one part of a value; further parts hold the rest.
  const auto part_of = [](int32_t v) { return std::clamp(v, -128, 127); };
  if (bytes)
    for (size_t tap = 0; tap < w.rows * w.kernel; ++tap)
      for (size_t c = 0; c < w.channels; ++c) {
        size_t parts = 1;
        for (int32_t v = value(tap, c); v != part_of(v); v -= part_of(v)) ++parts;
        f.parts = std::max(f.parts, parts);
      }
  const size_t part_size = RoundUp(w.rows, taps) * w.kernel * f.slots;
  f.words = Buffer(f.parts * part_size * (bytes ? sizeof(int8_t) : sizeof(int16_t)));
  f.words.Clear();
  f.bias.assign(f.slots, 0);
  f.rescale = RescaleTable(f.slots);
  const int32_t in_zero = w.in_zero + f.form.Moved(w.in_signed);
  for (size_t slot = 0; slot < f.slots; ++slot) {
    const size_t c = slots[slot];
    if (c >= w.channels) continue;
    int32_t sum = 0;
    for (size_t r = 0; r < w.rows; ++r)
      for (size_t k = 0; k < w.kernel; ++k) {
        const int32_t weight = value(r * w.kernel + k, c);
        sum += weight;
        const size_t at = ((r / taps * w.kernel + k) * f.slots + slot) * taps + r % taps;
        if (bytes) {
          int32_t rest = weight;
          for (size_t part = 0; part < f.parts; ++part, rest -= part_of(rest))
            f.words.as<int8_t>()[at + part * part_size] = static_cast<int8_t>(part_of(rest));
        } else {
          f.words.as<int16_t>()[at] = static_cast<int16_t>(weight);
        }
      }
    f.bias[slot] =
        static_cast<int32_t>(static_cast<uint32_t>(w.bias.empty() ? 0 : w.bias[c]) -
                             static_cast<uint32_t>(in_zero) * static_cast<uint32_t>(sum));
    f.rescale.Set(slot, w.multipliers[c]);
  }
  return f;
}

void RunDepthwiseI8(const DepthwiseI8& line) {
  HWY_DYNAMIC_DISPATCH(Depthwise)(line);
}

}  // namespace nn
#endif  // HWY_ONCE
