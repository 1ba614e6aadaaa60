// Products of 8-bit integers in float32.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ir/op_def.h"
#include "ir/tensor_bounds.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/conv.h"
#include "ops/reduce/reduce.h"
#include "ops/support/broadcast.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"
#include "rewrite/integer_products.h"

namespace nn {
namespace {

// Limit of expansions: magnitude of the sums of an integer product. Up to this magnitude, float32
// holds all integers.
constexpr double kMaxExact = 0x1p24;

// The step of the high part of an operand that is split.
constexpr double kPart = 16;

// An operand and its zero points, which have been shaped to broadcast to it.
struct Side {
  Value* v = nullptr;
  Value* zero = nullptr;  // may be null
  bool is_constant() const { return v->is_constant() && (zero == nullptr || zero->is_constant()); }
};

// The largest magnitude of an element less its zero point.
double MostOf(const Side& side) {
  const DType t = side.v->dtype();
  const auto low = static_cast<double>(MinInteger(t));
  const auto high = static_cast<double>(MaxInteger(t));
  if (side.zero == nullptr) return std::max(-low, high);
  if (!side.zero->is_constant()) return high - low;
  const auto zeros = BoundsOf(side.zero->constant());
  return zeros ? std::max({0.0, zeros->max - low, high - zeros->min}) : 0;
}

// The largest sum of magnitudes over all axes but `kept`, and over these for each of them.
double LargestSum(const Tensor& t, const std::vector<size_t>& kept) {
  std::vector<int64_t> sums_dims(t.dims().size(), 1);
  for (const size_t axis : kept) sums_dims[axis] = t.dims()[axis];
  int64_t count = 1;
  for (const int64_t d : sums_dims) count *= d;
  std::vector<double> sums(static_cast<size_t>(count), 0.0);
  const auto elements = t.As<float>();
  ForEachBroadcast<1>(t.dims(), {sums_dims}, [&](int64_t i, const auto& at) {
    sums[static_cast<size_t>(at[0])] +=
        std::fabs(static_cast<double>(elements[static_cast<size_t>(i)]));
  });
  return sums.empty() ? 0 : *std::ranges::max_element(sums);
}

class IntegerProduct {
 public:
  IntegerProduct(Graph& graph, Node& node)
      : graph_(graph), node_(node), e_(graph, node), is_conv_(node.Is<ConvAttrs>()) {}

  Result<bool> Run() {
    if (!node_.input(0)->type().ranked() || !node_.input(1)->type().ranked()) return false;
    const auto depth = Depth();
    if (!depth) return false;
    const Side a{node_.input(0), node_.input(2)};
    Side b{node_.input(1), node_.input(3)};
    if (is_conv_ && b.zero != nullptr && b.zero->type().ranked() && b.zero->type().rank() == 1) {
      NN_ASSIGN(const Term zero, AlongOutputs(b.zero));
      NN_ASSIGN(b.zero, e_.Build(zero));
    }
    converted_ = OnlyConverted();
    if (!converted_ && node_.output()->type().quantized()) return false;
    NN_ASSIGN(Value* const x, Difference(a));
    NN_ASSIGN(Value* const w, Difference(b));
    const double sum_w =
        w->is_constant() ? LargestSum(w->constant(), KeptAxes(w)) : *depth * MostOf(b);
    // x = 16 high + low with high in [-16, 15] and low in [0, 15]; likewise w.
    if (MostOf(a) * sum_w <= kMaxExact) return InOne(x, w);
    if (kPart * sum_w <= kMaxExact) return InTwo(x, w, (kPart - 1) * sum_w);
    if (kPart * kPart * *depth <= kMaxExact) return InFour(x, w);
    return false;
  }

  // The product in i32 without a scale, and its conversions as a cast and a product.
  Result<bool> RunConverted() {
    if (!OnlyConverted()) return false;
    const std::vector<Value*> inputs(node_.inputs().begin(), node_.inputs().end());
    NN_ASSIGN(Node* const product, e_.AddNode(node_.op_name(), inputs, node_.attrs(), 1));
    product->set_name(node_.name());
    return ReplaceConversions(AsFloat(product->output()));
  }

 private:
  // The number of products in one result.
  std::optional<double> Depth() const {
    const Type& w = node_.input(1)->type();
    double depth = 1;
    const auto times = [&](const Dim& d) {
      if (!d.is_const()) return false;
      depth *= static_cast<double>(d.value());
      return true;
    };
    if (!is_conv_) {
      const Type& x = node_.input(0)->type();
      if (times(x.dims->back()) || times(w.dim(std::max(w.rank() - 2, 0)))) return depth;
      return std::nullopt;
    }
    const FilterAxes axes = AxesOf(node_.attrs<ConvAttrs>().filter_layout, w.rank());
    for (int i = 0; i < w.rank(); ++i)
      if (i != axes.output && !times(w.dim(i))) return std::nullopt;
    return depth;
  }

