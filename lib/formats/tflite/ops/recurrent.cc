// LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM, BIDIRECTIONAL_SEQUENCE_LSTM, RNN,
// UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN, SVDF.
#include "ops/recurrent/recurrent.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "formats/tflite/family.h"
#include "formats/tflite/tensor.h"
#include "ops/array/concat.h"
#include "ops/array/shape.h"
#include "ops/array/slice.h"
#include "ops/array/tile.h"
#include "ops/math/matmul.h"
#include "ops/recurrent/svdf.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

using Type = nn::Type;

constexpr size_t kGates = 4;
// TensorFlow Lite's gates are i, f, c, o; those of the graph i, o, f, c.
constexpr std::array<size_t, kGates> kGateOrder = {0, 3, 1, 2};

Status RequireAbsent(const ImportContext& ctx, size_t input, std::string_view what) {
  if (ctx.input(input) == nullptr) return {};
  return UnsupportedError("{} is unsupported", what);
}

// Sizes of operands that need not be in the file, for which constants are made.
constexpr int64_t kMostUnits = int64_t{1} << 22;

Status RequireMatrix(const Value* v, std::string_view name) {
  const auto dims = v->type().const_dims();
  if (v->type().rank() != 2 || !dims)
    return UnsupportedError("{} is {}; expected a matrix of constant size", name,
                            v->type().ToString());
  if ((*dims)[0] > kMostUnits || (*dims)[1] > kMostUnits)
    return UnsupportedError("{} is {}; sizes above {} are unsupported", name, v->type().ToString(),
                            kMostUnits);
  return {};
}

// Constants of one element type and shape, one after the other.
Tensor Joined(std::span<Value* const> parts, std::vector<int64_t> dims) {
  size_t bytes = 0;
  for (const Value* v : parts) bytes += v->constant().byte_size();
  Buffer all(bytes);
  std::byte* to = all.as<std::byte>().data();
  for (const Value* v : parts) {
    const Blob& from = v->constant().blob();
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
    to += from.size();
  }
  return {parts[0]->dtype(), std::move(dims), Blob(std::move(all))};
}

// The operands of a layer that are alike, such as the weights of the gates, as one operand
// [1, ...] in the order given. Quantized ones get a scale for each row.
Result<Value*> Stacked(ImportContext& ctx, const std::vector<Value*>& parts,
                       std::string_view name) {
  const Type& first = parts[0]->type();
  bool constant = true;
  for (const Value* v : parts) {
    if (!v->type().const_dims() || v->type().dims != first.dims || v->dtype() != first.dtype ||
        v->type().quantized() != first.quantized())
      return UnsupportedError("{}: operands of different types, {} and {}, are unsupported", name,
                              first.ToString(), v->type().ToString());
    constant &= v->is_constant();
  }
  auto dims = *first.const_dims();
  const int64_t rows = dims.empty() ? 1 : dims[0];
  if (!dims.empty()) dims[0] *= static_cast<int64_t>(parts.size());
  std::vector<int64_t> with_direction = dims;
  with_direction.insert(with_direction.begin(), 1);
  if (!constant) {
    if (first.quantized())
      return UnsupportedError("{}: quantized operands that are not constant are unsupported", name);
    NN_ASSIGN(Value* const all, ctx.Add("concat", parts, ConcatAttrs{0}));
    return ctx.Add("expand_dims", {all}, AxesAttrs{{0}});
  }
  std::shared_ptr<Quant> quant;
  if (first.quantized()) {
    quant = std::make_shared<Quant>();
    quant->axis = 1;
    for (const Value* v : parts) {
      if (v->type().quant->per_axis())
        return UnsupportedError("{}: weights with several scales are unsupported", name);
      for (int64_t i = 0; i < rows; ++i) {
        quant->scales.push_back(v->type().quant->scale());
        quant->zero_points.push_back(v->type().quant->zero_point());
      }
    }
  }
  return ctx.graph().AddConstant(Joined(parts, std::move(with_direction)), std::string(name),
                                 std::move(quant));
}

struct Activation {
  RecurrentActivation function = RecurrentActivation::kTanh;
  float alpha = 0;
  float beta = 0;
};

