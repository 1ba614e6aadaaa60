// Export of rnn, lstm and svdf as RNN, LSTM and SVDF. An operation is one step, so a layer becomes
// an operation for each step, all of which share the weights; the states are passed along, and come
// and go at the interface of a model as the layer's.
//
// The operations round as the steps of ops/recurrent/unroll.h do, but for the sum of the two biases
// of an lstm. What they cannot hold is written in those steps.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text/refusal.h"
#include "formats/nnapi/family.h"
#include "ops/recurrent/gates.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/svdf.h"
#include "ops/recurrent/unroll.h"
#include "ops/support/movement.h"

namespace nn::nnapi {

// ==== To NNAPI ===================================================================================

namespace {

using enum RecurrentInputs::Index;

// The activation argument of LSTM; nullopt if it has no such function.
std::optional<int64_t> LstmActivation(RecurrentActivation function) {
  switch (function) {
    case RecurrentActivation::kRelu:
      return 1;
    case RecurrentActivation::kTanh:
      return 4;
    case RecurrentActivation::kSigmoid:
      return 6;
    default:
      return std::nullopt;
  }
}

// The operation that follows RNN, which has no functions but relu of its own; nullopt if it is
// fused.
std::optional<OperationType> RnnActivation(RecurrentActivation function) {
  if (function == RecurrentActivation::kTanh) return OperationType::kTanh;
  if (function == RecurrentActivation::kSigmoid) return OperationType::kLogistic;
  return std::nullopt;
}

Tensor ZeroMatrix(int64_t rows, int64_t columns) {
  return Tensor::Of<float>({rows, columns},
                           std::vector<float>(static_cast<size_t>(rows * columns), 0.0f));
}

// Limit of NNAPI: steps times directions of a recurrent layer, each of which is an operation.
constexpr int64_t kMaxOperations = 2048;

// Why there are no operations for a layer; nullopt if there are.
std::optional<std::string> WhyNoOperations(const Node& node) {
  const RecurrentAttrs& a = RecurrentAttrsOf(node);
  const auto x = node.input(kX)->type().const_dims();
  if (!x || !node.input(kR)->type().const_dims())
    return "its shapes must be constant; set them with --input-shape";
  if (std::ranges::any_of(*x, [](int64_t n) { return n == 0; }) ||
      node.input(kR)->type().dim(2) == 0)
    return "NNAPI 1.0 has no empty dimensions";
  const int64_t steps = (*x)[a.batch_first ? 1 : 0];
  if (steps > kMaxOperations / a.directions())
    return fmt::format("it has {} steps, each of which would be an operation", steps);
  if (node.input(kLengths) != nullptr) return "the operations have no lengths";
  if (!HasConstantWeights(node)) return "the weights must be constant";
  if (std::isfinite(a.clip)) return "the operations do not clip their gates";
  for (int64_t d = 0; d < a.directions(); ++d) {
    const auto function = CellFunctionOf(node, d);
    if (!function || !LstmActivation(function->activation()))
      return "the operations lack its activations";
  }
  if (!node.Is<LstmAttrs>()) {
    // A sum would round differently from the layer.
    if (!HasZeroRecurrentBias(node)) return "RNN has no bias of the recurrent product";
    return std::nullopt;
  }
  if (node.attrs<LstmAttrs>().input_forget)
    return "LSTM couples the gates of input and forgetting the other way";
  if (!(node.attrs<LstmAttrs>().cell_clip > 0)) return "a limit of 0 for the cell state means none";
  return std::nullopt;
}

// Without operations of its own, a layer is written step by step.
std::optional<std::string> WhyNotLayer(const Node& node) {
  // Both need f32 and constant shapes.
  if (node.input(kX)->dtype() != DType::kF32) return WhyNotUnrolled(node);
  auto reason = WhyNoOperations(node);
  const auto steps = reason ? WhyNotUnrolled(node) : std::nullopt;
  if (!steps || !node.output()->type().const_dims()) return steps ? steps : reason;
  return BothReasons(*reason, *steps);
}

// Writes one layer. Matrices have a row for each sequence.
class LayerWriter {
 public:
  LayerWriter(ExportContext& ctx, const Node& node)
      : ctx_(ctx),
        node_(node),
        attrs_(RecurrentAttrsOf(node)),
        is_lstm_(node.Is<LstmAttrs>()),
        gates_(is_lstm_ ? 4 : 1) {
    const Dims& x = *node.input(kX)->type().dims;
    steps_ = x[attrs_.batch_first ? 1 : 0].value();
    batch_ = x[attrs_.batch_first ? 0 : 1].value();
    inputs_ = x[2].value();
    units_ = node.input(kR)->type().dim(2).value();
  }

