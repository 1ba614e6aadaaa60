// Source: tflite/kernels/lstm_eval.cc (LstmStepInteger8x8_16), unidirectional_sequence_lstm.cc
// (PopulateQuantizedLstmParams8x8_16), internal/reference/portable_tensor_utils.cc.
#include "ops/recurrent/lstm_quant.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/quant/fixed_point.h"
#include "ops/quant/quantized.h"
#include "ops/quant/requant.h"
#include "ops/recurrent/recurrent.h"

namespace nn {
namespace {

using enum RecurrentInputs::Index;
enum LstmGate : int64_t { kI, kO, kF, kN };
constexpr int64_t kGates = 4;

Status RequireQuantizedOperand(const InferContext& ctx, size_t input, std::string_view name,
                               DType dtype, bool symmetric, bool per_gate) {
  const Type& t = ctx.in(input);
  const bool symmetric_enough = !symmetric || !t.quantized() || !HasZeroPoints(*t.quant);
  if (!t.quantized() || t.dtype != dtype || !symmetric_enough)
    return UnsupportedError("{} of a quantized lstm is {}; expected quantized {}{}", name,
                            t.ToString(), DTypeName(dtype), symmetric ? " with zero point 0" : "");
  if (!t.quant->per_axis()) return {};
  if (!per_gate || t.quant->axis != 1)
    return UnsupportedError("{} of a quantized lstm has scales per axis {}", name, t.quant->axis);
  return {};
}

// The integer bits of the cell state, whose tanh is computed for 0 to 6 of them.
std::optional<int> CellBits(const Type& c) {
  const auto exponent = PowerOfTwo(c.quant->scale());
  if (!exponent || *exponent < -15 || *exponent > -9) return std::nullopt;
  return 15 + *exponent;
}

Status CheckGateScales(const Type& t, std::string_view name) {
  if (!t.quant->per_axis()) return {};
  const auto& scales = t.quant->scales;
  const size_t units = scales.size() / kGates;
  if (scales.empty()) return UnsupportedError("a quantized lstm without units is unsupported");
  for (size_t i = 0; i < scales.size(); ++i)
    if (units == 0 || scales[i] != scales[std::min(i / units, size_t{kGates - 1}) * units])
      return UnsupportedError("{} of a quantized lstm has different scales within a gate", name);
  return {};
}

Status CheckFunctions(const Node& node) {
  const auto& a = node.attrs<LstmAttrs>();
  if (a.input_forget || std::isfinite(a.clip))
    return UnsupportedError("a quantized lstm with {} is unsupported",
                            a.input_forget ? "coupled gates" : "a clip of its gates");
  for (int64_t d = 0; d < a.directions(); ++d) {
    NN_ASSIGN(const auto functions, RecurrentFunctionsOf(node, d));
    if (functions[0].activation() != RecurrentActivation::kSigmoid ||
        functions[1].activation() != RecurrentActivation::kTanh ||
        functions[2].activation() != RecurrentActivation::kTanh)
      return UnsupportedError(
          "a quantized lstm with other activations than sigmoid, tanh, tanh is unsupported");
  }
  return {};
}

}  // namespace

Status CheckQuantizedLstm(const InferContext& ctx) {
  NN_RETURN_IF_ERROR(CheckFunctions(ctx.node()));
  NN_RETURN_IF_ERROR(RequireQuantizedOperand(ctx, kX, "x", DType::kI8, false, false));
  NN_RETURN_IF_ERROR(RequireQuantizedOperand(ctx, kW, "w", DType::kI8, true, true));
  NN_RETURN_IF_ERROR(RequireQuantizedOperand(ctx, kR, "r", DType::kI8, true, true));
  NN_RETURN_IF_ERROR(CheckGateScales(ctx.in(kW), "w"));
  NN_RETURN_IF_ERROR(CheckGateScales(ctx.in(kR), "r"));
  if (ctx.has(kBias))
    NN_RETURN_IF_ERROR(RequireQuantizedOperand(ctx, kBias, "bias", DType::kI32, true, true));
  if (!ctx.has(kInitialH) || !ctx.has(kInitialC))
    return UnsupportedError("a quantized lstm has no initial_h or initial_c, which give its types");
  NN_RETURN_IF_ERROR(
      RequireQuantizedOperand(ctx, kInitialH, "initial_h", DType::kI8, false, false));
  NN_RETURN_IF_ERROR(
      RequireQuantizedOperand(ctx, kInitialC, "initial_c", DType::kI16, true, false));
  if (ctx.has(kPeepholes))
    NN_RETURN_IF_ERROR(
        RequireQuantizedOperand(ctx, kPeepholes, "peepholes", DType::kI16, true, false));
  if (ctx.in(kR).ranked() && ctx.in(kR).dim(-1 + ctx.in(kR).rank()) == 0)
    return UnsupportedError("a quantized lstm without units is unsupported");
  if (!CellBits(ctx.in(kInitialC)))
    return UnsupportedError(
        "the cell state of a quantized lstm has scale {}; expected a power of two from 2^-15 to "
        "2^-9",
        FloatText(ctx.in(kInitialC).quant->scale()));
  return {};
}

QuantizedLstmFactors FactorsOf(const Node& node) {
  constexpr float kGateScale = 0x1p-12f;
  const auto quant = [&](size_t i) -> const Quant& { return *node.input(i)->type().quant; };
  QuantizedLstmFactors f;
  for (const bool is_state : {false, true}) {
    const Quant& weights = quant(is_state ? kR : kW);
    const float factor = quant(is_state ? kInitialH : kX).scale();
    for (size_t g = 0; g < kGates; ++g) {
      const float scale = weights.scale(g * weights.scales.size() / kGates);
      (is_state ? f.state : f.input)[g] =
          QuantizeMultiplier(static_cast<double>(scale * factor / kGateScale));
    }
  }
  const Type& cell = node.input(kInitialC)->type();
  f.cell_bits = *CellBits(cell);
  if (node.input(kPeepholes) != nullptr)
    f.peephole = QuantizeMultiplier(static_cast<double>(std::ldexp(1.0f, f.cell_bits - 15) *
                                                        quant(kPeepholes).scale() / kGateScale));
  f.hidden = QuantizeMultiplier(static_cast<double>(
      static_cast<float>(0x1p-15 / static_cast<double>(quant(kInitialH).scale()) * 0x1p-15)));
  if (const float limit = node.attrs<LstmAttrs>().cell_clip; std::isfinite(limit))
    f.clip = static_cast<int16_t>(std::min(limit / cell.quant->scale(), 32767.0f));
  return f;
}

namespace {

int16_t Saturated16(int64_t v) {
  return static_cast<int16_t>(std::clamp<int64_t>(v, std::numeric_limits<int16_t>::min(),
                                                  std::numeric_limits<int16_t>::max()));
}

std::vector<int32_t> LstmInts(const Tensor& t) {
  std::vector<int32_t> out(static_cast<size_t>(t.elements()));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<int32_t>(t.GetInt(static_cast<int64_t>(i)));
  return out;
}

// The gates' products of one operand, x or h, in one direction.
struct GateProducts {
  const int32_t* weights = nullptr;  // [4 H, n]
  int64_t n = 0;
  std::vector<int32_t> bias;  // of each row, less the products of the zero point
  std::array<FixedMultiplier, kGates> multipliers;
};

class QuantizedCell {
 public:
  QuantizedCell(const EvalContext& ctx, int64_t direction, const std::vector<int32_t>& w,
                const std::vector<int32_t>& r)
      : units_(ctx.in(kR).dims()[2]), factors_(FactorsOf(ctx.node())) {
    input_ = ProductsOf(ctx, kW, ctx.in_type(kX), direction, w, 0);
    input_.multipliers = factors_.input;
    state_ = ProductsOf(ctx, kR, ctx.in_type(kInitialH), direction, r, 1);
    state_.multipliers = factors_.state;
    if (ctx.has(kPeepholes)) {
      const auto all = LstmInts(ctx.in(kPeepholes));
      const auto begin = all.begin() + direction * 3 * units_;
      peepholes_.assign(begin, begin + 3 * units_);
    }
    h_zero_ = ctx.in_type(kInitialH).quant->zero_point();
  }

