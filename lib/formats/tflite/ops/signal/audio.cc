// AudioSpectrogram and Mfcc, custom operators that TensorFlow Lite itself has. The kernels compute
// in float64 and round at the end; here each operator rounds to float32.
//
// Source: tflite/kernels/audio_spectrogram.cc, mfcc.cc, internal/spectrogram.cc, internal/mfcc.cc,
// internal/mfcc_mel_filterbank.cc, internal/mfcc_dct.cc.
#include <cmath>
#include <limits>
#include <vector>

#include "formats/tflite/family.h"
#include "formats/tflite/file/custom_options.h"
#include "numeric/doubles.h"
#include "ops/array/arrange/pad.h"
#include "ops/math/dft.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// Limit of TensorFlow Lite: samples of a window of AudioSpectrogram, and frequencies of Mfcc.
constexpr int64_t kMaxSamples = 1 << 20;
// Limit of TensorFlow Lite: filters of Mfcc.
constexpr int64_t kMaxFilters = 1 << 12;
// Limit of TensorFlow Lite: filters times frequencies of Mfcc.
constexpr int64_t kMaxWeights = 1 << 24;

// Windows of x [samples, channels], multiplied by Hann's and filled up with zeros to a power of two
// of samples: the squared magnitudes of their transforms, or the magnitudes, [channels, windows,
// frequencies].
Status ImportAudioSpectrogram(ImportContext& ctx) {
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  NN_ASSIGN(const int64_t window, options.Int("window_size", 2, kMaxSamples));
  NN_ASSIGN(const int64_t stride, options.Int("stride", 1, std::numeric_limits<int32_t>::max()));
  NN_ASSIGN(const int64_t squared, options.Int("magnitude_squared", 0, 1));
  Value* const x = ctx.input(0);
  if (x->type().rank() != 2 || x->dtype() != DType::kF32)
    return ModelError("the input is {}; expected f32 of rank 2", x->type().ToString());
  int64_t length = 1;
  while (length < window) length *= 2;
  std::vector<float> hann(static_cast<size_t>(length), 0.0f);
  for (int64_t i = 0; i < window; ++i)
    hann[static_cast<size_t>(i)] = static_cast<float>(0.5 - 0.5 * UnitRootOf(i, window).cos);
  Term samples = Transpose(x, {1, 0});
  // As many samples as the last window lacks.
  if (length > window) samples = Apply("pad", {samples}, PadAttrs{{0, 0, 0, length - window}});
  const Term y =
      Apply("stft", {ExpandDims(samples, {2}), Tensor::Scalar(stride), Tensor::Of({length}, hann)},
            StftAttrs{});
  if (squared != 0) return ctx.Emit("reduce_sum", {y * y}, ReduceAttrs{{3}, false});
  return ctx.Emit("sqrt", {ReduceSum(y * y, {3}, false)});
}

double MelOf(double hertz) {
  return 1127.0 * LogOf(1.0 + hertz / 700.0);
}

struct MelFilters {
  int64_t frequencies = 0, filters = 0;
  double rate = 0, low = 0, high = 0;
};

// The weights of the frequencies in triangular filters, [frequencies, filters]. The corners of the
// filters are at equal distances on the mel scale.
Result<Tensor> MelWeights(const MelFilters& m) {
  const double low = MelOf(m.low);
  const double step = (MelOf(m.high) - low) / static_cast<double>(m.filters + 1);
  const double hertz = 0.5 * m.rate / static_cast<double>(m.frequencies - 1);
  const auto first = static_cast<int64_t>(1.5 + m.low / hertz);
  const auto last = static_cast<int64_t>(m.high / hertz);
  if (last >= m.frequencies)
    return ModelError("the upper frequency limit is {}, above the spectrum of {} frequencies",
                      m.high, m.frequencies);
  const auto center = [&](int64_t i) { return low + step * static_cast<double>(i + 1); };
  std::vector<float> weights(static_cast<size_t>(m.frequencies * m.filters), 0.0f);
  const auto set = [&](int64_t i, int64_t filter, double weight) {
    if (filter >= 0 && filter < m.filters)
      weights[static_cast<size_t>(i * m.filters + filter)] = static_cast<float>(weight);
  };
  // The filter before the next corner; -1 before the first one.
  int64_t corner = 0;
  for (int64_t i = first; i <= last; ++i) {
    const double mel = MelOf(static_cast<double>(i) * hertz);
    while (corner < m.filters && center(corner) < mel) ++corner;
    const double falling = (center(corner) - mel) / step;
    set(i, corner - 1, falling);
    set(i, corner, 1.0 - falling);
  }
  return Tensor::Of({m.frequencies, m.filters}, weights);
}

