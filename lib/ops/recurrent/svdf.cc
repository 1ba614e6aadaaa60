#include "ops/recurrent/svdf.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/arith.h"
#include "base/checked_math.h"
#include "ops/array/arrange/tile.h"
#include "ops/families.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/quant/quantized.h"
#include "ops/quant/requant.h"
#include "ops/support/insert_before.h"
#include "ops/support/movement.h"
#include "ops/support/reals.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> SvdfAttrs::Fields() {
  static const std::vector<AttrField> fields = {Field<&SvdfAttrs::rank>("rank")};
  return fields;
}

namespace {

bool MayBeEqual(const Dim& a, const Dim& b) {
  return !a.is_const() || !b.is_const() || a == b;
}

Status CheckQuantizedSvdf(const InferContext& ctx) {
  const auto is = [&](size_t i, DType dtype, bool symmetric) {
    const Type& t = ctx.in(i);
    return t.quantized() && !t.quant->per_axis() && t.dtype == dtype &&
           (!symmetric || t.quant->zero_point() == 0);
  };
  if (!ctx.has(kSvdfState))
    return UnsupportedError("a quantized svdf has no state, which gives its type");
  const bool wide = is(kSvdfTime, DType::kI16, true) && is(kSvdfState, DType::kI16, true);
  const bool narrow = is(kSvdfTime, DType::kI8, true) && is(kSvdfState, DType::kI8, false);
  if (!is(kSvdfX, DType::kI8, false) || !is(kSvdfFeature, DType::kI8, true) || !(wide || narrow) ||
      (ctx.has(kSvdfBias) && !is(kSvdfBias, DType::kI32, true)))
    return UnsupportedError(
        "{} with {}, {} and {} is unsupported; expected quantized i8, i8, i16, i16 or i8, "
        "i8, i8, i8, and an i32 bias; only x and a state of i8 have a zero point",
        ctx.in(kSvdfX).ToString(), ctx.in(kSvdfFeature).ToString(), ctx.in(kSvdfTime).ToString(),
        ctx.in(kSvdfState).ToString());
  return {};
}

Status InferSvdf(InferContext& ctx) {
  const int64_t rank = ctx.attrs<SvdfAttrs>().rank;
  if (rank < 1) return ModelError("rank is {}; must be positive", rank);
  NN_RETURN_IF_ERROR(RequireRank(ctx, kSvdfX, 2, 2));
  NN_RETURN_IF_ERROR(RequireRank(ctx, kSvdfFeature, 2, 2));
  NN_RETURN_IF_ERROR(RequireRank(ctx, kSvdfTime, 2, 2));
  if (ctx.in(kSvdfX).quantized()) {
    NN_RETURN_IF_ERROR(CheckQuantizedSvdf(ctx));
  } else {
    NN_RETURN_IF_ERROR(SameDType(ctx, {kSvdfX, kSvdfFeature, kSvdfTime, kSvdfBias, kSvdfState}));
  }
  const Type& x = ctx.in(kSvdfX);
  const Dim& filters = ctx.in(kSvdfFeature).dim(0);
  const Dim& steps = ctx.in(kSvdfTime).dim(1);
  if (!MayBeEqual(x.dim(1), ctx.in(kSvdfFeature).dim(1)) ||
      !MayBeEqual(filters, ctx.in(kSvdfTime).dim(0)))
    return ModelError("x {}, feature {} and time {} do not fit", x.ToString(),
                      ctx.in(kSvdfFeature).ToString(), ctx.in(kSvdfTime).ToString());
  if (!filters.is_const() || !steps.is_const())
    return UnsupportedError("the number of filters or steps is not known");
  if (filters.value() % rank != 0 || steps.value() < 1)
    return ModelError("{} filters of {} steps; must be a multiple of rank {} and at least one step",
                      filters.value(), steps.value(), rank);
  const Dim units(filters.value() / rank);
  if (ctx.has(kSvdfBias)) {
    NN_RETURN_IF_ERROR(RequireList(ctx, kSvdfBias, static_cast<size_t>(units.value())));
  }
  if (ctx.has(kSvdfState)) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, kSvdfState, 3, 3));
    const Type& s = ctx.in(kSvdfState);
    if (!MayBeEqual(s.dim(0), x.dim(0)) || !MayBeEqual(s.dim(1), filters) ||
        !MayBeEqual(s.dim(2), steps))
      return ModelError("state is {}; must have shape [{}, {}, {}]", s.ToString(),
                        x.dim(0).ToString(), filters.ToString(), steps.ToString());
  }
  ctx.set_out(0, Type(x.dtype, {x.dim(0), units}));
  if (ctx.output_count() > 1) {
    const DType state = x.quantized() ? ctx.in(kSvdfState).dtype : x.dtype;
    ctx.set_out(1, Type(state, {x.dim(0), filters, steps}));
  }
  return {};
}

