// extended_lstm: LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM and BIDIRECTIONAL_SEQUENCE_LSTM with a
// projection, normalized gates or integer forms that the graph's lstm does not have.
#include "ops/recurrent/extended_lstm.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text/refusal.h"
#include "formats/tflite/export/hybrid.h"
#include "formats/tflite/family.h"
#include "formats/tflite/import/extended_lstm.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/recurrent/unroll.h"
#include "ops/support/movement.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

using In = ExtendedLstmInputs;

constexpr size_t kGatesOfLstm = 4;
constexpr size_t kHidden = 4;  // of the intermediate tensors, after those of the gates

// The intermediate tensor with the type of the hidden state before its projection; nullopt if the
// operator has none, as with float arithmetic.
Result<std::optional<Type>> HiddenType(const ImportContext& ctx) {
  const auto* const between = ctx.op().intermediates();
  if (between == nullptr || between->size() <= kHidden) return std::nullopt;
  NN_ASSIGN(Type type, ctx.Intermediate(kHidden));
  if (!type.quantized()) return std::nullopt;
  return std::optional<Type>(std::move(type));
}

Result<CellActivation> CellActivationOf(fb::ActivationFunctionType type) {
  switch (type) {
    case fb::ActivationFunctionType::RELU:
      return CellActivation::kRelu;
    case fb::ActivationFunctionType::RELU6:
      return CellActivation::kRelu6;
    case fb::ActivationFunctionType::TANH:
      return CellActivation::kTanh;
    default:
      return UnsupportedError("activation {} of a recurrent layer is unsupported",
                              fb::EnumNameActivationFunctionType(type));
  }
}

// Whether weights of floats are integers, and the kernel is imported as what it computes.
bool IsHybridLstm(const ImportContext& ctx, const LstmInputs& in) {
  const Value* const x = ctx.input(0);
  const Value* const r = ctx.input(in.r + 1);
  return ctx.rounds_inputs() && x != nullptr && !x->type().quantized() && r != nullptr &&
         r->type().quantized();
}

class ExtendedImport {
 public:
  ExtendedImport(ImportContext& ctx, const LstmInputs& in, const LstmOptions& options)
      : ctx_(ctx), in_(in), options_(options) {}

  Result<Value*> Run(Sequence x, Value* aux, RecurrentDirection direction) {
    quantized_ = x.x->type().quantized();
    hybrid_ = IsHybridLstm(ctx_, in_);
    if (hybrid_)
      a_.state_rounding =
          options_.asymmetric_inputs ? StateRounding::kAsymmetric : StateRounding::kSymmetric;
    NN_ASSIGN(x.x, Rounded(x.x));
    a_.batch_first = x.batch_first;
    a_.coupled = ctx_.input(in_.w) == nullptr;
    std::vector<Value*> operands(In::kProjectionBias + 1);
    NN_ASSIGN(operands[In::kW], Matrices(in_.w, "input weights"));
    if (ctx_.input(in_.aux + 1) != nullptr) {
      if (aux == nullptr) return ModelError("there are weights of an auxiliary input without it");
      NN_ASSIGN(Value* const more, Matrices(in_.aux, "weights of the auxiliary input"));
      NN_ASSIGN(aux, Rounded(aux));
      NN_ASSIGN(operands[In::kW], ctx_.Add("concat", {operands[In::kW], more}, ConcatAttrs{1}));
      NN_ASSIGN(x.x, ctx_.Add("concat", {x.x, aux}, ConcatAttrs{2}));
    }
    NN_ASSIGN(operands[In::kX], Reversed(x.x, direction));
    NN_ASSIGN(operands[In::kR], Matrices(in_.r, "recurrent weights"));
    NN_ASSIGN(operands[In::kPeepholes], Peepholes());
    NN_ASSIGN(operands[In::kNorm], Norms());
    NN_RETURN_IF_ERROR(Projection(operands));
    const Type& r = operands[In::kR]->type();
    const int64_t cells = r.dim(0).value() / static_cast<int64_t>(a_.gates());
    NN_ASSIGN(operands[In::kInitialH], InitialState(ctx_, in_.h, {x.batch, r.dim(1)}, 0));
    NN_ASSIGN(operands[In::kInitialC], InitialState(ctx_, in_.c, {x.batch, Dim(cells)}, 0));
    NN_RETURN_IF_ERROR(SetAttrs(operands));
    NN_ASSIGN(operands[In::kBias], Biases(operands));
    NN_ASSIGN(Value* const y, AddLayer(std::move(operands)));
    return Reversed(y, direction);
  }

