// Source: tflite/kernels/lstm_eval.cc (LstmStepInteger8x8_16), unidirectional_sequence_lstm.cc
// (PopulateQuantizedLstmParams8x8_16), internal/reference/portable_tensor_utils.cc
// (PortableApplyLayerNorm).
#include "ops/recurrent/extended_lstm_quant.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/quant/fixed_point.h"
#include "ops/quant/quantized.h"
#include "ops/quant/requant.h"
#include "ops/recurrent/extended_lstm.h"

namespace nn {
namespace {

using In = ExtendedLstmInputs;

enum class RowScales : uint8_t { kOne, kGates, kAny };

// An operand of a quantized node.
struct Wanted {
  size_t input;
  std::string_view name;
  DType dtype;
  bool required = false;
  bool symmetric = true;
  RowScales scales = RowScales::kOne;
};
constexpr Wanted kWanted[] = {
    {In::kX, "x", DType::kI8, true, false},
    {In::kW, "w", DType::kI8, true, true, RowScales::kGates},
    {In::kR, "r", DType::kI8, true, true, RowScales::kGates},
    {In::kBias, "bias", DType::kI32, false, true, RowScales::kAny},
    {In::kInitialH, "initial_h", DType::kI8, true, false},
    {In::kInitialC, "initial_c", DType::kI16, true},
    {In::kPeepholes, "peepholes", DType::kI16, false, true, RowScales::kAny},
    {In::kNorm, "norm", DType::kI16, false, true, RowScales::kGates},
    {In::kProjection, "projection", DType::kI8},
    {In::kProjectionBias, "projection_bias", DType::kI32},
};

// Whether the elements of each of the gates have one scale.
bool HasGateScales(const Quant& q, size_t gates) {
  const size_t cells = q.scales.size() / gates;
  if (cells == 0 || q.scales.size() % gates != 0) return false;
  for (size_t i = 0; i < q.scales.size(); ++i)
    if (q.scales[i] != q.scales[i / cells * cells]) return false;
  return true;
}

Status CheckOperand(const InferContext& ctx, const Wanted& w) {
  if (!ctx.has(w.input)) {
    if (!w.required) return {};
    return UnsupportedError("a quantized extended_lstm has no {}, which gives its types", w.name);
  }
  const Type& t = ctx.in(w.input);
  const bool fits =
      t.quantized() && t.dtype == w.dtype && (!w.symmetric || !HasZeroPoints(*t.quant));
  if (!fits)
    return UnsupportedError("{} of a quantized extended_lstm is {}; expected quantized {}{}",
                            w.name, t.ToString(), DTypeName(w.dtype),
                            w.symmetric ? " with zero point 0" : "");
  if (!t.quant->per_axis() || w.scales == RowScales::kAny) return {};
  if (w.scales == RowScales::kOne || t.quant->axis != 0 ||
      !HasGateScales(*t.quant, ctx.attrs<ExtendedLstmAttrs>().gates()))
    return UnsupportedError("{} of a quantized extended_lstm has scales other than one {}", w.name,
                            w.scales == RowScales::kOne ? "" : "for each gate");
  return {};
}

// The integer bits of the cell state, whose tanh is computed for 0 to 6 of them.
std::optional<int> CellStateBits(const Type& c) {
  const auto exponent = PowerOfTwo(c.quant->scale());
  if (!exponent || *exponent < -15 || *exponent > -9) return std::nullopt;
  return 15 + *exponent;
}

}  // namespace

Status CheckQuantizedExtendedLstm(const InferContext& ctx) {
  const auto& a = ctx.attrs<ExtendedLstmAttrs>();
  for (const Wanted& w : kWanted) NN_RETURN_IF_ERROR(CheckOperand(ctx, w));
  if (!CellStateBits(ctx.in(In::kInitialC)))
    return UnsupportedError(
        "the cell state of a quantized extended_lstm has scale {}; expected a power of two from "
        "2^-15 to 2^-9",
        ctx.in(In::kInitialC).quant->scale());
  if (!(a.hidden_scale > 0) || !std::isfinite(a.hidden_scale))
    return ModelError("hidden_scale is {}; must be positive", a.hidden_scale);
  if (ctx.has(In::kNorm) &&
      (a.gate_scales.size() != a.gates() ||
       !std::ranges::all_of(a.gate_scales, [](float s) { return s > 0 && std::isfinite(s); })))
    return ModelError("there are {} gate_scales; must be {} positive ones", a.gate_scales.size(),
                      a.gates());
  if (a.activation != CellActivation::kTanh)
    return UnsupportedError("a quantized extended_lstm has no activation but tanh");
  if (ctx.has(In::kPeepholes) && ctx.has(In::kProjection) && ctx.in(In::kProjection).ranked() &&
      ctx.in(In::kProjection).dim(0) != ctx.in(In::kProjection).dim(1))
    return UnsupportedError(
        "a quantized extended_lstm with peepholes and a projection to {} outputs of {} cells is "
        "unsupported, because TensorFlow Lite's kernel multiplies the wrong cells",
        ctx.in(In::kProjection).dim(0).ToString(), ctx.in(In::kProjection).dim(1).ToString());
  return {};
}

namespace {

int16_t Clamped16(int64_t v) {
  return static_cast<int16_t>(std::clamp<int64_t>(v, -32768, 32767));
}

std::vector<int32_t> StoredInts(const EvalContext& ctx, size_t input) {
  if (!ctx.has(input)) return {};
  const Tensor& t = ctx.in(input);
  std::vector<int32_t> out(static_cast<size_t>(t.elements()));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<int32_t>(t.GetInt(static_cast<int64_t>(i)));
  return out;
}

// The rows of a matrix, and what their sums start with: the bias and the products of the zero point
// of the factor.
struct IntegerRows {
  std::vector<int32_t> weights;
  std::vector<int32_t> start;
  size_t columns = 0;

