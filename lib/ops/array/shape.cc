#include "ops/array/shape.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "ir/op_def.h"
#include "ops/array/arrange/join_axes.h"
#include "ops/array/arrange/permute.h"
#include "ops/array/reshape_to.h"
#include "ops/families.h"
#include "ops/support/declared_axes.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> TransposeAttrs::Fields() {
  static const AttrField fields[] = {Field<&TransposeAttrs::perm>("perm")};
  return fields;
}
std::span<const AttrField> ReshapeAttrs::Fields() {
  static const AttrField fields[] = {Field<&ReshapeAttrs::dims>("dims"),
                                     Field<&ReshapeAttrs::zero_copies>("zero_copies")};
  return fields;
}
std::span<const AttrField> AxesAttrs::Fields() {
  static const AttrField fields[] = {Field<&AxesAttrs::axes>("axes")};
  return fields;
}

namespace {

// The source positions of the elements of a permuted tensor.
std::vector<AxisTable> TablesOf(const AxisMap& map, const std::vector<int64_t>& dims) {
  const auto strides = Strides(dims);
  std::vector<AxisTable> tables;
  for (const int f : map.from())
    tables.push_back(f == AxisMap::kNew ? AxisTable{0}
                                        : WholeAxis(dims[static_cast<size_t>(f)],
                                                    strides[static_cast<size_t>(f)]));
  return tables;
}

// ---- transpose

Status InferTranspose(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 0));
  const Type& x = ctx.in(0);
  const auto& perm = ctx.attrs<TransposeAttrs>().perm;
  if (static_cast<int>(perm.size()) != x.rank())
    return ModelError("perm has {} entries for a tensor of rank {}", perm.size(), x.rank());
  NN_RETURN_IF_ERROR(NormalizeAxes(perm, x.rank()));
  if (std::any_of(perm.begin(), perm.end(), [](int64_t p) { return p < 0; }))
    return ModelError("perm has a negative entry");
  const AxisMap map = AxisMap::Permutation(perm);
  ctx.set_out(0, RearrangeType(x, map));
  MoveKnownElements(ctx, [&] { return TablesOf(map, *x.const_dims()); });
  return {};
}

Status EvalTranspose(EvalContext& ctx) {
  NN_ASSIGN(Tensor t,
            RearrangeTensor(ctx.in(0), AxisMap::Permutation(ctx.attrs<TransposeAttrs>().perm)));
  ctx.set_out(0, std::move(t));
  return {};
}

// ---- expand_dims, squeeze

Result<AxisMap> ExpandMap(const std::vector<int64_t>& axes, int rank) {
  const int result_rank = rank + static_cast<int>(axes.size());
  NN_ASSIGN(const auto normal, NormalizeAxes(axes, result_rank));
  std::vector<int> from;
  int source = 0;
  for (int k = 0; k < result_rank; ++k) {
    const bool is_new = std::find(normal.begin(), normal.end(), k) != normal.end();
    from.push_back(is_new ? AxisMap::kNew : source++);
  }
  return AxisMap(rank, std::move(from));
}

Result<AxisMap> SqueezeMap(const std::vector<int64_t>& axes, const Dims& dims) {
  const int rank = static_cast<int>(dims.size());
  NN_ASSIGN(const auto normal, NormalizeAxes(axes, rank));
  std::vector<int> from;
  for (int k = 0; k < rank; ++k) {
    const Dim& d = dims[static_cast<size_t>(k)];
    const bool drop =
        axes.empty() ? d == 1 : std::find(normal.begin(), normal.end(), k) != normal.end();
    if (drop && d.is_const() && !(d == 1))
      return ModelError("axis {} of size {} cannot be squeezed", k, d.ToString());
    if (!drop) from.push_back(k);
  }
  return AxisMap(rank, std::move(from));
}

// The axes of the attribute or the input; nullopt if the input's contents are not known.
Result<std::optional<std::vector<int64_t>>> AxesOf(const InferContext& ctx) {
  const auto& axes = ctx.attrs<AxesAttrs>().axes;
  if (!ctx.has(1)) return axes;
  if (!axes.empty()) return ModelError("axes is given both as an attribute and as an input");
  const auto elements = ctx.elements(1);
  return elements ? ConstDims(*elements) : std::nullopt;
}