  void Step(const int32_t* x, std::vector<int32_t>& h, std::vector<int32_t>& c) {
    const auto i = GatesOf(kI, x, h, &c);
    const auto f = GatesOf(kF, x, h, &c);
    const auto n = GatesOf(kN, x, h, nullptr);
    for (size_t u = 0; u < c.size(); ++u) {
      const auto kept = static_cast<int16_t>(RoundingShiftRight(FixedSigmoid16(f[u]) * c[u], 15));
      const auto added = static_cast<int16_t>(
          RoundingShiftRight(FixedSigmoid16(i[u]) * FixedTanh16(n[u], 3), 15 + factors_.cell_bits));
      c[u] = Saturated16(int64_t{kept} + added);
      if (factors_.clip > 0) c[u] = std::clamp<int32_t>(c[u], -factors_.clip, factors_.clip);
    }
    const auto o = GatesOf(kO, x, h, &c);
    for (size_t u = 0; u < c.size(); ++u) {
      const int32_t shown =
          FixedSigmoid16(o[u]) * FixedTanh16(static_cast<int16_t>(c[u]), factors_.cell_bits);
      const int64_t y = int64_t{Rescale(shown, factors_.hidden)} + h_zero_;
      h[u] = static_cast<int32_t>(std::clamp<int64_t>(y, -128, 127));
    }
  }