  int32_t Sum(size_t row, const int32_t* v) const {
    int64_t sum = start[row];
    for (size_t k = 0; k < columns; ++k) sum += weights[row * columns + k] * v[k];
    return WrapTo32(sum);
  }
};

IntegerRows RowsOf(const EvalContext& ctx, size_t matrix, const std::vector<int32_t>& bias,
                   int64_t zero) {
  IntegerRows out;
  out.weights = StoredInts(ctx, matrix);
  out.columns = static_cast<size_t>(ctx.in(matrix).dims()[1]);
  for (size_t row = 0; row < static_cast<size_t>(ctx.in(matrix).dims()[0]); ++row) {
    int64_t sum = bias.empty() ? 0 : bias[row];
    for (size_t k = 0; k < out.columns; ++k) sum -= out.weights[row * out.columns + k] * zero;
    out.start.push_back(WrapTo32(sum));
  }
  return out;
}

class IntegerCell {
 public:
  IntegerCell(const EvalContext& ctx, const ExtendedLstmSizes& s)
      : a_(ctx.attrs<ExtendedLstmAttrs>()),
        cells_(static_cast<size_t>(s.cells)),
        peepholes_(StoredInts(ctx, In::kPeepholes)),
        norm_(StoredInts(ctx, In::kNorm)),
        bias_(StoredInts(ctx, In::kBias)),
        h_zero_(ctx.in_type(In::kInitialH).quant->zero_point()),
        hidden_zero_(ctx.has(In::kProjection) ? -a_.hidden_zero_point : a_.hidden_zero_point),
        cell_bits_(*CellStateBits(ctx.in_type(In::kInitialC))) {
    bias_.resize(cells_ * a_.gates());
    const auto scale = [&](size_t i) { return ctx.in_type(i).quant->scale(); };
    x_ = RowsOf(ctx, In::kW, norm_.empty() ? bias_ : std::vector<int32_t>(),
                ctx.in_type(In::kX).quant->zero_point());
    h_ = RowsOf(ctx, In::kR, {}, h_zero_);
    for (size_t g = 0; g < a_.gates(); ++g) AddGate(ctx, g);
    hidden_ =
        Multiplier(static_cast<float>(0x1p-15 / static_cast<double>(a_.hidden_scale) * 0x1p-15));
    if (ctx.has(In::kProjection)) {
      projection_ =
          RowsOf(ctx, In::kProjection, StoredInts(ctx, In::kProjectionBias), hidden_zero_);
      projected_ = Multiplier(scale(In::kProjection) * a_.hidden_scale / scale(In::kInitialH));
      projection_clip_ = ClipOf(a_.projection_clip, scale(In::kInitialH), 127);
    }
    cell_clip_ = ClipOf(a_.cell_clip, scale(In::kInitialC), 32767);
  }