  // The axes of w along which its elements belong to different results.
  std::vector<size_t> KeptAxes(const Value* w) const {
    const int rank = w->type().rank();
    if (is_conv_)
      return {static_cast<size_t>(AxesOf(node_.attrs<ConvAttrs>().filter_layout, rank).output)};
    std::vector<size_t> kept;
    for (int i = 0; i < rank; ++i)
      if (i != std::max(rank - 2, 0)) kept.push_back(static_cast<size_t>(i));
    return kept;
  }

  // A vector with one element for each output channel, shaped to broadcast to the filter.
  Result<Term> AlongOutputs(Value* v) {
    const Type& w = node_.input(1)->type();
    const int axis = AxesOf(node_.attrs<ConvAttrs>().filter_layout, w.rank()).output;
    Dims dims(static_cast<size_t>(w.rank() - axis), Dim(1));
    dims[0] = v->type().dim(0);
    return Shaped(v, dims);
  }

  static Result<Term> Shaped(Value* v, const Dims& dims) {
    const auto known = ConstDims(dims);
    if (!v->is_constant() || !known) return Reshape(v, dims);
    NN_ASSIGN(Tensor t, v->constant().Reshaped(*known));
    return Term(std::move(t));
  }

  // Whether every user converts the result to float32.
  bool OnlyConverted() const {
    const Value* y = node_.output();
    return !graph_.IsOutput(y) && !y->uses().empty() &&
           std::ranges::all_of(y->uses(), [](const Use& use) {
             if (use.node->output()->dtype() != DType::kF32) return false;
             if (use.node->Is<CastAttrs>()) return true;
             if (!use.node->Is<DequantizeAttrs>()) return false;
             const auto& zeros = use.node->input(0)->type().quant->zero_points;
             return std::ranges::all_of(zeros, [](int64_t z) { return z == 0; });
           });
  }

  static Term AsFloat(Value* v) {
    if (!v->is_constant()) return Cast(v, DType::kF32);
    const std::vector<double> elements = v->constant().ToDoubles();
    return Tensor::Of(v->constant().dims(), std::vector<float>(elements.begin(), elements.end()));
  }

  // The operand less its zero points in float32; a constant if both are.
  Result<Value*> Difference(const Side& side) {
    NN_ASSIGN(Value* const v, e_.Build(AsFloat(side.v)));
    if (side.zero == nullptr) return v;
    NN_ASSIGN(Value* const zero, e_.Build(AsFloat(side.zero)));
    if (!side.is_constant()) return e_.Build(v - Term(zero));
    const Tensor& t = v->constant();
    const auto from = t.As<float>();
    const auto zeros = zero->constant().As<float>();
    std::vector<float> out(from.size());
    ForEachBroadcast<2>(t.dims(), {t.dims(), zero->constant().dims()},
                        [&](int64_t i, const auto& at) {
                          out[static_cast<size_t>(i)] =
                              from[static_cast<size_t>(at[0])] - zeros[static_cast<size_t>(at[1])];
                        });
    return e_.Constant(Tensor::Of(t.dims(), out));
  }

  struct Parts {
    Term high, low;
  };
  static Parts Split(Value* v) {
    if (v->is_constant()) {
      const auto from = v->constant().As<float>();
      std::vector<float> high, low;
      for (const float f : from) {
        high.push_back(std::floor(f / static_cast<float>(kPart)));
        low.push_back(f - high.back() * static_cast<float>(kPart));
      }
      return {Tensor::Of(v->constant().dims(), high), Tensor::Of(v->constant().dims(), low)};
    }
    const Term high = Apply("floor", {Term(v) * (1 / kPart)});
    return {high, v - high * kPart};
  }

  Term Product(const Term& x, const Term& w) const {
    return is_conv_ ? Apply("conv", {x, w}, node_.attrs()) : Matmul(x, w);
  }

  // The bias, shaped to broadcast to the result.
  Result<Term> Bias(bool as_float) {
    NN_ASSIGN(Value* const bias,
              e_.Build(as_float ? AsFloat(node_.input(4)) : Term(node_.input(4))));
    if (!is_conv_ || node_.attrs<ConvAttrs>().layout == Layout::kNxc) return bias;
    Dims shape(static_cast<size_t>(node_.output()->type().rank()) - 1, Dim(1));
    shape[0] = bias->type().dim(0);
    return Shaped(bias, shape);
  }

