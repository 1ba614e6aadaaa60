// The custom operators of tflite-micro's signal library on filter banks. The integers are those of
// the kernels: computed in i64 where no bit is lost, and in the kernel's type where bits are.
//
// Source: tflite-micro signal/micro/kernels and signal/src.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "formats/tflite/family.h"
#include "formats/tflite/file/custom_options.h"
#include "numeric/doubles.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

constexpr int64_t kMaxChannels = 1 << 14;
constexpr int64_t kMaxBankWeights = 1 << 22;
constexpr int64_t kMinInt = std::numeric_limits<int32_t>::min();
constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

// Adds nodes up to the first error, which it keeps; later results are null.
class Steps {
 public:
  explicit Steps(ImportContext& ctx) : ctx_(ctx) {}

  Value* Op(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {}) {
    if (!status_) return nullptr;
    auto y = ctx_.Add(op, std::move(inputs), std::move(attrs));
    if (y) return *y;
    status_ = tl::unexpected(y.error());
    return nullptr;
  }
  Value* Cast(Value* v, DType to) { return Op("cast", {v}, CastAttrs{to}); }
  Value* Wide(Value* v) { return Cast(v, DType::kI64); }
  template <typename T>
  Value* Number(T v) {
    return ctx_.Constant(Tensor::Scalar(v));
  }
  Value* Vector(const std::vector<int64_t>& v) {
    return ctx_.Constant(Tensor::Of({static_cast<int64_t>(v.size())}, v));
  }
  // x, i64[n], shifted to the right as a u64; the low 32 bits as i64.
  Value* LowAfterShift(Value* x, int64_t bits) {
    x = Cast(x, DType::kU64);
    x = Op("shift_right", {x, Number(static_cast<uint64_t>(bits))});
    return Wide(Cast(x, DType::kU32));
  }
  // The number of bits of each element of x, i64[n], from 0 to 2^32 - 1.
  Value* Bits(Value* x, int64_t n) {
    std::vector<int64_t> powers;
    powers.reserve(32);
    for (int k = 0; k < 32; ++k) powers.push_back(int64_t{1} << k);
    x = Op("reshape", {x}, ReshapeAttrs{{Dim(n), Dim(1)}});
    x = Op("greater_equal", {x, Vector(powers)});
    return Op("reduce_sum", {Wide(x)}, ReduceAttrs{{1}, false});
  }
  // (x 2^up) / 2^down, rounded down.
  Value* Scaled(Value* x, int64_t up, Value* down) {
    x = Op("mul", {x, Number(int64_t{1} << up)});
    return Op("shift_right", {x, down});
  }
  Value* At(Value* table, Value* index) { return Op("gather", {table, index}, GatherAttrs{0}); }

  // The only output: `v` in the type that the file declares.
  Status Emit(Value* v) {
    NN_RETURN_IF_ERROR(status_);
    return ctx_.Emit("cast", {v}, CastAttrs{ctx_.output_type().dtype});
  }
  const Status& status() const { return status_; }

 private:
  ImportContext& ctx_;
  Status status_;
};

struct List {
  Value* x = nullptr;
  int64_t size = 0;
};

// Input i, a vector of known size.
Result<List> ListAt(const ImportContext& ctx, size_t i, DType dtype) {
  NN_ASSIGN(Value* const x, ctx.Ranked(i));
  const auto dims = x->type().const_dims();
  if (!dims || dims->size() != 1 || x->dtype() != dtype)
    return UnsupportedError("input {} is {}; must be a vector of {} with a known size", i,
                            x->type().ToString(), DTypeName(dtype));
  return List{x, (*dims)[0]};
}

Status RequireResult(const ImportContext& ctx, size_t i, DType dtype) {
  if (ctx.output_count() > i && ctx.output_type(i).dtype == dtype) return {};
  return ModelError("output {} is missing or not {}", i, DTypeName(dtype));
}

// ---- SignalFilterBank

Result<std::vector<int64_t>> ConstantsAt(const ImportContext& ctx, size_t i, int64_t least) {
  NN_ASSIGN(const List list, ListAt(ctx, i, DType::kI16));
  if (!list.x->is_constant()) return UnsupportedError("input {} must be constant", i);
  if (list.size < least)
    return ModelError("input {} has {} elements; expected {}", i, list.size, least);
  std::vector<int64_t> out;
  for (int64_t k = 0; k < list.size; ++k) out.push_back(list.x->constant().GetInt(k));
  return out;
}

