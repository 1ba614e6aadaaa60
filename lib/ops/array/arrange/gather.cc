#include "ops/array/arrange/gather.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/families.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> GatherAttrs::Fields() {
  static const AttrField fields[] = {Field<&GatherAttrs::axis>("axis"),
                                     Field<&GatherAttrs::batch_dims>("batch_dims")};
  return fields;
}
std::span<const AttrField> GatherElementsAttrs::Fields() {
  static const AttrField fields[] = {Field<&GatherElementsAttrs::axis>("axis")};
  return fields;
}
std::span<const AttrField> GatherNdAttrs::Fields() {
  static const AttrField fields[] = {Field<&GatherNdAttrs::batch_dims>("batch_dims")};
  return fields;
}

Result<int64_t> CheckIndex(int64_t index, int64_t size) {
  if (index < -size || index >= size)
    return ModelError("index {} is out of range for an axis of size {}", index, size);
  return index < 0 ? index + size : index;
}

namespace {

int64_t Count(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// ---- gather -------------------------------------------------------------------------------------

struct GatherAxes {
  int axis, batch;
};

Result<GatherAxes> AxesOf(const GatherAttrs& a, int rank, int indices_rank) {
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, rank));
  const int64_t batch = a.batch_dims < 0 ? a.batch_dims + indices_rank : a.batch_dims;
  if (batch < 0 || batch > axis || batch > indices_rank)
    return ModelError("batch_dims {} is out of range for axis {} and indices of rank {}",
                      a.batch_dims, axis, indices_rank);
  return GatherAxes{axis, static_cast<int>(batch)};
}

// One batch, with the indices along one axis.
Result<std::vector<AxisTable>> GatherTables(const std::vector<int64_t>& dims, size_t axis,
                                            std::span<const int64_t> indices) {
  const auto strides = Strides(dims);
  auto tables = WholeAxes(dims);
  AxisTable table;
  for (const int64_t index : indices) {
    NN_ASSIGN(const int64_t at, CheckIndex(index, dims[axis]));
    table.push_back(at * strides[axis]);
  }
  tables[axis] = std::move(table);
  return tables;
}

Status InferGather(InferContext& ctx) {
  const Type& x = ctx.in(0);
  const Type& indices = ctx.in(1);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  NN_RETURN_IF_ERROR(RequireIntegers(ctx, 1, "indices"));
  if (!x.ranked() || !indices.ranked()) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  NN_ASSIGN(const GatherAxes at, AxesOf(ctx.attrs<GatherAttrs>(), x.rank(), indices.rank()));
  for (int d = 0; d < at.batch; ++d)
    if (x.dim(d).is_const() && indices.dim(d).is_const() && x.dim(d) != indices.dim(d))
      return ModelError("the sizes of batch axis {} of {} and {} differ", d, x.ToString(),
                        indices.ToString());
  Dims dims(x.dims->begin(), x.dims->begin() + at.axis);
  dims.insert(dims.end(), indices.dims->begin() + at.batch, indices.dims->end());
  dims.insert(dims.end(), x.dims->begin() + at.axis + 1, x.dims->end());
  if (dims.size() > static_cast<size_t>(kMaxRank))
    return LimitError("the result has rank {}, which exceeds the limit", dims.size());
  ctx.set_out(0, x.WithDims(std::move(dims)));
  const auto chosen = ctx.elements(1);
  const auto numbers = chosen ? ConstDims(*chosen) : std::nullopt;
  if (!numbers || at.batch != 0 || !ctx.elements(0) || !x.const_dims()) return {};
  // An index out of range is a run-time error.
  for (const int64_t i : *numbers)
    if (!CheckIndex(i, x.dim(at.axis).value())) return {};
  MoveKnownElements(
      ctx, [&] { return *GatherTables(*x.const_dims(), static_cast<size_t>(at.axis), *numbers); });
  return {};
}

Status EvalGather(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  const Tensor& indices = ctx.in(1);
  NN_ASSIGN(const GatherAxes at, AxesOf(ctx.attrs<GatherAttrs>(), x.rank(), indices.rank()));
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const std::span<const int64_t> dims = x.dims();
  const auto axis = static_cast<size_t>(at.axis);
  const auto batch = static_cast<size_t>(at.batch);
  const int64_t batches = Count(dims.first(batch));
  const int64_t outer = Count(dims.subspan(batch, axis - batch));
  const int64_t inner = Count(dims.subspan(axis + 1));
  const auto chosen = indices.ToInts();
  const int64_t each = batches == 0 ? 0 : static_cast<int64_t>(chosen.size()) / batches;
  std::vector<int64_t> rows;
  for (const int64_t index : chosen) {
    NN_ASSIGN(const int64_t row, CheckIndex(index, dims[axis]));
    rows.push_back(row);
  }
  if (out.elements() == 0) {
    ctx.set_out(0, out.Finish());
    return {};
  }
  int64_t to = 0;
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < each; ++i, to += inner)
        out.Copy(to, x,
                 ((b * outer + o) * dims[axis] + rows[static_cast<size_t>(b * each + i)]) * inner,
                 inner);
  ctx.set_out(0, out.Finish());
  return {};
}