  // The largest magnitude of the bias; infinite if it is computed.
  double MostOfBias() const {
    const Value* bias = node_.input(4);
    if (bias == nullptr) return 0;
    if (!bias->is_constant()) return std::numeric_limits<double>::infinity();
    double most = 0;
    for (const int64_t v : bias->constant().ToInts())
      most = std::max(most, std::fabs(static_cast<double>(v)));
    return most;
  }

  Result<Term> WithBias(const Term& y, bool as_float) {
    if (node_.input(4) == nullptr) return y;
    NN_ASSIGN(const Term bias, Bias(as_float));
    return y + bias;
  }

  // A sum of two exact terms in float32 rounds once, as the conversion of the integer does.
  Result<bool> InOne(Value* x, Value* w) {
    if (!converted_ || MostOfBias() > kMaxExact) return FinishIntegers(Rounded(x, w));
    NN_ASSIGN(const Term y, WithBias(Product(x, w), true));
    return ReplaceConversions(y);
  }

  Result<bool> InTwo(Value* x, Value* w, double most_low) {
    const Parts p = Split(x);
    if (!converted_ || most_low + MostOfBias() > kMaxExact) return FinishIntegers(PartialSum(p, w));
    NN_ASSIGN(const Term low, WithBias(Product(p.low, w), true));
    return ReplaceConversions(Product(p.high, w) * kPart + low);
  }

  Result<bool> InFour(Value* x, Value* w) {
    const Parts p = Split(w);
    return FinishIntegers(Joined(PartialSum(Split(x), p.high), PartialSum(Split(x), p.low)));
  }

  Result<bool> ReplaceConversions(const Term& real) {
    NN_ASSIGN(Value* const y, e_.Build(real));
    const std::vector<Use> uses(node_.output()->uses().begin(), node_.output()->uses().end());
    for (const Use& use : uses) {
      Value* result = y;
      if (use.node->Is<DequantizeAttrs>()) {
        const Quant& q = *node_.output()->type().quant;
        std::vector<int64_t> dims;
        if (q.per_axis()) {
          dims.assign(static_cast<size_t>(node_.output()->type().rank() - q.axis), 1);
          dims[0] = static_cast<int64_t>(q.scales.size());
        }
        NN_ASSIGN(result, e_.Build(y * Term(Tensor::Of(dims, q.scales))));
      }
      graph_.Replace(use.node, result);
    }
    graph_.Erase(&node_);
    return true;
  }

  Term Rounded(const Term& x, const Term& w) const { return Cast(Product(x, w), DType::kI32); }

  // 16 high + low, in i32.
  static Term Joined(const Term& high, const Term& low) { return high * kPart + low; }

  // x w in i32, from the parts of x.
  Term PartialSum(const Parts& x, const Term& w) const {
    return Joined(Rounded(x.high, w), Rounded(x.low, w));
  }

  Result<bool> FinishIntegers(const Term& product) {
    NN_ASSIGN(const Term y, WithBias(product, false));
    if (!converted_) return e_.Replace(y);
    return ReplaceConversions(Cast(y, DType::kF32));
  }

  Graph& graph_;
  Node& node_;
  Expansion e_;
  bool is_conv_;
  bool converted_ = false;  // OnlyConverted()
};

}  // namespace

Result<bool> ExpandIntegerProduct(Graph& graph, Node& node) {
  return IntegerProduct(graph, node).Run();
}

Result<bool> UnscaleIntegerProduct(Graph& graph, Node& node) {
  if (!node.output()->type().quantized()) return false;
  return IntegerProduct(graph, node).RunConverted();
}

Result<bool> ExpandDynamicQuantize(Graph& graph, Node& node) {
  const Term x = node.input(0);
  const Term zero = Tensor::Scalar(0.0f);
  const Term low = Minimum(Apply("reduce_min", {x}, ReduceAttrs{{}, false}), zero);
  const Term high = Maximum(Apply("reduce_max", {x}, ReduceAttrs{{}, false}), zero);
  const Term range = high - low;
  const Term scale = Select(Equal(range, zero), 1, range / 255);
  const Term zero_point = Clip(Apply("round", {zero - low / scale}), 0, 255);
  // Without NaN, the zero point is a whole number.
  const Term y = Clip(Apply("round", {x / scale}) + zero_point, 0, 255);
  Expansion e(graph, node);
  NN_ASSIGN(Value* const result, e.Build(Cast(y, DType::kU8)));
  if (node.outputs().size() > 1) {
    NN_ASSIGN(Value* const v, e.Build(scale));
    e.ReplaceOutput(1, v);
  }
  if (node.outputs().size() > 2) {
    NN_ASSIGN(Value* const v, e.Build(Cast(zero_point, DType::kU8)));
    e.ReplaceOutput(2, v);
  }
  return e.Replace(result);
}

}  // namespace nn
