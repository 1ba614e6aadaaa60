#include "ops/nn/pool.h"
#include "ops/array/arrange/concat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "numeric/double_functions.h"
#include "numeric/scalar_functions.h"
#include "ops/families.h"
#include "ops/quant/quantized.h"
#include "ops/reduce/reduction.h"
#include "ops/support/index.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {
namespace {

// The fields of PoolAttrs as members of A, then those of A.
template <typename A, size_t n>
std::array<AttrField, 7 + n> WithPoolFields(const std::array<AttrField, n>& own) {
  std::array<AttrField, 7 + n> fields = {
      Field<&PoolAttrs::layout, A>("layout"),       Field<&PoolAttrs::kernel, A>("kernel"),
      Field<&PoolAttrs::strides, A>("strides"),     Field<&PoolAttrs::dilations, A>("dilations"),
      Field<&PoolAttrs::pads, A>("pads"),           Field<&PoolAttrs::padding, A>("padding"),
      Field<&PoolAttrs::ceil_mode, A>("ceil_mode"),
  };
  std::copy(own.begin(), own.end(), fields.begin() + 7);
  return fields;
}

}  // namespace

std::span<const AttrField> MaxPoolAttrs::Fields() {
  static const auto fields = WithPoolFields<MaxPoolAttrs>(
      std::array{Field<&MaxPoolAttrs::storage_order>("storage_order")});
  return fields;
}
std::span<const AttrField> AveragePoolAttrs::Fields() {
  static const auto fields = WithPoolFields<AveragePoolAttrs>(
      std::array{Field<&AveragePoolAttrs::count_include_pad>("count_include_pad")});
  return fields;
}
std::span<const AttrField> LpPoolAttrs::Fields() {
  static const auto fields = WithPoolFields<LpPoolAttrs>(
      std::array{Field<&LpPoolAttrs::p>("p"), Field<&LpPoolAttrs::average>("average")});
  return fields;
}

Result<std::vector<Window>> PoolWindows(const PoolAttrs& a, const Dims& input) {
  WindowSpec spec;
  spec.kernel = a.kernel;
  spec.strides = a.strides;
  spec.dilations = a.dilations;
  spec.pads = a.pads;
  spec.padding = a.padding;
  spec.ceil_mode = a.ceil_mode;
  return ResolveWindows(spec, SpatialDims(input, a.layout));
}

namespace {

Result<Dims> PooledDims(const InferContext& ctx, const PoolAttrs& a) {
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 3));
  Dims dims = *ctx.in(0).dims;
  NN_ASSIGN(const auto windows, PoolWindows(a, dims));
  for (size_t i = 0; i < windows.size(); ++i)
    dims[static_cast<size_t>(FirstSpatialAxis(a.layout)) + i] = windows[i].output;
  return dims;
}

template <typename A>
Status InferPool(InferContext& ctx) {
  NN_ASSIGN(Dims dims, PooledDims(ctx, ctx.attrs<A>()));
  ctx.set_out(0, Type(ctx.in(0).dtype, std::move(dims)));
  return {};
}

Status InferMaxPool(InferContext& ctx) {
  const auto& a = ctx.attrs<MaxPoolAttrs>();
  if (a.storage_order != 0 && a.storage_order != 1)
    return ModelError("storage_order is {}; must be 0 or 1", a.storage_order);
  NN_ASSIGN(const Dims dims, PooledDims(ctx, a));
  ctx.set_out(0, Type(ctx.in(0).dtype, dims));
  if (ctx.output_count() > 1) ctx.set_out(1, Type(DType::kI64, dims));
  return {};
}

Status InferLpPool(InferContext& ctx) {
  if (!(ctx.attrs<LpPoolAttrs>().p > 0))
    return ModelError("p is {}; must be positive", ctx.attrs<LpPoolAttrs>().p);
  return InferPool<LpPoolAttrs>(ctx);
}

// ---- Windows

