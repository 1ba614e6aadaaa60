#include <algorithm>
#include <array>
#include <cmath>

#include "ir/op_def.h"
#include "ops/nn/resize/resize.h"

namespace nn {
namespace {

// Positions have 10 fractional bits, products of two weights 20.
constexpr int64_t kUnit = 1 << 10;

// The position of an output element between two input elements.
template <typename T>
struct Bracket {
  int64_t low, high;
  T low_weight, high_weight;
};

Bracket<float> FloatBetween(Coordinates coordinates, int64_t i, int64_t n, int64_t m) {
  const bool corners = coordinates == Coordinates::kAlignCorners && m > 1;
  const float ratio =
      static_cast<float>(corners ? n - 1 : n) / static_cast<float>(corners ? m - 1 : m);
  const auto at = static_cast<float>(i);
  const float position =
      coordinates == Coordinates::kHalfPixel ? (at + 0.5f) * ratio - 0.5f : at * ratio;
  const int64_t low = std::max<int64_t>(0, static_cast<int64_t>(std::floor(position)));
  const int64_t high = std::min(static_cast<int64_t>(std::ceil(position)), n - 1);
  const float distance = position - static_cast<float>(low);
  return {low, high, 1 - distance, distance};
}

Bracket<int64_t> IntegerBetween(Coordinates coordinates, int64_t i, int64_t n, int64_t m) {
  const bool corners = coordinates == Coordinates::kAlignCorners && m > 1;
  const int64_t ratio =
      corners ? (kUnit * (n - 1) + (m - 1) / 2) / (m - 1) : (kUnit * n + m / 2) / m;
  const int64_t position =
      coordinates == Coordinates::kHalfPixel ? i * ratio + ratio / 2 - kUnit / 2 : i * ratio;
  const int64_t low = std::max<int64_t>(position / kUnit, 0);
  const int64_t high = std::min((position + kUnit - 1) / kUnit, n - 1);
  const int64_t distance = position - kUnit * low;
  return {low, high, kUnit - distance, distance};
}

// The four terms in TensorFlow Lite's order: the second of each pair of rows comes before the
// second of each pair of columns.
int64_t Combine(const std::array<int64_t, 4>& x, const Bracket<int64_t>& row,
                const Bracket<int64_t>& column) {
  const int64_t sum =
      x[0] * row.low_weight * column.low_weight + x[1] * row.high_weight * column.low_weight +
      x[2] * row.low_weight * column.high_weight + x[3] * row.high_weight * column.high_weight;
  constexpr int64_t kHalf = 1 << 19;
  return (sum + (sum > 0 ? kHalf : -kHalf)) / (1 << 20);
}

int64_t Combine(const std::array<int64_t, 4>& x, const Bracket<float>& row,
                const Bracket<float>& column) {
  const auto f = [&](size_t k) { return static_cast<float>(x[k]); };
  const float sum = f(0) * row.low_weight * column.low_weight +
                    f(1) * row.high_weight * column.low_weight +
                    f(2) * row.low_weight * column.high_weight +
                    f(3) * row.high_weight * column.high_weight + 0.5f;
  return static_cast<int64_t>(sum);
}

template <typename T, typename Locate>
void Run(const Tensor& x, Layout layout, Locate locate, TensorBuilder& out) {
  const auto in = Strides(x.dims());
  const auto to = Strides(out.dims());
  const auto rows = static_cast<size_t>(FirstSpatialAxis(layout));
  const size_t columns = rows + 1;
  const auto channels = static_cast<size_t>(ChannelAxis(layout, 4));
  for (int64_t i = 0; i < out.dims()[rows]; ++i) {
    const Bracket<T> row = locate(i, x.dims()[rows], out.dims()[rows]);
    for (int64_t j = 0; j < out.dims()[columns]; ++j) {
      const Bracket<T> column = locate(j, x.dims()[columns], out.dims()[columns]);
      for (int64_t b = 0; b < x.dims()[0]; ++b) {
        for (int64_t c = 0; c < x.dims()[channels]; ++c) {
          const auto at = [&](int64_t r, int64_t k) {
            return x.GetInt(b * in[0] + c * in[channels] + r * in[rows] + k * in[columns]);
          };
          const std::array<int64_t, 4> corners = {at(row.low, column.low), at(row.high, column.low),
                                                  at(row.low, column.high),
                                                  at(row.high, column.high)};
          out.SetInt(b * to[0] + c * to[channels] + i * to[rows] + j * to[columns],
                     Combine(corners, row, column));
        }
      }
    }
  }
}

}  // namespace

Status EvalTfliteBilinear(EvalContext& ctx, std::span<const int64_t> input,
                          std::span<const int64_t> output) {
  const auto& a = ctx.attrs<ResizeAttrs>();
  const Tensor& x = ctx.in(0);
  const bool known = a.coordinates == Coordinates::kHalfPixel ||
                     a.coordinates == Coordinates::kAlignCorners ||
                     a.coordinates == Coordinates::kAsymmetric;
  if (a.mode != ResizeMode::kLinear || input.size() != 2 || !known)
    return UnsupportedError(
        "{} {} resize of {} axes is not supported in TensorFlow Lite arithmetic", EnumName(a.mode),
        EnumName(a.coordinates), input.size());
  for (size_t k = 0; k < 2; ++k)
    if (input[k] == 0 || std::max(input[k], output[k]) > int64_t{1} << 20)
      return ModelError("cannot resize an axis of size {} to {}", input[k], output[k]);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const auto floats = [&](int64_t i, int64_t n, int64_t m) {
    return FloatBetween(a.coordinates, i, n, m);
  };
  const auto integers = [&](int64_t i, int64_t n, int64_t m) {
    return IntegerBetween(a.coordinates, i, n, m);
  };
  if (x.dtype() == DType::kU8)
    Run<float>(x, a.layout, floats, out);
  else if (x.dtype() == DType::kI8 || x.dtype() == DType::kI16)
    Run<int64_t>(x, a.layout, integers, out);
  else
    return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
  ctx.set_out(0, out.Finish());
  return {};
}

}  // namespace nn
