// extended_lstm as elementary operators, step by step.
#include <array>
#include <cmath>
#include <utility>

#include "ops/array/arrange/tile.h"
#include "ops/math/matmul.h"
#include "ops/nn/norm.h"
#include "ops/recurrent/extended_lstm.h"
#include "ops/support/insert_before.h"
#include "ops/support/term_ops.h"

namespace nn {
namespace {

using In = ExtendedLstmInputs;

// Adds the nodes of one layer before `node`.
class ExtendedSteps {
 public:
  ExtendedSteps(Graph& graph, Node& node)
      : graph_(graph),
        node_(node),
        add_(graph, node),
        a_(node.attrs<ExtendedLstmAttrs>()),
        cells_(node.input(In::kR)->type().dim(0).value() / static_cast<int64_t>(a_.gates())),
        outputs_(node.input(In::kR)->type().dim(1)),
        batch_(node.input(In::kX)->type().dim(a_.batch_first ? 0 : 1)),
        steps_(node.input(In::kX)->type().dim(StepAxis()).value()) {}

  Result<bool> Run() {
    for (size_t g = 0; g < a_.gates(); ++g) {
      gates_.push_back(GateOf(g));
      NN_RETURN_IF_ERROR(add_.Build(gates_.back().wx));
    }
    NN_ASSIGN(Value * h, Initial(In::kInitialH, outputs_));
    NN_ASSIGN(Value * c, Initial(In::kInitialC, Dim(cells_)));
    const Dims with_step =
        a_.batch_first ? Dims{batch_, Dim(1), outputs_} : Dims{Dim(1), batch_, outputs_};
    std::vector<Term> all;
    for (int64_t t = 0; t < steps_; ++t) {
      NN_RETURN_IF_ERROR(Step(t, h, c));
      all.push_back(Reshape(h, with_step));
    }
    NN_ASSIGN(Value* const y, add_.Build(Concat(std::move(all), StepAxis())));
    std::vector<Value*> results = {y, h, c};
    results.resize(node_.outputs().size());
    graph_.Replace(&node_, results);
    return true;
  }

 private:
  // The operands of a gate. Some are absent.
  struct Gate {
    Term wx;  // of all steps, plus the bias if there is no norm
    Term r;
    Term norm;
    Term bias;  // of the norm
    Term peephole;
  };

  int StepAxis() const { return a_.batch_first ? 1 : 0; }
  Value* Input(size_t i) const { return i < node_.inputs().size() ? node_.input(i) : nullptr; }

  // The part of an operand for the gate at position `at`; absent if there is none.
  Term OfGate(size_t input, size_t at) const {
    if (Input(input) == nullptr) return {};
    const auto first = static_cast<int64_t>(at) * cells_;
    return Slice(Input(input), 0, first, first + cells_);
  }
  static Term Product(const Term& v, const Term& weights, const Term& bias) {
    std::vector<Term> operands = {v, weights};
    if (!bias.is_absent()) operands.push_back(bias);
    return Apply("matmul", std::move(operands), MatmulAttrs{false, true});
  }

  Gate GateOf(size_t g) const {
    Gate gate;
    gate.r = OfGate(In::kR, g);
    gate.norm = OfGate(In::kNorm, g);
    const bool has_norm = !gate.norm.is_absent();
    const Term bias = OfGate(In::kBias, g);
    gate.wx = Product(Input(In::kX), OfGate(In::kW, g), has_norm ? Term() : bias);
    if (has_norm && bias.is_absent())
      gate.bias = Tensor::Of({cells_}, std::vector<float>(static_cast<size_t>(cells_)));
    else if (has_norm)
      gate.bias = bias;
    const size_t without = a_.coupled ? 1 : 2;
    if (g != without) gate.peephole = OfGate(In::kPeepholes, g > without ? g - 1 : g);
    return gate;
  }

  // A state [B, n]; zeros if it is absent.
  Result<Value*> Initial(size_t input, const Dim& n) {
    if (Input(input) != nullptr) return Input(input);
    return add_.Add("expand", {0}, ExpandAttrs{{batch_, n}});
  }

  Term Activated(const Term& v) const {
    switch (a_.activation) {
      case CellActivation::kRelu:
        return Apply("relu", {v});
      case CellActivation::kRelu6:
        return Clip(v, 0, 6);
      case CellActivation::kTanh:
        break;
    }
    return Apply("tanh", {v});
  }
  static Term Limited(const Term& v, float limit) {
    return std::isfinite(limit) ? Clip(v, -limit, limit) : v;
  }

  // The argument of a gate's function.
  Term Sum(const Gate& gate, int64_t t, const Term& h, const Term& c) const {
    const Term wx = Reshape(Slice(gate.wx, StepAxis(), t, t + 1), {batch_, Dim(cells_)});
    Term sum = wx + Product(h, gate.r, {});
    if (!gate.peephole.is_absent()) sum = gate.peephole * c + sum;
    if (gate.norm.is_absent()) return sum;
    return Apply("layer_norm", {sum, gate.norm, gate.bias}, LayerNormAttrs{1, 1e-8f});
  }
  Term Sigmoid(const Gate& gate, int64_t t, const Term& h, const Term& c) const {
    return Apply("sigmoid", {Sum(gate, t, h, c)});
  }

  // What the weights of a state multiply.
  Term Rounded(const Term& v) const {
    if (a_.state_rounding == StateRounding::kNone) return v;
    return Apply("dynamic_fake_quantize", {v},
                 DynamicFakeQuantizeAttrs{{1}, a_.state_rounding == StateRounding::kSymmetric});
  }

  Status Step(int64_t t, Value*& h, Value*& c) {
    const Term x = Rounded(h);
    const size_t first = a_.coupled ? 0 : 1;
    const Term f = Sigmoid(gates_[first], t, x, c);
    const Term i = a_.coupled ? 1 - f : Sigmoid(gates_[0], t, x, c);
    const Term n = Activated(Sum(gates_[first + 1], t, x, c));
    const Term next = Limited(f * c + i * n, a_.cell_clip);
    const Term o = Sigmoid(gates_[first + 2], t, x, next);
    Term y = o * Activated(next);
    if (Value* const weights = Input(In::kProjection))
      y = Limited(Product(Rounded(y), weights, Input(In::kProjectionBias)), a_.projection_clip);
    NN_ASSIGN(c, add_.Build(next));
    NN_ASSIGN(h, add_.Build(y));
    return {};
  }

  Graph& graph_;
  Node& node_;
  InsertBefore add_;
  const ExtendedLstmAttrs& a_;
  int64_t cells_;
  Dim outputs_, batch_;
  int64_t steps_;
  std::vector<Gate> gates_;
};

}  // namespace

Result<bool> ExpandExtendedLstm(Graph& graph, Node& node) {
  return ExtendedSteps(graph, node).Run();
}

}  // namespace nn