// The cosine transform of `filters` logarithms, [filters, coefficients].
Tensor CosineTransform(int64_t filters, int64_t coefficients) {
  const double norm = std::sqrt(2.0 / static_cast<double>(filters));
  std::vector<float> out;
  for (int64_t j = 0; j < filters; ++j)
    for (int64_t i = 0; i < coefficients; ++i)
      out.push_back(
          static_cast<float>(norm * UnitRootOf(i * (2 * j + 1) % (4 * filters), 4 * filters).cos));
  return Tensor::Of({filters, coefficients}, out);
}

// The cosine transform of the logarithms of a spectrum in mel filters. x has squared magnitudes,
// [channels, windows, frequencies].
Status ImportMfcc(ImportContext& ctx) {
  // Limit of TensorFlow Lite: frequency limits of Mfcc.
  constexpr int64_t kMaxHertz = std::numeric_limits<int32_t>::max();
  constexpr float kFloor = 1e-12f;
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  Value* const x = ctx.input(0);
  NN_ASSIGN(const auto rate, ctx.KnownInts(1, "the sample rate"));
  if (x->type().rank() != 3 || x->dtype() != DType::kF32)
    return ModelError("the input is {}; expected f32 of rank 3", x->type().ToString());
  if (!x->type().dim(2).is_const())
    return UnsupportedError("the number of frequencies must be constant");
  MelFilters m;
  m.frequencies = x->type().dim(2).value();
  if (rate.size() != 1 || rate[0] < 1 || m.frequencies < 2 || m.frequencies > kMaxSamples)
    return ModelError("the sample rate or the number of frequencies is not positive or too large");
  m.rate = static_cast<double>(rate[0]);
  NN_ASSIGN(const int64_t low, options.Int("lower_frequency_limit", 0, kMaxHertz));
  NN_ASSIGN(const int64_t high, options.Int("upper_frequency_limit", low + 1, kMaxHertz));
  m.low = static_cast<double>(low);
  m.high = static_cast<double>(high);
  NN_ASSIGN(m.filters, options.Int("filterbank_channel_count", 1, kMaxFilters));
  if (m.frequencies * m.filters > kMaxWeights)
    return UnsupportedError("{} filters of {} frequencies are unsupported", m.filters,
                            m.frequencies);
  NN_ASSIGN(const int64_t coefficients, options.Int("dct_coefficient_count", 1, m.filters));
  NN_ASSIGN(const Term weights, MelWeights(m));
  const Term filtered = Maximum(Matmul(Apply("sqrt", {x}), weights), kFloor);
  return ctx.Emit("matmul", {Apply("log", {filtered}), CosineTransform(m.filters, coefficients)},
                  MatmulAttrs{});
}

constexpr ImportRow kAudioImports[] = {
    {.op = Op::CUSTOM,
     .import = ImportAudioSpectrogram,
     .inputs = "r",
     .custom = "AudioSpectrogram"},
    {.op = Op::CUSTOM, .import = ImportMfcc, .inputs = "r", .custom = "Mfcc"},
};

}  // namespace

Family AudioFamily() {
  return {.imports = kAudioImports};
}

}  // namespace nn::tflite
