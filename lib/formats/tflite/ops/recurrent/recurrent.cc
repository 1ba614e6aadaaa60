// RNN, UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN, SVDF.
#include "ops/recurrent/recurrent.h"

#include <string_view>
#include <utility>
#include <vector>

#include "formats/tflite/export/hybrid.h"
#include "formats/tflite/family.h"
#include "formats/tflite/import/recurrent_operands.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/recurrent/svdf.h"
#include "ops/recurrent/unroll.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// ---- RNN

struct RnnInputs {
  size_t w = 1, r = 2, bias = 3, h = 4;
  size_t aux = kNoInput;
};

struct RnnOptions {
  fb::ActivationFunctionType activation{};
  bool asymmetric = false;  // of hybrid kernels
};

// ---- RNN with integer weights

// The recurrent layer of the graph does not round its state, so each step has its own product.
class HybridRnn {
 public:
  HybridRnn(ImportContext& ctx, const RnnInputs& in, RnnOptions options)
      : ctx_(ctx), in_(in), options_(options) {}

  // y without the axis of the direction; `aux` may be null.
  Result<Value*> Add(const Sequence& x, Value* aux, RecurrentDirection direction) {
    const int64_t time_axis = x.batch_first ? 1 : 0;
    const Dim& time = x.x->type().dim(static_cast<int>(time_axis));
    if (!time.is_const() || time.value() < 1 || time.value() > kMaxUnrolledSteps)
      return UnsupportedError(
          "integer weights of an RNN over {} steps are unsupported (hybrid kernel), only over 1 to "
          "{}; set them with --input-shape, or nnconvert --dequantize converts the weights to "
          "floats",
          time.ToString(), kMaxUnrolledSteps);
    NN_ASSIGN(Value* const bias, ctx_.Ranked(in_.bias));
    NN_ASSIGN(Value * all, Product(x.x, in_.w, 2, bias));
    if (ctx_.input(in_.aux) != nullptr) {
      if (aux == nullptr) return ModelError("there are weights of an auxiliary input without it");
      NN_ASSIGN(Value* const more, Product(aux, in_.aux, 2, nullptr));
      NN_ASSIGN(all, ctx_.Add("add", {all, more}));
    }
    const Dim units = all->type().dim(2);
    NN_ASSIGN(Value * h, InitialState(ctx_, in_.h, {x.batch, units}, 0));
    std::vector<Value*> results(static_cast<size_t>(time.value()));
    for (int64_t i = 0; i < time.value(); ++i) {
      const int64_t at = direction == RecurrentDirection::kReverse ? time.value() - 1 - i : i;
      NN_ASSIGN(h, Step(all, time_axis, at, h));
      NN_ASSIGN(results[static_cast<size_t>(at)],
                ctx_.Add("expand_dims", {h}, AxesAttrs{{time_axis}}));
    }
    if (ctx_.KeepsState(in_.h)) NN_RETURN_IF_ERROR(ctx_.SetState(in_.h, h));
    return results.size() == 1 ? Result<Value*>(results[0])
                               : ctx_.Add("concat", results, ConcatAttrs{time_axis});
  }

 private:
  // x, rounded along `axis`, by the weights.
  Result<Value*> Product(Value* x, size_t weights, int64_t axis, Value* bias) {
    NN_ASSIGN(Value * w, ctx_.Ranked(weights));
    NN_RETURN_IF_ERROR(RequireMatrix(w, "weights"));
    if (!w->type().quantized() || w->type().quant->per_axis())
      return UnsupportedError("integer weights of an RNN need one scale; they are {}",
                              w->type().ToString());
    NN_RETURN_IF_ERROR(ctx_.MakeHybrid(x, w, RowsAlong(axis, options_.asymmetric)));
    std::vector<Value*> operands = {x, w};
    if (bias != nullptr) operands.push_back(bias);
    return ctx_.Add("matmul", std::move(operands), MatmulAttrs{.transpose_b = true});
  }

  Result<Value*> Step(Value* all, int64_t time_axis, int64_t at, Value* h) {
    Term y = Squeeze(Slice(all, time_axis, at, at + 1), {time_axis});
    if (h != nullptr) {
      NN_ASSIGN(const Term more, Product(h, in_.r, 1, nullptr));
      y = y + more;
    }
    switch (options_.activation) {
      case fb::ActivationFunctionType::NONE:
        return ctx_.Build(y);
      case fb::ActivationFunctionType::RELU:
        return ctx_.Add("relu", {y});
      case fb::ActivationFunctionType::TANH:
        return ctx_.Add("tanh", {y});
      default:
        return UnsupportedError("activation {} of a recurrent layer is unsupported",
                                fb::EnumNameActivationFunctionType(options_.activation));
    }
  }

  ImportContext& ctx_;
  const RnnInputs& in_;
  RnnOptions options_;
};

