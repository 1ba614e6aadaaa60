#include "formats/onnx/lstm_steps.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "formats/onnx/integers.h"
#include "ir/op_def.h"
#include "ops/array/concat.h"
#include "ops/array/gather.h"
#include "ops/array/shape.h"
#include "ops/array/slice.h"
#include "ops/quant/fixed_point.h"
#include "ops/recurrent/lstm_quant.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/unroll.h"

namespace nn::onnx {
namespace {

using enum RecurrentInputs::Index;
enum Gate : size_t { kI, kO, kF, kN };
constexpr int64_t kGates = 4;
// More would make too many nodes.
constexpr int64_t kMostSteps = 64;

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
        attrs_(node.attrs<LstmAttrs>()),
        factors_(FactorsOf(node)) {}

  Result<bool> Run() {
    const Type& x = Input(kX)->type();
    steps_ = x.dim(attrs_.batch_first ? 1 : 0).value();
    inputs_ = x.dim(2).value();
    units_ = Input(kR)->type().dim(2).value();
    batch_ = x.dim(attrs_.batch_first ? 0 : 1);
    h_zero_ = ZeroOf(kInitialH);
    const int bits = factors_.cell_bits;
    sigmoid_ = e_.Constant(Table16(FixedSigmoid16));
    tanh_ = e_.Constant(Table16([](int16_t q) { return FixedTanh16(q, 3); }));
    cell_tanh_ = e_.Constant(Table16([bits](int16_t q) { return FixedTanh16(q, bits); }));
    std::array<std::vector<Value*>, 3> parts;  // y, h, c of each direction
    for (int64_t d = 0; d < attrs_.directions(); ++d) {
      NN_ASSIGN(const auto results, RunDirection(d));
      for (size_t i = 0; i < parts.size(); ++i) parts[i].push_back(results[i]);
    }
    std::vector<Value*> outputs;
    for (size_t i = 0; i < node_.outputs().size(); ++i) {
      const int64_t axis = (attrs_.batch_first ? 1 : 0) + (i == 0 ? 1 : 0);
      NN_ASSIGN(Value* const all, Concat(parts[i], axis));
      NN_ASSIGN(Value* const stored, e_.Stored(all, Type(node_.output(i)->type())));
      outputs.push_back(stored);
    }
    graph_.Replace(&node_, outputs);
    return true;
  }

 private:
  Value* Input(size_t i) const { return node_.input(i); }
  int64_t ZeroOf(size_t i) const { return Input(i)->type().quant->zero_point(); }