  Status Write() {
    const auto steps = static_cast<size_t>(steps_);
    const auto directions = static_cast<size_t>(attrs_.directions());
    NN_ASSIGN(const uint32_t x, ctx_.OperandOf(node_.input(kX)));
    std::vector<uint32_t> xs;
    for (int64_t t = 0; t < steps_; ++t) {
      NN_ASSIGN(const uint32_t rows, Rows(x, inputs_, attrs_.batch_first ? t : t * batch_, steps_));
      xs.push_back(rows);
    }
    std::vector<uint32_t> ys(steps * directions), hs, cs;
    for (size_t d = 0; d < directions; ++d) {
      const bool reverse = attrs_.direction == RecurrentDirection::kReverse || d == 1;
      NN_ASSIGN(const Cell cell, CellOf(static_cast<int64_t>(d)));
      NN_ASSIGN(State state, InitialState(static_cast<int64_t>(d)));
      for (size_t k = 0; k < steps; ++k) {
        const size_t t = reverse ? steps - 1 - k : k;
        NN_ASSIGN(state, Step(cell, xs[t], state));
        ys[t * directions + d] = state.y;
      }
      hs.push_back(state.h);
      cs.push_back(state.c);
    }
    NN_RETURN_IF_ERROR(SetResult(0, ys));
    if (node_.outputs().size() > 1) NN_RETURN_IF_ERROR(SetResult(1, hs));
    if (node_.outputs().size() > 2) NN_RETURN_IF_ERROR(SetResult(2, cs));
    return {};
  }

 private:
  using Operands = std::vector<uint32_t>;

  struct State {
    uint32_t h = 0, c = 0;  // [B, H]
    uint32_t y = 0;
  };

  // The operands of a direction that all steps share.
  struct Cell {
    Operands weights;  // between x and the states
    RecurrentActivation function = RecurrentActivation::kTanh;
  };

  uint32_t Matrix(int64_t columns) { return ctx_.AddTemporary({batch_, columns}); }

  // The matrix of a tensor [T, B, n] or [B, T, n] at one step, or of states at one direction: the
  // row of the first sequence is `first`, and there are `count` rows in each sequence.
  Result<uint32_t> Rows(uint32_t v, int64_t columns, int64_t first, int64_t count) {
    if (!tables_.contains(v)) {
      NN_ASSIGN(const uint32_t shape, ctx_.Ints({Dim(batch_ * count), Dim(columns)}));
      tables_[v] = ctx_.AddTemporary({batch_ * count, columns});
      ctx_.AddStep(OperationType::kReshape, {v, shape}, {tables_[v]});
    }
    const uint32_t table = tables_[v];
    if (count == 1) return table;
    Dims rows;
    for (int64_t b = 0; b < batch_; ++b)
      rows.emplace_back(attrs_.batch_first ? first + b * count : first + b);
    NN_ASSIGN(const uint32_t indices, ctx_.Ints(rows));
    const uint32_t y = Matrix(columns);
    ctx_.AddStep(OperationType::kEmbeddingLookup, {indices, table}, {y});
    return y;
  }

