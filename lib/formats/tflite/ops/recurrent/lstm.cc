// LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM, BIDIRECTIONAL_SEQUENCE_LSTM.
#include <array>

#include "formats/tflite/family.h"
#include "formats/tflite/import/extended_lstm.h"
#include "formats/tflite/import/recurrent_operands.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/matmul.h"
#include "ops/recurrent/recurrent.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

constexpr size_t kGates = 4;
// TensorFlow Lite's gates are i, f, c, o; those of the graph i, o, f, c.
constexpr std::array<size_t, kGates> kGateOrder = {0, 3, 1, 2};

constexpr LstmInputs kForwardLstm = {.h = 35, .c = 36, .norm = kNoInput, .aux = 40};
constexpr LstmInputs kBackwardLstm = {.w = 18,
                                      .r = 22,
                                      .peepholes = 26,
                                      .bias = 29,
                                      .projection = 33,
                                      .h = 37,
                                      .c = 38,
                                      .norm = kNoInput,
                                      .aux = 44};

// One direction of an LSTM.
class LstmImport {
 public:
  LstmImport(ImportContext& ctx, const LstmInputs& in, const LstmOptions& options)
      : ctx_(ctx), in_(in), options_(options) {}

  // y, without the axis of the direction.
  Result<Value*> Run(Sequence x, Value* aux, RecurrentDirection direction) {
    quantized_ = x.x->type().quantized();
    coupled_ = ctx_.input(in_.w) == nullptr;
    NN_ASSIGN(Value * w, Matrices(in_.w, "input weights"));
    if (ctx_.input(in_.aux + 1) != nullptr) {
      if (aux == nullptr) return ModelError("there are weights of an auxiliary input without it");
      NN_ASSIGN(Value* const more, Matrices(in_.aux, "weights of the auxiliary input"));
      NN_ASSIGN(w, ctx_.Add("concat", {w, more}, ConcatAttrs{2}));
      NN_ASSIGN(x.x, ctx_.Add("concat", {x.x, aux}, ConcatAttrs{2}));
    }
    NN_ASSIGN(Value* const r, Matrices(in_.r, "recurrent weights"));
    const int64_t units = r->type().dim(2).value();
    if (r->type().dim(1).value() != static_cast<int64_t>(kGates) * units)
      return ModelError("the recurrent weights of a gate are [{}, {}]; expected a square matrix",
                        r->type().dim(1).value() / static_cast<int64_t>(kGates), units);
    NN_ASSIGN(Value* const h, InitialState(ctx_, in_.h, StateDims(x, units), StateBatch(x)));
    NN_ASSIGN(Value* const c, InitialState(ctx_, in_.c, StateDims(x, units), StateBatch(x)));
    NN_ASSIGN(Value * bias, Bias());
    if (quantized_ && h != nullptr && h->type().quantized() && w->type().quantized() &&
        r->type().quantized())
      bias = WithProductScales(bias, {x.x, h}, {w, r});
    NN_ASSIGN(Value* const peepholes, Peepholes());
    NN_ASSIGN(LstmAttrs a, AttrsOf());
    a.direction = direction;
    a.batch_first = x.batch_first;
    std::vector<Value*> operands = {x.x, w, r, bias, nullptr, h, c, peepholes};
    const auto quant = quantized_ ? ctx_.output_type().quant : nullptr;
    if (!ctx_.KeepsState(in_.h) && !ctx_.KeepsState(in_.c)) {
      NN_ASSIGN(Value* const y, ctx_.Add("lstm", std::move(operands), std::move(a), quant));
      return WithoutDirection(ctx_, y, x.batch_first);
    }
    std::vector<Type> types(3);
    types[0].quant = quant;
    if (h != nullptr) types[1].quant = h->type().quant;
    if (c != nullptr) types[2].quant = c->type().quant;
    NN_ASSIGN(Node* const lstm,
              ctx_.AddNode("lstm", std::move(operands), std::move(a), std::span(types)));
    if (ctx_.KeepsState(in_.h)) NN_RETURN_IF_ERROR(ctx_.SetState(in_.h, lstm->output(1)));
    if (ctx_.KeepsState(in_.c)) NN_RETURN_IF_ERROR(ctx_.SetState(in_.c, lstm->output(2)));
    return WithoutDirection(ctx_, lstm->output(), x.batch_first);
  }