 private:
  GateProducts ProductsOf(const EvalContext& ctx, size_t operand, const Type& factor,
                          int64_t direction, const std::vector<int32_t>& weights,
                          int64_t bias_half) const {
    GateProducts p;
    const int64_t rows = kGates * units_;
    p.n = ctx.in(operand).dims()[2];
    p.weights = weights.data() + direction * rows * p.n;
    const int64_t zero = factor.quant->zero_point();
    for (int64_t row = 0; row < rows; ++row) {
      int64_t sum =
          ctx.has(kBias) ? ctx.in(kBias).GetInt((2 * direction + bias_half) * rows + row) : 0;
      for (int64_t k = 0; k < p.n; ++k) sum -= p.weights[row * p.n + k] * zero;
      p.bias.push_back(WrapTo32(sum));
    }
    return p;
  }

  // acc + the rescaled product of a row.
  static int16_t Accumulated(int16_t acc, const GateProducts& p, int64_t row, FixedMultiplier m,
                             const int32_t* v) {
    int64_t sum = p.bias[static_cast<size_t>(row)];
    for (int64_t k = 0; k < p.n; ++k) sum += p.weights[row * p.n + k] * v[k];
    return Saturated16(int64_t{Rescale(WrapTo32(sum), m)} + acc);
  }

  // The arguments of a gate's functions; `c` for gates with peepholes.
  std::vector<int16_t> GatesOf(LstmGate gate, const int32_t* x, const std::vector<int32_t>& h,
                               const std::vector<int32_t>* c) const {
    std::vector<int16_t> out(static_cast<size_t>(units_));
    for (int64_t u = 0; u < units_; ++u) {
      const auto at = static_cast<size_t>(u);
      const int64_t row = gate * units_ + u;
      const auto g = static_cast<size_t>(gate);
      int16_t acc = Accumulated(0, input_, row, input_.multipliers[g], x);
      acc = Accumulated(acc, state_, row, state_.multipliers[g], h.data());
      if (c != nullptr && !peepholes_.empty()) {
        const int32_t product = peepholes_[static_cast<size_t>(row)] * (*c)[at];
        acc = Saturated16(int64_t{Rescale(product, factors_.peephole)} + acc);
      }
      out[at] = acc;
    }
    return out;
  }

