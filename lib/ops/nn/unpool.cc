// max_unpool.
#include <algorithm>
#include <iterator>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/nn/pool.h"
#include "ops/support/domain.h"
#include "ops/support/index.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> MaxUnpoolAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&MaxUnpoolAttrs::layout>("layout"),
      Field<&MaxUnpoolAttrs::kernel>("kernel"),
      Field<&MaxUnpoolAttrs::strides>("strides"),
      Field<&MaxUnpoolAttrs::pads>("pads"),
      Field<&MaxUnpoolAttrs::output_shape>("output_shape"),
  };
  return fields;
}

namespace {

// The spatial sizes without output_shape.
Result<Dims> NaturalSizes(const MaxUnpoolAttrs& a, const Dims& spatial) {
  const size_t rank = spatial.size();
  constexpr int64_t kMax = int64_t{1} << 31;
  const auto fits = [&](const std::vector<int64_t>& list, size_t size) {
    return list.size() == size || list.empty();
  };
  if (a.kernel.size() != rank || !fits(a.strides, rank) || !fits(a.pads, 2 * rank))
    return ModelError("kernel, strides and pads have {}, {} and {} entries for {} spatial axes",
                      a.kernel.size(), a.strides.size(), a.pads.size(), rank);
  Dims out;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t stride = a.strides.empty() ? 1 : a.strides[i];
    const int64_t begin = a.pads.empty() ? 0 : a.pads[i];
    const int64_t end = a.pads.empty() ? 0 : a.pads[rank + i];
    for (const int64_t v : {a.kernel[i], stride, begin + 1, end + 1})
      if (v < 1 || v > kMax)
        return ModelError("kernel, stride or pad is out of range on axis {}", i);
    out.push_back((spatial[i] - Dim(1)) * Dim(stride) + Dim(a.kernel[i] - begin - end));
    if (out.back().is_const() && out.back().value() < 1)
      return ModelError("spatial axis {} would have size {}", i, out.back().ToString());
  }
  return out;
}

// The spatial sizes of the result.
Result<Dims> OutputSizes(InferContext& ctx, const Dims& natural) {
  Dims sizes = ctx.attrs<MaxUnpoolAttrs>().output_shape;
  if (ctx.has(2)) {
    if (!sizes.empty())
      return ModelError("output_shape is given both as an attribute and as an input");
    if (auto elements = ctx.elements(2)) {
      sizes = *std::move(elements);
      sizes.erase(sizes.begin(), sizes.begin() + std::min<std::ptrdiff_t>(2, std::ssize(sizes)));
    } else {
      for (size_t i = 0; i < natural.size(); ++i) sizes.push_back(ctx.NewSymbol());
    }
  } else if (sizes.empty()) {
    return natural;
  }
  if (sizes.size() != natural.size())
    return ModelError("output_shape has {} spatial axes, x has {}", sizes.size(), natural.size());
  return sizes;
}

Status InferMaxUnpool(InferContext& ctx) {
  const auto& a = ctx.attrs<MaxUnpoolAttrs>();
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 3));
  const Type& x = ctx.in(0);
  const Type& indices = ctx.in(1);
  if (indices.dtype != DType::kI64 && indices.dtype != DType::kUnknown)
    return ModelError("the index type is {}; must be i64", DTypeName(indices.dtype));
  if (!Compatible(Type(DType::kUnknown, *x.dims), indices))
    return ModelError("the shape of indices {} does not match x {}", indices.ToString(),
                      x.ToString());
  NN_ASSIGN(const Dims natural, NaturalSizes(a, SpatialDims(*x.dims, a.layout)));
  NN_ASSIGN(const Dims sizes, OutputSizes(ctx, natural));
  Dims dims = *x.dims;
  for (size_t i = 0; i < natural.size(); ++i) {
    const Dim& d = sizes[i];
    if (d.is_const() && natural[i].is_const() && d.value() < natural[i].value())
      return ModelError("output_shape[{}] is {}, less than the natural size {}", i, d.ToString(),
                        natural[i].ToString());
    dims[static_cast<size_t>(FirstSpatialAxis(a.layout)) + i] = d;
  }
  ctx.set_out(0, Type(x.dtype, std::move(dims)));
  return {};
}