// Channel c is the sum of the weighted elements of band c + 1 and of those of band c with the other
// weights.
Status ImportSignalFilterBank(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RequireResult(ctx, 0, DType::kU64));
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  NN_ASSIGN(const int64_t channels, options.Int("num_channels", 1, kMaxChannels));
  NN_ASSIGN(const List x, ListAt(ctx, 0, DType::kU32));
  NN_ASSIGN(const auto weights, ConstantsAt(ctx, 1, 0));
  NN_ASSIGN(const auto others, ConstantsAt(ctx, 2, 0));
  NN_ASSIGN(const auto from, ConstantsAt(ctx, 3, channels + 1));
  NN_ASSIGN(const auto first, ConstantsAt(ctx, 4, channels + 1));
  NN_ASSIGN(const auto widths, ConstantsAt(ctx, 5, channels + 1));
  const auto width = [&](size_t band) { return std::max<int64_t>(widths[band], 0); };
  int64_t columns = 1;
  for (size_t band = 0; band + 1 < widths.size(); ++band)
    columns = std::max(columns, width(band) + width(band + 1));
  if (channels * columns > kMaxBankWeights)
    return UnsupportedError("{} channels of {} elements are unsupported", channels, columns);
  const auto size = static_cast<size_t>(channels * columns);
  std::vector<int64_t> positions(size, 0), factors(size, 0);
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    size_t at = c * static_cast<size_t>(columns);
    for (const bool is_own : {false, true}) {
      const size_t band = c + (is_own ? 1 : 0);
      const std::vector<int64_t>& list = is_own ? weights : others;
      const auto end = [&](const std::vector<int64_t>& starts) {
        return starts[band] < 0 ? -1 : starts[band] + width(band);
      };
      if (width(band) > 0 && (end(from) < 0 || end(from) > x.size || end(first) < 0 ||
                              end(first) > static_cast<int64_t>(list.size())))
        return ModelError("band {} exceeds the {} elements or the {} weights", band, x.size,
                          list.size());
      for (int64_t k = 0; k < width(band); ++k, ++at) {
        positions[at] = from[band] + k;
        factors[at] = list[static_cast<size_t>(first[band] + k)];
      }
    }
  }
  if (x.size == 0) return ModelError("the input is empty");
  Steps s(ctx);
  const std::vector<int64_t> dims = {channels, columns};
  Value* y = s.At(x.x, ctx.Constant(Tensor::Of(dims, positions)));
  y = s.Op("mul", {s.Wide(y), ctx.Constant(Tensor::Of(dims, factors))});
  return s.Emit(s.Op("reduce_sum", {y}, ReduceAttrs{{1}, false}));
}

// ---- SignalFilterBankSquareRoot

// Rounded to the nearest integer, but not beyond the largest one of the half width: of 16 bits for
// numbers of 32 bits.
Status ImportSignalSquareRoot(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RequireResult(ctx, 0, DType::kU32));
  NN_ASSIGN(const List x, ListAt(ctx, 0, DType::kU64));
  NN_ASSIGN(Value* const shift, ctx.Ranked(1));
  if (shift->dtype() != DType::kI32 || shift->type().rank() != 0)
    return ModelError("the number of bits is {}; must be i32[]", shift->type().ToString());
  Steps s(ctx);
  constexpr uint64_t kMost32 = std::numeric_limits<uint32_t>::max();
  constexpr uint64_t kMost16 = std::numeric_limits<uint16_t>::max();
  const auto wide = [&](Value* v) { return s.Cast(v, DType::kU64); };
  // The root in double, which is at most 1 from the root rounded down.
  Value* root = wide(s.Op("sqrt", {s.Cast(x.x, DType::kF64)}));
  root = s.Op("minimum", {root, s.Number(kMost32)});
  Value* const above = s.Op("greater", {s.Op("mul", {root, root}), x.x});
  root = s.Op("sub", {root, wide(above)});
  const auto rest = [&] { return s.Op("sub", {x.x, s.Op("mul", {root, root})}); };
  Value* const below = s.Op("greater", {rest(), s.Op("add", {root, root})});
  root = s.Op("add", {root, wide(below)});
  Value* const up = s.Op("greater", {rest(), root});
  Value* const is_small = s.Op("less_equal", {x.x, s.Number(kMost32)});
  Value* const most = s.Op("select", {is_small, s.Number(kMost16), s.Number(kMost32)});
  root = s.Op("minimum", {s.Op("add", {root, wide(up)}), most});
  root = s.Op("shift_right", {root, wide(shift)});
  return s.Emit(root);
}

// ---- SignalFilterBankSpectralSubtraction

