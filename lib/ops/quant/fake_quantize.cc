#include "ops/quant/fake_quantize.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduction.h"
#include "ops/support/composition.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> DynamicFakeQuantizeAttrs::Fields() {
  using A = DynamicFakeQuantizeAttrs;
  static const AttrField fields[] = {Field<&A::axes>("axes"), Field<&A::symmetric>("symmetric")};
  return fields;
}

namespace {

constexpr float kMinRange = 0x1p-120f;

Status InferDynamicFakeQuantize(InferContext& ctx) {
  const Type& x = ctx.in(0);
  if ((x.dtype != DType::kF32 && x.dtype != DType::kUnknown) || x.quantized())
    return UnsupportedError("dynamic_fake_quantize of {} is not supported", x.ToString());
  const auto& axes = ctx.attrs<DynamicFakeQuantizeAttrs>().axes;
  if (axes.empty()) return ModelError("there are no axes");
  if (x.ranked()) {
    NN_RETURN_IF_ERROR(ReducedAxes(axes, x.rank()));
  }
  ctx.set_out(0, x);
  return {};
}

std::optional<AxesChange> ChangeFakeQuantizeAxes(const Node& node, Operand changed,
                                                 const AxisMap& map) {
  const auto& a = node.attrs<DynamicFakeQuantizeAttrs>();
  const auto axes = ReducedAxes(a.axes, node.input(0)->type().rank());
  auto mapped = axes ? MapAxes(*axes, map) : std::nullopt;
  if (!mapped) return std::nullopt;
  std::ranges::sort(*mapped);
  const Operand other = changed.is_output ? Operand{false, 0} : Operand{true, 0};
  return AxesChange{DynamicFakeQuantizeAttrs{*std::move(mapped), a.symmetric}, {{other, map}}};
}

// The steps of the definition.
class RowRounding {
 public:
  RowRounding(Graph& graph, Node& node)
      : graph_(graph), c_(graph, node), a_(node.attrs<DynamicFakeQuantizeAttrs>()) {}

  Result<Value*> Symmetric(Value* x) {
    NN_ASSIGN(Value* const size, c_.Add("abs", {x}));
    NN_ASSIGN(Value * range, c_.Add("reduce_max", {size}, ReduceAttrs{a_.axes, true}));
    NN_ASSIGN(range, AtLeast(range, 127));
    NN_ASSIGN(Value* const scale, c_.Add("div", {range, Number(127)}));
    NN_ASSIGN(Value* const inverse, c_.Add("div", {Number(127), range}));
    NN_ASSIGN(Value * y, c_.Add("mul", {size, inverse}));
    NN_ASSIGN(y, WholeOf(y, x));
    return c_.Add("mul", {y, scale});
  }

  Result<Value*> Asymmetric(Value* x) {
    NN_ASSIGN(Value * low, c_.Add("reduce_min", {x}, ReduceAttrs{a_.axes, true}));
    NN_ASSIGN(low, c_.Add("minimum", {low, Number(0)}));
    NN_ASSIGN(Value * high, c_.Add("reduce_max", {x}, ReduceAttrs{a_.axes, true}));
    NN_ASSIGN(high, c_.Add("maximum", {high, Number(0)}));
    NN_ASSIGN(Value * range, c_.Add("sub", {high, low}));
    NN_ASSIGN(range, AtLeast(range, 255));
    NN_ASSIGN(Value* const scale, c_.Add("div", {range, Number(255)}));
    NN_ASSIGN(Value* const inverse, c_.Add("div", {Number(1), scale}));
    NN_ASSIGN(Value * zero, c_.Add("mul", {low, Number(255)}));
    NN_ASSIGN(zero, c_.Add("div", {zero, range}));
    NN_ASSIGN(zero, c_.Add("sub", {Number(-128), zero}));
    NN_ASSIGN(zero, Rounded(zero));
    NN_ASSIGN(Value * y, c_.Add("mul", {x, inverse}));
    NN_ASSIGN(y, c_.Add("add", {y, zero}));
    NN_ASSIGN(y, Rounded(y));
    NN_ASSIGN(y, c_.Add("sub", {y, zero}));
    return c_.Add("mul", {y, scale});
  }

 private:
  Value* Number(float v) { return graph_.AddConstant(Tensor::Scalar(v)); }

  // `range`, or `otherwise` if it is too small to be divided by.
  Result<Value*> AtLeast(Value* range, float otherwise) {
    NN_ASSIGN(Value* const small, c_.Add("less", {range, Number(kMinRange)}));
    return c_.Add("select", {small, Number(otherwise), range});
  }

