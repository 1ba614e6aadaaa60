#include "ops/array/arrange/concat.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/quant/requant.h"
#include "ops/support/array_shape.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> ConcatAttrs::Fields() {
  static const AttrField fields[] = {Field<&ConcatAttrs::axis>("axis")};
  return fields;
}
std::span<const AttrField> SplitAttrs::Fields() {
  static const AttrField fields[] = {Field<&SplitAttrs::axis>("axis"),
                                     Field<&SplitAttrs::sizes>("sizes")};
  return fields;
}

namespace {

// Product of the dimensions in [begin, end).
int64_t Count(const std::vector<int64_t>& dims, size_t begin, size_t end) {
  return std::accumulate(dims.begin() + static_cast<std::ptrdiff_t>(begin),
                         dims.begin() + static_cast<std::ptrdiff_t>(end), int64_t{1},
                         std::multiplies<>());
}

// ---- concat -------------------------------------------------------------------------------------

// The contents of a concatenation of vectors, if all are known.
void JoinElements(InferContext& ctx) {
  Dims all;
  for (size_t i = 0; i < ctx.input_count(); ++i) {
    const auto part = ctx.elements(i);
    if (!part) return;
    all.insert(all.end(), part->begin(), part->end());
  }
  ctx.set_out_elements(0, std::move(all));
}

Status InferConcat(InferContext& ctx) {
  if (ctx.input_count() == 0) return ModelError("concat has no inputs");
  Type y = ctx.in(0);
  for (size_t i = 0; i < ctx.input_count(); ++i) {
    NN_RETURN_IF_ERROR(RequirePerTensor(ctx, i));
    NN_RETURN_IF_ERROR(SameDType(ctx, {0, i}));
    if (y.dtype == DType::kUnknown) y.dtype = ctx.in(i).dtype;
    if (!ctx.in(i).ranked()) y.dims.reset();
    if (y.quant != nullptr &&
        (ctx.in(i).quant == nullptr || !y.quant->SameMapping(*ctx.in(i).quant)))
      y.quant = nullptr;  // as declared
  }
  if (!y.ranked()) {
    ctx.set_out(0, y);
    return {};
  }
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.attrs<ConcatAttrs>().axis, y.rank()));
  const auto at = static_cast<size_t>(axis);
  Dims dims = *y.dims;
  for (size_t i = 1; i < ctx.input_count(); ++i) {
    const Type& x = ctx.in(i);
    if (x.rank() != y.rank())
      return ModelError("input {} is {}, but input 0 is {}: ranks differ", i, x.ToString(),
                        ctx.in(0).ToString());
    for (size_t d = 0; d < dims.size(); ++d) {
      Dim& have = dims[d];
      const Dim& next = (*x.dims)[d];
      if (d == at) {
        have = JoinedSize(have, next);
      } else if (have.is_const() && next.is_const() && have != next) {
        return ModelError("input {} is {}, which does not match {} on axis {}", i, x.ToString(),
                          ctx.in(0).ToString(), d);
      } else if (next.is_const()) {
        have = next;
      }
    }
  }
  const bool vector = y.rank() == 1;
  y.dims = std::move(dims);
  ctx.set_out(0, std::move(y));
  if (vector) JoinElements(ctx);
  return {};
}

// TensorFlow Lite's rule for u8 inputs with a different quantization: round half away from zero,
// clamp.
void RequantizeBytes(const Tensor& x, const Quant& from, const Quant& to, int64_t at, int64_t count,
                     uint8_t* out) {
  const float inverse = 1.0f / to.scale();
  const float scale = from.scale() * inverse;
  const float bias = -static_cast<float>(from.zero_point()) * scale;
  for (int64_t i = 0; i < count; ++i) {
    const float v = static_cast<float>(x.As<uint8_t>()[static_cast<size_t>(at + i)]) * scale + bias;
    const int64_t rounded =
        CutToRange(static_cast<double>(std::round(v)), -0x1p31, 0x1p31) + to.zero_point();
    out[i] = static_cast<uint8_t>(std::clamp<int64_t>(rounded, 0, 255));
  }
}