// ---- Layers

// One direction of an RNN; y without the axis of the direction.
Result<Value*> AddRnn(ImportContext& ctx, const RnnInputs& in, Sequence x, Value* aux,
                      RnnOptions options, RecurrentDirection direction) {
  const fb::ActivationFunctionType activation = options.activation;
  if (const Value* const v = ctx.input(in.w);
      v != nullptr && v->type().quantized() && ctx.rounds_inputs())
    return HybridRnn(ctx, in, options).Add(x, aux, direction);
  const auto weights = [&](size_t i) -> Result<Value*> {
    NN_ASSIGN(Value* const v, ctx.Ranked(i));
    return ctx.FloatWeights(v);
  };
  NN_ASSIGN(Value * w, weights(in.w));
  NN_ASSIGN(Value * r, weights(in.r));
  NN_ASSIGN(Value * bias, weights(in.bias));
  NN_RETURN_IF_ERROR(RequireMatrix(w, "weights"));
  NN_RETURN_IF_ERROR(RequireMatrix(r, "recurrent weights"));
  if (ctx.input(in.aux) != nullptr) {
    if (aux == nullptr) return ModelError("there are weights of an auxiliary input without it");
    NN_ASSIGN(Value* const more, weights(in.aux));
    NN_ASSIGN(w, ctx.Add("concat", {w, more}, ConcatAttrs{1}));
    NN_ASSIGN(x.x, ctx.Add("concat", {x.x, aux}, ConcatAttrs{2}));
  }
  const int64_t units = r->type().dim(1).value();
  NN_ASSIGN(w, Stacked(ctx, {w}, "weights"));
  NN_ASSIGN(r, Stacked(ctx, {r}, "recurrent weights"));
  Value* const zero =
      ctx.Constant(Tensor::Of<float>({units}, std::vector<float>(static_cast<size_t>(units))));
  NN_ASSIGN(bias, Stacked(ctx, {bias, zero}, "bias"));
  NN_ASSIGN(Value* const h, InitialState(ctx, in.h, StateDims(x, units), StateBatch(x)));
  RecurrentAttrs a;
  a.direction = direction;
  a.batch_first = x.batch_first;
  if (activation != fb::ActivationFunctionType::TANH) {
    NN_RETURN_IF_ERROR(AddActivation(a, activation));
  }
  NN_ASSIGN(Node* const rnn, ctx.AddNode("rnn", {x.x, w, r, bias, nullptr, h}, std::move(a),
                                         ctx.KeepsState(in.h) ? 2 : 1));
  if (ctx.KeepsState(in.h)) NN_RETURN_IF_ERROR(ctx.SetState(in.h, rnn->output(1)));
  return WithoutDirection(ctx, rnn->output(), x.batch_first);
}

Status ImportRnn(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::RNNOptions>());
  NN_ASSIGN(const Sequence s, SequenceOf(ctx, ctx.input(0), true));
  NN_ASSIGN(
      Value* const y,
      AddRnn(ctx, {}, s, nullptr, {o->fused_activation_function(), o->asymmetric_quantize_inputs()},
             RecurrentDirection::kForward));
  return ctx.Emit("squeeze", {y}, AxesAttrs{{0}});
}

Status ImportSequenceRnn(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::SequenceRNNOptions>());
  NN_ASSIGN(const Sequence s, SequenceOf(ctx, ctx.input(0), o->time_major()));
  NN_ASSIGN(
      Value* const y,
      AddRnn(ctx, {}, s, nullptr, {o->fused_activation_function(), o->asymmetric_quantize_inputs()},
             RecurrentDirection::kForward));
  return ctx.EmitTerm(y);
}

// The hybrid kernel of both directions repeats a sequence whose steps are on the first axis as
// often as it has steps, each time with the states of before, and reads the input in place of an
// auxiliary one without weights.
Status RequirePlainKernel(ImportContext& ctx, const Sequence& x, Value* aux, bool has_aux_weights) {
  const Value* const w = ctx.input(RnnInputs().w);
  if (w == nullptr || !w->type().quantized() || !ctx.rounds_inputs()) return {};
  constexpr std::string_view kRemedy = "nnconvert --dequantize converts the weights to floats";
  if (!x.batch_first && !(x.x->type().dim(0) == 1))
    return UnsupportedError(
        "integer weights of both directions are unsupported (hybrid kernel) if the steps are on "
        "the first axis, because the kernel repeats them; {}",
        kRemedy);
  if (aux != nullptr && (!has_aux_weights || aux->type().dim(2) != x.x->type().dim(2)))
    return UnsupportedError(
        "integer weights of both directions are unsupported (hybrid kernel) with an auxiliary "
        "input without weights or of another size, which the kernel does not read; {}",
        kRemedy);
  return {};
}