// Subtracts an estimate of the noise, a smoothed signal that is kept from run to run.
Status ImportSignalSubtraction(ImportContext& ctx) {
  for (const size_t i : {0, 1}) NN_RETURN_IF_ERROR(RequireResult(ctx, i, DType::kU32));
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  NN_ASSIGN(const List x, ListAt(ctx, 0, DType::kU32));
  NN_RETURN_IF_ERROR(options.Int("num_channels", x.size, x.size));
  NN_ASSIGN(const int64_t up, options.Int("smoothing_bits", 0, 31));
  NN_ASSIGN(const int64_t down, options.Int("spectral_subtraction_bits", 0, 63));
  NN_ASSIGN(const int64_t clamping, options.Int("clamping", 0, 1));
  // The kernel takes 32 bits as unsigned.
  const auto bits_of = [&](const char* name) -> Result<int64_t> {
    NN_ASSIGN(const int64_t v, options.Int(name, kMinInt, kMaxInt));
    return static_cast<int64_t>(static_cast<uint32_t>(v));
  };
  NN_ASSIGN(const int64_t even, bits_of("smoothing"));
  NN_ASSIGN(const int64_t even_rest, bits_of("one_minus_smoothing"));
  NN_ASSIGN(const int64_t odd, bits_of("alternate_smoothing"));
  NN_ASSIGN(const int64_t odd_rest, bits_of("alternate_one_minus_smoothing"));
  NN_ASSIGN(const int64_t remaining, bits_of("min_signal_remaining"));
  std::vector<int64_t> now, before;
  for (int64_t i = 0; i < x.size; ++i) {
    now.push_back(i % 2 == 0 ? even : odd);
    before.push_back(i % 2 == 0 ? even_rest : odd_rest);
  }
  NN_ASSIGN(Value* const last, ctx.ReadOwn("noise", Type(DType::kU32, {Dim(x.size)})));
  Steps s(ctx);
  Value* const signal = s.Wide(x.x);
  Value* const scaled = s.Wide(s.Op("shift_left", {x.x, s.Number(static_cast<uint32_t>(up))}));
  Value* noise = s.Op(
      "add", {s.Op("mul", {scaled, s.Vector(now)}), s.Op("mul", {s.Wide(last), s.Vector(before)})});
  noise = s.LowAfterShift(noise, down);
  Value* const taken = s.Op("minimum", {noise, scaled});
  if (clamping != 0) noise = taken;
  Value* const floor = s.LowAfterShift(s.Op("mul", {signal, s.Number(remaining)}), down);
  Value* y = s.Op("shift_right", {s.Op("sub", {scaled, taken}), s.Number(up)});
  y = s.Cast(s.Op("maximum", {y, floor}), DType::kU32);
  noise = s.Cast(noise, DType::kU32);
  NN_RETURN_IF_ERROR(s.status());
  NN_RETURN_IF_ERROR(ctx.AssignOwn("noise", noise));
  ctx.SetOutput(0, y);
  ctx.SetOutput(1, noise);
  return {};
}

// ---- SignalFilterBankLog

// 2^16 log2(1 + k / 128) minus the straight line.
std::vector<int64_t> LogTable() {
  std::vector<int64_t> out;
  for (int k = 0; k <= 128; ++k)
    out.push_back(std::llround(65536 * (LogOf(1 + k / 128.0) / LogOf(2) - k / 128.0)));
  return out;
}

// Natural logarithms with 16 fractional bits, by linear interpolation.
Status ImportSignalLog(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RequireResult(ctx, 0, DType::kI16));
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  NN_ASSIGN(const int64_t correction, options.Int("input_correction_bits", 0, 31));
  NN_ASSIGN(const int64_t scale, options.Int("output_scale", kMinInt, kMaxInt));
  NN_ASSIGN(const List list, ListAt(ctx, 0, DType::kU32));
  Steps s(ctx);
  Value* const x =
      s.Wide(s.Op("shift_left", {list.x, s.Number(static_cast<uint32_t>(correction))}));
  Value* const is_log = s.Op("greater", {x, s.Number(int64_t{1})});
  Value* const safe = s.Op("maximum", {x, s.Number(int64_t{1})});
  Value* const exponent = s.Op("sub", {s.Bits(safe, list.size), s.Number(int64_t{1})});
  Value* const power = s.Op("shift_left", {s.Number(int64_t{1}), exponent});
  Value* const fraction = s.Scaled(s.Op("sub", {safe, power}), 16, exponent);
  Value* const segment = s.Op("shift_right", {fraction, s.Number(int64_t{9})});
  Value* const table = s.Vector(LogTable());
  Value* const begin = s.At(table, segment);
  Value* const end = s.At(table, s.Op("add", {segment, s.Number(int64_t{1})}));
  Value* const within = s.Op("sub", {fraction, s.Op("mul", {segment, s.Number(int64_t{512})})});
  Value* const rise = s.Op(
      "shift_right", {s.Op("mul", {s.Op("sub", {end, begin}), within}), s.Number(int64_t{16})});
  Value* y = s.Op("mul", {exponent, s.Number(int64_t{65536})});
  for (Value* const part : {fraction, begin, rise}) y = s.Op("add", {y, part});
  const auto rounded_product = [&](Value* v, int64_t factor) {
    return s.Op("add", {s.Op("mul", {v, s.Number(factor)}), s.Number(int64_t{32768})});
  };
  // 2^16 ln 2
  y = s.Op("shift_right", {rounded_product(y, 45426), s.Number(int64_t{16})});
  y = s.Wide(s.Cast(rounded_product(y, scale), DType::kU32));
  y = s.Op("shift_right", {y, s.Number(int64_t{16})});
  y = s.Op("minimum", {y, s.Number(int64_t{std::numeric_limits<int16_t>::max()})});
  return s.Emit(s.Op("select", {is_log, y, s.Number(int64_t{0})}));
}

