#include "ops/recurrent/extended_lstm.h"

#include <algorithm>
#include <cmath>

#include "base/arith.h"
#include "base/checked_math.h"
#include "numeric/functions-inl.h"
#include "numeric/scalar.h"
#include "ops/families.h"
#include "ops/recurrent/extended_lstm_quant.h"
#include "ops/recurrent/operand_shape.h"
#include "ops/recurrent/unroll.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> ExtendedLstmAttrs::Fields() {
  using A = ExtendedLstmAttrs;
  static const std::vector<AttrField> fields = {
      Field<&A::batch_first>("batch_first"),
      Field<&A::coupled>("coupled"),
      Field<&A::activation>("activation"),
      Field<&A::cell_clip>("cell_clip"),
      Field<&A::projection_clip>("projection_clip"),
      Field<&A::hidden_scale>("hidden_scale"),
      Field<&A::hidden_zero_point>("hidden_zero_point"),
      Field<&A::gate_scales>("gate_scales"),
      Field<&A::state_rounding>("state_rounding"),
  };
  return fields;
}

ExtendedLstmSizes::ExtendedLstmSizes(const EvalContext& ctx)
    : batch_first(ctx.attrs<ExtendedLstmAttrs>().batch_first) {
  const auto& x = ctx.in(ExtendedLstmInputs::kX).dims();
  const auto& r = ctx.in(ExtendedLstmInputs::kR).dims();
  steps = x[batch_first ? 1 : 0];
  batch = x[batch_first ? 0 : 1];
  inputs = x[2];
  cells = r[0] / static_cast<int64_t>(ctx.attrs<ExtendedLstmAttrs>().gates());
  outputs = r[1];
}

namespace {

using In = ExtendedLstmInputs;

// ---- Inference ----------------------------------------------------------------------------------

Status CheckExtendedAttrs(const InferContext& ctx) {
  const auto& a = ctx.attrs<ExtendedLstmAttrs>();
  if (!(a.cell_clip > 0) || !(a.projection_clip > 0))
    return ModelError("cell_clip is {} and projection_clip is {}; both must be positive",
                      a.cell_clip, a.projection_clip);
  if (ctx.has(In::kProjectionBias) && !ctx.has(In::kProjection))
    return ModelError("there is a projection bias but no projection");
  return {};
}

Status InferExtendedLstm(InferContext& ctx) {
  const auto& a = ctx.attrs<ExtendedLstmAttrs>();
  NN_RETURN_IF_ERROR(CheckExtendedAttrs(ctx));
  NN_RETURN_IF_ERROR(RequireRank(ctx, In::kX, 3, 3));
  NN_RETURN_IF_ERROR(RequireRank(ctx, In::kR, 2, 2));
  const Type& x = ctx.in(In::kX);
  if (x.quantized()) {
    NN_RETURN_IF_ERROR(CheckQuantizedExtendedLstm(ctx));
  } else {
    NN_RETURN_IF_ERROR(
        SameDType(ctx, {In::kX, In::kW, In::kR, In::kBias, In::kInitialH, In::kInitialC,
                        In::kPeepholes, In::kNorm, In::kProjection, In::kProjectionBias}));
    if (x.dtype != DType::kF32 && x.dtype != DType::kUnknown)
      return UnsupportedError("{} is unsupported; expected f32", x.ToString());
  }
  const Dim rows = ctx.in(In::kR).dim(0), outputs = ctx.in(In::kR).dim(1);
  const auto gates = static_cast<int64_t>(a.gates());
  if (!rows.is_const() || !outputs.is_const())
    return UnsupportedError("the number of cells or outputs is not known");
  if (rows.value() % gates != 0 || rows.value() == 0 || outputs.value() == 0)
    return ModelError("r is {}; must have rows for {} gates and columns", ctx.in(In::kR).ToString(),
                      gates);
  const Dim cells(rows.value() / gates);
  if (!ctx.has(In::kProjection) && cells != outputs)
    return ModelError("{} cells with {} outputs; must be equal without a projection", cells.value(),
                      outputs.value());
  const Dim steps = x.dim(a.batch_first ? 1 : 0), batch = x.dim(a.batch_first ? 0 : 1);
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, In::kW, "w", {rows, x.dim(2)}));
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, In::kBias, "bias", {rows}));
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, In::kInitialH, "initial_h", {batch, outputs}));
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, In::kInitialC, "initial_c", {batch, cells}));
  NN_RETURN_IF_ERROR(
      RequireOperandShape(ctx, In::kPeepholes, "peepholes", {Dim(rows.value() - cells.value())}));
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, In::kNorm, "norm", {rows}));
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, In::kProjection, "projection", {outputs, cells}));
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, In::kProjectionBias, "projection_bias", {outputs}));
  ctx.set_out(
      0, Type(x.dtype, a.batch_first ? Dims{batch, steps, outputs} : Dims{steps, batch, outputs}));
  if (ctx.output_count() > 1) ctx.set_out(1, Type(x.dtype, {batch, outputs}));
  if (ctx.output_count() > 2)
    ctx.set_out(2, Type(x.quantized() ? DType::kI16 : x.dtype, {batch, cells}));
  return {};
}

