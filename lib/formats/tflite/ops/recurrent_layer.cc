// Export of rnn and lstm as the operators with states: UNIDIRECTIONAL_SEQUENCE_LSTM,
// BIDIRECTIONAL_SEQUENCE_LSTM, UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN. They hold
// any number of steps; what they cannot hold is written step by step (ops/recurrent/unroll.h).
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "formats/tflite/family.h"
#include "formats/tflite/rewrites.h"
#include "ops/array/concat.h"
#include "ops/array/shape.h"
#include "ops/array/slice.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/unroll.h"

namespace nn::tflite {

namespace {

enum LayerInput : size_t {
  kLayerX,
  kLayerW,
  kLayerR,
  kLayerBias,
  kLayerLengths,
  kLayerInitialH,
  kLayerInitialC,
  kLayerPeepholes
};

bool IsLstmLayer(const Node& node) {
  return node.Is("lstm");
}

bool IsZeroConstant(const Value* v) {
  if (v == nullptr) return true;
  if (!v->is_constant()) return false;
  for (int64_t i = 0; i < v->constant().elements(); ++i)
    if (v->constant().GetDouble(i) != 0) return false;
  return true;
}

const Value* LayerOperand(const Node& node, size_t i) {
  return i < node.inputs().size() ? node.input(i) : nullptr;
}

// The function of a direction that the operator's option states; nullopt if there is none.
std::optional<fb::ActivationFunctionType> LayerActivation(const Node& node, int64_t direction) {
  const auto functions = RecurrentFunctionsOf(node, direction);
  if (!functions) return std::nullopt;
  const RecurrentFunction& f = functions->back();
  if (IsLstmLayer(node)) {
    const RecurrentFunction& g = (*functions)[1];
    if (functions->front().activation() != RecurrentActivation::kSigmoid ||
        g.activation() != f.activation() || g.params()[0] != f.params()[0] ||
        g.params()[1] != f.params()[1])
      return std::nullopt;
  }
  switch (f.activation()) {
    case RecurrentActivation::kTanh:
      return fb::ActivationFunctionType::TANH;
    case RecurrentActivation::kRelu:
      return fb::ActivationFunctionType::RELU;
    case RecurrentActivation::kAffine:
      if (f.params()[0] == 1 && f.params()[1] == 0) return fb::ActivationFunctionType::NONE;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Why the operators cannot hold a layer, with or without its final states; nullopt if they can.
std::optional<std::string> WhyNotLayer(const Node& node, bool with_states) {
  const RecurrentAttrs& a = RecurrentAttrsOf(node);
  const Type& x = node.input(kLayerX)->type();
  if (x.dtype != DType::kF32 || x.quantized()) return "only layers of f32 have an operator";
  if (a.direction == RecurrentDirection::kReverse)
    return "no operator has only a reverse direction";
  if (LayerOperand(node, kLayerLengths) != nullptr) return "the operators have no lengths";
  if (!IsZeroConstant(LayerOperand(node, kLayerInitialH)) ||
      !IsZeroConstant(LayerOperand(node, kLayerInitialC)))
    return "the states of the operators start at zero";
  if (std::isfinite(a.clip)) return "the operators do not clip their gates";
  if (IsLstmLayer(node) && node.attrs<LstmAttrs>().input_forget)
    return "the operators couple the gates of input and forgetting the other way";
  for (const size_t i :
       {size_t{kLayerW}, size_t{kLayerR}, size_t{kLayerBias}, size_t{kLayerPeepholes}})
    if (const Value* v = LayerOperand(node, i); v != nullptr && !v->is_constant())
      return "the weights must be constant";
  if (!x.ranked() || !x.dim(a.batch_first ? 0 : 1).is_const())
    return "the batch must be constant, because it is the size of the states; set it with --batch";
  if (IsLstmLayer(node)) {
    const float clip = node.attrs<LstmAttrs>().cell_clip;
    if (!(clip > 0)) return "a limit of 0 for the cell state means none";
  }
  for (int64_t d = 0; d < a.directions(); ++d)
    if (LayerActivation(node, d) != LayerActivation(node, 0) || !LayerActivation(node, d))
      return "the operators lack its activations";
  // FinalStateAsSlice() removes those that it can.
  if (with_states && node.outputs().size() > 1) return "the operators have no final states";
  return std::nullopt;
}

std::optional<std::string> WhyNotRecurrentLayer(const Node& node) {
  auto reason = WhyNotLayer(node, true);
  if (!reason) return std::nullopt;
  // It is written step by step.
  auto steps = WhyNotUnrolled(node);
  if (!steps) return reason;
  const Type& x = node.input(kLayerX)->type();
  // Both have the same reason.
  if (x.dtype != DType::kF32 || x.quantized()) return steps;
  return fmt::format("{}; {}", *reason, *steps);
}

// Writes one node.
class LayerWriter {
 public:
  LayerWriter(ExportContext& ctx, const Node& node)
      : ctx_(ctx),
        node_(node),
        attrs_(RecurrentAttrsOf(node)),
        gates_(IsLstmLayer(node) ? 4 : 1),
        units_(node.input(kLayerR)->type().dim(2).value()),
        inputs_(node.input(kLayerX)->type().dim(2).value()),
        batch_(node.input(kLayerX)->type().dim(attrs_.batch_first ? 0 : 1)) {}

  Status Write() {
    const bool both = attrs_.directions() == 2;
    std::vector<TensorIndex> operands = {ctx_.TensorOf(node_.input(kLayerX))}, states;
    for (int64_t d = 0; d < attrs_.directions(); ++d) {
      if (IsLstmLayer(node_)) {
        AddLstm(d, operands);
        for (int i = 0; i < 2; ++i) states.push_back(State());
      } else {
        AddRnn(d, operands);
      }
    }
    operands.insert(operands.end(), states.begin(), states.end());
    // Of an LSTM of one direction the coefficients of normalizations, else the auxiliary input and
    // its weights.
    const size_t rest = IsLstmLayer(node_) ? (both ? 9 : 4) : (both ? 3 : 0);
    operands.insert(operands.end(), rest, kNoTensor);
    Dims dims = *node_.output()->type().dims;
    const size_t axis = attrs_.batch_first ? 2 : 1;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    std::vector<TensorIndex> results;
    for (int64_t d = 0; d < attrs_.directions(); ++d)
      results.push_back(ctx_.AddTensor(Type(DType::kF32, dims), node_.output()->name()));
    AddLayer(operands, results);
    ctx_.AddOperator(fb::BuiltinOperator::PACK, results, {ctx_.ResultOf(node_)},
                     fb::CreatePackOptions(ctx_.builder(), static_cast<int32_t>(results.size()),
                                           static_cast<int32_t>(axis)));
    return {};
  }

 private:
  TensorIndex State() {
    return ctx_.AddVariable(Type(DType::kF32, {batch_, Dim(units_)}), "state");
  }

  // Rows of gate g in direction d of weights [D, G H, n], as [H, n]; [H] without n.
  TensorIndex Part(const Value* v, int64_t block, int64_t n, bool vector, std::string_view name) {
    const auto all = v->constant().Aligned();
    const auto values = all.As<float>().subspan(static_cast<size_t>(block * units_ * n),
                                                static_cast<size_t>(units_ * n));
    const std::vector<float> part(values.begin(), values.end());
    return ctx_.AddConstant(
        Tensor::Of<float>(vector ? std::vector<int64_t>{units_} : std::vector<int64_t>{units_, n},
                          part),
        name);
  }

  // The sum of both biases of a gate.
  TensorIndex BiasOf(int64_t d, int64_t g) {
    std::vector<float> sum(static_cast<size_t>(units_), 0.0f);
    if (const Value* const bias = LayerOperand(node_, kLayerBias)) {
      const auto all = bias->constant().Aligned();
      const auto values = all.As<float>();
      for (const int64_t half : {0, 1})
        for (int64_t u = 0; u < units_; ++u)
          sum[static_cast<size_t>(u)] +=
              values[static_cast<size_t>(((2 * d + half) * gates_ + g) * units_ + u)];
    }
    return ctx_.AddConstant(Tensor::Of<float>({units_}, sum), "bias");
  }

  // Gates i, f, c, o of the graph's i, o, f, c.
  static constexpr std::array<int64_t, 4> kOrder = {0, 2, 3, 1};

  void AddLstm(int64_t d, std::vector<TensorIndex>& operands) {
    for (const int64_t g : kOrder)
      operands.push_back(Part(node_.input(kLayerW), d * gates_ + g, inputs_, false, "weights"));
    for (const int64_t g : kOrder)
      operands.push_back(
          Part(node_.input(kLayerR), d * gates_ + g, units_, false, "recurrent_weights"));
    for (const int64_t g : {0, 2, 1}) {
      const Value* const p = LayerOperand(node_, kLayerPeepholes);
      operands.push_back(p == nullptr ? kNoTensor : Part(p, d * 3 + g, 1, true, "peepholes"));
    }
    for (const int64_t g : kOrder) operands.push_back(BiasOf(d, g));
    operands.insert(operands.end(), 2, kNoTensor);  // the projection
  }

  void AddRnn(int64_t d, std::vector<TensorIndex>& operands) {
    operands.push_back(Part(node_.input(kLayerW), d, inputs_, false, "weights"));
    operands.push_back(Part(node_.input(kLayerR), d, units_, false, "recurrent_weights"));
    operands.push_back(BiasOf(d, 0));
    operands.push_back(State());
  }

  void AddLayer(const std::vector<TensorIndex>& operands, const std::vector<TensorIndex>& results) {
    using Op = fb::BuiltinOperator;
    auto& builder = ctx_.builder();
    const auto activation = *LayerActivation(node_, 0);
    const bool time_major = !attrs_.batch_first;
    const bool both = attrs_.directions() == 2;
    if (!IsLstmLayer(node_) && both) {
      ctx_.AddOperator(Op::BIDIRECTIONAL_SEQUENCE_RNN, operands, results,
                       fb::CreateBidirectionalSequenceRNNOptions(builder, time_major, activation));
      return;
    }
    if (!IsLstmLayer(node_)) {
      ctx_.AddOperator(Op::UNIDIRECTIONAL_SEQUENCE_RNN, operands, results,
                       fb::CreateSequenceRNNOptions(builder, time_major, activation));
      return;
    }
    const float limit = node_.attrs<LstmAttrs>().cell_clip;
    const float clip = std::isfinite(limit) ? limit : 0.0f;
    if (both)
      ctx_.AddOperator(Op::BIDIRECTIONAL_SEQUENCE_LSTM, operands, results,
                       fb::CreateBidirectionalSequenceLSTMOptions(builder, activation, clip, 0.0f,
                                                                  false, time_major));
    else
      ctx_.AddOperator(
          Op::UNIDIRECTIONAL_SEQUENCE_LSTM, operands, results,
          fb::CreateUnidirectionalSequenceLSTMOptions(builder, activation, clip, 0.0f, time_major));
  }

  ExportContext& ctx_;
  const Node& node_;
  const RecurrentAttrs& attrs_;
  int64_t gates_, units_, inputs_;
  Dim batch_;
};

Status WriteRecurrentLayer(ExportContext& ctx, const Node& node) {
  return LayerWriter(ctx, node).Write();
}

std::optional<std::string> WhyNotSvdf(const Node&) {
  return "it can be written as other operators, on f32 only";
}

constexpr ExportRow kRecurrentLayerExports[] = {
    {.op = "rnn", .write = WriteRecurrentLayer, .why_not = WhyNotRecurrentLayer},
    {.op = "lstm", .write = WriteRecurrentLayer, .why_not = WhyNotRecurrentLayer},
    {.op = "svdf", .why_not = WhyNotSvdf},
};

}  // namespace

// The final state of a layer whose sequences have all steps is a part of y.
Result<bool> FinalStateAsSlice(Graph& graph, Node& node) {
  const RecurrentAttrs& a = RecurrentAttrsOf(node);
  if (node.outputs().size() < 2 || LayerOperand(node, kLayerLengths) != nullptr) return false;
  const auto used = [&](const Value* v) { return !v->uses().empty() || graph.IsOutput(v); };
  for (size_t i = 2; i < node.outputs().size(); ++i)
    if (used(node.output(i))) return false;
  const Type& x = node.input(kLayerX)->type();
  if (x.dtype != DType::kF32 || x.quantized() || !x.ranked() || x.dim(a.batch_first ? 1 : 0) == 0)
    return false;
  if (WhyNotLayer(node, false)) return false;
  Expansion e(graph, node);
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  NN_ASSIGN(Node* const layer, e.AddNode(node.op_name(), std::move(inputs), node.attrs(), 1));
  Value* const y = layer->output();
  if (used(node.output(1))) {
    const int64_t time = a.batch_first ? 1 : 0;
    const int64_t directions = a.batch_first ? 2 : 1;
    std::vector<Value*> states;
    for (int64_t d = 0; d < a.directions(); ++d) {
      Value* part = y;
      if (a.directions() > 1) {
        NN_ASSIGN(part, e.Add("slice", {part}, SliceAttrs{{directions}, {d}, {d + 1}, {}}));
      }
      constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
      const bool first = d == 1;  // the last step of the reverse direction
      NN_ASSIGN(part, e.Add("slice", {part},
                            SliceAttrs{{time}, {first ? 0 : -1}, {first ? 1 : kEnd}, {}}));
      NN_ASSIGN(part, e.Add("squeeze", {part}, AxesAttrs{{time}}));
      states.push_back(part);
    }
    if (states.size() > 1) {
      NN_ASSIGN(states[0], e.Add("concat", states, ConcatAttrs{a.batch_first ? 1 : 0}));
    }
    e.ReplaceOutput(1, states[0]);
  }
  e.Replace(y);
  return true;
}

Family RecurrentLayerFamily() {
  return {.exports = kRecurrentLayerExports};
}

}  // namespace nn::tflite