 private:
  // The operands of the four gates from `first` on, in the order of the graph. Without an input
  // gate, i is 1 - f; the graph's coupled gates have f = 1 - i, which is the same with the negative
  // arguments of f in place of those of i.
  Result<std::vector<Value*>> GatesOf(std::array<Value*, kGates> gates, std::string_view name) {
    for (size_t g = 0; g < kGates; ++g) {
      if (gates[g] == nullptr && g == 0 && coupled_) continue;
      if (gates[g] == nullptr) return ModelError("{} {} are missing", name, g);
      if (!gates[g]->type().ranked()) return UnsupportedError("the rank of {} is unknown", name);
      if (!quantized_) {
        NN_ASSIGN(gates[g], ctx_.FloatWeights(gates[g]));
      }
    }
    if (coupled_) {
      NN_ASSIGN(gates[0], ctx_.Add("neg", {gates[1]}));
    }
    std::vector<Value*> out;
    out.reserve(kGates);
    for (const size_t g : kGateOrder) out.push_back(gates[g]);
    return out;
  }

  Result<Value*> Matrices(size_t first, std::string_view name) {
    std::array<Value*, kGates> gates{};
    for (size_t g = 0; g < kGates; ++g) gates[g] = ctx_.input(first + g);
    NN_ASSIGN(const auto ordered, GatesOf(gates, name));
    for (const Value* v : ordered) {
      NN_RETURN_IF_ERROR(RequireMatrix(v, name));
    }
    return Stacked(ctx_, ordered, name);
  }

  // [1, 8 H]: TensorFlow Lite has no bias of the recurrent product.
  Result<Value*> Bias() {
    std::array<Value*, kGates> gates{};
    for (size_t g = 0; g < kGates; ++g) gates[g] = ctx_.input(in_.bias + g);
    NN_ASSIGN(std::vector<Value*> parts, GatesOf(gates, "biases"));
    const auto dims = parts[0]->type().const_dims();
    if (!dims || dims->size() != 1 || (*dims)[0] > kMaxUnits)
      return UnsupportedError("a bias is {}; expected a vector of constant size",
                              parts[0]->type().ToString());
    NN_ASSIGN(TensorBuilder zeros, TensorBuilder::Create(parts[0]->dtype(), *dims));
    for (int64_t i = 0; i < zeros.elements(); ++i) zeros.SetInt(i, 0);
    Value* const zero = ctx_.graph().AddConstant(zeros.Finish(), {}, parts[0]->type().quant);
    parts.insert(parts.end(), kGates, zero);
    return Stacked(ctx_, parts, "bias");
  }

  // The kernel takes the integers of the bias as units of the products, whatever scale they
  // declare.
  Value* WithProductScales(Value* bias, std::array<const Value*, 2> factors,
                           std::array<const Value*, 2> weights) {
    auto quant = std::make_shared<Quant>();
    quant->axis = 1;
    for (size_t k = 0; k < 2; ++k)
      for (int64_t i = 0; i < weights[k]->type().dim(1).value(); ++i)
        quant->scales.push_back(factors[k]->type().quant->scale() *
                                weights[k]->type().quant->scale(static_cast<size_t>(i)));
    quant->zero_points.assign(quant->scales.size(), 0);
    return ctx_.graph().AddConstant(bias->constant(), "bias", std::move(quant));
  }

  // i, o, f; null without.
  Result<Value*> Peepholes() {
    Value* const f = ctx_.input(in_.peepholes + 1);
    if (f == nullptr) return nullptr;
    NN_ASSIGN(const std::vector<Value*> parts,
              GatesOf({ctx_.input(in_.peepholes), f, f, ctx_.input(in_.peepholes + 2)},
                      "peephole weights"));
    return Stacked(ctx_, {parts[0], parts[1], parts[2]}, "peepholes");
  }

  Result<LstmAttrs> AttrsOf() const {
    LstmAttrs a;
    a.input_forget = coupled_;
    if (options_.cell_clip > 0) a.cell_clip = options_.cell_clip;
    // The integer kernel ignores the option.
    if (options_.activation == fb::ActivationFunctionType::TANH || quantized_) return a;
    AddActivation(a, RecurrentActivation::kSigmoid);
    for (int i = 0; i < 2; ++i) NN_RETURN_IF_ERROR(AddActivation(a, options_.activation));
    return a;
  }