Status ImportBidirectionalRnn(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::BidirectionalSequenceRNNOptions>());
  NN_ASSIGN(const Sequence forward, SequenceOf(ctx, ctx.input(0), o->time_major()));
  constexpr size_t kAux = 9;
  constexpr RnnInputs kForward = {.aux = 10};
  constexpr RnnInputs kBackward = {.w = 5, .r = 6, .bias = 7, .h = 8, .aux = 11};
  Value* const aux = ctx.input(kAux);
  if (aux != nullptr) {
    NN_RETURN_IF_ERROR(ctx.Ranked(kAux));
    if (aux->type().rank() != 3)
      return ModelError("the auxiliary input is {}; expected rank 3", aux->type().ToString());
  }
  NN_RETURN_IF_ERROR(RequirePlainKernel(ctx, forward, aux, ctx.input(kForward.aux) != nullptr));
  Sequence backward = forward;
  if (aux != nullptr && ctx.input(kForward.aux) == nullptr) {
    NN_ASSIGN(backward, SequenceOf(ctx, aux, o->time_major()));
  }
  const RnnOptions options = {o->fused_activation_function(), o->asymmetric_quantize_inputs()};
  NN_ASSIGN(Value* const f,
            AddRnn(ctx, kForward, forward, aux, options, RecurrentDirection::kForward));
  NN_ASSIGN(Value* const b,
            AddRnn(ctx, kBackward, backward, aux, options, RecurrentDirection::kReverse));
  return SetDirections(ctx, f, b, o->merge_outputs());
}

// ---- SVDF

Status ImportSvdf(ImportContext& ctx) {
  enum : size_t { kX, kFeature, kTime, kBias, kState };
  NN_ASSIGN(const auto* const o, ctx.Options<fb::SVDFOptions>());
  Value *x = ctx.input(kX), *feature = ctx.input(kFeature), *time = ctx.input(kTime);
  NN_RETURN_IF_ERROR(RequireMatrix(feature, "feature weights"));
  NN_RETURN_IF_ERROR(RequireMatrix(time, "time weights"));
  const Dims& dims = *time->type().dims;
  const bool quantized = x->type().quantized();
  if (quantized && !time->is_constant())
    return UnsupportedError("quantized time weights that are not constant are unsupported");
  NN_RETURN_IF_ERROR(ctx.MakeHybrid(x, feature, RowsAlong(1, o->asymmetric_quantize_inputs())));
  // The hybrid kernel dequantizes the time weights once, and rounds no state.
  if (!quantized && time->type().quantized()) {
    NN_ASSIGN(time, ctx.Add("dequantize", {time}, DequantizeAttrs{}));
  }
  NN_ASSIGN(Value* const state, InitialState(ctx, kState, {x->type().dim(0), dims[0], dims[1]}, 0));
  Value* bias = ctx.input(kBias);
  if (quantized && bias != nullptr && bias->is_constant() && state != nullptr &&
      state->type().quantized() && time->type().quantized())
    bias = ctx.graph().AddConstant(
        bias->constant(), bias->name(),
        Quant::PerTensor(state->type().quant->scale() * time->type().quant->scale(), 0));
  const std::vector<Value*> operands = {x, feature, time, bias, state};
  // The integer kernel ignores its activation but for the range of int8.
  const auto activation =
      quantized ? fb::ActivationFunctionType::NONE : o->fused_activation_function();
  if (!ctx.KeepsState(kState))
    return ctx.EmitActivated(activation, "svdf", operands, SvdfAttrs{o->rank()});
  Type types[2] = {ctx.output_type(), Type()};
  types[1].quant = state->type().quant;
  NN_ASSIGN(Node* const svdf,
            ctx.AddNode("svdf", operands, SvdfAttrs{o->rank()}, std::span<const Type>(types)));
  NN_RETURN_IF_ERROR(ctx.SetState(kState, svdf->output(1)));
  return ctx.EmitActivation(activation, svdf->output());
}

constexpr size_t kRnnStates[] = {4};
constexpr size_t kBidirectionalRnnStates[] = {4, 8};
constexpr ImportRow kRecurrentImports[] = {
    {.op = Op::RNN, .import = ImportRnn, .inputs = "r", .states = kRnnStates},
    {.op = Op::UNIDIRECTIONAL_SEQUENCE_RNN,
     .import = ImportSequenceRnn,
     .inputs = "r",
     .states = kRnnStates},
    {.op = Op::BIDIRECTIONAL_SEQUENCE_RNN,
     .import = ImportBidirectionalRnn,
     .inputs = "r",
     .states = kBidirectionalRnnStates},
    {.op = Op::SVDF, .import = ImportSvdf, .inputs = "rrr", .states = kRnnStates},
};

}  // namespace

Family RecurrentFamily() {
  return {.imports = kRecurrentImports};
}

}  // namespace nn::tflite