  Result<Cell> CellOf(int64_t d) {
    Cell cell;
    cell.function = CellFunctionOf(node_, d)->activation();
    std::vector<int64_t> order = {0};
    if (is_lstm_) order.assign(kLstmGates.begin(), kLstmGates.end());
    for (const auto operand : {kW, kR})
      for (const int64_t g : order) {
        NN_ASSIGN(const uint32_t w, ctx_.AddConstant(GateWeights(node_, operand, d, g)));
        cell.weights.push_back(w);
      }
    for (const int64_t g : kLstmPeepholes) {
      if (!is_lstm_) break;
      uint32_t p = 0;
      if (node_.input(kPeepholes) == nullptr) {
        p = ctx_.Omitted(1);
      } else {
        NN_ASSIGN(p, ctx_.AddConstant(GatePeephole(node_, d, g)));
      }
      cell.weights.push_back(p);
    }
    for (const int64_t g : order) {
      NN_ASSIGN(const uint32_t bias, ctx_.AddConstant(SummedGateBias(node_, d, g)));
      cell.weights.push_back(bias);
    }
    return cell;
  }

  Result<uint32_t> Initial(size_t operand, int64_t d) {
    const Value* const v = node_.input(operand);
    if (v == nullptr) return ctx_.AddConstant(ZeroMatrix(batch_, units_));
    NN_ASSIGN(const uint32_t all, ctx_.OperandOf(v));
    return Rows(all, units_, attrs_.batch_first ? d : d * batch_, attrs_.directions());
  }

  Result<State> InitialState(int64_t d) {
    State s;
    NN_ASSIGN(s.h, Initial(kInitialH, d));
    if (is_lstm_) {
      NN_ASSIGN(s.c, Initial(kInitialC, d));
    }
    return s;
  }

  Result<State> Step(const Cell& cell, uint32_t x, const State& s) {
    return is_lstm_ ? StepLstm(cell, x, s) : StepRnn(cell, x, s);
  }

  Result<State> StepRnn(const Cell& cell, uint32_t x, const State& s) {
    const auto after = RnnActivation(cell.function);
    NN_ASSIGN(const uint32_t fused, ctx_.Int(static_cast<int64_t>(after ? FusedActivation::kNone
                                                                        : FusedActivation::kRelu)));
    Operands operands = {x};
    operands.insert(operands.end(), cell.weights.begin(), cell.weights.end());
    operands.insert(operands.end(), {s.h, fused});
    const uint32_t state = Matrix(units_), y = Matrix(units_);
    ctx_.AddStep(OperationType::kRnn, std::move(operands), {state, y});
    if (!after) return State{state, 0, y};
    const uint32_t activated = Matrix(units_);
    ctx_.AddStep(*after, {y}, {activated});
    return State{activated, 0, activated};
  }

  Result<State> StepLstm(const Cell& cell, uint32_t x, const State& s) {
    const float limit = node_.attrs<LstmAttrs>().cell_clip;
    NN_ASSIGN(const uint32_t activation, ctx_.Int(*LstmActivation(cell.function)));
    NN_ASSIGN(const uint32_t cell_clip, ctx_.Float(std::isfinite(limit) ? limit : 0.0f));
    NN_ASSIGN(const uint32_t no_clip, ctx_.Float(0.0f));
    Operands operands = {x};
    operands.insert(operands.end(), cell.weights.begin(), cell.weights.end());
    // Without a projection.
    operands.insert(operands.end(),
                    {ctx_.Omitted(2), ctx_.Omitted(1), s.h, s.c, activation, cell_clip, no_clip});
    const uint32_t scratch = Matrix(gates_ * units_);
    const State next = {Matrix(units_), Matrix(units_), Matrix(units_)};
    ctx_.AddStep(OperationType::kLstm, std::move(operands), {scratch, next.h, next.c, next.y});
    return next;
  }