std::optional<int64_t> ExtendedMultiplyAdds(const Node& node) {
  const auto x = node.input(In::kX)->type().const_dims();
  const auto w = node.input(In::kW)->type().const_dims();
  const auto r = node.input(In::kR)->type().const_dims();
  if (!x || !w || !r) return std::nullopt;
  auto one = CheckedElements(std::vector<int64_t>{(*w)[0], (*w)[1] + (*r)[1]});
  if (!one) return std::nullopt;
  if (node.inputs().size() > In::kProjection && node.input(In::kProjection) != nullptr)
    *one += (*r)[0] / static_cast<int64_t>(node.attrs<ExtendedLstmAttrs>().gates()) * (*r)[1];
  return CheckedElements(std::vector<int64_t>{(*x)[0], (*x)[1], *one});
}

// ---- Evaluation ---------------------------------------------------------------------------------

class FloatCell {
 public:
  FloatCell(const EvalContext& ctx, const ExtendedLstmSizes& s)
      : a_(ctx.attrs<ExtendedLstmAttrs>()), s_(s) {
    for (size_t i = 0; i <= In::kProjectionBias; ++i)
      operands_.push_back(ctx.has(i) ? ctx.in(i).As<float>() : std::span<const float>());
  }

  void Step(const float* x, std::vector<float>& h, std::vector<float>& c) {
    using M = ScalarMachine;
    h = Rounded(std::move(h));
    const size_t cells = c.size(), first = a_.coupled ? 0 : 1;
    const auto sigmoid = [](float v) { return scalar::SigmoidFn<M>::Run(v, {}); };
    std::vector<float> i, next(cells), hidden(cells);
    if (!a_.coupled) i = Gate(0, x, h, c, 0);
    const auto f = Gate(first, x, h, c, first);
    const auto n = Gate(first + 1, x, h, {}, 0);
    for (size_t u = 0; u < cells; ++u) {
      const float kept = sigmoid(f[u]);
      const float added = (a_.coupled ? 1.0f - kept : sigmoid(i[u])) * Activated(n[u]);
      next[u] = std::clamp(Fma(kept, c[u], added), -a_.cell_clip, a_.cell_clip);
    }
    const auto o = Gate(first + 2, x, h, next, first + 1);
    for (size_t u = 0; u < cells; ++u) hidden[u] = sigmoid(o[u]) * Activated(next[u]);
    c = next;
    if (operands_[In::kProjection].empty()) {
      h = hidden;
      return;
    }
    hidden = Rounded(std::move(hidden));
    for (size_t k = 0; k < h.size(); ++k) {
      float sum = Dot(operands_[In::kProjection].data() + k * cells, hidden.data(), cells);
      if (!operands_[In::kProjectionBias].empty()) sum += operands_[In::kProjectionBias][k];
      h[k] = std::clamp(sum, -a_.projection_clip, a_.projection_clip);
    }
  }

 private:
  std::vector<float> Rounded(std::vector<float> v) const {
    if (a_.state_rounding == StateRounding::kNone) return v;
    return FakeQuantizedRow(v, a_.state_rounding == StateRounding::kSymmetric);
  }

  static float Dot(const float* w, const float* v, size_t n) {
    float sum = 0;
    for (size_t k = 0; k < n; ++k) sum = Fma(v[k], w[k], sum);
    return sum;
  }

  float Activated(float v) const {
    using M = ScalarMachine;
    switch (a_.activation) {
      case CellActivation::kRelu:
        return scalar::ReluFn<M>::Run(v, {});
      case CellActivation::kRelu6:
        return scalar::ClipFn<M>::Run(v, {0, 6});
      case CellActivation::kTanh:
        break;
    }
    return scalar::TanhFn<M>::Run(v, {});
  }