Status EvalMaxUnpool(EvalContext& ctx) {
  const auto& a = ctx.attrs<MaxUnpoolAttrs>();
  const Tensor& x = ctx.in(0);
  const auto dtype = x.dtype();
  if (!IsFloat(dtype) || DTypeBits(dtype) < 16)
    return UnsupportedError("{} is not supported", DTypeName(dtype));
  NN_ASSIGN(const Dims sizes, NaturalSizes(a, SpatialDims(ToDims(x.dims()), a.layout)));
  // Channels-first shape of the natural output, and the strides of y in that axis order.
  const auto channel = static_cast<size_t>(ChannelAxis(a.layout, x.rank()));
  std::vector<int64_t> natural = {x.dims()[0], x.dims()[channel]};
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const auto xs = Strides(x.dims());
  const auto ys = Strides(y.dims());
  std::vector<int64_t> steps = {ys[0], ys[channel]};
  std::vector<int64_t> x_sizes = natural;
  std::vector<int64_t> x_steps = {xs[0], xs[channel]};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t axis = static_cast<size_t>(FirstSpatialAxis(a.layout)) + i;
    natural.push_back(sizes[i].value());
    steps.push_back(ys[axis]);
    x_sizes.push_back(x.dims()[axis]);
    x_steps.push_back(xs[axis]);
  }
  const auto offset = [](int64_t index, const std::vector<int64_t>& dims,
                         const std::vector<int64_t>& strides) {
    int64_t at = 0;
    for (size_t d = dims.size(); d-- > 0; index /= dims[d]) at += index % dims[d] * strides[d];
    return at;
  };
  const auto total = CheckedElements(natural);
  if (!total) return LimitError("the natural size overflows");
  for (int64_t i = 0; i < y.elements(); ++i) y.SetInt(i, 0);
  // With the channels first whatever the layout, because the last element of an index stays.
  for (int64_t i = 0; i < x.elements(); ++i) {
    const int64_t from = offset(i, x_sizes, x_steps);
    const int64_t index = ctx.in(1).GetInt(from);
    if (index < 0 || index >= *total)
      return ModelError("index {} is outside the {} elements of the output", index, *total);
    y.SetDouble(offset(index, natural, steps), x.GetDouble(from));
  }
  ctx.set_out(0, y.Finish());
  return {};
}

std::optional<AxesChange> ChangeMaxUnpoolAxes(const Node& node, Operand changed,
                                              const AxisMap& map) {
  if (!changed.is_output && changed.index == 2) return std::nullopt;
  MaxUnpoolAttrs a = node.attrs<MaxUnpoolAttrs>();
  const auto layout = FlipLayout(a.layout, node.input(0)->type().rank(), map);
  if (!layout) return std::nullopt;
  a.layout = *layout;
  AxesChange change{a, {}};
  for (const Operand other : {Operand{false, 0}, Operand{false, 1}, Operand{true, 0}})
    if (!(other == changed)) change.others.emplace_back(other, map);
  return change;
}

// Flat indices into the result of the natural size.
Domain UnpoolDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto x = DimsOf(node.input(0)), y = DimsOf(node.output());
  if (input == 2) return y ? Exactly(*y) : Domain();
  if (input == 0 || !x || x->size() < 3) return {};
  const auto& a = node.attrs<MaxUnpoolAttrs>();
  const auto sizes = NaturalSizes(a, SpatialDims(ToDims(*x), a.layout));
  if (!sizes) return {};
  int64_t elements =
      (*x)[0] * (*x)[static_cast<size_t>(ChannelAxis(a.layout, static_cast<int>(x->size())))];
  for (const Dim& d : *sizes) elements *= d.value();
  return IndexDomain(elements);
}

}  // namespace

void RegisterUnpoolOps(OpRegistry& ops) {
  OpDef op;
  op.name = "max_unpool";
  op.summary = "puts elements back to their max_pool positions, with zeros elsewhere";
  op.category = Category::kMovement;
  op.attrs = AttrsInfoOf<MaxUnpoolAttrs>();
  op.inputs = {{"x"}, {"indices"}, {"output_shape", Arity::kOptional}};
  op.infer = InferMaxUnpool;
  op.eval = EvalMaxUnpool;
  op.change_axes = ChangeMaxUnpoolAxes;
  ops.Add(std::move(op));
}

void AddUnpoolDomains(DomainTable& domains) {
  domains["max_unpool"] = UnpoolDomain;
}

}  // namespace nn