// The windows of one pooling, in elements of x and y.
class Pooling {
 public:
  static Result<Pooling> Create(const PoolAttrs& a, const std::vector<int64_t>& x,
                                const std::vector<int64_t>& y) {
    NN_ASSIGN(const auto windows, PoolWindows(a, ToDims(x)));
    Pooling p;
    NN_ASSIGN(p.windows_, ConstWindows(windows));
    const auto xs = Strides(x);
    const auto ys = Strides(y);
    const auto first = static_cast<size_t>(FirstSpatialAxis(a.layout));
    const auto channel = static_cast<size_t>(ChannelAxis(a.layout, static_cast<int>(x.size())));
    p.outer_ = {x[0], x[channel]};
    p.x_outer_ = {xs[0], xs[channel]};
    p.y_outer_ = {ys[0], ys[channel]};
    for (size_t i = 0; i < p.windows_.size(); ++i) {
      p.x_spatial_.push_back(xs[first + i]);
      p.y_spatial_.push_back(ys[first + i]);
      p.out_.push_back(p.windows_[i].output);
    }
    return p;
  }

  const std::vector<ConstWindow>& windows() const { return windows_; }

  // The taps of a window outside padding, and the number of kernel positions before the end of the
  // padding.
  struct Taps {
    std::vector<int64_t> offsets;    // in elements of x, from a channel's first
    std::vector<int64_t> positions;  // index in the channel, row-major over the spatial axes
    int64_t with_padding = 1;
  };

  // fn(taps, x offset, y offset, channel number) for every window of every batch and
  // channel.
  template <typename Fn>
  void ForEach(Fn fn) const {
    if (outer_[0] == 0 || outer_[1] == 0) return;
    std::vector<int64_t> y_offsets;
    ForEachOffset(out_, y_spatial_, [&](int64_t, int64_t offset) { y_offsets.push_back(offset); });
    std::vector<int64_t> x_offsets;
    ForEachOffset(outer_, x_outer_, [&](int64_t, int64_t o) { x_offsets.push_back(o); });
    std::vector<int64_t> at(out_.size(), 0);
    for (const int64_t y : y_offsets) {
      const Taps taps = TapsAt(at);
      ForEachOffset(outer_, y_outer_, [&](int64_t channel, int64_t o) {
        fn(taps, x_offsets[static_cast<size_t>(channel)], y + o, channel);
      });
      NextIndex(at, out_);
    }
  }

 private:
  // Positions in padding are skipped axis by axis: a kernel may be larger than memory.
  Taps TapsAt(const std::vector<int64_t>& at) const {
    Taps taps;
    taps.offsets = {0};
    taps.positions = {0};
    for (size_t i = 0; i < at.size(); ++i) {
      const ConstWindow& w = windows_[i];
      const int64_t start = at[i] * w.stride - w.pad_begin;
      const int64_t begin = std::max<int64_t>(0, CeilDiv(-start, w.dilation));
      const int64_t end = std::min(w.kernel, CeilDiv(w.input - start, w.dilation));
      const int64_t padded = std::min(w.kernel, CeilDiv(w.input + w.pad_end - start, w.dilation));
      taps.with_padding =
          CheckedMul(taps.with_padding, padded).value_or(std::numeric_limits<int64_t>::max());
      Taps next;
      for (size_t t = 0; t < taps.offsets.size(); ++t)
        for (int64_t k = begin; k < end; ++k) {
          const int64_t place = start + k * w.dilation;
          next.offsets.push_back(taps.offsets[t] + place * x_spatial_[i]);
          next.positions.push_back(taps.positions[t] * w.input + place);
        }
      taps.offsets = std::move(next.offsets);
      taps.positions = std::move(next.positions);
    }
    return taps;
  }

  std::vector<ConstWindow> windows_;
  std::vector<int64_t> outer_, x_outer_, y_outer_;  // batch and channel
  std::vector<int64_t> x_spatial_, y_spatial_, out_;
};

template <typename A>
Result<Pooling> PoolingOf(const EvalContext& ctx) {
  const auto y = ctx.out_type().const_dims();
  if (!y) return InternalError("output shape not inferred");
  return Pooling::Create(ctx.attrs<A>(), ctx.in(0).dims(), *y);
}

// ---- max_pool

// Converts an index in a channel from row-major to column-major order.
int64_t ColumnMajor(int64_t position, const std::vector<ConstWindow>& windows) {
  int64_t out = 0;
  for (size_t i = windows.size(); i-- > 0;) {
    out += position % windows[i].input;
    position /= windows[i].input;
    if (i > 0) out *= windows[i - 1].input;
  }
  return out;
}

