#include "ops/recurrent/unroll.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/recurrent/extended_lstm.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/steps.h"

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
        gates_(node.Is("lstm")  ? 4
               : node.Is("gru") ? 3
                                : 1) {}

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
  Result<Value*> Add(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {}) {
    return steps_.Add(op, std::move(inputs), std::move(attrs));
  }
  Result<Value*> Part(Value* v, int64_t axis, int64_t begin, int64_t end) {
    return steps_.Part(v, axis, begin, end);
  }
  Result<Value*> Number(std::string_view op, Value* x, float v) {
    return Add(op, {x, graph_.AddConstant(Tensor::Scalar(v))});
  }

  // Direction d of an operand [D, ...], without that axis and with the others as `dims`; null if
  // it is absent.
  Result<Value*> OfDirection(size_t operand, int64_t d, Dims dims) {
    Value* v = node_.input(operand);
    if (v == nullptr) return nullptr;
    if (attrs_.directions() > 1) {
      NN_ASSIGN(v, Part(v, 0, d, d + 1));
    }
    return steps_.Reshape(v, std::move(dims));
  }

  // The initial state of direction d, [B, H]; zeros if it is absent.
  Result<Value*> Initial(size_t operand, int64_t d) {
    if (Value* const v = node_.input(operand)) return steps_.Initial(v, d);
    Value* const zero = graph_.AddConstant(Tensor::Scalar(0.0f));
    return Add("expand", {zero}, ExpandAttrs{steps_.state_dims()});
  }

  Result<Value*> Activate(const RecurrentFunction& f, Value* x) {
    if (std::isfinite(attrs_.clip)) {
      NN_ASSIGN(x, Add("clip", {x}, ClipAttrs{-attrs_.clip, attrs_.clip}));
    }
    const float alpha = f.params()[0], beta = f.params()[1];
    switch (f.activation()) {
      case RecurrentActivation::kAffine: {
        NN_ASSIGN(x, Number("mul", x, alpha));
        return Number("add", x, beta);
      }
      case RecurrentActivation::kElu:
        return Add("elu", {x}, AlphaAttrs{alpha});
      case RecurrentActivation::kHardSigmoid:
        return Add("hard_sigmoid", {x}, HardSigmoidAttrs{alpha, beta});
      case RecurrentActivation::kLeakyRelu:
        return Add("leaky_relu", {x}, LeakyReluAttrs{alpha});
      case RecurrentActivation::kRelu:
        return Add("relu", {x});
      case RecurrentActivation::kScaledTanh: {
        NN_ASSIGN(x, Number("mul", x, beta));
        NN_ASSIGN(x, Add("tanh", {x}));
        return Number("mul", x, alpha);
      }
      case RecurrentActivation::kSigmoid:
        return Add("sigmoid", {x});
      case RecurrentActivation::kSoftplus:
        return Add("softplus", {x});
      case RecurrentActivation::kSoftsign:
        return Add("softsign", {x});
      case RecurrentActivation::kTanh:
        return Add("tanh", {x});
      case RecurrentActivation::kThresholdedRelu:
        break;
    }
    return Add("thresholded_relu", {x}, AlphaAttrs{alpha});
  }

  // The weights and the bias of one gate; all steps share them.
  struct Gate {
    Value* weights = nullptr;  // [H, K]
    Value* bias = nullptr;     // [H]; null without
  };

  // The rows of gate g of weights [G H, K] and a bias [G H] or null.
  Result<Gate> GateOf(Value* weights, Value* bias, int64_t g) {
    if (gates_ > 1) {
      NN_ASSIGN(weights, Part(weights, 0, g * units_, (g + 1) * units_));
      if (bias != nullptr) {
        NN_ASSIGN(bias, Part(bias, 0, g * units_, (g + 1) * units_));
      }
    }
    return Gate{weights, bias};
  }

  Result<Value*> Product(Value* v, const Gate& gate) {
    std::vector<Value*> operands = {v, gate.weights};
    if (gate.bias != nullptr) operands.push_back(gate.bias);
    return Add("matmul", std::move(operands), MatmulAttrs{false, true});
  }

  // The gates of one direction.
  struct Weights {
    std::vector<Gate> r;           // by gate
    std::vector<Value*> wx;        // by gate: [T, B, H] or [B, T, H]
    std::vector<Value*> peephole;  // i, o, f: [H]; empty without
    std::vector<RecurrentFunction> functions;
  };

  // wx + rh of gate g at step t, plus a peephole.
  Result<Value*> Sum(const Weights& w, int64_t g, int64_t t, Value* h, Value* c = nullptr) {
    NN_ASSIGN(Value* const wx, steps_.StepOf(w.wx[static_cast<size_t>(g)], t));
    NN_ASSIGN(Value* const rh, Product(h, w.r[static_cast<size_t>(g)]));
    NN_ASSIGN(Value * sum, Add("add", {wx, rh}));
    if (c == nullptr || w.peephole.empty()) return sum;
    NN_ASSIGN(Value* const peephole, Add("mul", {w.peephole[static_cast<size_t>(g)], c}));
    return Add("add", {peephole, sum});
  }

  Status StepLstm(const Weights& w, int64_t t, Value*& h, Value*& c) {
    enum : int64_t { kI, kO, kF, kN };
    NN_ASSIGN(Value * i, Sum(w, kI, t, h, c));
    NN_ASSIGN(i, Activate(w.functions[0], i));
    Value* f = nullptr;
    if (node_.attrs<LstmAttrs>().input_forget) {
      NN_ASSIGN(f, Add("sub", {graph_.AddConstant(Tensor::Scalar(1.0f)), i}));
    } else {
      NN_ASSIGN(f, Sum(w, kF, t, h, c));
      NN_ASSIGN(f, Activate(w.functions[0], f));
    }
    NN_ASSIGN(Value * n, Sum(w, kN, t, h));
    NN_ASSIGN(n, Activate(w.functions[1], n));
    NN_ASSIGN(Value* const kept, Add("mul", {f, c}));
    NN_ASSIGN(Value* const added, Add("mul", {i, n}));
    NN_ASSIGN(Value * next, Add("add", {kept, added}));
    if (const float limit = node_.attrs<LstmAttrs>().cell_clip; std::isfinite(limit)) {
      NN_ASSIGN(next, Add("clip", {next}, ClipAttrs{-limit, limit}));
    }
    NN_ASSIGN(Value * o, Sum(w, kO, t, h, next));
    NN_ASSIGN(o, Activate(w.functions[0], o));
    NN_ASSIGN(Value* const shown, Activate(w.functions[2], next));
    NN_ASSIGN(h, Add("mul", {o, shown}));
    c = next;
    return {};
  }

  Status StepGru(const Weights& w, int64_t t, Value*& h) {
    enum : int64_t { kZ, kReset, kNew };
    NN_ASSIGN(Value * z, Sum(w, kZ, t, h));
    NN_ASSIGN(z, Activate(w.functions[0], z));
    NN_ASSIGN(Value * reset, Sum(w, kReset, t, h));
    NN_ASSIGN(reset, Activate(w.functions[0], reset));
    Value* n = nullptr;
    if (node_.attrs<GruAttrs>().linear_before_reset) {
      NN_ASSIGN(Value* const rh, Product(h, w.r[kNew]));
      NN_ASSIGN(Value* const kept, Add("mul", {reset, rh}));
      NN_ASSIGN(Value* const wx, steps_.StepOf(w.wx[kNew], t));
      NN_ASSIGN(n, Add("add", {kept, wx}));
    } else {
      NN_ASSIGN(Value* const kept, Add("mul", {reset, h}));
      NN_ASSIGN(n, Sum(w, kNew, t, kept));
    }
    NN_ASSIGN(n, Activate(w.functions[1], n));
    NN_ASSIGN(Value* const old, Add("mul", {z, h}));
    NN_ASSIGN(Value* const rest, Add("sub", {graph_.AddConstant(Tensor::Scalar(1.0f)), z}));
    NN_ASSIGN(Value* const fresh, Add("mul", {rest, n}));
    NN_ASSIGN(h, Add("add", {old, fresh}));
    return {};
  }

  Status Step(const Weights& w, int64_t t, Value*& h, Value*& c) {
    if (gates_ == 4) return StepLstm(w, t, h, c);
    if (gates_ == 3) return StepGru(w, t, h);
    NN_ASSIGN(h, Sum(w, 0, t, h));
    NN_ASSIGN(h, Activate(w.functions[0], h));
    return {};
  }

  Result<Weights> WeightsOf(int64_t d) {
    const int64_t rows = gates_ * units_;
    Weights w;
    NN_ASSIGN(w.functions, RecurrentFunctionsOf(node_, d));
    NN_ASSIGN(Value* const input_weights, OfDirection(kW, d, {Dim(rows), Dim(steps_.inputs())}));
    NN_ASSIGN(Value* const state_weights, OfDirection(kR, d, {Dim(rows), Dim(units_)}));
    NN_ASSIGN(Value* const biases, OfDirection(kBias, d, {Dim(2 * rows)}));
    Value* w_bias = nullptr;
    Value* r_bias = nullptr;
    if (biases != nullptr) {
      NN_ASSIGN(w_bias, Part(biases, 0, 0, rows));
      NN_ASSIGN(r_bias, Part(biases, 0, rows, 2 * rows));
    }
    for (int64_t g = 0; g < gates_; ++g) {
      NN_ASSIGN(const Gate input, GateOf(input_weights, w_bias, g));
      NN_ASSIGN(Value* const wx, Product(node_.input(kX), input));
      w.wx.push_back(wx);
      NN_ASSIGN(const Gate state, GateOf(state_weights, r_bias, g));
      w.r.push_back(state);
    }
    NN_ASSIGN(Value* const peepholes, OfDirection(kPeepholes, d, {Dim(3 * units_)}));
    for (int64_t g = 0; peepholes != nullptr && g < 3; ++g) {
      NN_ASSIGN(Value* const p, Part(peepholes, 0, g * units_, (g + 1) * units_));
      w.peephole.push_back(p);
    }
    return w;
  }

  Result<RecurrentSteps::Direction> RunDirection(int64_t d) {
    NN_ASSIGN(const Weights w, WeightsOf(d));
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

}  // namespace