template <bool expands>
Status InferAxes(InferContext& ctx) {
  const Type& x = ctx.in(0);
  NN_ASSIGN(const auto axes, AxesOf(ctx));
  if (!x.ranked() || !axes) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  // An empty axes input drops nothing; an empty attribute means all axes of size 1.
  AxisMap map = AxisMap::Identity(x.rank());
  if (expands) {
    NN_ASSIGN(map, ExpandMap(*axes, x.rank()));
  } else if (!ctx.has(1) || !axes->empty()) {
    NN_ASSIGN(map, SqueezeMap(*axes, *x.dims));
  }
  ctx.set_out(0, RearrangeType(x, map));
  if (auto e = ctx.elements(0)) ctx.set_out_elements(0, std::move(*e));
  return {};
}

// Moves an axes input with known contents to the attribute.
Result<bool> AbsorbAxes(Graph& graph, Node& node) {
  if (node.input(1) == nullptr) return false;
  NN_ASSIGN(auto axes, AxesOf(InferContext(node)));
  if (!axes || axes->empty()) return false;
  graph.SetInputs(&node, {node.input(0)});
  node.set_attrs(AxesAttrs{*std::move(axes)});
  return true;
}

Status EvalAsView(EvalContext& ctx) {
  const auto dims = ctx.out_type().const_dims();
  if (!dims) return UnsupportedError("the output shape is not known");
  NN_ASSIGN(Tensor t, ctx.in(0).Reshaped(*dims));
  ctx.set_out(0, std::move(t));
  return {};
}

// ---- reshape

// If only one entry of a new shape is not a number and all sizes of the input are, it is the rest.
// Beside an entry of 0, it may have any size.
void SolveEntry(const Dims& input, Dims& shape) {
  if (!Product(input).is_const()) return;
  Dim* open = nullptr;
  for (Dim& d : shape) {
    if (d == -1 || d == 0 || (!d.is_const() && open != nullptr)) return;
    if (!d.is_const()) open = &d;
  }
  if (open != nullptr) *open = Dim(-1);
}

// Resolves entries -1 and 0.
Result<Dims> ResolveReshape(const Dims& input, Dims shape, bool zero_copies) {
  Dim known(1);
  std::optional<size_t> rest;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      if (rest) return ModelError("the new shape {} has two -1 entries", ToString(shape));
      rest = i;
      continue;
    }
    if (shape[i] == 0 && zero_copies) {
      if (i >= input.size())
        return ModelError("entry {} of the new shape copies a dimension that does not exist", i);
      shape[i] = input[i];
    }
    if (shape[i].is_const() && shape[i].value() < 0)
      return ModelError("the new shape {} has a negative entry", ToString(shape));
    known = known * shape[i];
  }
  const Dim total = Product(input);
  if (rest) {
    // Both are 0: the rest is 0 too.
    if (known == 0 && total.is_const() && total != 0) {
      return ModelError("{} elements cannot be reshaped to {}", total.ToString(), ToString(shape));
    } else if (known == 0) {
      shape[*rest] = Dim(0);
    } else if (const auto q = Dim::ExactDiv(total, known)) {
      shape[*rest] = *q;
    } else if (total.is_const() && known.is_const()) {
      return ModelError(
          "{} elements cannot be reshaped to {}: the size of -1 is not a whole number",
          total.ToString(), ToString(shape));
    } else {
      shape[*rest] = Dim::FloorDiv(total, known);
    }
  } else if (total.is_const() && known.is_const() && total != known) {
    return ModelError("{} elements cannot be reshaped to {}", total.ToString(), ToString(shape));
  }
  return shape;
}

