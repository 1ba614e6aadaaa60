// extended_lstm as elementary operators, step by step.
#include <array>
#include <cmath>
#include <utility>

#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/norm.h"
#include "ops/recurrent/extended_lstm.h"

namespace nn {
namespace {

using In = ExtendedLstmInputs;

// Adds the nodes of one layer before `node`.
class ExtendedSteps {
 public:
  ExtendedSteps(Graph& graph, Node& node)
      : graph_(graph),
        node_(node),
        a_(node.attrs<ExtendedLstmAttrs>()),
        cells_(node.input(In::kR)->type().dim(0).value() / static_cast<int64_t>(a_.gates())),
        outputs_(node.input(In::kR)->type().dim(1)),
        batch_(node.input(In::kX)->type().dim(a_.batch_first ? 0 : 1)),
        steps_(node.input(In::kX)->type().dim(StepAxis()).value()) {}

  Result<bool> Run() {
    for (size_t g = 0; g < a_.gates(); ++g) {
      NN_ASSIGN(const Gate gate, GateOf(g));
      gates_.push_back(gate);
    }
    NN_ASSIGN(Value * h, Initial(In::kInitialH, outputs_));
    NN_ASSIGN(Value * c, Initial(In::kInitialC, Dim(cells_)));
    std::vector<Value*> all;
    for (int64_t t = 0; t < steps_; ++t) {
      NN_RETURN_IF_ERROR(Step(t, h, c));
      NN_ASSIGN(Value* const y, Reshape(h, a_.batch_first ? Dims{batch_, Dim(1), outputs_}
                                                          : Dims{Dim(1), batch_, outputs_}));
      all.push_back(y);
    }
    Value* y = all[0];
    if (all.size() > 1) {
      NN_ASSIGN(y, Add("concat", std::move(all), ConcatAttrs{StepAxis()}));
    }
    std::vector<Value*> results = {y, h, c};
    results.resize(node_.outputs().size());
    graph_.Replace(&node_, results);
    return true;
  }

 private:
  // The operands of a gate. Null if absent.
  struct Gate {
    Value* wx = nullptr;  // of all steps, plus the bias if there is no norm
    Value* r = nullptr;
    Value* norm = nullptr;
    Value* bias = nullptr;  // of the norm
    Value* peephole = nullptr;
  };

  int StepAxis() const { return a_.batch_first ? 1 : 0; }
  Value* Input(size_t i) const { return i < node_.inputs().size() ? node_.input(i) : nullptr; }

  Result<Value*> Add(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {}) {
    NN_ASSIGN(Node* const n, graph_.Append(op, std::move(inputs), std::move(attrs), 1, &node_));
    n->set_source(node_.source());
    return n->output();
  }
  Result<Value*> Reshape(Value* v, Dims dims) {
    return Add("reshape", {v}, ReshapeAttrs{std::move(dims), false});
  }
  Result<Value*> Part(Value* v, int64_t axis, int64_t begin, int64_t end) {
    return Add("slice", {v}, SliceAttrs{{axis}, {begin}, {end}, {}});
  }
  // The part of an operand for the gate at position `at`; null if there is none.
  Result<Value*> OfGate(size_t input, size_t at) {
    if (Input(input) == nullptr) return nullptr;
    const auto first = static_cast<int64_t>(at) * cells_;
    return Part(Input(input), 0, first, first + cells_);
  }
  Result<Value*> Product(Value* v, Value* weights, Value* bias) {
    std::vector<Value*> operands = {v, weights};
    if (bias != nullptr) operands.push_back(bias);
    return Add("matmul", std::move(operands), MatmulAttrs{false, true});
  }

  Result<Gate> GateOf(size_t g) {
    Gate gate;
    NN_ASSIGN(Value* const w, OfGate(In::kW, g));
    NN_ASSIGN(gate.r, OfGate(In::kR, g));
    NN_ASSIGN(gate.norm, OfGate(In::kNorm, g));
    NN_ASSIGN(Value* const bias, OfGate(In::kBias, g));
    NN_ASSIGN(gate.wx, Product(Input(In::kX), w, gate.norm == nullptr ? bias : nullptr));
    gate.bias = gate.norm == nullptr ? nullptr : bias;
    if (gate.norm != nullptr && bias == nullptr)
      gate.bias =
          graph_.AddConstant(Tensor::Of({cells_}, std::vector<float>(static_cast<size_t>(cells_))));
    const size_t without = a_.coupled ? 1 : 2;
    if (g == without) return gate;
    NN_ASSIGN(gate.peephole, OfGate(In::kPeepholes, g > without ? g - 1 : g));
    return gate;
  }