  // The nearest whole number to `size`, which is not negative, with the sign of `like`. The
  // fraction is exact; the sum of `size` and 0.5 would not be.
  Result<Value*> WholeOf(Value* size, Value* like) {
    NN_ASSIGN(Value* const whole, c_.Add("floor", {size}));
    NN_ASSIGN(Value * up, c_.Add("sub", {size, whole}));
    NN_ASSIGN(up, c_.Add("greater_equal", {up, Number(0.5f)}));
    NN_ASSIGN(up, c_.Add("cast", {up}, CastAttrs{.to = DType::kF32}));
    NN_ASSIGN(Value* const rounded, c_.Add("add", {whole, up}));
    NN_ASSIGN(Value* const sign, c_.Add("sign", {like}));
    return c_.Add("mul", {rounded, sign});
  }

  // The nearest whole number in [-128, 127].
  Result<Value*> Rounded(Value* v) {
    NN_ASSIGN(Value* const size, c_.Add("abs", {v}));
    NN_ASSIGN(Value* const whole, WholeOf(size, v));
    return c_.Add("clip", {whole}, ClipAttrs{-128, 127});
  }

  Graph& graph_;
  Composition c_;
  const DynamicFakeQuantizeAttrs a_;
};

Result<bool> DecomposeDynamicFakeQuantize(Graph& graph, Node& node) {
  RowRounding rounding(graph, node);
  const Composition c(graph, node);
  NN_ASSIGN(Value* const y, node.attrs<DynamicFakeQuantizeAttrs>().symmetric
                                ? rounding.Symmetric(node.input(0))
                                : rounding.Asymmetric(node.input(0)));
  NN_RETURN_IF_ERROR(c.Replace(y));
  return true;
}

float Cut(float v) {
  return std::fmin(std::fmax(v, -128.0f), 127.0f);
}

}  // namespace

RowGrid RowGridOf(float low, float high, bool symmetric) {
  const float range = symmetric ? Larger(-low, high) : high - low;
  const float whole = symmetric ? 127.0f : 255.0f;
  const float safe = range < kMinRange ? whole : range;
  RowGrid grid{.scale = safe / whole, .symmetric = symmetric};
  grid.inverse = symmetric ? whole / safe : 1.0f / grid.scale;
  if (!symmetric) grid.zero = Cut(std::round(-128.0f - low * 255.0f / safe));
  return grid;
}

float Rounded(const RowGrid& grid, float x) {
  if (grid.symmetric) return std::round(x * grid.inverse) * grid.scale;
  return (Cut(std::round(x * grid.inverse + grid.zero)) - grid.zero) * grid.scale;
}

std::vector<float> FakeQuantizedRow(std::span<const float> x, bool symmetric) {
  float low = 0, high = 0;
  for (const float v : x) {
    low = Smaller(low, v);
    high = Larger(high, v);
  }
  const RowGrid grid = RowGridOf(low, high, symmetric);
  std::vector<float> y;
  y.reserve(x.size());
  for (const float v : x) y.push_back(Rounded(grid, v));
  return y;
}

namespace {

Status EvalDynamicFakeQuantize(EvalContext& ctx) {
  const auto& a = ctx.attrs<DynamicFakeQuantizeAttrs>();
  const auto& dims = ctx.in(0).dims();
  NN_ASSIGN(const std::vector<int> axes, ReducedAxes(a.axes, static_cast<int>(dims.size())));
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const auto x = ctx.in(0).As<float>();
  const auto out = y.As<float>();
  const Rows rows(dims, axes);
  std::vector<float> row(static_cast<size_t>(rows.length()));
  rows.ForEach([&](int64_t, int64_t start) {
    const auto at = [&](size_t i) {
      return static_cast<size_t>(start + rows.offset(static_cast<int64_t>(i)));
    };
    for (size_t i = 0; i < row.size(); ++i) row[i] = x[at(i)];
    const std::vector<float> rounded = FakeQuantizedRow(row, a.symmetric);
    for (size_t i = 0; i < row.size(); ++i) out[at(i)] = rounded[i];
  });
  ctx.set_out(0, y.Finish());
  return {};
}

}  // namespace

void RegisterFakeQuantizeOps(OpRegistry& ops) {
  OpDef op;
  op.name = "dynamic_fake_quantize";
  op.summary = "the elements as 8 bits with a scale for each row represent them";
  op.category = Category::kQuantization;
  op.attrs = AttrsInfoOf<DynamicFakeQuantizeAttrs>();
  op.inputs = {{"x"}};
  op.infer = InferDynamicFakeQuantize;
  op.eval = EvalDynamicFakeQuantize;
  op.change_axes = ChangeFakeQuantizeAxes;
  op.decompose = DecomposeDynamicFakeQuantize;
  ops.Add(std::move(op));
}

}  // namespace nn