// Finds the tap with the largest value; -1 if there are no taps.
template <typename Get>
int64_t LargestTap(const Pooling::Taps& taps, Get value) {
  int64_t best = -1;
  for (size_t t = 0; t < taps.offsets.size(); ++t) {
    if (best >= 0) {
      const auto m = value(taps.offsets[static_cast<size_t>(best)]);
      const auto v = value(taps.offsets[t]);
      if (!(v > m || (v != v && m == m))) continue;
    }
    best = static_cast<int64_t>(t);
  }
  return best;
}

template <typename T, typename Get, typename Put>
Status MaxPool(EvalContext& ctx, const Pooling& pooling, T lowest, Get value, Put put) {
  const bool wants_indices = ctx.output_count() > 1;
  const bool column_major = ctx.attrs<MaxPoolAttrs>().storage_order == 1;
  TensorBuilder indices;
  if (wants_indices) {
    NN_ASSIGN(indices, ctx.NewOutput(1));
  }
  int64_t channel_size = 1;
  for (const ConstWindow& w : pooling.windows()) channel_size *= w.input;
  pooling.ForEach([&](const Pooling::Taps& taps, int64_t x0, int64_t y0, int64_t channel) {
    const int64_t best = LargestTap(taps, [&](int64_t offset) { return value(x0 + offset); });
    put(y0, best < 0 ? lowest : value(x0 + taps.offsets[static_cast<size_t>(best)]));
    if (!wants_indices) return;
    if (best < 0) return indices.SetInt(y0, -1);
    const int64_t position = taps.positions[static_cast<size_t>(best)];
    indices.SetInt(y0, channel * channel_size +
                           (column_major ? ColumnMajor(position, pooling.windows()) : position));
  });
  if (wants_indices) ctx.set_out(1, indices.Finish());
  return {};
}

Status EvalMaxPool(EvalContext& ctx) {
  NN_ASSIGN(const Pooling pooling, PoolingOf<MaxPoolAttrs>(ctx));
  const DType dtype = ctx.in(0).dtype();
  if (IsInteger(dtype) && dtype != DType::kU64) {
    if (ctx.in_type(0).quantized()) NN_RETURN_IF_ERROR(RequireSameQuant(ctx));
    NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
    const auto x = ctx.in(0).ToInts();
    NN_RETURN_IF_ERROR(MaxPool(
        ctx, pooling, MinInteger(dtype), [&](int64_t i) { return x[static_cast<size_t>(i)]; },
        [&](int64_t i, int64_t v) { y.SetInt(i, v); }));
    ctx.set_out(0, y.Finish());
    return {};
  }
  return WithReals(dtype, [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> x(ctx.in(0));
    NN_RETURN_IF_ERROR(MaxPool(
        ctx, pooling, -std::numeric_limits<T>::infinity(), [&](int64_t i) { return x[i]; },
        [&](int64_t i, T v) { y[i] = v; }));
    y.Finish();
    return {};
  });
}

// ---- average_pool

int64_t CountOf(const Pooling::Taps& taps, bool include_pad) {
  return include_pad ? taps.with_padding : static_cast<int64_t>(taps.offsets.size());
}

// The mean rounded to the nearest integer, halves away from zero; padding does not count.
//
// Source: tflite/kernels/internal/reference/pooling.h and integer_ops/pooling.h, AveragePool.
Status EvalQuantizedAverage(EvalContext& ctx, const Pooling& pooling) {
  NN_RETURN_IF_ERROR(RequireTflite(ctx));
  NN_RETURN_IF_ERROR(RequireSameQuant(ctx));
  const Tensor& x = ctx.in(0);
  const bool known = x.dtype() == DType::kU8 || x.dtype() == DType::kI8 || x.dtype() == DType::kI16;
  if (!known) return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
  const bool include_pad = ctx.attrs<AveragePoolAttrs>().count_include_pad;
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  bool empty = false, counted = false;
  pooling.ForEach([&](const Pooling::Taps& taps, int64_t x0, int64_t y0, int64_t) {
    const auto count = static_cast<int64_t>(taps.offsets.size());
    counted |= include_pad && taps.with_padding != count;
    empty |= count == 0;
    if (count == 0) return;
    int64_t sum = 0;
    for (const int64_t offset : taps.offsets) sum += x.GetInt(x0 + offset);
    y.SetInt(y0, (sum > 0 ? sum + count / 2 : sum - count / 2) / count);
  });
  if (counted)
    return UnsupportedError("{} with count_include_pad is not supported",
                            ctx.in_type(0).ToString());
  if (empty) return ModelError("a window lies entirely in padding");
  ctx.set_out(0, y.Finish());
  return {};
}