 private:
  Result<Value*> Rounded(Value* x) {
    if (!hybrid_) return x;
    return ctx_.Add("dynamic_fake_quantize", {x}, RowsAlong(2, options_.asymmetric_inputs));
  }

  Result<Value*> Reversed(Value* v, RecurrentDirection direction) {
    if (direction == RecurrentDirection::kForward) return v;
    return ctx_.Add("reverse", {v}, ReverseAttrs{{a_.batch_first ? 1 : 0}}, v->type().quant);
  }

  // Those of the gates from `first` on as one operand, without the input gate if the gates are
  // coupled; `skipped` is a gate that has none.
  Result<Value*> Gates(size_t first, std::string_view name, size_t skipped = kGatesOfLstm) {
    std::vector<Value*> parts;
    for (size_t g = 0, at = first; g < kGatesOfLstm; ++g) {
      if (g == skipped) continue;
      Value* v = ctx_.input(at++);
      if (g == 0 && a_.coupled) continue;
      if (v == nullptr) return ModelError("{} {} are missing", name, g);
      if (!v->type().ranked()) return UnsupportedError("the rank of {} is unknown", name);
      if (!quantized_ && !hybrid_) {
        NN_ASSIGN(v, ctx_.FloatWeights(v));
      }
      parts.push_back(v);
    }
    NN_ASSIGN(Value* const all, Stacked(ctx_, parts, name));
    if (!all->is_constant()) return ctx_.Add("squeeze", {all}, AxesAttrs{{0}});
    // Without the axis of the direction.
    const Tensor& t = all->constant();
    std::shared_ptr<Quant> quant;
    if (all->type().quantized()) {
      quant = std::make_shared<Quant>(*all->type().quant);
      if (quant->per_axis()) quant->axis = 0;
    }
    Value* const operand = ctx_.graph().AddConstant(
        Tensor(t.dtype(), {t.dims().begin() + 1, t.dims().end()}, t.blob()), std::string(name),
        std::move(quant));
    return hybrid_ && operand->type().quantized() ? ctx_.HybridWeights(operand) : operand;
  }

  Result<Value*> Matrices(size_t first, std::string_view name) {
    for (size_t g = a_.coupled ? 1 : 0; g < kGatesOfLstm; ++g) {
      const Value* const v = ctx_.input(first + g);
      if (v == nullptr) return ModelError("{} {} are missing", name, g);
      NN_RETURN_IF_ERROR(RequireMatrix(v, name));
    }
    return Gates(first, name);
  }

  Result<Value*> Peepholes() {
    if (ctx_.input(in_.peepholes + 1) == nullptr) return nullptr;
    return Gates(in_.peepholes, "peephole weights", 2);
  }

  Result<Value*> Norms() {
    if (ctx_.input(in_.norm + 1) == nullptr) return nullptr;
    return Gates(in_.norm, "normalization coefficients");
  }

  Status Projection(std::vector<Value*>& operands) {
    Value* const weights = ctx_.input(in_.projection);
    if (weights == nullptr) return {};
    NN_RETURN_IF_ERROR(RequireMatrix(weights, "projection weights"));
    operands[In::kProjection] = weights;
    operands[In::kProjectionBias] = ctx_.input(in_.projection + 1);
    if (quantized_) return {};
    if (hybrid_ && weights->type().quantized()) {
      NN_ASSIGN(operands[In::kProjection], ctx_.HybridWeights(weights));
      return {};
    }
    NN_ASSIGN(operands[In::kProjection], ctx_.FloatWeights(weights));
    return {};
  }