Result<Activation> ActivationOf(fb::ActivationFunctionType type) {
  using A = fb::ActivationFunctionType;
  switch (type) {
    case A::NONE:
      return Activation{RecurrentActivation::kAffine, 1, 0};
    case A::RELU:
      return Activation{RecurrentActivation::kRelu};
    case A::TANH:
      return Activation{RecurrentActivation::kTanh};
    default:
      return UnsupportedError("activation {} of a recurrent layer is unsupported",
                              fb::EnumNameActivationFunctionType(type));
  }
}

void AddActivation(RecurrentAttrs& a, const Activation& f) {
  a.activations.emplace_back(EnumName(f.function));
  a.alpha.push_back(f.alpha);
  a.beta.push_back(f.beta);
}

// An initial state with the dimensions of the graph; zeros of the declared type if it has no value
// yet, unless they are the default.
Result<Value*> InitialState(ImportContext& ctx, size_t input, const Dims& dims, size_t batch_axis) {
  if (Value* const v = ctx.input(input)) {
    NN_RETURN_IF_ERROR(ctx.Ranked(input));
    return ctx.Add("reshape", {v}, ReshapeAttrs{dims}, v->type().quant);
  }
  NN_ASSIGN(const Type type, ctx.DeclaredInput(input));
  if (!type.quantized()) return nullptr;
  if (type.quant->per_axis())
    return UnsupportedError("state {} is {}; several scales are unsupported", input,
                            type.ToString());
  std::vector<int64_t> of_one;
  for (size_t i = 0; i < dims.size(); ++i) of_one.push_back(i == batch_axis ? 1 : dims[i].value());
  NN_ASSIGN(TensorBuilder zeros, TensorBuilder::Create(type.dtype, std::move(of_one)));
  for (int64_t i = 0; i < zeros.elements(); ++i) zeros.SetInt(i, type.quant->zero_point());
  Value* const one = ctx.graph().AddConstant(zeros.Finish(), {}, type.quant);
  if (dims[batch_axis] == 1) return one;
  return ctx.Add("expand", {one}, ExpandAttrs{dims}, type.quant);
}

// The input of a layer, [T, B, I] or, with batch_first, [B, T, I].
struct Sequence {
  Value* x = nullptr;
  bool batch_first = false;
  Dim batch;
};

Result<Sequence> SequenceOf(ImportContext& ctx, Value* x, bool time_major) {
  if (x->type().rank() == 2) {
    NN_ASSIGN(x, ctx.Add("expand_dims", {x}, AxesAttrs{{0}}, x->type().quant));
    time_major = true;
  }
  if (x->type().rank() != 3)
    return ModelError("the input is {}; expected rank 3", x->type().ToString());
  return Sequence{x, !time_major, x->type().dim(time_major ? 1 : 0)};
}

// The dimensions of its states in the graph, and which of them is the batch.
Dims StateDims(const Sequence& s, int64_t units) {
  return s.batch_first ? Dims{s.batch, Dim(1), Dim(units)} : Dims{Dim(1), s.batch, Dim(units)};
}
size_t StateBatch(const Sequence& s) {
  return s.batch_first ? 0 : 1;
}

// y [T, 1, B, H] or [B, T, 1, H] without the axis of the direction.
Result<Value*> WithoutDirection(ImportContext& ctx, Value* y, bool batch_first) {
  return ctx.Add("squeeze", {y}, AxesAttrs{{batch_first ? 2 : 1}}, y->type().quant);
}

// Results of both directions: one output each, or one for both.
Status SetDirections(ImportContext& ctx, Value* forward, Value* backward, bool merged) {
  if (merged) return ctx.Emit("concat", {forward, backward}, ConcatAttrs{2});
  if (ctx.output_count() != 2)
    return ModelError("there are {} outputs; expected 2", ctx.output_count());
  ctx.SetOutput(0, forward);
  ctx.SetOutput(1, backward);
  return {};
}

// ---- LSTM

