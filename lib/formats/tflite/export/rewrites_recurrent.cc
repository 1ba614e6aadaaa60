// Rewrites of rnn and lstm toward the operators of ops/recurrent_layer.cc, which have neither final
// states nor lengths. They keep all bits.
#include <limits>
#include <numeric>
#include <vector>

#include "formats/tflite/export/rewrites.h"
#include "formats/tflite/import/recurrent_layer.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn::tflite {
namespace {

using enum RecurrentInputs::Index;

// Limit of TensorFlow Lite: steps of a written recurrent layer with lengths. A constant numbers
// them.
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
  ExpansionLike e(graph, node);
  NN_ASSIGN(Value* const y, e.Add(node.op_name(), node.inputs(), node.attrs()));
  if (IsUsed(graph, node.output(1))) {
    const int64_t time = a.batch_first ? 1 : 0;
    const int64_t directions = a.batch_first ? 2 : 1;
    std::vector<Term> states;
    for (int64_t d = 0; d < a.directions(); ++d) {
      Term part = y;
      if (a.directions() > 1)
        part = Apply("slice", {part}, SliceAttrs{{directions}, {d}, {d + 1}, {}});
      constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
      const bool first = IsReverse(a, d);  // which is its last step
      part = Apply("slice", {part}, SliceAttrs{{time}, {first ? 0 : -1}, {first ? 1 : kEnd}, {}});
      states.push_back(Squeeze(part, {time}));
    }
    NN_ASSIGN(Value* const state, e.Build(Concat(std::move(states), a.batch_first ? 1 : 0)));
    e.ReplaceOutput(1, state);
  }
  return e.Replace(y);
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
    const Term has = HasSteps(), zero = Tensor::Scalar(0.0f);
    std::vector<Term> ys, states;
    for (int64_t d = 0; d < a_.directions(); ++d) {
      const Term x = node_.input(kX);
      const bool reverse = IsReverse(a_, d);
      NN_ASSIGN(Value* const y, e_.Build(Layer(reverse ? Reversed(x, 3) : x, d)));
      if (with_state) {
        NN_ASSIGN(Term state, LastStep(y));
        states.push_back(std::move(state));
      }
      ys.push_back(Select(has, reverse ? Reversed(y, 4) : y, zero));
    }
    if (with_state) {
      NN_ASSIGN(Value* const state, e_.Build(Concat(std::move(states), a_.batch_first ? 1 : 0)));
      e_.ReplaceOutput(1, state);
    }
    return e_.Replace(Concat(std::move(ys), a_.batch_first ? 2 : 1));
  }

 private:
  const Dim& batch() const { return x_[static_cast<size_t>(1 - time_)]; }

  // Whether a sequence has a step, with the axes of y.
  Term HasSteps() const {
    const int64_t steps = x_[static_cast<size_t>(time_)].value();
    std::vector<int32_t> numbers(static_cast<size_t>(steps));
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto shape = a_.batch_first ? std::vector<int64_t>{1, steps, 1, 1}
                                      : std::vector<int64_t>{steps, 1, 1, 1};
    const Dims of_batch = a_.batch_first ? Dims{batch(), 1, 1, 1} : Dims{1, 1, batch(), 1};
    return Greater(Reshape(lengths_, of_batch), Tensor::Of<int32_t>(shape, numbers));
  }

  // x or y, of a rank, with the steps of each sequence in the opposite order.
  Term Reversed(const Term& v, int64_t rank) const {
    const int64_t batch_axis = a_.batch_first ? 0 : rank - 2;
    return Apply("reverse_sequence", {v, lengths_}, ReverseSequenceAttrs{batch_axis, time_});
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
  Term OfDirection(size_t operand, int64_t d) const {
    Value* const v = node_.input(operand);
    if (v == nullptr || a_.directions() == 1) return v;
    std::vector<int64_t> dims = v->constant().dims();
    dims[0] = 1;
    const size_t bytes = v->constant().byte_size() / static_cast<size_t>(a_.directions());
    Blob part = v->constant().blob().Slice(static_cast<size_t>(d) * bytes, bytes);
    return Tensor(v->dtype(), std::move(dims), std::move(part));
  }

  // The forward layer with the operands of direction d, from states that are zero.
  Term Layer(const Term& x, int64_t d) const {
    std::vector<Term> operands = {x};
    for (const size_t i : {size_t{kW}, size_t{kR}, size_t{kBias}})
      operands.push_back(OfDirection(i, d));
    if (!node_.Is<LstmAttrs>())
      return Apply("rnn", std::move(operands), OneDirection<RecurrentAttrs>(d));
    operands.insert(operands.end(), 3, Term());
    operands.push_back(OfDirection(kPeepholes, d));
    return Apply("lstm", std::move(operands), OneDirection<LstmAttrs>(d));
  }

  // y after the last step of each sequence, which is zero without a step.
  Result<Term> LastStep(Value* y) const {
    const std::vector<int64_t> dims = {batch().value(), 1, 1, y->type().dim(3).value()};
    NN_ASSIGN(TensorBuilder zeros, TensorBuilder::Create(DType::kF32, dims));
    for (int64_t i = 0; i < zeros.elements(); ++i) zeros.SetDouble(i, 0);
    const Term steps = a_.batch_first ? Term(y) : Transpose(y, {2, 0, 1, 3});
    const Term last = Apply("gather", {Concat({zeros.Finish(), steps}, 1), lengths_},
                            GatherAttrs{1, 1});  // [B, 1, H]
    return a_.batch_first ? last : Transpose(last, {1, 0, 2});
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