  Result<Value*> Part(Value* v, int64_t axis, int64_t begin, int64_t end) {
    return e_.Add("slice", {v}, SliceAttrs{{axis}, {begin}, {end}, {}});
  }
  Result<Value*> Reshape(Value* v, Dims dims) {
    return e_.Add("reshape", {v}, ReshapeAttrs{std::move(dims), false});
  }
  Result<Value*> Concat(const std::vector<Value*>& values, int64_t axis) {
    if (values.size() == 1) return values[0];
    return e_.Add("concat", values, ConcatAttrs{axis});
  }
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
              Part(products, products->type().rank() - 1, first, first + units_));
    return e_.Rescale(part, (*w.multipliers)[gate]);
  }

  struct Direction {
    Weights w, r;
    std::array<Value*, kGates> wx;      // saturated: [T, B, H] or [B, T, H]
    std::array<Value*, 3> peepholes{};  // i, o, f: [H]; null without
  };

  // The argument of a gate's functions at step t; `c` for gates with peepholes.
  Result<Value*> Argument(const Direction& d, size_t gate, int64_t t, Value* products, Value* c) {
    NN_ASSIGN(Value * wx, Part(d.wx[gate], attrs_.batch_first ? 1 : 0, t, t + 1));
    NN_ASSIGN(wx, Reshape(wx, {batch_, Dim(units_)}));
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
    out.w = WeightsOf(kW, kX, inputs_, d, 0);
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
    NN_ASSIGN(Value * v, e_.Cast(Input(operand), DType::kI64));
    if (attrs_.directions() > 1) {
      NN_ASSIGN(v, Part(v, attrs_.batch_first ? 1 : 0, d, d + 1));
    }
    return Reshape(v, {batch_, Dim(units_)});
  }

  // Whether each sequence has a step t, [B, 1]; null if all have all steps.
  Result<Value*> HasStep(int64_t t) {
    if (Input(kLengths) == nullptr) return nullptr;
    Value* const step = e_.Constant(Tensor::Scalar(static_cast<int32_t>(t)));
    NN_ASSIGN(Value* const has, e_.Add("greater", {Input(kLengths), step}));
    return Reshape(has, {batch_, Dim(1)});
  }

  // y, h and c, less their zero points, with an axis of size 1 for the direction.
  Result<std::array<Value*, 3>> RunDirection(int64_t number) {
    NN_ASSIGN(const Direction d, WeightsOf(number));
    NN_ASSIGN(Value * h, Initial(kInitialH, number));
    NN_ASSIGN(Value * c, Initial(kInitialC, number));
    const bool reverse = attrs_.direction == RecurrentDirection::kReverse || number == 1;
    const Dims with_axes = attrs_.batch_first ? Dims{batch_, Dim(1), Dim(1), Dim(units_)}
                                              : Dims{Dim(1), Dim(1), batch_, Dim(units_)};
    std::vector<Value*> y(static_cast<size_t>(steps_));
    for (int64_t k = 0; k < steps_; ++k) {
      const int64_t t = reverse ? steps_ - 1 - k : k;
      Value* const old_h = h;
      Value* const old_c = c;
      NN_RETURN_IF_ERROR(Step(d, t, h, c));
      Value* shown = h;
      NN_ASSIGN(Value* const has, HasStep(t));
      if (has != nullptr) {
        NN_ASSIGN(shown, e_.Add("select", {has, h, e_.Number(h_zero_)}));
        NN_ASSIGN(h, e_.Add("select", {has, h, old_h}));
        NN_ASSIGN(c, e_.Add("select", {has, c, old_c}));
      }
      NN_ASSIGN(y[static_cast<size_t>(t)], Reshape(shown, with_axes));
    }
    const Dims state =
        attrs_.batch_first ? Dims{batch_, Dim(1), Dim(units_)} : Dims{Dim(1), batch_, Dim(units_)};
    std::array<Value*, 3> out{};
    NN_ASSIGN(out[0], Concat(y, attrs_.batch_first ? 1 : 0));
    NN_ASSIGN(out[0], e_.Plus(out[0], -h_zero_));
    NN_ASSIGN(out[1], Reshape(h, state));
    NN_ASSIGN(out[1], e_.Plus(out[1], -h_zero_));
    NN_ASSIGN(out[2], Reshape(c, state));
    return out;
  }

  Graph& graph_;
  Node& node_;
  Integers e_;
  const LstmAttrs& attrs_;
  const QuantizedLstmFactors factors_;
  int64_t steps_ = 0, units_ = 0, inputs_ = 0, h_zero_ = 0;
  Dim batch_;
  Value *sigmoid_ = nullptr, *tanh_ = nullptr, *cell_tanh_ = nullptr;  // tables
};

}  // namespace

Result<bool> ExpandQuantizedLstm(Graph& graph, Node& node) {
  if (!node.Is("lstm") || !node.input(0)->type().quantized() || WhyNotSteps(node)) return false;
  const auto& a = node.attrs<LstmAttrs>();
  const int64_t steps = node.input(kX)->type().dim(a.batch_first ? 1 : 0).value();
  if (steps * a.directions() > kMostSteps) return false;
  if (!std::ranges::all_of(node.outputs(), [](const Value* v) { return v->type().quantized(); }))
    return false;
  for (const size_t i : {kW, kR, kBias, kPeepholes})
    if (const Value* const v = node.input(i); v != nullptr && !v->is_constant()) return false;
  return LstmSteps(graph, node).Run();
}

}  // namespace nn::onnx
