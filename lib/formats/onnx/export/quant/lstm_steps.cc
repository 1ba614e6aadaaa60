#include "formats/onnx/export/quant/lstm_steps.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "formats/onnx/export/quant/integers.h"
#include "ir/op_def.h"
#include "ops/quant/fixed_point.h"
#include "ops/recurrent/lstm_quant.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/steps.h"
#include "ops/recurrent/unroll.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

using enum RecurrentInputs::Index;
enum Gate : size_t { kI, kO, kF, kN };
constexpr int64_t kGates = 4;
// Limit of ONNX: steps times directions of a written quantized LSTM. More would make too many
// nodes.
constexpr int64_t kMaxSteps = 64;

// A function of 16-bit integers as a table, which a gather adds 2^15 to.
template <typename F>
Tensor Table16(F f) {
  std::vector<int16_t> entries;
  for (int32_t q = -32768; q <= 32767; ++q) entries.push_back(f(static_cast<int16_t>(q)));
  return Tensor::Of({std::ssize(entries)}, entries);
}

// Adds the nodes of one layer before `node`. Values are i64, without units.
class LstmSteps {
 public:
  LstmSteps(Graph& graph, Node& node)
      : graph_(graph),
        node_(node),
        steps_(graph, node),
        attrs_(steps_.attrs()),
        units_(steps_.units()),
        h_zero_(ZeroOf(kInitialH)),
        factors_(FactorsOf(node)) {}

  Result<bool> Run() {
    const int bits = factors_.cell_bits;
    sigmoid_ = Table16(FixedSigmoid16);
    tanh_ = Table16([](int16_t q) { return FixedTanh16(q, 3); });
    cell_tanh_ = Table16([bits](int16_t q) { return FixedTanh16(q, bits); });
    std::vector<RecurrentSteps::Direction> directions;
    for (int64_t d = 0; d < attrs_.directions(); ++d) {
      NN_ASSIGN(const auto direction, RunDirection(d));
      directions.push_back(direction);
    }
    NN_ASSIGN(std::vector<Value*> outputs, steps_.Join(directions));
    for (size_t i = 0; i < outputs.size(); ++i) {
      NN_ASSIGN(outputs[i], i64::Stored(steps_, outputs[i], Type(node_.output(i)->type())));
    }
    graph_.Replace(&node_, outputs);
    return true;
  }

 private:
  Value* Input(size_t i) const { return node_.input(i); }
  int64_t ZeroOf(size_t i) const { return Input(i)->type().quant->zero_point(); }

  static Term Look(const Term& table, const Term& v) {
    return Cast(Gather(table, i64::Plus(v, 32768), 0), DType::kI64);
  }
  static Term Saturated16(const Term& a, const Term& b) { return i64::Clamp(a + b, -32768, 32767); }

  // The weights of x or h in one direction, and their bias.
  struct Weights {
    Term matrix;  // i8 [n, 4 H]
    Term bias;    // [4 H]; absent without
    Term zero;    // i8, of the factor
    const std::array<FixedMultiplier, 4>* multipliers = nullptr;
  };