// Where the operands of one direction are. Absent parts are beyond all inputs.
struct LstmInputs {
  size_t w = 1, r = 5, peepholes = 9, bias = 12, projection = 16;
  size_t h = 18, c = 19;
  size_t norm = 20;
  size_t aux = kNone;  // weights of the auxiliary input
  static constexpr size_t kNone = 1000;
};
constexpr LstmInputs kForwardLstm = {.h = 35, .c = 36, .norm = LstmInputs::kNone, .aux = 40};
constexpr LstmInputs kBackwardLstm = {.w = 18,
                                      .r = 22,
                                      .peepholes = 26,
                                      .bias = 29,
                                      .projection = 33,
                                      .h = 37,
                                      .c = 38,
                                      .norm = LstmInputs::kNone,
                                      .aux = 44};

struct LstmOptions {
  fb::ActivationFunctionType activation{};
  float cell_clip = 0;
};

// One direction of an LSTM.
class LstmImport {
 public:
  LstmImport(ImportContext& ctx, const LstmInputs& in, const LstmOptions& options)
      : ctx_(ctx), in_(in), options_(options) {}

  // y, without the axis of the direction.
  Result<Value*> Run(Sequence x, Value* aux, RecurrentDirection direction) {
    NN_RETURN_IF_ERROR(CheckForm());
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
    NN_ASSIGN(Value* const y, ctx_.Add("lstm", std::move(operands), std::move(a), quant));
    return WithoutDirection(ctx_, y, x.batch_first);
  }

 private:
  Status CheckForm() const {
    NN_RETURN_IF_ERROR(RequireAbsent(ctx_, in_.projection, "a projection"));
    NN_RETURN_IF_ERROR(RequireAbsent(ctx_, in_.norm + 1, "layer normalization of the gates"));
    return {};
  }

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
      if (quantized_)
        return UnsupportedError(
            "an integer LSTM without an input gate is unsupported; convert the float model");
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
    if (!dims || dims->size() != 1 || (*dims)[0] > kMostUnits)
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
    NN_ASSIGN(const Activation f, ActivationOf(options_.activation));
    AddActivation(a, {RecurrentActivation::kSigmoid});
    AddActivation(a, f);
    AddActivation(a, f);
    return a;
  }

  ImportContext& ctx_;
  LstmInputs in_;
  LstmOptions options_;
  bool quantized_ = false;
  bool coupled_ = false;
};

Status ImportSequenceLstm(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::UnidirectionalSequenceLSTMOptions>());
  if (o->diagonal_recurrent_tensors())
    return UnsupportedError("diagonal recurrent weights are unsupported");
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(const Sequence s, SequenceOf(ctx, x, o->time_major()));
  LstmImport lstm(ctx, {}, {o->fused_activation_function(), o->cell_clip()});
  NN_ASSIGN(Value* const y, lstm.Run(s, nullptr, RecurrentDirection::kForward));
  ctx.SetOutput(0, y);
  return {};
}

Status ImportBidirectionalLstm(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::BidirectionalSequenceLSTMOptions>());
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(const Sequence forward, SequenceOf(ctx, x, o->time_major()));
  // Without weights of its own, the auxiliary input is that of the backward direction.
  constexpr size_t kAux = 39;
  Value* const aux = ctx.input(kAux);
  Sequence backward = forward;
  if (aux != nullptr && ctx.input(kForwardLstm.aux + 1) == nullptr) {
    NN_RETURN_IF_ERROR(ctx.Ranked(kAux));
    NN_ASSIGN(backward, SequenceOf(ctx, aux, o->time_major()));
  }
  const LstmOptions options = {o->fused_activation_function(), o->cell_clip()};
  NN_ASSIGN(Value* const f,
            LstmImport(ctx, kForwardLstm, options).Run(forward, aux, RecurrentDirection::kForward));
  NN_ASSIGN(
      Value* const b,
      LstmImport(ctx, kBackwardLstm, options).Run(backward, aux, RecurrentDirection::kReverse));
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
  const auto part = [&](Value* v, int64_t axis, int64_t from, int64_t to) {
    return ctx.Add("slice", {v}, SliceAttrs{{axis}, {from}, {to}, {}});
  };
  // Gates i, c, f, o.
  std::vector<Value*> w, r, b;
  for (const int64_t g : {0, 3, 2, 1}) {
    NN_ASSIGN(Value* const gate, part(weights, 0, g * units, (g + 1) * units));
    NN_ASSIGN(Value* const of_x, part(gate, 1, 0, columns - units));
    NN_ASSIGN(Value* const of_h, part(gate, 1, columns - units, columns));
    NN_ASSIGN(Value* const of_bias, part(bias, 0, g * units, (g + 1) * units));
    w.push_back(of_x);
    r.push_back(of_h);
    b.push_back(of_bias);
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
  for (size_t i = 0; i < 2 && i < ctx.output_count(); ++i) {
    NN_ASSIGN(Value* const state, ctx.Add("squeeze", {lstm->output(i + 1)}, AxesAttrs{{0}}));
    ctx.SetOutput(i, state);
  }
  if (ctx.output_count() < 3) return {};
  Value* before = ctx.input(kH);
  if (before == nullptr) {
    NN_ASSIGN(before, ctx.Add("expand", {ctx.Constant(Tensor::Scalar(0.0f))},
                              ExpandAttrs{{s.batch, Dim(units)}}));
  }
  NN_ASSIGN(Value* const joined, ctx.Add("concat", {x, before}, ConcatAttrs{1}));
  ctx.SetOutput(2, joined);
  if (ctx.output_count() < 4) return {};
  NN_ASSIGN(Value* const sums,
            ctx.Add("matmul", {joined, weights, bias}, MatmulAttrs{false, true}));
  ctx.SetOutput(3, sums);
  return {};
}