// ---- SignalPCAN

// Multiplies by a gain, a piecewise quadratic function of the noise, and shrinks small results.
Status ImportSignalGain(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RequireResult(ctx, 0, DType::kU32));
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  NN_ASSIGN(const int64_t shift, options.Int("snr_shift", 0, 63));
  NN_ASSIGN(const List x, ListAt(ctx, 0, DType::kU32));
  NN_ASSIGN(const List noise, ListAt(ctx, 1, DType::kU32));
  NN_ASSIGN(const List table, ListAt(ctx, 2, DType::kI16));
  if (noise.size != x.size)
    return ModelError("there are {} channels, but {} estimates", x.size, noise.size);
  // The entries of a noise of 32 bits are the last ones.
  constexpr int64_t kEntries = 4 * 32 - 6 + 3;
  if (table.size < kEntries)
    return UnsupportedError("a table of {} gains is unsupported; must have {}", table.size,
                            kEntries);
  Steps s(ctx);
  Value* const n = s.Wide(noise.x);
  Value* const bits = s.Op("maximum", {s.Bits(n, x.size), s.Number(int64_t{2})});
  Value* const at = s.Op("sub", {s.Op("mul", {bits, s.Number(int64_t{4})}), s.Number(int64_t{6})});
  const auto entry = [&](int64_t k) {
    return s.Cast(s.At(table.x, s.Op("add", {at, s.Number(k)})), DType::kI32);
  };
  Value* fraction = s.Op("bitwise_and", {s.Scaled(n, 11, bits), s.Number(int64_t{0x3FF})});
  fraction = s.Cast(fraction, DType::kI32);
  const auto number = [&](int32_t v) { return s.Number(v); };
  Value* gain = s.Op("shift_right", {s.Op("mul", {entry(2), fraction}), number(5)});
  gain = s.Op("add", {gain, s.Op("mul", {entry(1), number(32)})});
  gain = s.Op("add", {s.Op("mul", {gain, fraction}), number(1 << 14)});
  gain = s.Op("add", {s.Op("shift_right", {gain, number(15)}), entry(0)});
  gain = s.Cast(gain, DType::kI16);
  Value* const is_small = s.Op("less_equal", {n, s.Number(int64_t{2})});
  Value* const small = s.At(table.x, s.Op("minimum", {n, s.Number(int64_t{2})}));
  gain = s.Op("select", {is_small, small, gain});
  gain = s.Wide(s.Cast(gain, DType::kU32));
  Value* const ratio = s.LowAfterShift(s.Op("mul", {s.Wide(x.x), gain}), shift);
  Value* const square = s.Op("shift_right", {s.Op("mul", {ratio, ratio}), s.Number(int64_t{20})});
  Value* const line =
      s.Op("sub", {s.Op("shift_right", {ratio, s.Number(int64_t{6})}), s.Number(int64_t{64})});
  Value* const is_curved = s.Op("less", {ratio, s.Number(int64_t{2 << 12})});
  return s.Emit(s.Op("select", {is_curved, square, line}));
}

constexpr ImportRow kSignalBankImports[] = {
    {.op = Op::CUSTOM, .import = ImportSignalFilterBank, .custom = "SignalFilterBank"},
    {.op = Op::CUSTOM, .import = ImportSignalSquareRoot, .custom = "SignalFilterBankSquareRoot"},
    {.op = Op::CUSTOM,
     .import = ImportSignalSubtraction,
     .custom = "SignalFilterBankSpectralSubtraction"},
    {.op = Op::CUSTOM, .import = ImportSignalLog, .custom = "SignalFilterBankLog"},
    {.op = Op::CUSTOM, .import = ImportSignalGain, .custom = "SignalPCAN"},
};

}  // namespace

Family SignalBankFamily() {
  return {.imports = kSignalBankImports};
}

}  // namespace nn::tflite
