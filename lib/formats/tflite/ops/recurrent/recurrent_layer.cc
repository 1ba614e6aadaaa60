// Export of rnn, lstm and svdf as the operators with states: UNIDIRECTIONAL_SEQUENCE_LSTM,
// BIDIRECTIONAL_SEQUENCE_LSTM, UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN, SVDF. The
// operators process any number of steps, start from zero states and do not return them; other
// layers are written step by step (ops/recurrent/unroll.h).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text/refusal.h"
#include "formats/tflite/family.h"
#include "formats/tflite/import/recurrent_layer.h"
#include "ops/recurrent/gates.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/svdf.h"
#include "ops/recurrent/unroll.h"
#include "ops/support/movement.h"

namespace nn::tflite {

namespace {

using enum RecurrentInputs::Index;

bool IsLstmLayer(const Node& node) {
  return LstmAttrsOf(node) != nullptr;
}

// The function of a direction that the operator's option states; nullopt if there is none.
std::optional<fb::ActivationFunctionType> LayerActivation(const Node& node, int64_t direction) {
  const auto f = CellFunctionOf(node, direction);
  if (!f) return std::nullopt;
  switch (f->activation()) {
    case RecurrentActivation::kTanh:
      return fb::ActivationFunctionType::TANH;
    case RecurrentActivation::kRelu:
      return fb::ActivationFunctionType::RELU;
    case RecurrentActivation::kAffine:
      // Without an activation, the kernels of LSTM do not multiply by the cell state.
      if (IsLstmLayer(node)) return std::nullopt;
      if (f->params()[0] == 1 && f->params()[1] == 0) return fb::ActivationFunctionType::NONE;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Of an lstm with TensorFlow Lite's integer arithmetic, whose operands have the types of the
// kernel.
std::optional<std::string> WhyNotIntegerLayer(const Node& node) {
  const Type& y = node.output()->type();
  const Type& h = node.input(kInitialH)->type();
  if (!y.quantized() || !y.quant->SameMapping(*h.quant))
    return fmt::format("its result is {}, but its state {}", y.ToString(), h.ToString());
  if (!HasZeroRecurrentBias(node)) return "the operator has no bias of the recurrent product";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> WhyNotLayer(const Node& node, WithoutParts without) {
  const RecurrentAttrs& a = RecurrentAttrsOf(node);
  const Type& x = node.input(kX)->type();
  if (x.quantized()) {
    if (auto reason = WhyNotIntegerLayer(node)) return reason;
  } else if (x.dtype != DType::kF32) {
    return "only layers of f32 and of quantized i8 have an operator";
  }
  if (!without.lengths && node.input(kLengths) != nullptr)
    return "the operators have no sequence lengths";
  for (const size_t i : {size_t{kInitialH}, size_t{kInitialC}})
    if (const Value* v = node.input(i); v != nullptr && !IsZeros(*v))
      return "the operators start from zero states";
  if (std::isfinite(a.clip)) return "the operators do not clip their gates";
  if (IsLstmLayer(node) && node.attrs<LstmAttrs>().input_forget)
    return "the operators derive the input gate from the forget gate, not the reverse";
  if (!HasConstantWeights(node)) return "the weights must be constant";
  if (!x.ranked() || !x.dim(a.batch_first ? 0 : 1).is_const())
    return "the batch must be constant, because it is the size of the states; set the batch with "
           "--batch";
  if (IsLstmLayer(node)) {
    const float clip = node.attrs<LstmAttrs>().cell_clip;
    if (!(clip > 0)) return "a cell_clip of 0 means no limit";
  }
  for (int64_t d = 0; d < a.directions(); ++d)
    if (!LayerActivation(node, d)) return "the operators do not support its activations";
  // FinalStateAsSlice() removes those that it can.
  if (!without.final_states && node.outputs().size() > 1)
    return "the operators do not return the final states";
  return std::nullopt;
}

namespace {

// Whether one operator holds both directions.
bool IsOneOperator(const Node& node) {
  return RecurrentAttrsOf(node).directions() == 2 && !node.input(kX)->type().quantized() &&
         LayerActivation(node, 0) == LayerActivation(node, 1);
}

std::optional<std::string> WhyNotRecurrentLayer(const Node& node) {
  auto reason = WhyNotLayer(node, {});
  const Type& x = node.input(kX)->type();
  if (!reason || x.quantized()) return reason;
  // It is written step by step.
  auto steps = WhyNotUnrolled(node);
  if (!steps) return reason;
  // Both have the same reason.
  if (x.dtype != DType::kF32) return steps;
  return BothReasons(*reason, *steps);
}

// Writes one node: an operator for each direction, or one for both, whose results are packed.
class LayerWriter {
 public:
  LayerWriter(ExportContext& ctx, const Node& node)
      : ctx_(ctx),
        node_(node),
        attrs_(RecurrentAttrsOf(node)),
        units_(node.input(kR)->type().dim(2).value()),
        batch_(node.input(kX)->type().dim(attrs_.batch_first ? 0 : 1)),
        quantized_(node.input(kX)->type().quantized()),
        y_(node.output()->type()) {
    Dims dims = *y_.dims;
    dims.erase(dims.begin() + DirectionAxis());
    y_.dims = std::move(dims);
  }

  Status Write() {
    std::vector<TensorIndex> results;
    const TensorIndex x = ctx_.TensorOf(node_.input(kX));
    if (IsOneOperator(node_)) {
      results = AddLayer(x, {0, 1});
    } else {
      for (int64_t d = 0; d < attrs_.directions(); ++d) {
        if (!IsReverse(attrs_, d)) {
          results.push_back(AddLayer(x, {d})[0]);
          continue;
        }
        NN_ASSIGN(const TensorIndex reversed, Reversed(x, node_.input(kX)->type()));
        NN_ASSIGN(const TensorIndex y, Reversed(AddLayer(reversed, {d})[0], y_));
        results.push_back(y);
      }
    }
    ctx_.AddOperator(fb::BuiltinOperator::PACK, {{ctx_.ResultOf(node_)}, results},
                     fb::CreatePackOptions(ctx_.builder(), static_cast<int32_t>(results.size()),
                                           DirectionAxis()));
    return {};
  }

 private:
  int32_t DirectionAxis() const { return attrs_.batch_first ? 2 : 1; }

  // A tensor [T, B, n] or [B, T, n] with the steps in the opposite order.
  Result<TensorIndex> Reversed(TensorIndex x, const Type& type) {
    NN_ASSIGN(const TensorIndex axes, ctx_.AddInts({attrs_.batch_first ? 1 : 0}, "axes"));
    const TensorIndex y = ctx_.AddTensor(type, "reversed");
    ctx_.AddOperator(fb::BuiltinOperator::REVERSE_V2, {{y}, {x, axes}},
                     fb::CreateReverseV2Options(ctx_.builder()));
    return y;
  }

  // The operator of these directions, each of which has a result.
  std::vector<TensorIndex> AddLayer(TensorIndex x, const std::vector<int64_t>& directions) {
    std::vector<TensorIndex> operands = {x}, states, results;
    for (const int64_t d : directions) {
      if (IsLstmLayer(node_)) {
        AddLstm(d, operands);
        for (const size_t i : {size_t{kInitialH}, size_t{kInitialC}}) states.push_back(State(i));
      } else {
        AddRnn(d, operands);
      }
      results.push_back(ctx_.AddTensor(y_, node_.output()->name()));
    }
    operands.insert(operands.end(), states.begin(), states.end());
    // Of an LSTM of one direction the coefficients of normalizations, else the auxiliary input and
    // its weights.
    const bool both = directions.size() == 2;
    const size_t rest = IsLstmLayer(node_) ? (both ? 9 : 4) : (both ? 3 : 0);
    operands.insert(operands.end(), rest, kNoTensor);
    AddOperator(operands, results, *LayerActivation(node_, directions[0]));
    return results;
  }

  // A state that begins with zeros, with the quantization of an initial state.
  TensorIndex State(size_t initial) {
    Type type(DType::kF32, {batch_, Dim(units_)});
    if (quantized_) {
      type.dtype = node_.input(initial)->dtype();
      type.quant = node_.input(initial)->type().quant;
    }
    return ctx_.AddVariable(type, "state");
  }

  // The scale of gate g of an operand with scales for its rows, or for one with a single scale.
  std::shared_ptr<const Quant> GateQuant(const Value* v, int64_t g) const {
    if (!v->type().quantized()) return nullptr;
    return Quant::PerTensor(v->type().quant->scale(static_cast<size_t>(g * units_)), 0);
  }

  // The rows of gate g in direction d of w or r.
  TensorIndex Gate(RecurrentInputs::Index operand, int64_t d, int64_t g, std::string_view name) {
    return ctx_.AddConstant(GateWeights(node_, operand, d, g), name,
                            GateQuant(node_.input(operand), g));
  }

  TensorIndex Peephole(int64_t d, int64_t g) {
    const Value* const p = node_.input(kPeepholes);
    if (p == nullptr) return kNoTensor;
    return ctx_.AddConstant(GatePeephole(node_, d, g), "peepholes", p->type().quant);
  }

  // The sum of both biases of a gate; that of the recurrent product is zero if it is quantized.
  TensorIndex BiasOf(int64_t d, int64_t g) {
    if (!quantized_) return ctx_.AddConstant(SummedGateBias(node_, d, g), "bias");
    const std::vector<int32_t> none(static_cast<size_t>(units_), 0);
    return ctx_.AddConstant(
        node_.input(kBias) == nullptr ? Tensor::Of<int32_t>({units_}, none) : GateBias(node_, d, g),
        "bias",
        Quant::PerTensor(
            node_.input(kX)->type().quant->scale() * GateQuant(node_.input(kW), g)->scale(), 0));
  }

  void AddLstm(int64_t d, std::vector<TensorIndex>& operands) {
    for (const int64_t g : kLstmGates) operands.push_back(Gate(kW, d, g, "weights"));
    for (const int64_t g : kLstmGates) operands.push_back(Gate(kR, d, g, "recurrent_weights"));
    for (const int64_t g : kLstmPeepholes) operands.push_back(Peephole(d, g));
    for (const int64_t g : kLstmGates) operands.push_back(BiasOf(d, g));
    operands.insert(operands.end(), 2, kNoTensor);  // the projection
  }

  void AddRnn(int64_t d, std::vector<TensorIndex>& operands) {
    operands.push_back(Gate(kW, d, 0, "weights"));
    operands.push_back(Gate(kR, d, 0, "recurrent_weights"));
    operands.push_back(BiasOf(d, 0));
    operands.push_back(State(kInitialH));
  }

  // The integer kernel takes the scale of the hidden result from the last of five intermediate
  // tensors, which have no elements. The others are those of normalized gates.
  void AddIntermediates() {
    std::vector<TensorIndex> tensors;
    for (const char* gate : {"input", "forget", "cell", "output"})
      tensors.push_back(ctx_.AddTensor(Type(DType::kF32, {Dim(0)}),
                                       fmt::format("input_to_{}_intermediate", gate)));
    const Type& h = node_.input(kInitialH)->type();
    tensors.push_back(
        ctx_.AddTensor(Type(h.dtype, {Dim(0)}, h.quant), "effective_hidden_scale_intermediate"));
    ctx_.SetIntermediates(std::move(tensors));
  }

  void AddOperator(const std::vector<TensorIndex>& operands,
                   const std::vector<TensorIndex>& results, fb::ActivationFunctionType activation) {
    auto& builder = ctx_.builder();
    const bool time_major = !attrs_.batch_first;
    const bool both = results.size() == 2;
    if (!IsLstmLayer(node_) && both) {
      ctx_.AddOperator(Op::BIDIRECTIONAL_SEQUENCE_RNN, {results, operands},
                       fb::CreateBidirectionalSequenceRNNOptions(builder, time_major, activation));
      return;
    }
    if (!IsLstmLayer(node_)) {
      ctx_.AddOperator(Op::UNIDIRECTIONAL_SEQUENCE_RNN, {results, operands},
                       fb::CreateSequenceRNNOptions(builder, time_major, activation));
      return;
    }
    const float limit = node_.attrs<LstmAttrs>().cell_clip;
    const float clip = std::isfinite(limit) ? limit : 0.0f;
    if (both) {
      ctx_.AddOperator(Op::BIDIRECTIONAL_SEQUENCE_LSTM, {results, operands},
                       fb::CreateBidirectionalSequenceLSTMOptions(builder, activation, clip, 0.0f,
                                                                  false, time_major),
                       {.batch_first = attrs_.batch_first});
      return;
    }
    ctx_.AddOperator(
        Op::UNIDIRECTIONAL_SEQUENCE_LSTM, {results, operands},
        fb::CreateUnidirectionalSequenceLSTMOptions(builder, activation, clip, 0.0f, time_major));
    if (quantized_) AddIntermediates();
  }

  ExportContext& ctx_;
  const Node& node_;
  const RecurrentAttrs& attrs_;
  int64_t units_;
  Dim batch_;
  bool quantized_;
  Type y_;  // of one direction
};

Status WriteRecurrentLayer(ExportContext& ctx, const Node& node) {
  return LayerWriter(ctx, node).Write();
}

// ---- SVDF

std::optional<std::string> WhyNotSvdf(const Node& node) {
  const Type& x = node.input(kSvdfX)->type();
  if (x.dtype != DType::kF32 && !x.quantized()) return "SVDF takes f32 and quantized i8 only";
  const Value* const state = node.input(kSvdfState);
  if (state != nullptr && !IsZeros(*state)) return "the state of SVDF starts at zero";
  if (node.outputs().size() > 1) return "SVDF does not return its state";
  if (!x.ranked() || !x.dim(0).is_const())
    return "the batch must be constant, because it is the size of the state; set the batch with "
           "--batch";
  return std::nullopt;
}

bool FusesSvdf(const Node& node) {
  return !node.input(kSvdfX)->type().quantized();
}

Status WriteSvdf(ExportContext& ctx, const Node& node) {
  const Type& x = node.input(kSvdfX)->type();
  const Dims& time = *node.input(kSvdfTime)->type().dims;
  Type state(DType::kF32, {x.dim(0), time[0] * time[1]});
  if (x.quantized()) {
    state.dtype = node.input(kSvdfState)->dtype();
    state.quant = node.input(kSvdfState)->type().quant;
  }
  std::vector<TensorIndex> operands;
  for (const size_t i : {size_t{kSvdfX}, size_t{kSvdfFeature}, size_t{kSvdfTime}})
    operands.push_back(ctx.TensorOf(node.input(i)));
  operands.push_back(ctx.TensorOf(node.input(kSvdfBias)));
  operands.push_back(ctx.AddVariable(state, "state"));
  // The integer kernel requires RELU, of which it applies only the bound of int8.
  const auto activation = x.quantized() ? fb::ActivationFunctionType::RELU : ctx.ActivationOf(node);
  ctx.AddOperator(
      fb::BuiltinOperator::SVDF, {{ctx.ResultOf(node)}, operands},
      fb::CreateSVDFOptions(ctx.builder(), static_cast<int32_t>(node.attrs<SvdfAttrs>().rank),
                            activation));
  return {};
}

constexpr ExportRow kRecurrentLayerExports[] = {
    {.op = "rnn", .write = WriteRecurrentLayer, .why_not = WhyNotRecurrentLayer},
    {.op = "lstm", .write = WriteRecurrentLayer, .why_not = WhyNotRecurrentLayer},
    {.op = "svdf", .write = WriteSvdf, .why_not = WhyNotSvdf, .fuses = FusesSvdf},
};

}  // namespace

Family RecurrentLayerFamily() {
  return {.exports = kRecurrentLayerExports};
}

}  // namespace nn::tflite