  Status SetAttrs(const std::vector<Value*>& operands) {
    if (options_.cell_clip > 0) a_.cell_clip = options_.cell_clip;
    if (options_.projection_clip > 0 && operands[In::kProjection] != nullptr)
      a_.projection_clip = options_.projection_clip;
    // The integer kernel ignores the activation.
    if (!quantized_) {
      NN_ASSIGN(a_.activation, CellActivationOf(options_.activation));
      return {};
    }
    NN_ASSIGN(const auto hidden, HiddenType(ctx_));
    const Type& type = hidden ? *hidden : operands[In::kInitialH]->type();
    if (!type.quantized()) return ModelError("the output state is not quantized");
    a_.hidden_scale = type.quant->scale();
    a_.hidden_zero_point = type.quant->zero_point();
    if (operands[In::kNorm] == nullptr) return {};
    for (size_t g = a_.coupled ? 1 : 0; g < kGatesOfLstm; ++g) {
      NN_ASSIGN(const Type gate, ctx_.Intermediate(g));
      if (!gate.quantized()) return ModelError("intermediate {} has no scale", g);
      a_.gate_scales.push_back(gate.quant->scale());
    }
    return {};
  }

  // The kernel takes the integers as units of the products, or with normalized gates as 2^-10 of
  // those of the coefficients, whatever scale they declare.
  Result<Value*> Biases(const std::vector<Value*>& operands) {
    NN_ASSIGN(Value* const bias, Gates(in_.bias, "biases"));
    if (!quantized_ || !bias->is_constant()) return bias;
    auto quant = std::make_shared<Quant>();
    const Value* const of = operands[operands[In::kNorm] != nullptr ? In::kNorm : In::kW];
    const Type& x = operands[In::kX]->type();
    if (!of->type().quantized() || of->type().dim(0) != bias->type().dim(0)) return bias;
    const float unit = operands[In::kNorm] != nullptr ? 0x1p-10f : x.quant->scale();
    for (int64_t i = 0; i < bias->type().dim(0).value(); ++i)
      quant->scales.push_back(unit * of->type().quant->scale(static_cast<size_t>(i)));
    quant->zero_points.assign(quant->scales.size(), 0);
    quant->axis = 0;
    return ctx_.graph().AddConstant(bias->constant(), "biases", std::move(quant));
  }

  Result<Value*> AddLayer(std::vector<Value*> operands) {
    const auto quant = quantized_ ? ctx_.output_type().quant : nullptr;
    if (!ctx_.KeepsState(in_.h) && !ctx_.KeepsState(in_.c))
      return ctx_.Add("extended_lstm", std::move(operands), std::move(a_), quant);
    std::vector<Type> types(3);
    types[0].quant = quant;
    if (operands[In::kInitialH] != nullptr) types[1].quant = operands[In::kInitialH]->type().quant;
    if (operands[In::kInitialC] != nullptr) types[2].quant = operands[In::kInitialC]->type().quant;
    NN_ASSIGN(Node* const lstm,
              ctx_.AddNode("extended_lstm", std::move(operands), std::move(a_), std::span(types)));
    if (ctx_.KeepsState(in_.h)) NN_RETURN_IF_ERROR(ctx_.SetState(in_.h, lstm->output(1)));
    if (ctx_.KeepsState(in_.c)) NN_RETURN_IF_ERROR(ctx_.SetState(in_.c, lstm->output(2)));
    return lstm->output();
  }

  ImportContext& ctx_;
  const LstmInputs& in_;
  const LstmOptions& options_;
  ExtendedLstmAttrs a_;
  bool quantized_ = false;
  bool hybrid_ = false;
};

}  // namespace

Result<bool> IsExtendedLstm(const ImportContext& ctx, const LstmInputs& in) {
  if (IsHybridLstm(ctx, in)) return true;
  if (ctx.input(in.projection) != nullptr || ctx.input(in.norm + 1) != nullptr) return true;
  if (ctx.input(0) == nullptr || !ctx.input(0)->type().quantized()) return false;
  const auto* const between = ctx.op().intermediates();
  constexpr size_t kOf8BitGates = 12;
  if (between != nullptr && between->size() == kOf8BitGates)
    return UnsupportedError(
        "the integer kernel with gates of 8 bits (12 intermediate tensors) is unsupported; convert "
        "the float model");
  if (ctx.input(in.w) == nullptr) return true;
  NN_ASSIGN(const auto hidden, HiddenType(ctx));
  NN_ASSIGN(const Type state, ctx.DeclaredInput(in.h));
  return hidden && state.quantized() && !hidden->quant->SameMapping(*state.quant);
}