// Followed if the indices are a scalar or a vector: then every axis of x but one is an axis of y.
std::optional<AxesChange> ChangeGatherAxes(const Node& node, Operand changed, const AxisMap& map) {
  GatherAttrs a = node.attrs<GatherAttrs>();
  const Type& x = node.input(0)->type();
  const Type& indices = node.input(1)->type();
  if (!x.ranked() || !indices.ranked() || indices.rank() > 1 || a.batch_dims != 0 ||
      changed == Operand{false, 1})
    return std::nullopt;
  const auto axis = NormalizeAxis(a.axis, x.rank());
  if (!axis) return std::nullopt;
  AxisMap x_map = map;
  if (indices.rank() == 0 && changed.is_output) {
    // The axis that y lacks stays after the one before it.
    std::vector<int> from;
    for (const int f : map.from()) from.push_back(f >= *axis ? f + 1 : f);
    auto at = from.begin();
    if (*axis > 0) {
      at = std::find(from.begin(), from.end(), *axis - 1);
      if (at != from.end()) ++at;
    }
    from.insert(at, *axis);
    x_map = AxisMap(x.rank(), std::move(from));
  }
  const auto new_axis = x_map.ResultAxis(*axis);
  if (!new_axis) return std::nullopt;
  a.axis = *new_axis;
  AxisMap y_map = x_map;
  if (indices.rank() == 0) {
    std::vector<int> from;
    for (const int f : x_map.from())
      if (f != *axis) from.push_back(f > *axis ? f - 1 : f);
    y_map = AxisMap(x.rank() - 1, std::move(from));
  }
  if (changed.is_output) return AxesChange{a, {{Operand{false, 0}, x_map}}};
  return AxesChange{a, {{Operand{true, 0}, y_map}}};
}

// Batch axes are those of gather_nd: `axis` moves after them and is addressed by vectors of length
// 1, and the axes between move back.
Result<bool> DecomposeGather(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  const Type& indices = node.input(1)->type();
  const auto& a = node.attrs<GatherAttrs>();
  if (a.batch_dims == 0 || !x.ranked() || !indices.ranked()) return false;
  NN_ASSIGN(const GatherAxes at, AxesOf(a, x.rank(), indices.rank()));
  const int between = at.axis - at.batch;
  const int added = indices.rank() - at.batch;
  TransposeAttrs to_front;
  for (int d = 0; d < x.rank(); ++d) to_front.perm.push_back(d);
  std::rotate(to_front.perm.begin() + at.batch, to_front.perm.begin() + at.axis,
              to_front.perm.begin() + at.axis + 1);
  TransposeAttrs back;
  for (int d = 0; d < x.rank() - 1 + added; ++d) back.perm.push_back(d);
  std::rotate(back.perm.begin() + at.batch, back.perm.begin() + at.batch + added,
              back.perm.begin() + at.batch + added + between);
  Value* v = node.input(0);
  const auto add = [&](std::string_view op, std::vector<Value*> inputs, Attrs attrs) -> Status {
    NN_ASSIGN(const Node* n, graph.Append(op, std::move(inputs), std::move(attrs), 1, &node));
    v = n->output();
    return {};
  };
  NN_RETURN_IF_ERROR(add("expand_dims", {node.input(1)}, AxesAttrs{{-1}}));
  Value* const vectors = v;
  v = node.input(0);
  if (between > 0) NN_RETURN_IF_ERROR(add("transpose", {v}, to_front));
  NN_RETURN_IF_ERROR(add("gather_nd", {v, vectors}, GatherNdAttrs{at.batch}));
  if (between > 0 && added > 0) NN_RETURN_IF_ERROR(add("transpose", {v}, back));
  graph.Replace(&node, v);
  return true;
}

// ---- gather_elements ----------------------------------------------------------------------------