  ImportContext& ctx_;
  LstmInputs in_;
  LstmOptions options_;
  bool quantized_ = false;
  bool coupled_ = false;
};

// One direction; y [T, B, n] or, with batch_first, [B, T, n].
Result<Value*> AddLstm(ImportContext& ctx, const LstmInputs& in, const LstmOptions& options,
                       const Sequence& x, Value* aux, RecurrentDirection direction) {
  // The integer kernel ignores the activation.
  const bool quantized = ctx.input(0) != nullptr && ctx.input(0)->type().quantized();
  if (!quantized && options.activation == fb::ActivationFunctionType::NONE)
    return UnsupportedError(
        "an LSTM without activation is unsupported: TensorFlow Lite's kernel multiplies the output "
        "gate by the sum of the cell gate, not by the cell state");
  NN_ASSIGN(const bool extended, IsExtendedLstm(ctx, in));
  // The graph's lstm has no such activation.
  if (extended || options.activation == fb::ActivationFunctionType::RELU6)
    return AddExtendedLstm(ctx, in, options, x, aux, direction);
  return LstmImport(ctx, in, options).Run(x, aux, direction);
}

Status ImportSequenceLstm(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::UnidirectionalSequenceLSTMOptions>());
  if (o->diagonal_recurrent_tensors())
    return UnsupportedError("diagonal recurrent weights are unsupported");
  NN_ASSIGN(const Sequence s, SequenceOf(ctx, ctx.input(0), o->time_major()));
  const LstmOptions options = {o->fused_activation_function(), o->cell_clip(), o->proj_clip(),
                               o->asymmetric_quantize_inputs()};
  NN_ASSIGN(Value* const y, AddLstm(ctx, {}, options, s, nullptr, RecurrentDirection::kForward));
  return ctx.EmitTerm(y);
}

Status ImportBidirectionalLstm(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::BidirectionalSequenceLSTMOptions>());
  Value* const x = ctx.input(0);
  NN_ASSIGN(const Sequence forward, SequenceOf(ctx, x, o->time_major()));
  // Without weights of its own, the auxiliary input is that of the backward direction.
  constexpr size_t kAux = 39;
  Value* const aux = ctx.input(kAux);
  Sequence backward = forward;
  if (aux != nullptr && ctx.input(kForwardLstm.aux + 1) == nullptr) {
    NN_RETURN_IF_ERROR(ctx.Ranked(kAux));
    NN_ASSIGN(backward, SequenceOf(ctx, aux, o->time_major()));
  }
  const LstmOptions options = {o->fused_activation_function(), o->cell_clip(), o->proj_clip(),
                               o->asymmetric_quantize_inputs()};
  NN_ASSIGN(Value* const f,
            AddLstm(ctx, kForwardLstm, options, forward, aux, RecurrentDirection::kForward));
  NN_ASSIGN(Value* const b,
            AddLstm(ctx, kBackwardLstm, options, backward, aux, RecurrentDirection::kReverse));
  return SetDirections(ctx, f, b, o->merge_outputs());
}

