// RNN, UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN, SVDF.
#include "ops/recurrent/recurrent.h"

#include "formats/tflite/family.h"
#include "formats/tflite/hybrid.h"
#include "formats/tflite/recurrent_operands.h"
#include "ops/array/concat.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise.h"
#include "ops/recurrent/svdf.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// ---- RNN

struct RnnInputs {
  size_t w = 1, r = 2, bias = 3, h = 4;
  size_t aux = kNoInput;
};

// One direction of an RNN; y without the axis of the direction.
Result<Value*> AddRnn(ImportContext& ctx, const RnnInputs& in, Sequence x, Value* aux,
                      fb::ActivationFunctionType activation, RecurrentDirection direction) {
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
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(const Sequence s, SequenceOf(ctx, x, true));
  NN_ASSIGN(Value* const y, AddRnn(ctx, {}, s, nullptr, o->fused_activation_function(),
                                   RecurrentDirection::kForward));
  return ctx.Emit("squeeze", {y}, AxesAttrs{{0}});
}

Status ImportSequenceRnn(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::SequenceRNNOptions>());
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(const Sequence s, SequenceOf(ctx, x, o->time_major()));
  NN_ASSIGN(Value* const y, AddRnn(ctx, {}, s, nullptr, o->fused_activation_function(),
                                   RecurrentDirection::kForward));
  ctx.SetOutput(0, y);
  return {};
}

Status ImportBidirectionalRnn(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::BidirectionalSequenceRNNOptions>());
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(const Sequence forward, SequenceOf(ctx, x, o->time_major()));
  constexpr size_t kAux = 9;
  constexpr RnnInputs kForward = {.aux = 10};
  constexpr RnnInputs kBackward = {.w = 5, .r = 6, .bias = 7, .h = 8, .aux = 11};
  Value* const aux = ctx.input(kAux);
  Sequence backward = forward;
  if (aux != nullptr && ctx.input(kForward.aux) == nullptr) {
    NN_RETURN_IF_ERROR(ctx.Ranked(kAux));
    NN_ASSIGN(backward, SequenceOf(ctx, aux, o->time_major()));
  }
  const auto activation = o->fused_activation_function();
  NN_ASSIGN(Value* const f,
            AddRnn(ctx, kForward, forward, aux, activation, RecurrentDirection::kForward));
  NN_ASSIGN(Value* const b,
            AddRnn(ctx, kBackward, backward, aux, activation, RecurrentDirection::kReverse));
  return SetDirections(ctx, f, b, o->merge_outputs());
}

// ---- SVDF

Status ImportSvdf(ImportContext& ctx) {
  enum : size_t { kX, kFeature, kTime, kBias, kState };
  NN_ASSIGN(const auto* const o, ctx.Options<fb::SVDFOptions>());
  NN_ASSIGN(Value * x, ctx.Ranked(kX));
  NN_ASSIGN(Value * feature, ctx.Ranked(kFeature));
  NN_ASSIGN(Value * time, ctx.Ranked(kTime));
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
    {.op = Op::RNN, .import = ImportRnn, .states = kRnnStates},
    {.op = Op::UNIDIRECTIONAL_SEQUENCE_RNN, .import = ImportSequenceRnn, .states = kRnnStates},
    {.op = Op::BIDIRECTIONAL_SEQUENCE_RNN,
     .import = ImportBidirectionalRnn,
     .states = kBidirectionalRnnStates},
    {.op = Op::SVDF, .import = ImportSvdf, .states = kRnnStates},
};

}  // namespace

Family RecurrentFamily() {
  return {.imports = kRecurrentImports};
}

}  // namespace nn::tflite