Result<Value*> AddExtendedLstm(ImportContext& ctx, const LstmInputs& in, const LstmOptions& options,
                               Sequence x, Value* aux, RecurrentDirection direction) {
  return ExtendedImport(ctx, in, options).Run(x, aux, direction);
}

// ==== To TensorFlow Lite =========================================================================

namespace {

std::optional<std::string> WhyNotExtendedLayer(const Node& node) {
  const auto& a = node.attrs<ExtendedLstmAttrs>();
  const Type& x = node.input(In::kX)->type();
  const Value* const h = node.input(In::kInitialH);
  if (x.quantized() && !node.output()->type().quant->SameMapping(*h->type().quant))
    return fmt::format("its result is {}, but its state {}", node.output()->type().ToString(),
                       h->type().ToString());
  for (const size_t i : {size_t{In::kInitialH}, size_t{In::kInitialC}})
    if (const Value* const v = node.input(i); v != nullptr && !IsZeros(*v))
      return "the operators start from zero states";
  if (a.state_rounding != StateRounding::kNone && !IsHybridLayer(node))
    return "its weights and the rounding of its input are not those of a hybrid kernel";
  for (const size_t i :
       {In::kW, In::kR, In::kBias, In::kPeepholes, In::kNorm, In::kProjection, In::kProjectionBias})
    if (const Value* const v = LayerOperand(node, i); v != nullptr && !v->is_constant())
      return "the weights must be constant";
  if (!x.ranked() || !x.dim(a.batch_first ? 0 : 1).is_const())
    return "the batch must be constant, because it is the size of the states; set the batch with "
           "--batch";
  if (node.outputs().size() > 1) return "the operators do not return the final states";
  return std::nullopt;
}

std::optional<std::string> WhyNotExtendedLstm(const Node& node) {
  const auto reason = WhyNotExtendedLayer(node);
  if (!reason || node.input(In::kX)->type().quantized()) return reason;
  const auto steps = WhyNotUnrolled(node);  // else it is written step by step
  return steps ? BothReasons(*reason, *steps) : *reason;
}

fb::ActivationFunctionType ActivationTypeOf(CellActivation activation) {
  switch (activation) {
    case CellActivation::kRelu:
      return fb::ActivationFunctionType::RELU;
    case CellActivation::kRelu6:
      return fb::ActivationFunctionType::RELU6;
    case CellActivation::kTanh:
      break;
  }
  return fb::ActivationFunctionType::TANH;
}

class ExtendedWriter {
 public:
  ExtendedWriter(ExportContext& ctx, const Node& node)
      : ctx_(ctx),
        node_(node),
        a_(node.attrs<ExtendedLstmAttrs>()),
        cells_(node.input(In::kR)->type().dim(0).value() / static_cast<int64_t>(a_.gates())) {}

  Status Write() {
    std::vector<TensorIndex> operands = {ctx_.TensorOf(LayerOperand(node_, In::kX))};
    AddGates(In::kW, "weights", operands);
    AddGates(In::kR, "recurrent_weights", operands);
    AddGates(In::kPeepholes, "peepholes", operands, 2);
    if (node_.input(In::kBias) != nullptr) {
      AddGates(In::kBias, "bias", operands);
    } else {
      AddZeroBiases(operands);
    }
    operands.push_back(ctx_.TensorOf(LayerOperand(node_, In::kProjection)));
    operands.push_back(ctx_.TensorOf(node_.input(In::kProjectionBias)));
    operands.push_back(State(In::kInitialH, node_.input(In::kR)->type().dim(1)));
    operands.push_back(State(In::kInitialC, Dim(cells_)));
    AddGates(In::kNorm, "norm", operands);
    const auto clip = [](float limit) { return std::isfinite(limit) ? limit : 0.0f; };
    VersionTraits traits;
    traits.asymmetric_inputs = a_.state_rounding == StateRounding::kAsymmetric;
    ctx_.AddOperator(Op::UNIDIRECTIONAL_SEQUENCE_LSTM, {{ctx_.ResultOf(node_)}, operands},
                     fb::CreateUnidirectionalSequenceLSTMOptions(
                         ctx_.builder(), ActivationTypeOf(a_.activation), clip(a_.cell_clip),
                         clip(a_.projection_clip), !a_.batch_first, traits.asymmetric_inputs),
                     traits);
    if (Quantized()) AddIntermediates();
    return {};
  }