Status InferReshape(InferContext& ctx) {
  const auto& a = ctx.attrs<ReshapeAttrs>();
  const Type& x = ctx.in(0);
  if (ctx.has(1) && !a.dims.empty())
    return ModelError("shape is given both as an attribute and as an input");
  std::optional<Dims> shape = a.dims;
  if (ctx.has(1)) shape = ctx.elements(1);
  // Per-axis scales do not apply to another shape; the output may declare its own.
  const auto quant = x.quant != nullptr && x.quant->per_axis() ? nullptr : x.quant;
  if (!shape) {
    // Only the rank is known, if the length of the shape input is.
    Type out;
    out.dtype = x.dtype;
    out.quant = quant;
    const Type& s = ctx.in(1);
    if (s.ranked() && s.rank() == 1 && s.dim(0).is_const()) {
      if (s.dim(0).value() > kMaxRank)
        return LimitError("the new shape has rank {}, which exceeds the limit", s.dim(0).value());
      if (s.dim(0) == 0 && x.ranked() && Product(*x.dims).is_const() && Product(*x.dims) != 1)
        return ModelError("{} elements cannot be reshaped to []", Product(*x.dims).ToString());
      Dims dims;
      // A single axis takes all elements, whatever the input holds.
      if (s.dim(0) == 1 && x.ranked())
        dims.push_back(Product(*x.dims));
      else
        for (int64_t i = 0; i < s.dim(0).value(); ++i) dims.push_back(ctx.NewSymbol());
      out.dims = std::move(dims);
    }
    ctx.set_out(0, out);
    return {};
  }
  if (!x.ranked()) {
    for (Dim& d : *shape)
      if (d == -1 || (d == 0 && a.zero_copies)) d = ctx.NewSymbol();
    ctx.set_out(0, Type(x.dtype, *std::move(shape), quant));
    return {};
  }
  SolveEntry(*x.dims, *shape);
  NN_ASSIGN(Dims dims, ResolveReshape(*x.dims, *std::move(shape), a.zero_copies));
  ctx.set_out(0, Type(x.dtype, std::move(dims), quant));
  if (auto e = ctx.elements(0)) ctx.set_out_elements(0, std::move(*e));
  return {};
}

// Folds a known shape: reshape(x, shape) -> reshape(x) {dims}. Entries 0 and -1 are resolved unless
// they depend on the run.
Result<bool> AbsorbShape(Graph& graph, Node& node) {
  if (node.input(1) == nullptr) return false;
  InferContext ctx(node);
  const auto shape = ctx.elements(1);
  if (!shape || !KnownBeforeRun(*shape)) return false;
  ReshapeAttrs a = node.attrs<ReshapeAttrs>();
  a.dims = *shape;
  const Type& y = node.output()->type();
  if (node.input(0)->type().ranked() && y.ranked() && KnownBeforeRun(*y.dims))
    a = ReshapeAttrs{*y.dims, false};
  graph.SetInputs(&node, {node.input(0)});
  node.set_attrs(a);
  return true;
}

// The shortest runs of axes that a reshape maps onto one another: [begin, end) of the input and of
// the output, with equal products.
struct AxisGroup {
  int in_begin, in_end, out_begin, out_end;
};

std::optional<std::vector<AxisGroup>> GroupAxes(const Dims& in, const Dims& out) {
  std::vector<AxisGroup> groups;
  size_t i = 0;
  size_t o = 0;
  while (i < in.size() || o < out.size()) {
    AxisGroup g{static_cast<int>(i), 0, static_cast<int>(o), 0};
    Dim a(1);
    Dim b(1);
    if (i < in.size()) a = in[i++];
    if (o < out.size()) b = out[o++];
    while (!(a == b)) {
      // Extend the side whose product is smaller; symbols match only when equal.
      const bool extend_out = o < out.size() && (i >= in.size() || Dim::ExactDiv(a, b));
      if (extend_out) {
        b = b * out[o++];
      } else if (i < in.size() && Dim::ExactDiv(b, a)) {
        a = a * in[i++];
      } else {
        return std::nullopt;
      }
    }
    g.in_end = static_cast<int>(i);
    g.out_end = static_cast<int>(o);
    groups.push_back(g);
  }
  return groups;
}

