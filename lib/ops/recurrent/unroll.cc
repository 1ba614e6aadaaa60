#include "ops/recurrent/unroll.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/tile.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/recurrent/extended_lstm.h"
#include "ops/recurrent/gates.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/steps.h"
#include "ops/support/term_ops.h"

namespace nn {
namespace {

using enum RecurrentInputs::Index;

// Adds the nodes of one layer before `node`.
class Unroller {
 public:
  Unroller(Graph& graph, Node& node)
      : graph_(graph),
        node_(node),
        steps_(graph, node),
        attrs_(steps_.attrs()),
        units_(steps_.units()),
        gates_(RecurrentGates(node)) {}

  Result<bool> Run() {
    std::vector<RecurrentSteps::Direction> directions;
    for (int64_t d = 0; d < attrs_.directions(); ++d) {
      NN_ASSIGN(const auto direction, RunDirection(d));
      directions.push_back(direction);
    }
    NN_ASSIGN(const std::vector<Value*> outputs, steps_.Join(directions));
    graph_.Replace(&node_, outputs);
    return true;
  }

 private:
  // Direction d of an operand [D, ...], without that axis and with the others as `dims`; absent if
  // it is.
  Term OfDirection(size_t operand, int64_t d, Dims dims) const {
    Value* const v = node_.input(operand);
    if (v == nullptr) return {};
    return Reshape(attrs_.directions() > 1 ? Slice(v, 0, d, d + 1) : v, std::move(dims));
  }

  // The initial state of direction d, [B, H]; zeros if it is absent.
  Result<Value*> Initial(size_t operand, int64_t d) {
    if (Value* const v = node_.input(operand)) return steps_.Initial(v, d);
    return steps_.Add("expand", {0}, ExpandAttrs{steps_.state_dims()});
  }

  Term Activate(const RecurrentFunction& f, Term x) const {
    if (std::isfinite(attrs_.clip)) x = Clip(x, -attrs_.clip, attrs_.clip);
    const float alpha = f.params()[0], beta = f.params()[1];
    switch (f.activation()) {
      case RecurrentActivation::kAffine:
        return x * alpha + beta;
      case RecurrentActivation::kElu:
        return Apply("elu", {x}, AlphaAttrs{alpha});
      case RecurrentActivation::kHardSigmoid:
        return Apply("hard_sigmoid", {x}, HardSigmoidAttrs{alpha, beta});
      case RecurrentActivation::kLeakyRelu:
        return Apply("leaky_relu", {x}, LeakyReluAttrs{alpha});
      case RecurrentActivation::kRelu:
        return Apply("relu", {x});
      case RecurrentActivation::kScaledTanh:
        return Apply("tanh", {x * beta}) * alpha;
      case RecurrentActivation::kSigmoid:
        return Apply("sigmoid", {x});
      case RecurrentActivation::kSoftplus:
        return Apply("softplus", {x});
      case RecurrentActivation::kSoftsign:
        return Apply("softsign", {x});
      case RecurrentActivation::kTanh:
        return Apply("tanh", {x});
      case RecurrentActivation::kThresholdedRelu:
        break;
    }
    return Apply("thresholded_relu", {x}, AlphaAttrs{alpha});
  }

  // The weights [H, K] and the bias [H], if any, of one gate; all steps share them.
  struct Gate {
    Term weights, bias;
  };

  // The rows of gate g of weights [G H, K] and of a bias [G H], if there is one.
  Gate GateOf(const Term& weights, const Term& bias, int64_t g) const {
    if (gates_ == 1) return {weights, bias};
    const int64_t first = g * units_, end = first + units_;
    return {Slice(weights, 0, first, end), bias.is_absent() ? bias : Slice(bias, 0, first, end)};
  }

  static Term Product(const Term& v, const Gate& gate) {
    std::vector<Term> operands = {v, gate.weights};
    if (!gate.bias.is_absent()) operands.push_back(gate.bias);
    return Apply("matmul", std::move(operands), MatmulAttrs{false, true});
  }

  // The gates of one direction.
  struct Weights {
    std::vector<Gate> r;         // by gate
    std::vector<Term> wx;        // by gate: [T, B, H] or [B, T, H]
    std::vector<Term> peephole;  // i, o, f: [H]; empty without
    std::vector<RecurrentFunction> functions;
  };

  // wx + rh of gate g at step t, plus a peephole.
  Term Sum(const Weights& w, size_t g, int64_t t, const Term& h, const Term& c = {}) const {
    const Term sum = steps_.AtStep(w.wx[g], t) + Product(h, w.r[g]);
    if (c.is_absent() || w.peephole.empty()) return sum;
    return w.peephole[g] * c + sum;
  }

  Status StepLstm(const Weights& w, int64_t t, Value*& h, Value*& c) {
    enum : size_t { kI, kO, kF, kN };
    const auto& a = node_.attrs<LstmAttrs>();
    const Term i = Activate(w.functions[0], Sum(w, kI, t, h, c));
    const Term f = a.input_forget ? 1 - i : Activate(w.functions[0], Sum(w, kF, t, h, c));
    const Term n = Activate(w.functions[1], Sum(w, kN, t, h));
    for (const Term& gate : {i, f, n}) NN_RETURN_IF_ERROR(steps_.Build(gate));
    Term next = f * c + i * n;
    if (std::isfinite(a.cell_clip)) next = Clip(next, -a.cell_clip, a.cell_clip);
    const Term o = Activate(w.functions[0], Sum(w, kO, t, h, next));
    NN_ASSIGN(c, steps_.Build(next));
    NN_ASSIGN(h, steps_.Build(o * Activate(w.functions[2], next)));
    return {};
  }