Status EvalAveragePool(EvalContext& ctx) {
  NN_ASSIGN(const Pooling pooling, PoolingOf<AveragePoolAttrs>(ctx));
  if (ctx.in_type(0).quantized()) return EvalQuantizedAverage(ctx, pooling);
  const bool include_pad = ctx.attrs<AveragePoolAttrs>().count_include_pad;
  return WithReals(ctx.in(0).dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> x(ctx.in(0));
    pooling.ForEach([&](const Pooling::Taps& taps, int64_t x0, int64_t y0, int64_t) {
      T sum = 0;
      for (const int64_t offset : taps.offsets) sum = sum + x[x0 + offset];
      y[y0] = sum / static_cast<T>(CountOf(taps, include_pad));
    });
    y.Finish();
    return {};
  });
}

// ---- lp_pool

float PowerOf(float x, float p) {
  return ScalarFunctions::Pow(x, p);
}
double PowerOf(double x, double p) {
  return float64::Pow(x, p);
}
template <typename T>
T ToThePower(T x, float p) {
  if (p == 1.0f) return std::fabs(x);
  if (p == 2.0f) return x * x;
  return PowerOf(std::fabs(x), static_cast<T>(p));
}
template <typename T>
T RootOf(T sum, float p) {
  if (p == 1.0f) return sum;
  if (p == 2.0f) return std::sqrt(sum);
  return PowerOf(sum, T{1} / static_cast<T>(p));
}

Status EvalLpPool(EvalContext& ctx) {
  const auto& a = ctx.attrs<LpPoolAttrs>();
  NN_ASSIGN(const Pooling pooling, PoolingOf<LpPoolAttrs>(ctx));
  const DType dtype = ctx.in(0).dtype();
  if (ctx.in_type(0).quantized())
    return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
  return WithReals(dtype, [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> x(ctx.in(0));
    pooling.ForEach([&](const Pooling::Taps& taps, int64_t x0, int64_t y0, int64_t) {
      T sum = 0;
      for (const int64_t offset : taps.offsets) sum = sum + ToThePower(x[x0 + offset], a.p);
      if (a.average) sum = sum / static_cast<T>(CountOf(taps, false));
      y[y0] = RootOf(sum, a.p);
    });
    y.Finish();
    return {};
  });
}

// Lowers the mean form for p = 1 and 2 to nodes with the same steps.
Result<bool> DecomposeLpPool(Graph& graph, Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  if (!a.average || (a.p != 1.0f && a.p != 2.0f)) return false;
  AveragePoolAttrs pool;
  static_cast<PoolAttrs&>(pool) = a;
  Value* x = node.input(0);
  const bool squares = a.p == 2.0f;
  NN_ASSIGN(Node* const powers, squares ? graph.Append("mul", {x, x}, {}, 1, &node)
                                        : graph.Append("abs", {x}, {}, 1, &node));
  if (!squares) {
    graph.SetInputs(&node, {powers->output()});
    graph.SetOp(&node, *Ops().Find("average_pool"), pool);
    return true;
  }
  NN_ASSIGN(Node* const mean, graph.Append("average_pool", {powers->output()}, pool, 1, &node));
  graph.SetInputs(&node, {mean->output()});
  graph.SetOp(&node, *Ops().Find("sqrt"), {});
  return true;
}

// ---- Axes and cost

template <typename A>
std::optional<AxesChange> ChangePoolAxes(const Node& node, Operand changed, const AxisMap& map) {
  A a = node.attrs<A>();
  const auto layout = FlipLayout(a.layout, node.input(0)->type().rank(), map);
  if (!layout) return std::nullopt;
  a.layout = *layout;
  AxesChange change{a, {}};
  for (const Operand other : {Operand{false, 0}, Operand{true, 0}, Operand{true, 1}})
    if (!(other == changed) && (!other.is_output || other.index < node.outputs().size()))
      change.others.emplace_back(other, map);
  return change;
}

