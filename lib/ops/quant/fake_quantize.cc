#include "ops/quant/fake_quantize.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduction.h"
#include "ops/support/composition.h"
#include "ops/support/term_ops.h"
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
    return UnsupportedError("{} is not supported", x.ToString());
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

// `range`, or `otherwise` if it is too small to be divided by.
Term AtLeast(const Term& range, float otherwise) {
  return Select(Less(range, kMinRange), otherwise, range);
}

// The nearest whole number to `size`, which is not negative, with the sign of `like`. The
// fraction is exact; the sum of `size` and 0.5 would not be.
Term WholeOf(const Term& size, const Term& like) {
  const Term whole = Apply("floor", {size});
  const Term up = Cast(Apply("greater_equal", {size - whole, 0.5}), DType::kF32);
  return (whole + up) * Apply("sign", {like});
}

// The nearest whole number in [-128, 127].
Term RoundedTerm(const Term& v) {
  return Clip(WholeOf(Apply("abs", {v}), v), -128, 127);
}

Term SymmetricTerm(const Term& x, const ReduceAttrs& over) {
  const Term size = Apply("abs", {x});
  const Term range = AtLeast(Apply("reduce_max", {size}, over), 127);
  const Term scale = range / 127;
  return WholeOf(size * (127 / range), x) * scale;
}

Term AsymmetricTerm(const Term& x, const ReduceAttrs& over) {
  const Term low = Minimum(Apply("reduce_min", {x}, over), 0);
  const Term high = Maximum(Apply("reduce_max", {x}, over), 0);
  const Term range = AtLeast(high - low, 255);
  const Term scale = range / 255;
  const Term zero = RoundedTerm(-128 - low * 255 / range);
  return (RoundedTerm(x * (1 / scale) + zero) - zero) * scale;
}

Result<bool> DecomposeDynamicFakeQuantize(Graph& graph, Node& node) {
  const auto& a = node.attrs<DynamicFakeQuantizeAttrs>();
  const ReduceAttrs over{a.axes, true};
  return Composition(graph, node)
      .Replace(a.symmetric ? SymmetricTerm(node.input(0), over)
                           : AsymmetricTerm(node.input(0), over));
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
