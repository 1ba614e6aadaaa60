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
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// Limit of TensorFlow Lite: channels of SignalFilterBank.
constexpr int64_t kMaxChannels = 1 << 14;
// Limit of TensorFlow Lite: channels times elements of SignalFilterBank.
constexpr int64_t kMaxBankWeights = 1 << 22;
constexpr int64_t kMinInt = std::numeric_limits<int32_t>::min();
constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

Term Wide(Term x) {
  return Cast(std::move(x), DType::kI64);
}

// x, i64[n], shifted to the right as a u64; the low 32 bits as i64.
Term LowAfterShift(Term x, int64_t bits) {
  return Wide(Cast(ShiftRight(Cast(std::move(x), DType::kU64), bits), DType::kU32));
}

// The number of bits of each element of x, i64[n], from 0 to 2^32 - 1.
Term BitsOf(Term x, int64_t n) {
  std::vector<int64_t> powers;
  powers.reserve(32);
  for (int k = 0; k < 32; ++k) powers.push_back(int64_t{1} << k);
  const Term column = Reshape(std::move(x), {Dim(n), Dim(1)});
  return ReduceSum(Wide(Apply("greater_equal", {column, Vector(powers)})), {1}, false);
}

// (x 2^up) / 2^down, rounded down.
Term Scaled(const Term& x, int64_t up, const Term& down) {
  return ShiftRight(x * (int64_t{1} << up), down);
}

// The only output, in the type that the file declares.
Status EmitDeclared(ImportContext& ctx, const Term& y) {
  return ctx.Emit("cast", {y}, CastAttrs{ctx.output_type().dtype});
}

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
  const std::vector<int64_t> dims = {channels, columns};
  const Term y = Wide(Gather(x.x, Tensor::Of(dims, positions), 0)) * Tensor::Of(dims, factors);
  return EmitDeclared(ctx, ReduceSum(y, {1}, false));
}

// ---- SignalFilterBankSquareRoot

// Rounded to the nearest integer, but not beyond the largest one of the half width: of 16 bits for
// numbers of 32 bits.
Status ImportSignalSquareRoot(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RequireResult(ctx, 0, DType::kU32));
  NN_ASSIGN(const List x, ListAt(ctx, 0, DType::kU64));
  Value* const shift = ctx.input(1);
  if (shift->dtype() != DType::kI32 || shift->type().rank() != 0)
    return ModelError("the number of bits is {}; must be i32[]", shift->type().ToString());
  constexpr uint64_t kMost32 = std::numeric_limits<uint32_t>::max();
  const Term most16 = Tensor::Scalar<uint64_t>(std::numeric_limits<uint16_t>::max());
  const Term most32 = Tensor::Scalar(kMost32);
  const auto wide = [](const Term& v) { return Cast(v, DType::kU64); };
  const Term number = x.x;
  // The root in double, which is at most 1 from the root rounded down.
  const Term near = Minimum(wide(Apply("sqrt", {Cast(number, DType::kF64)})), most32);
  const Term low = near - wide(Greater(near * near, number));
  const Term down = low + wide(Greater(number - low * low, low + low));
  const Term nearest = down + wide(Greater(number - down * down, down));
  const Term most = Select(Apply("less_equal", {number, most32}), most16, most32);
  return EmitDeclared(ctx, ShiftRight(Minimum(nearest, most), wide(shift)));
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
  const Term scaled = Wide(ShiftLeft(x.x, up));
  const Term smooth = LowAfterShift(scaled * Vector(now) + Wide(last) * Vector(before), down);
  const Term taken = Minimum(smooth, scaled);
  const Term noise = Cast(clamping != 0 ? taken : smooth, DType::kU32);
  const Term floor = LowAfterShift(Wide(x.x) * remaining, down);
  const Term y = Cast(Maximum(ShiftRight(scaled - taken, up), floor), DType::kU32);
  NN_RETURN_IF_ERROR(ctx.EmitTerms({y, noise}));
  return ctx.AssignOwn("noise", noise);
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
  const Term x = Wide(ShiftLeft(list.x, correction));
  const Term safe = Maximum(x, 1);
  const Term exponent = BitsOf(safe, list.size) - 1;
  const Term fraction = Scaled(safe - ShiftLeft(1, exponent), 16, exponent);
  const Term segment = ShiftRight(fraction, 9);
  const Term table = Vector(LogTable());
  const Term begin = Gather(table, segment, 0), end = Gather(table, segment + 1, 0);
  const Term rise = ShiftRight((end - begin) * (fraction - segment * 512), 16);
  const auto rounded_product = [](const Term& v, int64_t factor) { return v * factor + 32768; };
  // 2^16 ln 2
  const Term log =
      ShiftRight(rounded_product(exponent * 65536 + fraction + begin + rise, 45426), 16);
  const Term y = ShiftRight(Wide(Cast(rounded_product(log, scale), DType::kU32)), 16);
  return EmitDeclared(ctx,
                      Select(Greater(x, 1), Minimum(y, std::numeric_limits<int16_t>::max()), 0));
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
  const Term n = Wide(noise.x);
  const Term bits = Maximum(BitsOf(n, x.size), 2);
  const Term at = bits * 4 - 6;
  const auto entry = [&](int64_t k) { return Cast(Gather(table.x, at + k, 0), DType::kI32); };
  const Term fraction = Cast(Apply("bitwise_and", {Scaled(n, 11, bits), 0x3FF}), DType::kI32);
  const Term slope = ShiftRight(entry(2) * fraction, 5) + entry(1) * 32;
  const Term curve = Cast(ShiftRight(slope * fraction + (1 << 14), 15) + entry(0), DType::kI16);
  const Term is_small = Apply("less_equal", {n, 2});
  const Term gain = Select(is_small, Gather(table.x, Minimum(n, 2), 0), curve);
  const Term ratio = LowAfterShift(Wide(x.x) * Wide(Cast(gain, DType::kU32)), shift);
  return EmitDeclared(
      ctx, Select(Less(ratio, 2 << 12), ShiftRight(ratio * ratio, 20), ShiftRight(ratio, 6) - 64));
}

constexpr ImportRow kSignalBankImports[] = {
    {.op = Op::CUSTOM, .import = ImportSignalFilterBank, .custom = "SignalFilterBank"},
    {.op = Op::CUSTOM,
     .import = ImportSignalSquareRoot,
     .inputs = "-r",
     .custom = "SignalFilterBankSquareRoot"},
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