// One operation for every kernel position of every output element.
template <typename A>
std::optional<int64_t> PoolMultiplyAdds(const Node& node) {
  const auto y = node.output()->type().const_dims();
  if (!y) return std::nullopt;
  std::vector<int64_t> factors = *y;
  const auto& kernel = node.attrs<A>().kernel;
  factors.insert(factors.end(), kernel.begin(), kernel.end());
  return CheckedElements(factors);
}

template <typename A>
OpDef PoolDef(std::string_view name, std::string_view summary, Status (*infer)(InferContext&),
              Status (*eval)(EvalContext&)) {
  OpDef op;
  op.name = name;
  op.summary = summary;
  op.category = Category::kPooling;
  op.takes_unit_axes = true;
  op.attrs = AttrsInfoOf<A>();
  op.inputs = {{"x"}};
  op.infer = infer;
  op.eval = eval;
  op.change_axes = ChangePoolAxes<A>;
  op.multiply_adds = PoolMultiplyAdds<A>;
  return op;
}

// The integer arithmetic does not count padding.
bool HasQuantizedAverage(const Node& node, const Type&, const Type&) {
  const auto& a = node.attrs<AveragePoolAttrs>();
  const bool padded =
      a.padding == Padding::kExplicit
          ? a.ceil_mode || std::ranges::any_of(a.pads, [](int64_t p) { return p != 0; })
          : a.padding != Padding::kValid || a.ceil_mode;
  return !a.count_include_pad || !padded;
}

// A pool of whole columns of a concatenation is the largest of its operands.
std::optional<Interval> ColumnMaximumRange(RangeContext& ctx) {
  const auto& a = ctx.attrs<MaxPoolAttrs>();
  const Node* const concat = ctx.node().input(0)->def();
  if (concat == nullptr || !concat->Is<ConcatAttrs>() || concat->output()->type().rank() != 4 ||
      concat->attrs<ConcatAttrs>().axis != 1 || a.layout != Layout::kNxc ||
      a.padding != Padding::kValid ||
      a.kernel != std::vector<int64_t>{std::ssize(concat->inputs()), 1})
    return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Interval all = {-kInfinity, -kInfinity};
  for (const Value* v : concat->inputs()) {
    if (!(v->type().dim(1) == Dim(1))) return std::nullopt;
    all = Larger(all, ctx.Of(v));
  }
  return all;
}

Interval MaxPoolRange(RangeContext& ctx, size_t output) {
  if (output != 0) return {};
  return ColumnMaximumRange(ctx).value_or(Interval());
}

// Padding may count as zeros.
Interval AveragePoolRange(RangeContext& ctx, size_t) {
  return Union(ctx.in(0), {0, 0});
}

Interval LpPoolRange(RangeContext&, size_t) {
  return {.min = 0};
}

}  // namespace

void RegisterPoolOps(OpRegistry& ops) {
  OpDef max_pool = PoolDef<MaxPoolAttrs>("max_pool", "largest element of each window", InferMaxPool,
                                         EvalMaxPool);
  max_pool.quant_rule = QuantRule::kSame;
  max_pool.exact_integers = true;
  max_pool.selects = Selection{.by_value = true};
  max_pool.range = MaxPoolRange;
  max_pool.outputs = {{"y"}, {"indices"}};
  ops.Add(std::move(max_pool));
  OpDef average_pool = PoolDef<AveragePoolAttrs>("average_pool", "mean of each window",
                                                 InferPool<AveragePoolAttrs>, EvalAveragePool);
  average_pool.quant_rule = QuantRule::kSame;
  average_pool.range = AveragePoolRange;
  average_pool.has_quantized_form = HasQuantizedAverage;
  ops.Add(std::move(average_pool));
  OpDef lp_pool = PoolDef<LpPoolAttrs>("lp_pool", "p-norm of each window", InferLpPool, EvalLpPool);
  lp_pool.range = LpPoolRange;
  lp_pool.decompose = DecomposeLpPool;
  ops.Add(std::move(lp_pool));
}

}  // namespace nn