  // The argument of a gate's function; `c` is empty for the gate without peephole.
  std::vector<float> Gate(size_t gate, const float* x, const std::vector<float>& h,
                          const std::vector<float>& c, size_t peephole) const {
    const auto cells = static_cast<size_t>(s_.cells), inputs = static_cast<size_t>(s_.inputs);
    const std::span<const float> bias = operands_[In::kBias], norm = operands_[In::kNorm];
    std::vector<float> out(cells);
    for (size_t u = 0; u < cells; ++u) {
      const size_t row = gate * cells + u;
      float sum = Dot(operands_[In::kW].data() + row * inputs, x, inputs);
      if (norm.empty() && !bias.empty()) sum += bias[row];
      sum += Dot(operands_[In::kR].data() + row * h.size(), h.data(), h.size());
      if (!c.empty() && !operands_[In::kPeepholes].empty())
        sum = Fma(operands_[In::kPeepholes][peephole * cells + u], c[u], sum);
      out[u] = sum;
    }
    if (!norm.empty()) Normalize(gate, out);
    return out;
  }

  void Normalize(size_t gate, std::vector<float>& v) const {
    constexpr float kEpsilon = 1e-8f;
    const auto count = static_cast<float>(v.size());
    float sum = 0, squares = 0;
    for (const float k : v) sum += k;
    const float mean = sum / count;
    for (const float k : v) squares = Fma(k - mean, k - mean, squares);
    const float factor = 1.0f / std::sqrt(squares / count + kEpsilon);
    for (size_t u = 0; u < v.size(); ++u) {
      const size_t row = gate * v.size() + u;
      const float bias = operands_[In::kBias].empty() ? 0 : operands_[In::kBias][row];
      v[u] = Fma((v[u] - mean) * factor, operands_[In::kNorm][row], bias);
    }
  }

  const ExtendedLstmAttrs& a_;
  const ExtendedLstmSizes& s_;
  std::vector<std::span<const float>> operands_;
};

Status EvalExtendedLstm(EvalContext& ctx) {
  if (ctx.in_type(In::kX).quantized()) return EvalQuantizedExtendedLstm(ctx);
  const ExtendedLstmSizes s(ctx);
  std::vector<TensorBuilder> outputs;
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    NN_ASSIGN(TensorBuilder output, ctx.NewOutput(i));
    outputs.push_back(std::move(output));
  }
  const auto state = [&](size_t input, int64_t b, int64_t n) {
    std::vector<float> v(static_cast<size_t>(n));
    if (ctx.has(input)) std::ranges::copy(ctx.in(input).As<float>().subspan(b * n, n), v.begin());
    return v;
  };
  FloatCell cell(ctx, s);
  const float* const x = ctx.in(In::kX).As<float>().data();
  for (int64_t b = 0; b < s.batch; ++b) {
    std::vector<float> h = state(In::kInitialH, b, s.outputs), c = state(In::kInitialC, b, s.cells);
    for (int64_t t = 0; t < s.steps; ++t) {
      cell.Step(x + s.At(t, b, s.inputs), h, c);
      std::ranges::copy(h, outputs[0].As<float>().data() + s.At(t, b, s.outputs));
    }
    if (outputs.size() > 1) std::ranges::copy(h, outputs[1].As<float>().data() + b * s.outputs);
    if (outputs.size() > 2) std::ranges::copy(c, outputs[2].As<float>().data() + b * s.cells);
  }
  for (size_t i = 0; i < outputs.size(); ++i) ctx.set_out(i, outputs[i].Finish());
  return {};
}

}  // namespace

void RegisterExtendedLstmOps(OpRegistry& ops) {
  OpDef op;
  op.name = "extended_lstm";
  op.summary = "long short-term memory with a projection, normalized or coupled gates";
  op.category = Category::kRecurrent;
  op.attrs = AttrsInfoOf<ExtendedLstmAttrs>();
  op.inputs = {{"x"},
               {"w"},
               {"r"},
               {"bias", Arity::kOptional},
               {"initial_h", Arity::kOptional},
               {"initial_c", Arity::kOptional},
               {"peepholes", Arity::kOptional},
               {"norm", Arity::kOptional},
               {"projection", Arity::kOptional},
               {"projection_bias", Arity::kOptional}};
  op.outputs = {{"y"}, {"y_h", Arity::kOptional}, {"y_c", Arity::kOptional}};
  op.quant_rule = QuantRule::kFree;
  op.infer = InferExtendedLstm;
  op.eval = EvalExtendedLstm;
  op.multiply_adds = ExtendedMultiplyAdds;
  op.decompose = UnrollRecurrent;
  op.decomposes_quantized = true;  // never: the 16-bit gates have no other form
  ops.Add(std::move(op));
}

}  // namespace nn