Status EvalConcat(EvalContext& ctx) {
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const auto& dims = out.dims();
  NN_ASSIGN(const int axis,
            NormalizeAxis(ctx.attrs<ConcatAttrs>().axis, static_cast<int>(dims.size())));
  const auto at = static_cast<size_t>(axis);
  const int64_t outer = Count(dims, 0, at);
  const int64_t inner = Count(dims, at + 1, dims.size());
  const int64_t row = dims[at] * inner;
  const Quant* const to = ctx.out_type().quant.get();
  int64_t offset = 0;
  for (size_t i = 0; i < ctx.input_count() && out.elements() > 0; ++i) {
    const Tensor& x = ctx.in(i);
    const Quant* const from = ctx.in_type(i).quant.get();
    const bool converts = from != nullptr && (to == nullptr || !from->SameMapping(*to));
    if (converts && (to == nullptr || x.dtype() != DType::kU8 ||
                     ctx.node().arithmetic() != Arithmetic::kTflite))
      return UnsupportedError("input {} has a different quantization than the output", i);
    const int64_t run = x.dims()[at] * inner;
    for (int64_t o = 0; o < outer; ++o) {
      if (converts)
        RequantizeBytes(x, *from, *to, o * run, run, out.As<uint8_t>().data() + o * row + offset);
      else
        out.Copy(o * row + offset, x, o * run, run);
    }
    offset += run;
  }
  ctx.set_out(0, out.Finish());
  return {};
}

std::optional<AxesChange> ChangeConcatAxes(const Node& node, Operand changed, const AxisMap& map) {
  const auto axis = MapAxis(node.attrs<ConcatAttrs>().axis, map);
  if (!axis) return std::nullopt;
  return SameAxesChange(node, changed, map, ConcatAttrs{*axis}, node.inputs().size());
}

// ---- split --------------------------------------------------------------------------------------

// The sizes of the parts of an axis of size `total`.
Result<Dims> PartSizes(Dims sizes, const Dim& total, size_t parts) {
  if (sizes.empty()) {
    const Dim each = Dim::CeilDiv(total, Dim(static_cast<int64_t>(parts)));
    sizes.assign(parts, each);
    sizes.back() = total - each * Dim(static_cast<int64_t>(parts) - 1);
    if (const auto exact = Dim::ExactDiv(total, Dim(static_cast<int64_t>(parts))))
      sizes.assign(parts, *exact);
    if (sizes.back().is_const() && sizes.back().value() < 0)
      return ModelError("an axis of size {} cannot be split into {} parts", total.ToString(),
                        parts);
    return sizes;
  }
  if (sizes.size() != parts)
    return ModelError("sizes has {} entries for {} outputs", sizes.size(), parts);
  std::optional<size_t> rest;
  Dim sum;
  for (size_t i = 0; i < parts; ++i) {
    if (sizes[i] == -1) {
      if (rest) return ModelError("sizes contains -1 more than once");
      rest = i;
    } else if (sizes[i].is_const() && sizes[i].value() < 0) {
      return ModelError("size {} of output {} is negative", sizes[i].ToString(), i);
    } else {
      sum = sum + sizes[i];
    }
  }
  if (rest) sizes[*rest] = total - sum;
  const Dim left = total - sum;
  if (left.is_const() && (rest ? left.value() < 0 : left.value() != 0))
    return ModelError("the sizes {} do not add up to the axis size {}", ToString(sizes),
                      total.ToString());
  return sizes;
}

Status InferSplit(InferContext& ctx) {
  const auto& a = ctx.attrs<SplitAttrs>();
  const size_t parts = ctx.output_count();
  const Type& x = ctx.in(0);
  if (parts == 0) return ModelError("split has no outputs");
  if (ctx.has(1) && !a.sizes.empty())
    return ModelError("sizes is given both as an attribute and as an input");
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  NN_RETURN_IF_ERROR(RequireList(ctx, 1, parts));
  if (!x.ranked()) {
    for (size_t i = 0; i < parts; ++i) ctx.set_out(i, Unranked(x));
    return {};
  }
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, x.rank()));
  std::optional<Dims> sizes = ToDims(a.sizes);
  if (ctx.has(1)) sizes = ctx.elements(1);
  if (!sizes) {
    sizes.emplace();
    for (size_t i = 0; i < parts; ++i) sizes->push_back(ctx.NewSymbol());
  } else {
    NN_ASSIGN(sizes, PartSizes(*std::move(sizes), x.dim(axis), parts));
  }
  for (size_t i = 0; i < parts; ++i) {
    Dims dims = *x.dims;
    dims[static_cast<size_t>(axis)] = (*sizes)[i];
    ctx.set_out(i, x.WithDims(std::move(dims)));
  }
  const auto elements = ctx.elements(0);
  const auto numbers = ConstDims(*sizes);
  if (!elements || !numbers || x.rank() != 1) return {};
  if (std::accumulate(numbers->begin(), numbers->end(), int64_t{0}) !=
      static_cast<int64_t>(elements->size()))
    return {};
  auto from = elements->begin();
  for (size_t i = 0; i < parts; from += (*numbers)[i++])
    ctx.set_out_elements(i, Dims(from, from + (*numbers)[i]));
  return {};
}

