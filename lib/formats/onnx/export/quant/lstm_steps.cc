#include "formats/onnx/export/quant/lstm_steps.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "formats/onnx/export/quant/integers.h"
#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/quant/fixed_point.h"
#include "ops/recurrent/lstm_quant.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/steps.h"
#include "ops/recurrent/unroll.h"

namespace nn::onnx {
namespace {

using enum RecurrentInputs::Index;
enum Gate : size_t { kI, kO, kF, kN };
constexpr int64_t kGates = 4;
// More would make too many nodes.
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
        e_(graph, node),
        steps_(graph, node),
        attrs_(steps_.attrs()),
        units_(steps_.units()),
        h_zero_(ZeroOf(kInitialH)),
        factors_(FactorsOf(node)) {}

  Result<bool> Run() {
    const int bits = factors_.cell_bits;
    sigmoid_ = e_.Constant(Table16(FixedSigmoid16));
    tanh_ = e_.Constant(Table16([](int16_t q) { return FixedTanh16(q, 3); }));
    cell_tanh_ = e_.Constant(Table16([bits](int16_t q) { return FixedTanh16(q, bits); }));
    std::vector<RecurrentSteps::Direction> directions;
    for (int64_t d = 0; d < attrs_.directions(); ++d) {
      NN_ASSIGN(const auto direction, RunDirection(d));
      directions.push_back(direction);
    }
    NN_ASSIGN(std::vector<Value*> outputs, steps_.Join(directions));
    for (size_t i = 0; i < outputs.size(); ++i) {
      NN_ASSIGN(outputs[i], e_.Stored(outputs[i], Type(node_.output(i)->type())));
    }
    graph_.Replace(&node_, outputs);
    return true;
  }

 private:
  Value* Input(size_t i) const { return node_.input(i); }
  int64_t ZeroOf(size_t i) const { return Input(i)->type().quant->zero_point(); }

  Result<Value*> Look(Value* table, Value* v) {
    NN_ASSIGN(v, e_.Plus(v, 32768));
    NN_ASSIGN(v, e_.Add("gather", {table, v}, GatherAttrs{}));
    return e_.Cast(v, DType::kI64);
  }
  Result<Value*> Saturated16(Value* a, Value* b) {
    NN_ASSIGN(Value* const sum, e_.Add("add", {a, b}));
    return e_.Clamp(sum, -32768, 32767);
  }
  // A product of two 16-bit integers, shifted.
  Result<Value*> Product(Value* a, Value* b, int shift) {
    NN_ASSIGN(Value* const product, e_.Add("mul", {a, b}));
    return e_.ShiftRight(product, shift);
  }

  // The weights of x or h in one direction, and their bias.
  struct Weights {
    Value* matrix = nullptr;  // i8 [n, 4 H]
    Value* bias = nullptr;    // [4 H]; null without
    Value* zero = nullptr;    // i8, of the factor
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
    w.matrix = e_.Constant(Tensor::Of({n, rows}, matrix));
    w.zero = e_.Constant(Tensor::Scalar(static_cast<int8_t>(ZeroOf(factor))));
    w.multipliers = operand == kW ? &factors_.input : &factors_.state;
    if (Input(kBias) == nullptr) return w;
    std::vector<int64_t> bias;
    for (int64_t row = 0; row < rows; ++row)
      bias.push_back(Input(kBias)->constant().GetInt((2 * d + half) * rows + row));
    w.bias = e_.Constant(Tensor::Ints(bias));
    return w;
  }

  // The products of all gates with x or h, [..., 4 H]; they wrap.
  Result<Value*> Products(const Weights& w, Value* factor) {
    NN_ASSIGN(Value * v, e_.Add("matmul_integer", {factor, w.matrix, w.zero}));
    NN_ASSIGN(v, e_.Cast(v, DType::kI64));
    if (w.bias == nullptr) return v;
    NN_ASSIGN(v, e_.Add("add", {v, w.bias}));
    return e_.Wrap32(v);
  }
  // Those of one gate, [..., H], in Q3.12.
  Result<Value*> OfGate(const Weights& w, Value* products, size_t gate) {
    const int64_t first = static_cast<int64_t>(gate) * units_;
    NN_ASSIGN(Value* const part,
              steps_.Part(products, products->type().rank() - 1, first, first + units_));
    return e_.Rescale(part, (*w.multipliers)[gate]);
  }

  struct Direction {
    Weights w, r;
    std::array<Value*, kGates> wx;      // saturated: [T, B, H] or [B, T, H]
    std::array<Value*, 3> peepholes{};  // i, o, f: [H]; null without
  };

