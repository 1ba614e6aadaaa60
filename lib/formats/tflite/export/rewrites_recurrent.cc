// Rewrites of rnn and lstm toward the operators of ops/recurrent_layer.cc, which have neither final
// states nor lengths. They keep all bits.
#include <limits>
#include <numeric>
#include <vector>

#include "formats/tflite/export/rewrites.h"
#include "formats/tflite/import/recurrent_layer.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "rewrite/expand.h"

namespace nn::tflite {
namespace {

using enum RecurrentInputs::Index;

// The most steps of a layer with lengths, which are numbered by a constant.
constexpr int64_t kMaxMaskedSteps = int64_t{1} << 20;

bool IsUsed(const Graph& graph, const Value* v) {
  return !v->uses().empty() || graph.IsOutput(v);
}

// Whether a result after the final state y_h is used.
bool UsesCellState(const Graph& graph, const Node& node) {
  for (size_t i = 2; i < node.outputs().size(); ++i)
    if (IsUsed(graph, node.output(i))) return true;
  return false;
}

}  // namespace

// The final state of a layer whose sequences have all steps is a part of y.
Result<bool> FinalStateAsSlice(Graph& graph, Node& node) {
  const RecurrentAttrs& a = RecurrentAttrsOf(node);
  if (node.outputs().size() < 2 || UsesCellState(graph, node)) return false;
  const Type& x = node.input(kX)->type();
  if (!x.ranked() || x.dim(a.batch_first ? 1 : 0) == 0) return false;
  if (WhyNotLayer(node, {.final_states = true})) return false;
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  NN_ASSIGN(Node* const layer, AddLike(graph, node, node.op_name(), inputs, node.attrs()));
  Value* const y = layer->output();
  const auto add = [&](std::string_view op, std::vector<Value*> operands,
                       Attrs attrs) -> Result<Value*> {
    NN_ASSIGN(Node* const n, AddLike(graph, node, op, std::move(operands), std::move(attrs)));
    return n->output();
  };
  Expansion e(graph, node);
  if (IsUsed(graph, node.output(1))) {
    const int64_t time = a.batch_first ? 1 : 0;
    const int64_t directions = a.batch_first ? 2 : 1;
    std::vector<Value*> states;
    for (int64_t d = 0; d < a.directions(); ++d) {
      Value* part = y;
      if (a.directions() > 1) {
        NN_ASSIGN(part, add("slice", {part}, SliceAttrs{{directions}, {d}, {d + 1}, {}}));
      }
      constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
      const bool first = IsReverse(a, d);  // which is its last step
      NN_ASSIGN(part,
                add("slice", {part}, SliceAttrs{{time}, {first ? 0 : -1}, {first ? 1 : kEnd}, {}}));
      NN_ASSIGN(part, add("squeeze", {part}, AxesAttrs{{time}}));
      states.push_back(part);
    }
    if (states.size() > 1) {
      NN_ASSIGN(states[0], add("concat", states, ConcatAttrs{a.batch_first ? 1 : 0}));
    }
    e.ReplaceOutput(1, states[0]);
  }
  e.Replace(y);
  return true;
}

namespace {

// Adds a layer over all steps for each direction of a layer with lengths.
class LengthMask {
 public:
  LengthMask(Graph& graph, Node& node)
      : node_(node),
        a_(RecurrentAttrsOf(node)),
        e_(graph, node),
        lengths_(node.input(kLengths)),
        x_(*node.input(kX)->type().dims),
        time_(a_.batch_first ? 1 : 0) {}

  Result<bool> Run(bool with_state) {
    NN_ASSIGN(Value* const has, HasSteps());
    NN_ASSIGN(Value* const zero, e_.Number(DType::kF32, 0));
    std::vector<Value*> ys, states;
    for (int64_t d = 0; d < a_.directions(); ++d) {
      Value* x = node_.input(kX);
      if (IsReverse(a_, d)) {
        NN_ASSIGN(x, Reversed(x));
      }
      NN_ASSIGN(Value * y, Layer(x, d));
      if (with_state) {
        NN_ASSIGN(Value* const state, LastStep(y));
        states.push_back(state);
      }
      if (IsReverse(a_, d)) {
        NN_ASSIGN(y, Reversed(y));
      }
      NN_ASSIGN(y, e_.Add("select", {has, y, zero}));
      ys.push_back(y);
    }
    if (with_state) {
      NN_ASSIGN(Value* const state, Joined(states, a_.batch_first ? 1 : 0));
      e_.ReplaceOutput(1, state);
    }
    NN_ASSIGN(Value* const y, Joined(ys, a_.batch_first ? 2 : 1));
    return e_.Replace(y);
  }

 private:
  const Dim& batch() const { return x_[static_cast<size_t>(1 - time_)]; }