// The sizes of an evaluation.
struct SvdfSizes {
  explicit SvdfSizes(const EvalContext& ctx)
      : batch(ctx.in(kSvdfX).dims()[0]),
        inputs(ctx.in(kSvdfX).dims()[1]),
        filters(ctx.in(kSvdfFeature).dims()[0]),
        steps(ctx.in(kSvdfTime).dims()[1]),
        rank(ctx.attrs<SvdfAttrs>().rank) {}
  int64_t batch, inputs, filters, steps, rank;
};

std::vector<int64_t> SvdfInts(const Tensor& t, int64_t zero_point = 0) {
  std::vector<int64_t> out = t.ToInts();
  for (int64_t& v : out) v -= zero_point;
  return out;
}

// Source: tflite/kernels/svdf.cc (Prepare), internal/reference/svdf.h (EvalIntegerSVDF); for a
// state of i8 tflite-micro's kernels/svdf_common.cc (EvalIntegerSvdfReference). The activation of
// the kernels is relu, which they apply only as the lower bound of int8.
Status EvalQuantizedSvdf(EvalContext& ctx, const SvdfSizes& s) {
  NN_RETURN_IF_ERROR(RequireTflite(ctx));
  const auto scale = [&](size_t i) { return ctx.in_type(i).quant->scale(); };
  const Quant& out = *ctx.out_type().quant;
  const FixedMultiplier to_state = QuantizeMultiplier(
      static_cast<double>(scale(kSvdfX) * scale(kSvdfFeature) / scale(kSvdfState)));
  const FixedMultiplier to_output =
      QuantizeMultiplier(static_cast<double>(scale(kSvdfState) * scale(kSvdfTime) / out.scale()));
  const auto x = SvdfInts(ctx.in(kSvdfX), ctx.in_type(kSvdfX).quant->zero_point());
  const DType state_type = ctx.in(kSvdfState).dtype();
  const int64_t state_zero = ctx.in_type(kSvdfState).quant->zero_point();
  const auto feature = SvdfInts(ctx.in(kSvdfFeature)), time = SvdfInts(ctx.in(kSvdfTime)),
             state = SvdfInts(ctx.in(kSvdfState), state_zero);
  // The zero point is added after the saturation: the sum may leave the range of the type.
  const auto stored = [&](int64_t feature_sum) -> int64_t {
    if (state_type == DType::kI16) return feature_sum;
    return int64_t{static_cast<int8_t>(feature_sum + state_zero)} - state_zero;
  };
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  std::optional<TensorBuilder> next;
  if (ctx.output_count() > 1) {
    NN_ASSIGN(next, ctx.NewOutput(1));
  }
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t u = 0; u < s.filters / s.rank; ++u) {
      int64_t sum = ctx.has(kSvdfBias) ? ctx.in(kSvdfBias).GetInt(u) : 0;
      for (int64_t f = u * s.rank; f < (u + 1) * s.rank; ++f) {
        int64_t dot = 0;
        for (int64_t i = 0; i < s.inputs; ++i)
          dot += feature[static_cast<size_t>(f * s.inputs + i)] *
                 x[static_cast<size_t>(b * s.inputs + i)];
        const int64_t newest = stored(ClampTo(state_type, Rescale(WrapTo32(dot), to_state)));
        const int64_t old = (b * s.filters + f) * s.steps;
        for (int64_t m = 0; m + 1 < s.steps; ++m)
          sum +=
              time[static_cast<size_t>(f * s.steps + m)] * state[static_cast<size_t>(old + m + 1)];
        sum += time[static_cast<size_t>((f + 1) * s.steps - 1)] * newest;
        if (!next) continue;
        next->Copy(old, ctx.in(kSvdfState), old + 1, s.steps - 1);
        next->SetInt(old + s.steps - 1, newest + state_zero);
      }
      const int64_t v = int64_t{Rescale(WrapTo32(sum), to_output)} + out.zero_point();
      y.SetInt(b * (s.filters / s.rank) + u, ClampTo(DType::kI8, v));
    }
  ctx.set_out(0, y.Finish());
  if (next) ctx.set_out(1, next->Finish());
  return {};
}