// A reshape follows a permutation that keeps each of its groups together and in order.
std::optional<AxesChange> ChangeReshapeAxes(const Node& node, Operand changed, const AxisMap& map) {
  const Type& x = node.input(0)->type();
  const Type& y = node.output()->type();
  if (!x.ranked() || !y.ranked() || !map.IsPermutation()) return std::nullopt;
  if (!changed.is_output && changed.index != 0) return std::nullopt;
  const auto groups = GroupAxes(*x.dims, *y.dims);
  if (!groups) return std::nullopt;
  const bool from_output = changed.is_output;
  // Order of the groups after the permutation.
  std::vector<const AxisGroup*> order;
  const auto& from = map.from();
  for (size_t k = 0; k < from.size();) {
    const AxisGroup* hit = nullptr;
    for (const AxisGroup& g : *groups) {
      const int begin = from_output ? g.out_begin : g.in_begin;
      const int end = from_output ? g.out_end : g.in_end;
      if (begin < end && from[k] == begin) hit = &g;
    }
    if (hit == nullptr) return std::nullopt;
    const int begin = from_output ? hit->out_begin : hit->in_begin;
    const int end = from_output ? hit->out_end : hit->in_end;
    for (int axis = begin; axis < end; ++axis, ++k)
      if (k >= from.size() || from[k] != axis) return std::nullopt;
    order.push_back(hit);
  }
  // A group without axes on the changed side (unit axes only) has no position in the new order.
  if (order.size() != groups->size()) return std::nullopt;
  std::vector<int> other;
  for (const AxisGroup* g : order) {
    const int begin = from_output ? g->in_begin : g->out_begin;
    const int end = from_output ? g->in_end : g->out_end;
    for (int axis = begin; axis < end; ++axis) other.push_back(axis);
  }
  const AxisMap other_map(static_cast<int>(other.size()), other);
  if (node.input(1) != nullptr) return std::nullopt;  // becomes the attribute first
  const Dims to = from_output ? map.Apply(*y.dims) : other_map.Apply(*y.dims);
  const Dims of = from_output ? other_map.Apply(*x.dims) : map.Apply(*x.dims);
  return AxesChange{ReshapeTo(of, to), {{Operand{!changed.is_output, 0}, other_map}}};
}

std::optional<AxisMap> ReshapeAsAxisMap(const Dims& in, const Dims& out) {
  // Non-unit axes must match one to one.
  std::vector<int> from;
  size_t i = 0;
  for (const Dim& d : out) {
    while (i < in.size() && in[i] == 1 && !(d == 1)) ++i;
    if (i < in.size() && in[i] == d) {
      from.push_back(static_cast<int>(i++));
    } else if (d == 1) {
      from.push_back(AxisMap::kNew);
    } else {
      return std::nullopt;
    }
  }
  for (; i < in.size(); ++i)
    if (!(in[i] == 1)) return std::nullopt;
  return AxisMap(static_cast<int>(in.size()), std::move(from));
}

// The declared shape, or all elements in the last axis.
Domain ReshapeDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 0) return y[0];
  if (const auto dims = DimsOf(node.output())) return Exactly(*dims);
  const auto count = LengthOf(node.input(1));
  if (!count || *count < 1) return {};
  std::vector<int64_t> dims(static_cast<size_t>(*count), 1);
  dims.back() = -1;
  return Exactly(dims);
}

// The axes that the declared shapes leave, or the first ones.
Domain ExpandDimsDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 0) return y[0];
  const auto count = LengthOf(node.input(1));
  if (!count || *count < 1) return {};
  const auto x = DimsOf(node.input(0)), longer = DimsOf(node.output());
  if (const auto axes = x && longer ? AxesBetween(*x, *longer) : std::nullopt)
    return Exactly(*axes);
  std::vector<int64_t> axes(static_cast<size_t>(*count));
  std::iota(axes.begin(), axes.end(), 0);
  return Exactly(axes);
}