  // A state [B, n]; zeros if it is absent.
  Result<Value*> Initial(size_t input, const Dim& n) {
    if (Input(input) != nullptr) return Input(input);
    return Add("expand", {graph_.AddConstant(Tensor::Scalar(0.0f))}, ExpandAttrs{{batch_, n}});
  }

  Result<Value*> Activated(Value* v) {
    switch (a_.activation) {
      case CellActivation::kRelu:
        return Add("relu", {v});
      case CellActivation::kRelu6:
        return Add("clip", {v}, ClipAttrs{0, 6});
      case CellActivation::kTanh:
        break;
    }
    return Add("tanh", {v});
  }
  Result<Value*> Limited(Value* v, float limit) {
    return std::isfinite(limit) ? Add("clip", {v}, ClipAttrs{-limit, limit}) : Result<Value*>(v);
  }

  // The argument of a gate's function.
  Result<Value*> Sum(const Gate& gate, int64_t t, Value* h, Value* c) {
    NN_ASSIGN(Value * wx, Part(gate.wx, StepAxis(), t, t + 1));
    NN_ASSIGN(wx, Reshape(wx, {batch_, Dim(cells_)}));
    NN_ASSIGN(Value* const rh, Product(h, gate.r, nullptr));
    NN_ASSIGN(Value * sum, Add("add", {wx, rh}));
    if (gate.peephole != nullptr) {
      NN_ASSIGN(Value* const product, Add("mul", {gate.peephole, c}));
      NN_ASSIGN(sum, Add("add", {product, sum}));
    }
    if (gate.norm == nullptr) return sum;
    return Add("layer_norm", {sum, gate.norm, gate.bias}, LayerNormAttrs{1, 1e-8f});
  }
  Result<Value*> Sigmoid(const Gate& gate, int64_t t, Value* h, Value* c) {
    NN_ASSIGN(Value* const sum, Sum(gate, t, h, c));
    return Add("sigmoid", {sum});
  }

  // What the weights of a state multiply.
  Result<Value*> Rounded(Value* v) {
    if (a_.state_rounding == StateRounding::kNone) return v;
    return Add("dynamic_fake_quantize", {v},
               DynamicFakeQuantizeAttrs{{1}, a_.state_rounding == StateRounding::kSymmetric});
  }

  Status Step(int64_t t, Value*& h, Value*& c) {
    NN_ASSIGN(h, Rounded(h));
    const size_t first = a_.coupled ? 0 : 1;
    NN_ASSIGN(Value* const f, Sigmoid(gates_[first], t, h, c));
    Value* i = nullptr;
    if (a_.coupled) {
      NN_ASSIGN(i, Add("sub", {graph_.AddConstant(Tensor::Scalar(1.0f)), f}));
    } else {
      NN_ASSIGN(i, Sigmoid(gates_[0], t, h, c));
    }
    NN_ASSIGN(Value * n, Sum(gates_[first + 1], t, h, c));
    NN_ASSIGN(n, Activated(n));
    NN_ASSIGN(Value* const kept, Add("mul", {f, c}));
    NN_ASSIGN(Value* const added, Add("mul", {i, n}));
    NN_ASSIGN(c, Add("add", {kept, added}));
    NN_ASSIGN(c, Limited(c, a_.cell_clip));
    NN_ASSIGN(Value* const o, Sigmoid(gates_[first + 2], t, h, c));
    NN_ASSIGN(Value* const shown, Activated(c));
    NN_ASSIGN(h, Add("mul", {o, shown}));
    if (Input(In::kProjection) == nullptr) return {};
    NN_ASSIGN(h, Rounded(h));
    NN_ASSIGN(h, Product(h, Input(In::kProjection), Input(In::kProjectionBias)));
    NN_ASSIGN(h, Limited(h, a_.projection_clip));
    return {};
  }

  Graph& graph_;
  Node& node_;
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