  int64_t units_;
  QuantizedLstmFactors factors_;
  GateProducts input_, state_;
  std::vector<int32_t> peepholes_;  // empty without
  int64_t h_zero_ = 0;
};

}  // namespace

Status EvalQuantizedLstm(EvalContext& ctx) {
  const auto& a = ctx.attrs<LstmAttrs>();
  const Type& h_type = ctx.in_type(kInitialH);
  for (size_t i = 0; i < std::min<size_t>(ctx.output_count(), 2); ++i)
    if (!ctx.out_type(i).quantized() || !ctx.out_type(i).quant->SameMapping(*h_type.quant))
      return UnsupportedError("output {} of a quantized lstm is {}; its state is {}", i,
                              ctx.out_type(i).ToString(), h_type.ToString());
  const size_t rows = static_cast<size_t>(kGates * ctx.in(kR).dims()[2]);
  for (const size_t i : {size_t{kW}, size_t{kR}})
    if (const Quant& q = *ctx.in_type(i).quant; q.per_axis() && q.scales.size() != rows)
      return ModelError("{} has {} scales for {} rows", i == kW ? "w" : "r", q.scales.size(), rows);
  const auto& dims = ctx.in(kX).dims();
  const int64_t steps = dims[a.batch_first ? 1 : 0];
  const int64_t batch = dims[a.batch_first ? 0 : 1];
  const int64_t inputs = dims[2];
  const int64_t directions = a.directions();
  const int64_t units = ctx.in(kR).dims()[2];
  const auto x = LstmInts(ctx.in(kX)), w = LstmInts(ctx.in(kW)), r = LstmInts(ctx.in(kR)),
             initial_h = LstmInts(ctx.in(kInitialH)), initial_c = LstmInts(ctx.in(kInitialC));
  std::vector<TensorBuilder> outputs;
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    NN_ASSIGN(TensorBuilder output, ctx.NewOutput(i));
    // Steps beyond the end of a sequence are the number 0.
    const int64_t zero = i == 2 ? 0 : h_type.quant->zero_point();
    for (int64_t k = 0; k < output.elements(); ++k) output.SetInt(k, zero);
    outputs.push_back(std::move(output));
  }
  const auto copy = [&](const std::vector<int32_t>& from, TensorBuilder& to, int64_t at) {
    for (int64_t u = 0; u < units; ++u) to.SetInt(at + u, from[static_cast<size_t>(u)]);
  };
  for (int64_t d = 0; d < directions; ++d) {
    QuantizedCell cell(ctx, d, w, r);
    const bool reverse = a.direction == RecurrentDirection::kReverse || d == 1;
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t length = ctx.has(kLengths) ? ctx.in(kLengths).GetInt(b) : steps;
      if (length < 0 || length > steps)
        return ModelError("sequence {} has length {}; must be in [0, {}]", b, length, steps);
      const int64_t state_at = (a.batch_first ? b * directions + d : d * batch + b) * units;
      std::vector<int32_t> h(initial_h.begin() + state_at, initial_h.begin() + state_at + units);
      std::vector<int32_t> c(initial_c.begin() + state_at, initial_c.begin() + state_at + units);
      for (int64_t i = 0; i < length; ++i) {
        const int64_t t = reverse ? length - 1 - i : i;
        cell.Step(x.data() + (a.batch_first ? b * steps + t : t * batch + b) * inputs, h, c);
        const int64_t y_at =
            a.batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b;
        copy(h, outputs[0], y_at * units);
      }
      if (outputs.size() > 1) copy(h, outputs[1], state_at);
      if (outputs.size() > 2) copy(c, outputs[2], state_at);
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) ctx.set_out(i, outputs[i].Finish());
  return {};
}

}  // namespace nn