// The kernel with five inputs: one step, with one matrix for the input and the state. Two of its
// outputs are intermediate results.
Status ImportBasicLstm(ImportContext& ctx) {
  enum : size_t { kX, kH, kWeights, kBias, kC };
  NN_ASSIGN(Value* const x, ctx.Ranked(kX));
  NN_ASSIGN(Value* const weights, ctx.Ranked(kWeights));
  NN_ASSIGN(Value* const bias, ctx.Ranked(kBias));
  if (x->type().quantized()) return UnsupportedError("the quantized kernel BASIC is unsupported");
  NN_RETURN_IF_ERROR(RequireMatrix(weights, "weights"));
  const int64_t rows = weights->type().dim(0).value();
  const int64_t units = rows / static_cast<int64_t>(kGates);
  const int64_t columns = weights->type().dim(1).value();
  if (rows != units * static_cast<int64_t>(kGates) || columns < units || x->type().rank() != 2 ||
      bias->type().rank() != 1)
    return ModelError("the weights are {} for {}", weights->type().ToString(),
                      x->type().ToString());
  NN_ASSIGN(const Sequence s, SequenceOf(ctx, x, true));
  // Gates i, c, f, o.
  std::vector<Value*> w, r, b;
  for (const int64_t g : {0, 3, 2, 1}) {
    const Term gate = Slice(weights, 0, g * units, (g + 1) * units);
    NN_ASSIGN(w.emplace_back(), ctx.Build(Slice(gate, 1, 0, columns - units)));
    NN_ASSIGN(r.emplace_back(), ctx.Build(Slice(gate, 1, columns - units, columns)));
    NN_ASSIGN(b.emplace_back(), ctx.Build(Slice(bias, 0, g * units, (g + 1) * units)));
  }
  b.insert(
      b.end(), kGates,
      ctx.Constant(Tensor::Of<float>({units}, std::vector<float>(static_cast<size_t>(units)))));
  NN_ASSIGN(Value* const all_w, Stacked(ctx, w, "input weights"));
  NN_ASSIGN(Value* const all_r, Stacked(ctx, r, "recurrent weights"));
  NN_ASSIGN(Value* const all_b, Stacked(ctx, b, "bias"));
  NN_ASSIGN(Value* const h, InitialState(ctx, kH, StateDims(s, units), StateBatch(s)));
  NN_ASSIGN(Value* const c, InitialState(ctx, kC, StateDims(s, units), StateBatch(s)));
  NN_ASSIGN(Node* const lstm,
            ctx.AddNode("lstm", {s.x, all_w, all_r, all_b, nullptr, h, c}, LstmAttrs{}, 3));
  for (size_t i = 0; i < 2; ++i) {
    NN_ASSIGN(Value* const state, ctx.Build(Squeeze(lstm->output(i + 1), {0})));
    const size_t input = i == 0 ? kH : kC;
    if (i < ctx.output_count()) ctx.SetOutput(i, state);
    if (ctx.KeepsState(input)) NN_RETURN_IF_ERROR(ctx.SetState(input, state));
  }
  if (ctx.output_count() < 3) return {};
  const Term before = ctx.input(kH) != nullptr
                          ? ctx.input(kH)
                          : Apply("expand", {0}, ExpandAttrs{{s.batch, Dim(units)}});
  const Term joined = Concat({x, before}, 1);
  const Term sums = Apply("matmul", {joined, weights, bias}, MatmulAttrs{false, true});
  return ctx.EmitTerms({ctx.outputs()[0], ctx.outputs()[1], joined, sums});
}

Status ImportLstm(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::LSTMOptions>());
  if (o->kernel_type() == fb::LSTMKernelType::BASIC) return ImportBasicLstm(ctx);
  Value* const x = ctx.input(0);
  NN_ASSIGN(const Sequence s, SequenceOf(ctx, x, true));
  const LstmOptions options = {o->fused_activation_function(), o->cell_clip(), o->proj_clip(),
                               o->asymmetric_quantize_inputs()};
  NN_ASSIGN(Value * y, AddLstm(ctx, {}, options, s, nullptr, RecurrentDirection::kForward));
  if (x->type().rank() == 2) {
    NN_ASSIGN(y, ctx.Add("squeeze", {y}, AxesAttrs{{0}}, y->type().quant));
  }
  return ctx.EmitTerm(y);
}

constexpr size_t kLstmStates[] = {18, 19};
// Also those of the kernel with five inputs.
constexpr size_t kAnyLstmStates[] = {1, 4, 18, 19};
constexpr size_t kBidirectionalLstmStates[] = {35, 36, 37, 38};
constexpr ImportRow kLstmImports[] = {
    {.op = Op::LSTM, .import = ImportLstm, .inputs = "r", .states = kAnyLstmStates},
    {.op = Op::UNIDIRECTIONAL_SEQUENCE_LSTM,
     .import = ImportSequenceLstm,
     .inputs = "r",
     .states = kLstmStates},
    {.op = Op::BIDIRECTIONAL_SEQUENCE_LSTM,
     .import = ImportBidirectionalLstm,
     .inputs = "r",
     .states = kBidirectionalLstmStates},
};

}  // namespace

Family LstmFamily() {
  return {.imports = kLstmImports};
}

}  // namespace nn::tflite