// The axes that the declared shapes leave, or the first ones of size 1.
Domain SqueezeDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 0) return y[0];
  const auto count = LengthOf(node.input(1));
  const auto dims = DimsOf(node.input(0)), shorter = DimsOf(node.output());
  if (!count || !dims) return {};
  if (const auto axes = shorter ? AxesBetween(*shorter, *dims) : std::nullopt)
    return Exactly(*axes);
  std::vector<int64_t> axes;
  for (size_t k = 0; k < dims->size() && std::ssize(axes) < *count; ++k)
    if ((*dims)[k] == 1) axes.push_back(static_cast<int64_t>(k));
  return std::ssize(axes) == *count ? Exactly(axes) : Domain();
}

}  // namespace

namespace {

std::optional<AxisMap> MapOfTranspose(const Node& node) {
  return AxisMap::Permutation(node.attrs<TransposeAttrs>().perm);
}

std::optional<AxisMap> MapOfExpandDims(const Node& node) {
  if (node.input(1) != nullptr) return std::nullopt;
  const auto map = ExpandMap(node.attrs<AxesAttrs>().axes, node.input(0)->type().rank());
  return map ? std::optional(*map) : std::nullopt;
}

std::optional<AxisMap> MapOfSqueeze(const Node& node) {
  if (node.input(1) != nullptr) return std::nullopt;
  const auto map = SqueezeMap(node.attrs<AxesAttrs>().axes, *node.input(0)->type().dims);
  return map ? std::optional(*map) : std::nullopt;
}

std::optional<AxisMap> MapOfReshape(const Node& node) {
  if (!node.output()->type().ranked()) return std::nullopt;
  return ReshapeAsAxisMap(*node.input(0)->type().dims, *node.output()->type().dims);
}

}  // namespace

std::optional<AxisMap> AxisMapOf(const Node& node) {
  using Row = std::pair<std::string_view, std::optional<AxisMap> (*)(const Node&)>;
  static constexpr Row kRows[] = {{"transpose", MapOfTranspose},
                                  {"expand_dims", MapOfExpandDims},
                                  {"squeeze", MapOfSqueeze},
                                  {"reshape", MapOfReshape}};
  if (node.inputs().empty() || node.input(0) == nullptr || !node.input(0)->type().ranked())
    return std::nullopt;
  const auto* const row = std::ranges::find(kRows, node.op_name(), &Row::first);
  return row == std::end(kRows) ? std::nullopt : row->second(node);
}

Type RearrangeType(const Type& type, const AxisMap& map) {
  Type out = type;
  if (type.dims) out.dims = map.Apply(*type.dims);
  if (type.quant != nullptr && type.quant->per_axis()) {
    auto q = std::make_shared<Quant>(*type.quant);
    q->axis = map.ResultAxis(q->axis).value_or(-1);
    out.quant = std::move(q);
  }
  return out;
}

Result<Tensor> RearrangeTensor(const Tensor& tensor, const AxisMap& map) {
  const auto dims = map.Apply(tensor.dims());
  if (tensor.elements() == 0 || map.KeepsOrder(ToDims(tensor.dims()))) return tensor.Reshaped(dims);
  return MoveElements(tensor, TablesOf(map, tensor.dims()));
}