  Weights WeightsOf(size_t operand, size_t factor, int64_t n, int64_t d, int64_t half) {
    const int64_t rows = kGates * units_;
    const Tensor& all = Input(operand)->constant();
    std::vector<int8_t> matrix(static_cast<size_t>(n * rows));
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t k = 0; k < n; ++k)
        matrix[static_cast<size_t>(k * rows + row)] =
            static_cast<int8_t>(all.GetInt((d * rows + row) * n + k));
    Weights w;
    w.matrix = Tensor::Of({n, rows}, matrix);
    w.zero = Tensor::Scalar(static_cast<int8_t>(ZeroOf(factor)));
    w.multipliers = operand == kW ? &factors_.input : &factors_.state;
    if (Input(kBias) == nullptr) return w;
    std::vector<int64_t> bias;
    for (int64_t row = 0; row < rows; ++row)
      bias.push_back(Input(kBias)->constant().GetInt((2 * d + half) * rows + row));
    w.bias = Vector(bias);
    return w;
  }

  // The products of all gates with x or h, [..., 4 H]; they wrap.
  static Term Products(const Weights& w, const Term& factor) {
    const Term v = Cast(Apply("matmul_integer", {factor, w.matrix, w.zero}), DType::kI64);
    return w.bias.is_absent() ? v : i64::Wrap32(v + w.bias);
  }
  // Those of one gate, [..., H], in Q3.12.
  Result<Term> OfGate(const Weights& w, Value* products, size_t gate) {
    const int64_t first = static_cast<int64_t>(gate) * units_;
    NN_ASSIGN(const Term part,
              steps_.Part(products, products->type().rank() - 1, first, first + units_));
    return i64::Rescale(part, (*w.multipliers)[gate]);
  }

  struct Direction {
    Weights w, r;
    std::array<Value*, kGates> wx;  // saturated: [T, B, H] or [B, T, H]
    std::array<Term, 3> peepholes;  // i, o, f: [H]; absent without
  };

  // The argument of a gate's functions at step t; `c` for gates with peepholes.
  Result<Term> Argument(const Direction& d, size_t gate, int64_t t, Value* products,
                        const Term& c) {
    NN_ASSIGN(const Term wx, steps_.StepOf(d.wx[gate], t));
    NN_ASSIGN(const Term rh, OfGate(d.r, products, gate));
    const Term sum = Saturated16(wx, rh);
    if (c.is_absent() || d.peepholes[gate].is_absent()) return sum;
    return Saturated16(sum, i64::Rescale(d.peepholes[gate] * c, factors_.peephole));
  }

  // Step t from the stored integers of h and c.
  Status Step(const Direction& d, int64_t t, Value*& h, Value*& c) {
    NN_ASSIGN(Value* const products, steps_.Build(Products(d.r, Cast(h, DType::kI8))));
    NN_ASSIGN(const Term i, Argument(d, kI, t, products, c));
    NN_ASSIGN(const Term f, Argument(d, kF, t, products, c));
    NN_ASSIGN(const Term n, Argument(d, kN, t, products, {}));
    const Term kept = i64::ShiftRight(Look(sigmoid_, f) * c, 15);
    const Term added = i64::ShiftRight(Look(sigmoid_, i) * Look(tanh_, n), 15 + factors_.cell_bits);
    Term cell = Saturated16(kept, added);
    if (factors_.clip > 0) cell = i64::Clamp(cell, -factors_.clip, factors_.clip);
    NN_ASSIGN(c, steps_.Build(cell));
    NN_ASSIGN(const Term o, Argument(d, kO, t, products, c));
    const Term shown = i64::Rescale(Look(sigmoid_, o) * Look(cell_tanh_, c), factors_.hidden);
    NN_ASSIGN(h, steps_.Build(i64::Clamp(i64::Plus(shown, h_zero_), -128, 127)));
    return {};
  }

  Result<Direction> WeightsOf(int64_t d) {
    Direction out;
    out.w = WeightsOf(kW, kX, steps_.inputs(), d, 0);
    out.r = WeightsOf(kR, kInitialH, units_, d, 1);
    NN_ASSIGN(Value* const products, steps_.Build(Products(out.w, Input(kX))));
    for (size_t g = 0; g < kGates; ++g) {
      NN_ASSIGN(const Term part, OfGate(out.w, products, g));
      NN_ASSIGN(out.wx[g], steps_.Build(i64::Clamp(part, -32768, 32767)));
    }
    for (size_t g = 0; Input(kPeepholes) != nullptr && g < 3; ++g) {
      std::vector<int64_t> row;
      for (int64_t u = 0; u < units_; ++u)
        row.push_back(
            Input(kPeepholes)->constant().GetInt((d * 3 + static_cast<int64_t>(g)) * units_ + u));
      out.peepholes[g] = Vector(row);
    }
    return out;
  }

  // The stored integers of the initial state of direction d, [B, H].
  Result<Value*> Initial(size_t operand, int64_t d) {
    NN_ASSIGN(Value* const v, steps_.Build(Cast(Input(operand), DType::kI64)));
    return steps_.Initial(v, d);
  }

  // The results less their zero points.
  Result<RecurrentSteps::Direction> RunDirection(int64_t number) {
    NN_ASSIGN(const Direction d, WeightsOf(number));
    NN_ASSIGN(Value* const h, Initial(kInitialH, number));
    NN_ASSIGN(Value* const c, Initial(kInitialC, number));
    NN_ASSIGN(RecurrentSteps::Direction out,
              steps_.Walk(number, h, c, graph_.AddConstant(Tensor::Scalar(h_zero_)),
                          [&](int64_t t, Value*& next_h, Value*& next_c) {
                            return Step(d, t, next_h, next_c);
                          }));
    NN_ASSIGN(out.y, steps_.Build(i64::Plus(out.y, -h_zero_)));
    NN_ASSIGN(out.h, steps_.Build(i64::Plus(out.h, -h_zero_)));
    return out;
  }

  Graph& graph_;
  Node& node_;
  RecurrentSteps steps_;
  const RecurrentAttrs& attrs_;
  const int64_t units_, h_zero_;
  const QuantizedLstmFactors factors_;
  Term sigmoid_, tanh_, cell_tanh_;  // tables
};

}  // namespace

Result<bool> ExpandQuantizedLstm(Graph& graph, Node& node) {
  if (!node.input(0)->type().quantized() || WhyNotSteps(node)) return false;
  const auto& a = node.attrs<LstmAttrs>();
  const int64_t steps = node.input(kX)->type().dim(a.batch_first ? 1 : 0).value();
  if (steps * a.directions() > kMaxSteps) return false;
  if (!std::ranges::all_of(node.outputs(), [](const Value* v) { return v->type().quantized(); }))
    return false;
  for (const size_t i : {kW, kR, kBias, kPeepholes})
    if (const Value* const v = node.input(i); v != nullptr && !v->is_constant()) return false;
  return LstmSteps(graph, node).Run();
}

}  // namespace nn::onnx