  Status StepGru(const Weights& w, int64_t t, Value*& h) {
    enum : size_t { kZ, kReset, kNew };
    const Term z = Activate(w.functions[0], Sum(w, kZ, t, h));
    const Term reset = Activate(w.functions[0], Sum(w, kReset, t, h));
    const Term sum = node_.attrs<GruAttrs>().linear_before_reset
                         ? reset * Product(h, w.r[kNew]) + steps_.AtStep(w.wx[kNew], t)
                         : Sum(w, kNew, t, reset * h);
    NN_ASSIGN(h, steps_.Build(z * h + (1 - z) * Activate(w.functions[1], sum)));
    return {};
  }

  Status Step(const Weights& w, int64_t t, Value*& h, Value*& c) {
    if (gates_ == 4) return StepLstm(w, t, h, c);
    if (gates_ == 3) return StepGru(w, t, h);
    NN_ASSIGN(h, steps_.Build(Activate(w.functions[0], Sum(w, 0, t, h))));
    return {};
  }

  Result<Weights> WeightsOf(int64_t d) const {
    const int64_t rows = gates_ * units_;
    Weights w;
    NN_ASSIGN(w.functions, RecurrentFunctionsOf(node_, d));
    const Term input_weights = OfDirection(kW, d, {Dim(rows), Dim(steps_.inputs())});
    const Term state_weights = OfDirection(kR, d, {Dim(rows), Dim(units_)});
    const Term biases = OfDirection(kBias, d, {Dim(2 * rows)});
    Term w_bias, r_bias;
    if (!biases.is_absent()) {
      w_bias = Slice(biases, 0, 0, rows);
      r_bias = Slice(biases, 0, rows, 2 * rows);
    }
    for (int64_t g = 0; g < gates_; ++g) {
      w.wx.push_back(Product(node_.input(kX), GateOf(input_weights, w_bias, g)));
      w.r.push_back(GateOf(state_weights, r_bias, g));
    }
    const Term peepholes = OfDirection(kPeepholes, d, {Dim(3 * units_)});
    for (int64_t g = 0; !peepholes.is_absent() && g < 3; ++g)
      w.peephole.push_back(Slice(peepholes, 0, g * units_, (g + 1) * units_));
    return w;
  }

  Result<RecurrentSteps::Direction> RunDirection(int64_t d) {
    NN_ASSIGN(const Weights w, WeightsOf(d));
    for (const Term& wx : w.wx) NN_RETURN_IF_ERROR(steps_.Build(wx));
    NN_ASSIGN(Value* const h, Initial(kInitialH, d));
    Value* c = nullptr;
    if (gates_ == 4) {
      NN_ASSIGN(c, Initial(kInitialC, d));
    }
    Value* const zero = graph_.AddConstant(Tensor::Scalar(0.0f));
    return steps_.Walk(d, h, c, zero, [&](int64_t t, Value*& next_h, Value*& next_c) {
      return Step(w, t, next_h, next_c);
    });
  }

  Graph& graph_;
  Node& node_;
  RecurrentSteps steps_;
  const RecurrentAttrs& attrs_;
  int64_t units_, gates_;
};

// Null for the other recurrent layers.
const ExtendedLstmAttrs* ExtendedAttrsOf(const Node& node) {
  return node.attrs().Is<ExtendedLstmAttrs>() ? &node.attrs<ExtendedLstmAttrs>() : nullptr;
}

}  // namespace

Dim StepsOfLayer(const Node& node) {
  const auto* const extended = ExtendedAttrsOf(node);
  const bool batch_first =
      extended != nullptr ? extended->batch_first : RecurrentAttrsOf(node).batch_first;
  return node.input(0)->type().dim(batch_first ? 1 : 0);
}

std::optional<std::string> WhyNotUnrolled(const Node& node, int64_t most) {
  const Type& x = node.input(0)->type();
  if (x.dtype != DType::kF32 || x.quantized())
    return fmt::format("it can be written step by step on f32 only, not {}", DTypeName(x.dtype));
  return WhyNotSteps(node, most);
}

std::optional<std::string> WhyNotSteps(const Node& node, int64_t most) {
  const Type& x = node.input(0)->type();
  const Type& r = node.input(2)->type();
  if (!x.ranked() || !r.ranked()) return "its shapes are not known";
  const Dim steps = StepsOfLayer(node);
  const int64_t directions =
      ExtendedAttrsOf(node) != nullptr ? 1 : RecurrentAttrsOf(node).directions();
  if (!steps.is_const())
    return fmt::format(
        "it can be written step by step only for a constant number of steps, not {}; set it with "
        "--input-shape or --unroll",
        steps.ToString());
  if (steps.value() < 1) return "it has no steps";
  most = std::max(most, kMaxUnrolledSteps / directions);
  if (steps.value() > most)
    return fmt::format("it has {} steps, but at most {} are written step by step; use --unroll {}",
                       steps.value(), most, steps.value());
  if (!r.dim(r.rank() - 1).is_const() || !x.dim(2).is_const())
    return "its number of units is not known";
  return std::nullopt;
}

Result<bool> UnrollRecurrent(Graph& graph, Node& node, int64_t most) {
  if (WhyNotUnrolled(node, most)) return false;
  if (ExtendedAttrsOf(node) != nullptr) return ExpandExtendedLstm(graph, node);
  return Unroller(graph, node).Run();
}

Result<bool> UnrollRecurrent(Graph& graph, Node& node) {
  return UnrollRecurrent(graph, node, 0);
}

}  // namespace nn