Result<Value*> Rearrange(Graph& graph, Value* value, const AxisMap& map) {
  if (map.IsIdentity()) return value;
  if (value->is_constant()) {
    NN_ASSIGN(Tensor t, RearrangeConstant(value->constant(), map));
    const Type type = RearrangeType(value->type(), map);
    return graph.AddConstant(std::move(t), value->name(), type.quant);
  }
  Node* before = graph.After(value);
  const Type type = RearrangeType(value->type(), map);
  const auto add = [&](std::string_view op, Attrs attrs) -> Status {
    NN_ASSIGN(Node* const node, graph.Append(op, {value}, std::move(attrs), 1, before));
    node->output()->set_name(value->name());
    value = node->output();
    return {};
  };
  if (value->type().ranked() && map.KeepsOrder(*value->type().dims) && KnownBeforeRun(*type.dims)) {
    NN_RETURN_IF_ERROR(add("reshape", ReshapeAttrs{*type.dims, false}));
  } else {
    // Drop axes, permute the rest, add axes.
    AxesAttrs dropped;
    for (int axis = 0; axis < map.source_rank(); ++axis)
      if (!map.ResultAxis(axis)) dropped.axes.push_back(axis);
    TransposeAttrs permuted;
    AxesAttrs added;
    for (int k = 0; k < map.result_rank(); ++k) {
      const int f = map.from()[static_cast<size_t>(k)];
      if (f == AxisMap::kNew) {
        added.axes.push_back(k);
        continue;
      }
      const auto below =
          std::count_if(dropped.axes.begin(), dropped.axes.end(), [&](int64_t d) { return d < f; });
      permuted.perm.push_back(f - below);
    }
    if (!dropped.axes.empty()) NN_RETURN_IF_ERROR(add("squeeze", dropped));
    if (!std::is_sorted(permuted.perm.begin(), permuted.perm.end()))
      NN_RETURN_IF_ERROR(add("transpose", permuted));
    if (!added.axes.empty()) NN_RETURN_IF_ERROR(add("expand_dims", added));
  }
  value->set_type(type);
  return value;
}

void RegisterShapeOps(OpRegistry& ops) {
  OpDef transpose;
  transpose.name = "transpose";
  transpose.summary = "permutes axes";
  transpose.category = Category::kMovement;
  transpose.movement = Movement::kPermuted;
  transpose.decompose = JoinTransposedAxes;
  transpose.quant_rule = QuantRule::kSame;
  transpose.attrs = AttrsInfoOf<TransposeAttrs>();
  transpose.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  transpose.infer = InferTranspose;
  transpose.eval = EvalTranspose;
  ops.Add(std::move(transpose));

  OpDef reshape;
  reshape.name = "reshape";
  reshape.summary = "changes the shape and keeps the elements in order";
  reshape.category = Category::kMovement;
  reshape.movement = Movement::kInOrder;
  reshape.quant_rule = QuantRule::kSame;
  reshape.attrs = AttrsInfoOf<ReshapeAttrs>();
  reshape.inputs = {{"x", Arity::kRequired, Elements::kAny}, {"shape", Arity::kOptional}};
  reshape.infer = InferReshape;
  reshape.eval = EvalAsView;
  reshape.change_axes = ChangeReshapeAxes;
  reshape.absorb_inputs = AbsorbShape;
  ops.Add(std::move(reshape));

  OpDef expand;
  expand.name = "expand_dims";
  expand.summary = "adds axes of size 1";
  expand.category = Category::kMovement;
  expand.movement = Movement::kInOrder;
  expand.quant_rule = QuantRule::kSame;
  expand.attrs = AttrsInfoOf<AxesAttrs>();
  expand.inputs = {{"x", Arity::kRequired, Elements::kAny}, {"axes", Arity::kOptional}};
  expand.infer = InferAxes<true>;
  expand.eval = EvalAsView;
  expand.absorb_inputs = AbsorbAxes;
  expand.formats = {{"mil", "expand_dims", 1, {}}};
  ops.Add(std::move(expand));

  OpDef squeeze;
  squeeze.name = "squeeze";
  squeeze.summary = "drops axes of size 1";
  squeeze.category = Category::kMovement;
  squeeze.movement = Movement::kInOrder;
  squeeze.quant_rule = QuantRule::kSame;
  squeeze.attrs = AttrsInfoOf<AxesAttrs>();
  squeeze.inputs = {{"x", Arity::kRequired, Elements::kAny}, {"axes", Arity::kOptional}};
  squeeze.infer = InferAxes<false>;
  squeeze.eval = EvalAsView;
  squeeze.absorb_inputs = AbsorbAxes;
  ops.Add(std::move(squeeze));
}

void AddShapeDomains(DomainTable& domains) {
  domains["reshape"] = ReshapeDomain;
  domains["expand_dims"] = ExpandDimsDomain;
  domains["squeeze"] = SqueezeDomain;
}

}  // namespace nn