Status EvalSplit(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.attrs<SplitAttrs>().axis, x.rank()));
  const auto at = static_cast<size_t>(axis);
  const int64_t outer = Count(x.dims(), 0, at);
  const int64_t inner = Count(x.dims(), at + 1, x.dims().size());
  const int64_t row = x.dims()[at] * inner;
  int64_t offset = 0;
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    NN_ASSIGN(TensorBuilder out, ctx.NewOutput(i));
    const int64_t run = out.dims()[at] * inner;
    for (int64_t o = 0; o < outer && run > 0; ++o) out.Copy(o * run, x, o * row + offset, run);
    offset += run;
    ctx.set_out(i, out.Finish());
  }
  return {};
}

std::optional<AxesChange> ChangeSplitAxes(const Node& node, Operand changed, const AxisMap& map) {
  SplitAttrs a = node.attrs<SplitAttrs>();
  const auto axis = MapAxis(a.axis, map);
  if (!axis || changed == Operand{false, 1}) return std::nullopt;
  a.axis = *axis;
  return SameAxesChange(node, changed, map, std::move(a));
}

Result<bool> AbsorbSizes(Graph& graph, Node& node) {
  if (node.input(1) == nullptr) return false;
  const auto elements = InferContext(node).elements(1);
  const auto sizes = elements ? ConstDims(*elements) : std::nullopt;
  if (!sizes || sizes->empty()) return false;
  graph.SetInputs(&node, {node.input(0)});
  node.set_attrs(SplitAttrs{node.attrs<SplitAttrs>().axis, *sizes});
  return true;
}

// Every element of y comes from one of the inputs.
Domain ConcatDomain(const Node&, size_t, std::span<const Domain> y) {
  return y[0].contents ? Domain() : y[0];
}

Domain SplitDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 0) {
    Domain all;
    for (const Domain& d : y)
      if (!d.contents) all = Intersection(all, d);
    return all;
  }
  const auto dims = DimsOf(node.input(0));
  if (!dims || dims->empty()) return {};
  const auto rank = static_cast<int64_t>(dims->size());
  const int64_t axis = node.attrs<SplitAttrs>().axis;
  if (axis < -rank || axis >= rank) return {};
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  // The declared sizes, or equal ones and the rest.
  const auto count = static_cast<int64_t>(node.outputs().size());
  const int64_t size = (*dims)[at];
  std::vector<int64_t> sizes(node.outputs().size(), size / count);
  sizes.back() += size % count;
  std::vector<int64_t> declared;
  for (const Value* part : node.outputs())
    if (const auto part_dims = DimsOf(part); part_dims && part_dims->size() == dims->size())
      declared.push_back((*part_dims)[at]);
  return Exactly(declared.size() == sizes.size() ? declared : sizes);
}

}  // namespace

void RegisterConcatOps(OpRegistry& ops) {
  OpDef concat;
  concat.name = "concat";
  concat.summary = "concatenates tensors along an axis";
  concat.category = Category::kMovement;
  concat.wraps_integers = true;
  concat.selects = Selection{.inputs = Selection::kAllInputs};
  concat.quant_rule = QuantRule::kSame;
  concat.attrs = AttrsInfoOf<ConcatAttrs>();
  concat.inputs = {{"x", Arity::kVariadic, Elements::kAny}};
  concat.infer = InferConcat;
  concat.eval = EvalConcat;
  concat.change_axes = ChangeConcatAxes;
  concat.formats = {{"onnx", "Concat", 4, {{"axis", "axis"}}}};
  ops.Add(std::move(concat));

  OpDef split;
  split.name = "split";
  split.summary = "splits a tensor along an axis";
  split.category = Category::kMovement;
  split.wraps_integers = true;
  split.selects = Selection();
  split.quant_rule = QuantRule::kSame;
  split.attrs = AttrsInfoOf<SplitAttrs>();
  split.inputs = {{"x", Arity::kRequired, Elements::kAny}, {"sizes", Arity::kOptional}};
  split.outputs = {{"part", Arity::kVariadic}};
  split.infer = InferSplit;
  split.eval = EvalSplit;
  split.change_axes = ChangeSplitAxes;
  split.absorb_inputs = AbsorbSizes;
  ops.Add(std::move(split));
}

void AddConcatDomains(DomainTable& domains) {
  domains["concat"] = ConcatDomain;
  domains["split"] = SplitDomain;
}

}  // namespace nn