  void Step(const int32_t* x, std::vector<int32_t>& h, std::vector<int32_t>& c) const {
    const size_t first = a_.coupled ? 0 : 1;
    std::vector<int16_t> i;
    if (!a_.coupled) i = Gate(0, x, h, &c, 0);
    const auto f = Gate(first, x, h, &c, first);
    const auto n = Gate(first + 1, x, h, nullptr, 0);
    for (size_t u = 0; u < cells_; ++u) {
      const int16_t forget = FixedSigmoid16(f[u]);
      const int32_t input = a_.coupled ? 32767 - forget : FixedSigmoid16(i[u]);
      const auto kept = static_cast<int16_t>(RoundingShiftRight(forget * c[u], 15));
      const auto added =
          static_cast<int16_t>(RoundingShiftRight(input * FixedTanh16(n[u], 3), 15 + cell_bits_));
      c[u] = Clamped16(int64_t{kept} + added);
      if (cell_clip_ > 0) c[u] = std::clamp(c[u], -cell_clip_, cell_clip_);
    }
    const auto o = Gate(first + 2, x, h, &c, first + 1);
    std::vector<int32_t> hidden(cells_);
    for (size_t u = 0; u < cells_; ++u) {
      const int32_t product =
          FixedSigmoid16(o[u]) * FixedTanh16(static_cast<int16_t>(c[u]), cell_bits_);
      hidden[u] = Clamped8(int64_t{Rescale(product, hidden_)} + hidden_zero_);
    }
    if (projection_.start.empty()) {
      h = hidden;
      return;
    }
    for (size_t k = 0; k < h.size(); ++k) {
      h[k] = Clamped8(int64_t{Rescale(projection_.Sum(k, hidden.data()), projected_)} + h_zero_);
      if (projection_clip_ > 0) h[k] = std::clamp(h[k], -projection_clip_, projection_clip_);
    }
  }

 private:
  // The factors of a gate.
  struct Factors {
    FixedMultiplier input, state, peephole, norm;
    int32_t least_variance = 1;
  };

  static FixedMultiplier Multiplier(float factor) {
    return QuantizeMultiplier(static_cast<double>(factor));
  }
  static int32_t Clamped8(int64_t v) {
    return static_cast<int32_t>(std::clamp<int64_t>(v, -128, 127));
  }
  // 0 without a limit.
  static int32_t ClipOf(float limit, float scale, int32_t most) {
    if (!std::isfinite(limit)) return 0;
    return static_cast<int32_t>(std::min(limit / scale, static_cast<float>(most)));
  }

  void AddGate(const EvalContext& ctx, size_t gate) {
    const auto of_gate = [&](size_t input, size_t at, size_t count) {
      const auto& scales = ctx.in_type(input).quant->scales;
      return scales[at * scales.size() / count];
    };
    const auto of_row = [&](size_t input) { return of_gate(input, gate, a_.gates()); };
    const auto scale = [&](size_t i) { return ctx.in_type(i).quant->scale(); };
    const float to = norm_.empty() ? 0x1p-12f : a_.gate_scales[gate];
    Factors f;
    f.input = Multiplier(of_row(In::kW) * scale(In::kX) / to);
    f.state = Multiplier(of_row(In::kR) * scale(In::kInitialH) / to);
    const size_t without = a_.coupled ? 1 : 2;  // the gate without peephole
    if (!peepholes_.empty() && gate != without)
      f.peephole = Multiplier(
          std::ldexp(1.0f, cell_bits_ - 15) *
          of_gate(In::kPeepholes, gate > without ? gate - 1 : gate, a_.gates() - 1) / to);
    if (!norm_.empty()) {
      const float norm = of_row(In::kNorm);
      f.norm = Multiplier(norm);
      f.norm.shift += 12;
      f.least_variance = std::max(1, static_cast<int32_t>(10000 * norm));
    }
    factors_.push_back(f);
  }

  // The argument of a gate's function; `c` for gates with peepholes.
  std::vector<int16_t> Gate(size_t gate, const int32_t* x, const std::vector<int32_t>& h,
                            const std::vector<int32_t>* c, size_t peephole) const {
    const Factors& f = factors_[gate];
    std::vector<int16_t> out(cells_);
    for (size_t u = 0; u < cells_; ++u) {
      const size_t row = gate * cells_ + u;
      int16_t sum = Clamped16(Rescale(x_.Sum(row, x), f.input));
      sum = Clamped16(int64_t{Rescale(h_.Sum(row, h.data()), f.state)} + sum);
      if (c != nullptr && !peepholes_.empty()) {
        const int32_t product = peepholes_[peephole * cells_ + u] * (*c)[u];
        sum = Clamped16(int64_t{Rescale(product, f.peephole)} + sum);
      }
      out[u] = sum;
    }
    if (!norm_.empty()) Normalize(gate, out);
    return out;
  }