Status EvalSvdf(EvalContext& ctx) {
  const SvdfSizes s(ctx);
  if (ctx.in_type(kSvdfX).quantized()) return EvalQuantizedSvdf(ctx, s);
  return WithFloats(ctx.in(kSvdfX).dtype(), [&]() -> Status {
    const Reals<float> x(ctx.in(kSvdfX)), feature(ctx.in(kSvdfFeature)), time(ctx.in(kSvdfTime));
    std::optional<Reals<float>> bias, state;
    if (ctx.has(kSvdfBias)) bias.emplace(ctx.in(kSvdfBias));
    if (ctx.has(kSvdfState)) state.emplace(ctx.in(kSvdfState));
    NN_ASSIGN(auto y, RealOutput<float>::Create(ctx));
    std::optional<RealOutput<float>> next;
    if (ctx.output_count() > 1) {
      NN_ASSIGN(next, RealOutput<float>::Create(ctx, 1));
    }
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t u = 0; u < s.filters / s.rank; ++u) {
        float sum = 0;
        for (int64_t f = u * s.rank; f < (u + 1) * s.rank; ++f) {
          float newest = 0;
          for (int64_t i = 0; i < s.inputs; ++i)
            newest = Fma(x.data()[b * s.inputs + i], feature.data()[f * s.inputs + i], newest);
          float dot = 0;
          const int64_t old = (b * s.filters + f) * s.steps;
          for (int64_t m = 0; m + 1 < s.steps; ++m) {
            const float kept = state ? state->data()[old + m + 1] : 0.0f;
            dot = Fma(kept, time.data()[f * s.steps + m], dot);
            if (next) next->data()[old + m] = kept;
          }
          if (next) next->data()[old + s.steps - 1] = newest;
          sum += Fma(newest, time.data()[(f + 1) * s.steps - 1], dot);
        }
        y.data()[b * (s.filters / s.rank) + u] = sum + (bias ? bias->data()[u] : 0.0f);
      }
    y.Finish();
    if (next) next->Finish();
    return {};
  });
}

std::optional<int64_t> SvdfMultiplyAdds(const Node& node) {
  const auto x = node.input(kSvdfX)->type().const_dims();
  const auto feature = node.input(kSvdfFeature)->type().const_dims();
  const auto time = node.input(kSvdfTime)->type().const_dims();
  if (!x || !feature || !time) return std::nullopt;
  return CheckedElements(std::vector<int64_t>{(*x)[0], (*feature)[0], (*x)[1] + (*time)[1]});
}

// Whether a state holds zeros before a run.
bool IsZeroState(const Value* v) {
  if (v == nullptr) return true;
  if (v->def() != nullptr && v->def()->Is<DequantizeAttrs>()) v = v->def()->input(0);
  return IsZeros(*v);
}

class SvdfDecomposition {
 public:
  SvdfDecomposition(Graph& graph, Node& node)
      : graph_(graph),
        node_(node),
        add_(graph, node),
        quantized_(node.input(kSvdfX)->type().quantized()) {}