Status InferGatherElements(InferContext& ctx) {
  const Type& x = ctx.in(0);
  const Type& indices = ctx.in(1);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  NN_RETURN_IF_ERROR(RequireIntegers(ctx, 1, "indices"));
  Type y = Unranked(x);
  y.dims = indices.dims;
  ctx.set_out(0, y);
  if (!x.ranked() || !indices.ranked()) return {};
  if (x.rank() != indices.rank())
    return ModelError("x is {} and the indices are {}: their ranks differ", x.ToString(),
                      indices.ToString());
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.attrs<GatherElementsAttrs>().axis, x.rank()));
  for (int d = 0; d < x.rank(); ++d)
    if (d != axis && x.dim(d).is_const() && indices.dim(d).is_const() &&
        indices.dim(d).value() > x.dim(d).value())
      return ModelError("the indices {} are larger than {} on axis {}", indices.ToString(),
                        x.ToString(), d);
  return {};
}

Status EvalGatherElements(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  const Tensor& indices = ctx.in(1);
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.attrs<GatherElementsAttrs>().axis, x.rank()));
  const auto at = static_cast<size_t>(axis);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const auto strides = Strides(x.dims());
  // The source of each element of y if its index on the axis were 0.
  auto tables = WholeAxes(x.dims());
  if (out.elements() > 0) {
    for (size_t d = 0; d < tables.size(); ++d)
      tables[d].resize(static_cast<size_t>(indices.dims()[d]), 0);
    tables[at].assign(static_cast<size_t>(indices.dims()[at]), 0);
    Status status;
    ForEachRun(tables, [&](int64_t to, int64_t from, int64_t count) {
      for (int64_t k = 0; k < count && status; ++k) {
        const auto index = CheckIndex(indices.GetInt(to + k), x.dims()[at]);
        if (index)
          out.Copy(to + k, x, from + k + *index * strides[at]);
        else
          status = tl::unexpected(index.error());
      }
    });
    NN_RETURN_IF_ERROR(std::move(status));
  }
  ctx.set_out(0, out.Finish());
  return {};
}

std::optional<AxesChange> ChangeGatherElementsAxes(const Node& node, Operand changed,
                                                   const AxisMap& map) {
  const auto axis = MapAxis(node.attrs<GatherElementsAttrs>().axis, map);
  if (!axis) return std::nullopt;
  // Where the indices have size 1, x may be larger.
  for (int d = 0; d < map.source_rank(); ++d)
    if (!map.ResultAxis(d) &&
        !(node.input(0)->type().dim(d) == 1 && node.input(1)->type().dim(d) == 1))
      return std::nullopt;
  return SameAxesChange(node, changed, map, GatherElementsAttrs{*axis}, 2);
}

// ---- gather_nd ----------------------------------------------------------------------------------

// The shape of the result; nothing if the length of the index vectors, which determines its rank,
// is not known. Requires ranked operands.
Result<TypeDims> GatherNdDims(const Dims& x, const Dims& indices, int64_t batch_dims) {
  if (x.empty() || indices.empty()) return ModelError("x and indices must not be scalars");
  const auto limit = static_cast<int64_t>(std::min(x.size(), indices.size() - 1));
  if (batch_dims < 0 || batch_dims > limit)
    return ModelError("batch_dims {} is out of range for x {} and indices {}", batch_dims,
                      ToString(x), ToString(indices));
  const Dim& k = indices.back();
  if (!k.is_const()) return TypeDims();
  const auto left = static_cast<int64_t>(x.size()) - batch_dims;
  if (k.value() < 0 || k.value() > left)
    return ModelError("the index vectors have {} entries, x has {} axes to address", k.ToString(),
                      left);
  for (size_t d = 0; d < static_cast<size_t>(batch_dims); ++d)
    if (x[d].is_const() && indices[d].is_const() && x[d] != indices[d])
      return ModelError("the sizes of batch axis {} of {} and {} differ", d, ToString(x),
                        ToString(indices));
  Dims dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), x.begin() + batch_dims + k.value(), x.end());
  return TypeDims(std::move(dims));
}

Status InferGatherNd(InferContext& ctx) {
  const Type& x = ctx.in(0);
  const Type& indices = ctx.in(1);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  NN_RETURN_IF_ERROR(RequireIntegers(ctx, 1, "indices"));
  if (!x.ranked() || !indices.ranked()) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  NN_ASSIGN(TypeDims dims,
            GatherNdDims(*x.dims, *indices.dims, ctx.attrs<GatherNdAttrs>().batch_dims));
  if (dims && dims->size() > static_cast<size_t>(kMaxRank))
    return LimitError("the result has rank {}, which exceeds the limit", dims->size());
  Type y = Unranked(x);
  y.dims = std::move(dims);
  ctx.set_out(0, std::move(y));
  return {};
}