Dim StepsOfLayer(const Node& node) {
  const bool batch_first = node.Is("extended_lstm") ? node.attrs<ExtendedLstmAttrs>().batch_first
                                                    : RecurrentAttrsOf(node).batch_first;
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
  const int64_t directions = node.Is("extended_lstm") ? 1 : RecurrentAttrsOf(node).directions();
  if (!steps.is_const())
    return fmt::format(
        "it can be written step by step only for a constant number of steps, not {}; set it with "
        "--input-shape or --unroll",
        steps.ToString());
  if (steps.value() < 1) return "it has no steps";
  most = std::max(most, kMaxUnrolledSteps / directions);
  if (steps.value() > most)
    return fmt::format("it has {} steps; more than {} are written step by step with --unroll {}",
                       steps.value(), most, steps.value());
  if (!r.dim(r.rank() - 1).is_const() || !x.dim(2).is_const())
    return "its number of units is not known";
  return std::nullopt;
}

Result<bool> UnrollRecurrent(Graph& graph, Node& node, int64_t most) {
  if (WhyNotUnrolled(node, most)) return false;
  if (node.Is("extended_lstm")) return ExpandExtendedLstm(graph, node);
  return Unroller(graph, node).Run();
}

Result<bool> UnrollRecurrent(Graph& graph, Node& node) {
  return UnrollRecurrent(graph, node, 0);
}

}  // namespace nn