  // The argument of a gate's functions at step t; `c` for gates with peepholes.
  Result<Value*> Argument(const Direction& d, size_t gate, int64_t t, Value* products, Value* c) {
    NN_ASSIGN(Value* const wx, steps_.StepOf(d.wx[gate], t));
    NN_ASSIGN(Value* const rh, OfGate(d.r, products, gate));
    NN_ASSIGN(Value* const sum, Saturated16(wx, rh));
    if (c == nullptr || d.peepholes[gate] == nullptr) return sum;
    NN_ASSIGN(Value * product, e_.Add("mul", {d.peepholes[gate], c}));
    NN_ASSIGN(product, e_.Rescale(product, factors_.peephole));
    return Saturated16(sum, product);
  }

  // Step t from the stored integers of h and c.
  Status Step(const Direction& d, int64_t t, Value*& h, Value*& c) {
    NN_ASSIGN(Value* const h8, e_.Cast(h, DType::kI8));
    NN_ASSIGN(Value* const products, Products(d.r, h8));
    NN_ASSIGN(Value * i, Argument(d, kI, t, products, c));
    NN_ASSIGN(i, Look(sigmoid_, i));
    NN_ASSIGN(Value * f, Argument(d, kF, t, products, c));
    NN_ASSIGN(f, Look(sigmoid_, f));
    NN_ASSIGN(Value * n, Argument(d, kN, t, products, nullptr));
    NN_ASSIGN(n, Look(tanh_, n));
    NN_ASSIGN(Value* const kept, Product(f, c, 15));
    NN_ASSIGN(Value* const added, Product(i, n, 15 + factors_.cell_bits));
    NN_ASSIGN(c, Saturated16(kept, added));
    if (factors_.clip > 0) {
      NN_ASSIGN(c, e_.Clamp(c, -factors_.clip, factors_.clip));
    }
    NN_ASSIGN(Value * o, Argument(d, kO, t, products, c));
    NN_ASSIGN(o, Look(sigmoid_, o));
    NN_ASSIGN(Value* const shown, Look(cell_tanh_, c));
    NN_ASSIGN(h, e_.Add("mul", {o, shown}));
    NN_ASSIGN(h, e_.Rescale(h, factors_.hidden));
    NN_ASSIGN(h, e_.Plus(h, h_zero_));
    NN_ASSIGN(h, e_.Clamp(h, -128, 127));
    return {};
  }

  Result<Direction> WeightsOf(int64_t d) {
    Direction out;
    out.w = WeightsOf(kW, kX, steps_.inputs(), d, 0);
    out.r = WeightsOf(kR, kInitialH, units_, d, 1);
    NN_ASSIGN(Value* const products, Products(out.w, Input(kX)));
    for (size_t g = 0; g < kGates; ++g) {
      NN_ASSIGN(Value* const part, OfGate(out.w, products, g));
      NN_ASSIGN(out.wx[g], e_.Clamp(part, -32768, 32767));
    }
    for (size_t g = 0; Input(kPeepholes) != nullptr && g < 3; ++g) {
      std::vector<int64_t> row;
      for (int64_t u = 0; u < units_; ++u)
        row.push_back(
            Input(kPeepholes)->constant().GetInt((d * 3 + static_cast<int64_t>(g)) * units_ + u));
      out.peepholes[g] = e_.Constant(Tensor::Ints(row));
    }
    return out;
  }

  // The stored integers of the initial state of direction d, [B, H].
  Result<Value*> Initial(size_t operand, int64_t d) {
    NN_ASSIGN(Value* const v, e_.Cast(Input(operand), DType::kI64));
    return steps_.Initial(v, d);
  }

  // The results less their zero points.
  Result<RecurrentSteps::Direction> RunDirection(int64_t number) {
    NN_ASSIGN(const Direction d, WeightsOf(number));
    NN_ASSIGN(Value* const h, Initial(kInitialH, number));
    NN_ASSIGN(Value* const c, Initial(kInitialC, number));
    NN_ASSIGN(RecurrentSteps::Direction out,
              steps_.Walk(number, h, c, e_.Number(h_zero_),
                          [&](int64_t t, Value*& next_h, Value*& next_c) {
                            return Step(d, t, next_h, next_c);
                          }));
    NN_ASSIGN(out.y, e_.Plus(out.y, -h_zero_));
    NN_ASSIGN(out.h, e_.Plus(out.h, -h_zero_));
    return out;
  }

  Graph& graph_;
  Node& node_;
  Integers e_;
  RecurrentSteps steps_;
  const RecurrentAttrs& attrs_;
  const int64_t units_, h_zero_;
  const QuantizedLstmFactors factors_;
  Value *sigmoid_ = nullptr, *tanh_ = nullptr, *cell_tanh_ = nullptr;  // tables
};

}  // namespace

Result<bool> ExpandQuantizedLstm(Graph& graph, Node& node) {
  if (!node.Is("lstm") || !node.input(0)->type().quantized() || WhyNotSteps(node)) return false;
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