Status EvalGatherNd(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  const Tensor& indices = ctx.in(1);
  const auto batch = static_cast<size_t>(ctx.attrs<GatherNdAttrs>().batch_dims);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const auto k = static_cast<size_t>(indices.dims().back());
  const std::span<const int64_t> x_dims = x.dims();
  const std::span<const int64_t> i_dims = indices.dims();
  const auto strides = Strides(x.dims());
  const int64_t run = Count(x_dims.subspan(batch + k));
  const int64_t batches = Count(i_dims.first(batch));
  const int64_t each = Count(i_dims.subspan(batch, i_dims.size() - 1 - batch));
  const int64_t batch_stride = Count(x_dims.subspan(batch));
  int64_t to = 0;
  int64_t at = 0;
  for (int64_t b = 0; b < batches && out.elements() > 0; ++b) {
    for (int64_t i = 0; i < each; ++i, to += run) {
      int64_t from = b * batch_stride;
      for (size_t d = 0; d < k; ++d) {
        NN_ASSIGN(const int64_t index, CheckIndex(indices.GetInt(at++), x_dims[batch + d]));
        from += index * strides[batch + d];
      }
      out.Copy(to, x, from, run);
    }
  }
  ctx.set_out(0, out.Finish());
  return {};
}

// The size of an axis of input 0, which counts from the end if negative; 0 if unknown.
int64_t GatheredSize(const Node& node, int64_t axis) {
  const auto dims = DimsOf(node.input(0));
  if (!dims) return 0;
  const auto rank = static_cast<int64_t>(dims->size());
  if (axis < -rank || axis >= rank) return 0;
  return (*dims)[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
}

template <typename AttrsType>
Domain GatherDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 1) return IndexDomain(GatheredSize(node, node.attrs<AttrsType>().axis));
  return y[0].contents ? Domain() : y[0];
}

Domain GatherNdDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input != 1) return y[0].contents ? Domain() : y[0];
  // The smallest of the addressed axes.
  const auto dims = DimsOf(node.input(0));
  const auto indices = DimsOf(node.input(1));
  const int64_t batch = node.attrs<GatherNdAttrs>().batch_dims;
  if (!dims || !indices || indices->empty()) return {};
  int64_t smallest = std::numeric_limits<int64_t>::max();
  for (int64_t k = batch; k < batch + indices->back() && k < std::ssize(*dims); ++k)
    smallest = std::min(smallest, (*dims)[static_cast<size_t>(k)]);
  return IndexDomain(smallest);
}

}  // namespace

void RegisterGatherOps(OpRegistry& ops) {
  OpDef gather;
  gather.name = "gather";
  gather.summary = "selects slices along an axis by indices";
  gather.category = Category::kMovement;
  gather.wraps_integers = true;
  gather.selects = Selection();
  gather.quant_rule = QuantRule::kSame;
  gather.attrs = AttrsInfoOf<GatherAttrs>();
  gather.inputs = {{"x", Arity::kRequired, Elements::kAny}, {"indices"}};
  gather.infer = InferGather;
  gather.eval = EvalGather;
  gather.change_axes = ChangeGatherAxes;
  gather.decompose = DecomposeGather;
  ops.Add(std::move(gather));

  OpDef elements;
  elements.name = "gather_elements";
  elements.summary = "selects elements, each by an index on one axis";
  elements.category = Category::kMovement;
  elements.wraps_integers = true;
  elements.selects = Selection();
  elements.attrs = AttrsInfoOf<GatherElementsAttrs>();
  elements.inputs = {{"x", Arity::kRequired, Elements::kAny}, {"indices"}};
  elements.infer = InferGatherElements;
  elements.eval = EvalGatherElements;
  elements.change_axes = ChangeGatherElementsAxes;
  elements.formats = {{"onnx", "GatherElements", 11, {{"axis", "axis"}}}};
  ops.Add(std::move(elements));

  OpDef nd;
  nd.name = "gather_nd";
  nd.summary = "selects slices, each by indices on several axes";
  nd.category = Category::kMovement;
  nd.wraps_integers = true;
  nd.selects = Selection();
  nd.quant_rule = QuantRule::kSame;
  nd.attrs = AttrsInfoOf<GatherNdAttrs>();
  nd.inputs = {{"x", Arity::kRequired, Elements::kAny}, {"indices"}};
  nd.infer = InferGatherNd;
  nd.eval = EvalGatherNd;
  nd.formats = {{"onnx", "GatherND", 11, {{"batch_dims", "batch_dims"}}}};
  ops.Add(std::move(nd));
}

void AddGatherDomains(DomainTable& domains) {
  domains["gather"] = GatherDomain<GatherAttrs>;
  domains["gather_elements"] = GatherDomain<GatherElementsAttrs>;
  domains["gather_nd"] = GatherNdDomain;
}

}  // namespace nn