  // Differences from the mean have 10 fraction bits.
  void Normalize(size_t gate, std::vector<int16_t>& v) const {
    constexpr int64_t kOne = int64_t{1} << 20;
    const Factors& f = factors_[gate];
    const auto count = static_cast<int64_t>(v.size());
    int64_t sum = 0, squares = 0;
    for (const int16_t k : v) {
      sum += k;
      squares += k * k;
    }
    const auto mean = static_cast<int32_t>(sum * 1024 / count);
    const int64_t wide = squares * (kOne / count) - int64_t{mean} * mean;
    auto variance = static_cast<int32_t>(wide / kOne);
    if (variance < 1) variance = f.least_variance;
    const FixedInvSqrtResult root = FixedInvSqrt(variance);
    for (size_t u = 0; u < v.size(); ++u) {
      const size_t row = gate * v.size() + u;
      const int32_t rescaled =
          Rescale(WrapTo32(int64_t{1024} * v[u] - mean), {root.multiplier, root.shift});
      const int32_t scaled = WrapTo32(int64_t{rescaled} * norm_[row] + bias_[row]);
      const auto rounded =
          static_cast<int32_t>((int64_t{scaled} + (scaled > 0 ? 512 : -512)) / 1024);
      v[u] = Clamped16(Rescale(rounded, f.norm));
    }
  }

  const ExtendedLstmAttrs& a_;
  size_t cells_;
  std::vector<int32_t> peepholes_, norm_, bias_;  // the first two empty without
  int64_t h_zero_;
  int64_t hidden_zero_;  // before a projection, the kernel subtracts the zero point
  int cell_bits_;
  IntegerRows x_, h_, projection_;
  std::vector<Factors> factors_;
  FixedMultiplier hidden_, projected_;
  int32_t cell_clip_ = 0, projection_clip_ = 0;
};

}  // namespace

Status EvalQuantizedExtendedLstm(EvalContext& ctx) {
  NN_RETURN_IF_ERROR(RequireTflite(ctx));
  const Type& h_type = ctx.in_type(In::kInitialH);
  for (size_t i = 0; i < std::min<size_t>(ctx.output_count(), 2); ++i)
    if (!ctx.out_type(i).quantized() || !ctx.out_type(i).quant->SameMapping(*h_type.quant))
      return UnsupportedError("output {} of a quantized extended_lstm is {}; its state is {}", i,
                              ctx.out_type(i).ToString(), h_type.ToString());
  const ExtendedLstmSizes s(ctx);
  const IntegerCell cell(ctx, s);
  const auto x = StoredInts(ctx, In::kX), initial_h = StoredInts(ctx, In::kInitialH),
             initial_c = StoredInts(ctx, In::kInitialC);
  std::vector<TensorBuilder> outputs;
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    NN_ASSIGN(TensorBuilder output, ctx.NewOutput(i));
    outputs.push_back(std::move(output));
  }
  const auto copy = [&](const std::vector<int32_t>& from, TensorBuilder& to, int64_t at) {
    for (const int32_t v : from) to.SetInt(at++, v);
  };
  for (int64_t b = 0; b < s.batch; ++b) {
    const auto h_at = initial_h.begin() + b * s.outputs;
    const auto c_at = initial_c.begin() + b * s.cells;
    std::vector<int32_t> h(h_at, h_at + s.outputs), c(c_at, c_at + s.cells);
    for (int64_t t = 0; t < s.steps; ++t) {
      cell.Step(x.data() + s.At(t, b, s.inputs), h, c);
      copy(h, outputs[0], s.At(t, b, s.outputs));
    }
    if (outputs.size() > 1) copy(h, outputs[1], b * s.outputs);
    if (outputs.size() > 2) copy(c, outputs[2], b * s.cells);
  }
  for (size_t i = 0; i < outputs.size(); ++i) ctx.set_out(i, outputs[i].Finish());
  return {};
}

}  // namespace nn