  // Result i of matrices in the order of its axes, apart from the batch.
  Status SetResult(size_t i, Operands parts) {
    const Value* const v = node_.output(i);
    NN_ASSIGN(const uint32_t y, ctx_.OperandOf(v));
    NN_ASSIGN(const uint32_t shape, ctx_.Ints(*v->type().dims));
    uint32_t all = parts[0];
    if (const auto count = static_cast<int64_t>(parts.size()); count > 1) {
      NN_ASSIGN(const uint32_t axis, ctx_.Int(attrs_.batch_first ? 1 : 0));
      all =
          attrs_.batch_first ? Matrix(count * units_) : ctx_.AddTemporary({count * batch_, units_});
      parts.push_back(axis);
      ctx_.AddStep(OperationType::kConcatenation, std::move(parts), {all});
    }
    ctx_.AddStep(OperationType::kReshape, {all, shape}, {y});
    return {};
  }

  ExportContext& ctx_;
  const Node& node_;
  const RecurrentAttrs& attrs_;
  bool is_lstm_;
  int64_t gates_, steps_ = 0, batch_ = 0, inputs_ = 0, units_ = 0;
  std::unordered_map<uint32_t, uint32_t> tables_;  // of rows, by the tensor
};

Status WriteLayer(ExportContext& ctx, const Node& node) {
  return LayerWriter(ctx, node).Write();
}

// ---- SVDF ---------------------------------------------------------------------------------------

std::optional<std::string> WhyNotSvdf(const Node& node) {
  const Type& x = node.input(kSvdfX)->type();
  if (!x.const_dims()) return "its shapes must be constant";
  if (node.input(kSvdfState) != nullptr && !IsZeros(*node.input(kSvdfState)))
    return "its state must be zero";
  if (node.outputs().size() > 1) return "its new state is not written";
  return std::nullopt;
}

// The state has an element for each weight, as Android's executor has it.
Status WriteSvdf(ExportContext& ctx, const Node& node) {
  std::vector<uint32_t> operands;
  for (const size_t i : {size_t{kSvdfX}, size_t{kSvdfFeature}, size_t{kSvdfTime}}) {
    NN_ASSIGN(const uint32_t operand, ctx.OperandOf(node.input(i)));
    operands.push_back(operand);
  }
  uint32_t bias = 0;
  if (node.input(kSvdfBias) == nullptr) {
    bias = ctx.Omitted(1);
  } else {
    NN_ASSIGN(bias, ctx.OperandOf(node.input(kSvdfBias)));
  }
  const Dims& time = *node.input(kSvdfTime)->type().dims;
  const int64_t batch = node.input(kSvdfX)->type().dim(0).value();
  const int64_t elements = time[0].value() * time[1].value();
  NN_ASSIGN(const uint32_t before, ctx.AddConstant(ZeroMatrix(batch, elements)));
  NN_ASSIGN(const uint32_t rank, ctx.Int(node.attrs<SvdfAttrs>().rank));
  NN_ASSIGN(const uint32_t activation, ctx.Activation(node));
  operands.insert(operands.end(), {bias, before, rank, activation});
  const uint32_t after = ctx.AddTemporary({batch, elements});
  NN_ASSIGN(const uint32_t y, ctx.OperandOf(ctx.activations().ResultOf(node)));
  ctx.AddStep(OperationType::kSvdf, std::move(operands), {after, y});
  return {};
}

constexpr ExportRow kRecurrentLayerExports[] = {
    {.op = "rnn", .write = WriteLayer, .why_not = WhyNotLayer},
    {.op = "lstm", .write = WriteLayer, .why_not = WhyNotLayer},
    {.op = "svdf", .write = WriteSvdf, .why_not = WhyNotSvdf, .fuses = true},
};

}  // namespace

Family RecurrentLayerFamily() {
  return {.exports = kRecurrentLayerExports};
}

}  // namespace nn::nnapi