 private:
  bool Quantized() const { return node_.input(In::kX)->type().quantized(); }

  // The operand of each gate; `skipped` is a gate that has no place in the operator.
  void AddGates(size_t input, std::string_view name, std::vector<TensorIndex>& operands,
                size_t skipped = kGatesOfLstm) {
    int64_t row = 0;
    for (size_t g = 0; g < kGatesOfLstm; ++g) {
      if (g == skipped) continue;
      const Value* const v = LayerOperand(node_, input);
      if (v == nullptr || (g == 0 && a_.coupled)) {
        operands.push_back(kNoTensor);
        continue;
      }
      operands.push_back(Rows(*v, row, name));
      row += cells_;
    }
  }

  TensorIndex Rows(const Value& v, int64_t first, std::string_view name) {
    const Tensor& t = v.constant();
    std::vector<int64_t> dims = t.dims();
    const size_t row_bytes = t.byte_size() / static_cast<size_t>(dims[0]);
    dims[0] = cells_;
    Blob part = t.blob().Slice(row_bytes * static_cast<size_t>(first),
                               row_bytes * static_cast<size_t>(cells_));
    std::shared_ptr<const Quant> quant;
    if (v.type().quantized())
      quant = Quant::PerTensor(v.type().quant->scale(static_cast<size_t>(first)), 0);
    return ctx_.AddConstant(Tensor(t.dtype(), std::move(dims), std::move(part)), name, quant);
  }

  void AddZeroBiases(std::vector<TensorIndex>& operands) {
    const auto count = static_cast<size_t>(cells_);
    for (size_t g = 0; g < kGatesOfLstm; ++g) {
      if (g == 0 && a_.coupled) {
        operands.push_back(kNoTensor);
      } else if (Quantized()) {
        operands.push_back(ctx_.AddConstant(Tensor::Of({cells_}, std::vector<int32_t>(count)),
                                            "bias", Quant::PerTensor(1, 0)));
      } else {
        operands.push_back(
            ctx_.AddConstant(Tensor::Of({cells_}, std::vector<float>(count)), "bias"));
      }
    }
  }

  // A state that begins with zeros, with the quantization of an initial state.
  TensorIndex State(size_t input, const Dim& n) {
    Type type(DType::kF32, {node_.input(In::kX)->type().dim(a_.batch_first ? 0 : 1), n});
    if (Quantized()) {
      type.dtype = node_.input(input)->dtype();
      type.quant = node_.input(input)->type().quant;
    }
    return ctx_.AddVariable(type, "state");
  }

  // They have no elements: the integer kernel takes their scales only.
  void AddIntermediates() {
    std::vector<TensorIndex> tensors;
    const size_t first = a_.coupled ? 1 : 0;
    for (size_t g = 0; g < kGatesOfLstm; ++g) {
      const float scale =
          a_.gate_scales.empty() || g < first ? 0x1p-12f : a_.gate_scales[g - first];
      tensors.push_back(ctx_.AddTensor(Type(DType::kI16, {Dim(0)}, Quant::PerTensor(scale, 0)),
                                       "gate_intermediate"));
    }
    const auto hidden = Quant::PerTensor(a_.hidden_scale, a_.hidden_zero_point);
    tensors.push_back(ctx_.AddTensor(Type(DType::kI8, {Dim(0)}, hidden), "hidden_intermediate"));
    ctx_.SetIntermediates(std::move(tensors));
  }

  ExportContext& ctx_;
  const Node& node_;
  const ExtendedLstmAttrs& a_;
  int64_t cells_;
};

Status WriteExtendedLstm(ExportContext& ctx, const Node& node) {
  return ExtendedWriter(ctx, node).Write();
}

constexpr ExportRow kExtendedLstmExports[] = {
    {.op = "extended_lstm", .write = WriteExtendedLstm, .why_not = WhyNotExtendedLstm},
};

}  // namespace

Family ExtendedLstmFamily() {
  return {.exports = kExtendedLstmExports};
}

}  // namespace nn::tflite