  // Whether a sequence has a step, with the axes of y.
  Result<Value*> HasSteps() {
    const int64_t steps = x_[static_cast<size_t>(time_)].value();
    std::vector<int32_t> numbers(static_cast<size_t>(steps));
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto shape = a_.batch_first ? std::vector<int64_t>{1, steps, 1, 1}
                                      : std::vector<int64_t>{steps, 1, 1, 1};
    Value* const step = e_.Constant(Tensor::Of<int32_t>(shape, numbers));
    const Dims of_batch = a_.batch_first ? Dims{batch(), 1, 1, 1} : Dims{1, 1, batch(), 1};
    NN_ASSIGN(Value* const lengths, e_.Add("reshape", {lengths_}, ReshapeAttrs{of_batch}));
    return e_.Add("greater", {lengths, step});
  }

  // x or y with the steps of each sequence in the opposite order.
  Result<Value*> Reversed(Value* v) {
    const int64_t batch_axis = a_.batch_first ? 0 : v->type().rank() - 2;
    return e_.Add("reverse_sequence", {v, lengths_}, ReverseSequenceAttrs{batch_axis, time_});
  }

  Result<Value*> Joined(const std::vector<Value*>& parts, int64_t axis) {
    if (parts.size() == 1) return parts[0];
    return e_.Add("concat", parts, ConcatAttrs{axis});
  }

  // The functions of one direction; all lists are empty for the default.
  template <typename A>
  Attrs OneDirection(int64_t d) const {
    A a = node_.attrs<A>();
    const auto count = static_cast<std::ptrdiff_t>(a.activations.size()) / a.directions();
    const auto keep = [&](auto& list) {
      list.erase(list.begin() + (d + 1) * count, list.end());
      list.erase(list.begin(), list.begin() + d * count);
    };
    keep(a.activations);
    keep(a.alpha);
    keep(a.beta);
    a.direction = RecurrentDirection::kForward;
    return a;
  }

  // Direction d of a constant [D, ...].
  Value* OfDirection(size_t operand, int64_t d) {
    Value* const v = node_.input(operand);
    if (v == nullptr || a_.directions() == 1) return v;
    std::vector<int64_t> dims = v->constant().dims();
    dims[0] = 1;
    const size_t bytes = v->constant().byte_size() / static_cast<size_t>(a_.directions());
    Blob part = v->constant().blob().Slice(static_cast<size_t>(d) * bytes, bytes);
    return e_.Constant(Tensor(v->dtype(), std::move(dims), std::move(part)));
  }

  // The forward layer with the operands of direction d, from states that are zero.
  Result<Value*> Layer(Value* x, int64_t d) {
    std::vector<Value*> operands = {x};
    for (const size_t i : {size_t{kW}, size_t{kR}, size_t{kBias}})
      operands.push_back(OfDirection(i, d));
    if (!node_.Is("lstm")) return e_.Add("rnn", operands, OneDirection<RecurrentAttrs>(d));
    operands.insert(operands.end(), 3, nullptr);
    operands.push_back(OfDirection(kPeepholes, d));
    return e_.Add("lstm", operands, OneDirection<LstmAttrs>(d));
  }

  // y after the last step of each sequence, which is zero without a step.
  Result<Value*> LastStep(Value* y) {
    if (!a_.batch_first) {
      NN_ASSIGN(y, e_.Add("transpose", {y}, TransposeAttrs{{2, 0, 1, 3}}));
    }
    const std::vector<int64_t> dims = {batch().value(), 1, 1, y->type().dim(3).value()};
    NN_ASSIGN(TensorBuilder zeros, TensorBuilder::Create(DType::kF32, dims));
    for (int64_t i = 0; i < zeros.elements(); ++i) zeros.SetDouble(i, 0);
    NN_ASSIGN(y, e_.Add("concat", {e_.Constant(zeros.Finish()), y}, ConcatAttrs{1}));
    NN_ASSIGN(y, e_.Add("gather", {y, lengths_}, GatherAttrs{1, 1}));  // [B, 1, H]
    return a_.batch_first ? Result<Value*>(y) : e_.Add("transpose", {y}, TransposeAttrs{{1, 0, 2}});
  }

  const Node& node_;
  const RecurrentAttrs& a_;
  Expansion e_;
  Value* lengths_;
  Dims x_;
  int64_t time_;
};

}  // namespace

// A layer with lengths is one over all steps, whose results beyond the lengths are replaced by
// zeros. A length that is out of range need not be an error any more.
Result<bool> LengthsAsMask(Graph& graph, Node& node) {
  if (node.input(kLengths) == nullptr || !IsPlainF32(node) || UsesCellState(graph, node) ||
      WhyNotLayer(node, {.lengths = true, .final_states = true}))
    return false;
  const Dim& steps = node.input(kX)->type().dim(RecurrentAttrsOf(node).batch_first ? 1 : 0);
  if (!steps.is_const() || steps.value() < 1 || steps.value() > kMaxMaskedSteps) return false;
  const bool with_state = node.outputs().size() > 1 && IsUsed(graph, node.output(1));
  return LengthMask(graph, node).Run(with_state);
}

}  // namespace nn::tflite