  Result<bool> Run() {
    const Type& x = node_.input(kSvdfX)->type();
    const auto time = node_.input(kSvdfTime)->type().const_dims();
    if ((x.dtype != DType::kF32 && !quantized_) || !x.ranked() || !time) return false;
    const int64_t filters = (*time)[0], steps = (*time)[1];
    const int64_t rank = node_.attrs<SvdfAttrs>().rank;
    NN_ASSIGN(const Term features, Features());
    const Term weights = Real(kSvdfTime), bias = Real(kSvdfBias);
    std::vector<Value*> outputs(node_.outputs().size());
    Term products;
    if (outputs.size() == 1 && IsZeroState(node_.input(kSvdfState))) {
      products = features * Reshape(Slice(weights, 1, steps - 1, steps), {Dim(filters)});
    } else {
      Term state = Real(kSvdfState);
      if (state.is_absent())
        state = Apply("expand", {0}, ExpandAttrs{{x.dim(0), Dim(filters), Dim(steps)}});
      const Term newest = Reshape(features, {x.dim(0), Dim(filters), Dim(1)});
      NN_ASSIGN(outputs.back(), add_.Build(Concat({Slice(state, 2, 1, steps), newest}, 2)));
      products = ReduceSum(outputs.back() * weights, {2}, false);
    }
    const Term sums =
        ReduceSum(Reshape(products, {x.dim(0), Dim(filters / rank), Dim(rank)}), {2}, false);
    NN_ASSIGN(outputs[0], add_.Build(bias.is_absent() ? sums : sums + bias));
    for (size_t i = 0; quantized_ && i < outputs.size(); ++i) {
      NN_ASSIGN(outputs[i], Quantized(outputs[i], node_.output(i)->type()));
    }
    graph_.Replace(&node_, outputs);
    return true;
  }

 private:
  // The operand as floats; absent if it is.
  Term Real(size_t input) const {
    Value* const v = input < node_.inputs().size() ? node_.input(input) : nullptr;
    if (v == nullptr || !v->type().quantized()) return v;
    return Apply("dequantize", {v}, DequantizeAttrs{});
  }

  Result<Value*> Quantized(Value* reals, Type type) {
    Node* const n = graph_.AddNode(*Ops().Find("quantize"), {reals},
                                   QuantizeAttrs{Rounding::kHalfAway, true}, 1, &node_);
    n->set_source(node_.source());
    n->output()->set_type(std::move(type));
    NN_RETURN_IF_ERROR(InferNode(*n));
    return n->output();
  }

  // The features of x; those of quantized types are stored in the type of the state, whose range
  // limits them.
  Result<Term> Features() {
    NN_ASSIGN(Value* const y,
              add_.Add("matmul", {Real(kSvdfX), Real(kSvdfFeature)}, MatmulAttrs{false, true}));
    if (!quantized_) return y;
    Type stored = node_.input(kSvdfState)->type();
    stored.dims = y->type().dims;
    NN_ASSIGN(Value* const integers, Quantized(y, std::move(stored)));
    return Apply("dequantize", {integers}, DequantizeAttrs{});
  }

  Graph& graph_;
  Node& node_;
  InsertBefore add_;
  const bool quantized_;
};

Result<bool> DecomposeSvdf(Graph& graph, Node& node) {
  return SvdfDecomposition(graph, node).Run();
}

}  // namespace

void RegisterSvdfOps(OpRegistry& ops) {
  OpDef op;
  op.name = "svdf";
  op.summary = "factorized layer over the last steps";
  op.category = Category::kMatmul;
  op.attrs = AttrsInfoOf<SvdfAttrs>();
  op.inputs = {
      {"x"}, {"feature"}, {"time"}, {"bias", Arity::kOptional}, {"state", Arity::kOptional}};
  op.outputs = {{"y"}, {"new_state", Arity::kOptional}};
  op.quant_rule = QuantRule::kFree;
  op.infer = InferSvdf;
  op.eval = EvalSvdf;
  op.multiply_adds = SvdfMultiplyAdds;
  op.decompose = DecomposeSvdf;
  op.decomposes_quantized = true;
  ops.Add(std::move(op));
}

}  // namespace nn