Status ImportLstm(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::LSTMOptions>());
  if (o->kernel_type() == fb::LSTMKernelType::BASIC) return ImportBasicLstm(ctx);
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(const Sequence s, SequenceOf(ctx, x, true));
  LstmImport lstm(ctx, {}, {o->fused_activation_function(), o->cell_clip()});
  NN_ASSIGN(Value * y, lstm.Run(s, nullptr, RecurrentDirection::kForward));
  if (x->type().rank() == 2) {
    NN_ASSIGN(y, ctx.Add("squeeze", {y}, AxesAttrs{{0}}, y->type().quant));
  }
  ctx.SetOutput(0, y);
  return {};
}

// ---- RNN

struct RnnInputs {
  size_t w = 1, r = 2, bias = 3, h = 4;
  size_t aux = LstmInputs::kNone;
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
    NN_ASSIGN(const Activation f, ActivationOf(activation));
    AddActivation(a, f);
  }
  NN_ASSIGN(Value* const y, ctx.Add("rnn", {x.x, w, r, bias, nullptr, h}, std::move(a)));
  return WithoutDirection(ctx, y, x.batch_first);
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
  NN_ASSIGN(Value* const x, ctx.Ranked(kX));
  NN_ASSIGN(Value * feature, ctx.Ranked(kFeature));
  NN_ASSIGN(Value * time, ctx.Ranked(kTime));
  NN_RETURN_IF_ERROR(RequireMatrix(feature, "feature weights"));
  NN_RETURN_IF_ERROR(RequireMatrix(time, "time weights"));
  const Dims& dims = *time->type().dims;
  const bool quantized = x->type().quantized();
  if (quantized && !time->is_constant())
    return UnsupportedError("quantized time weights that are not constant are unsupported");
  if (!quantized) {
    NN_ASSIGN(feature, ctx.FloatWeights(feature));
    NN_ASSIGN(time, ctx.FloatWeights(time));
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
  return ctx.EmitActivated(activation, "svdf", operands, SvdfAttrs{o->rank()});
}

using Op = fb::BuiltinOperator;
constexpr size_t kLstmStates[] = {18, 19};
// Also those of the kernel with five inputs.
constexpr size_t kAnyLstmStates[] = {1, 4, 18, 19};
constexpr size_t kBidirectionalLstmStates[] = {35, 36, 37, 38};
constexpr size_t kRnnStates[] = {4};
constexpr size_t kBidirectionalRnnStates[] = {4, 8};
constexpr ImportRow kRecurrentImports[] = {
    {.op = Op::LSTM, .import = ImportLstm, .states = kAnyLstmStates},
    {.op = Op::UNIDIRECTIONAL_SEQUENCE_LSTM, .import = ImportSequenceLstm, .states = kLstmStates},
    {.op = Op::BIDIRECTIONAL_SEQUENCE_LSTM,
     .import = ImportBidirectionalLstm,
     .states = kBidirectionalLstmStates},
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
