#include "ops/array/generate.h"

#include <algorithm>
#include <cmath>

#include "base/arith.h"
#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> OneHotAttrs::Fields() {
  static const AttrField fields[] = {Field<&OneHotAttrs::axis>("axis"),
                                     Field<&OneHotAttrs::wrap>("wrap")};
  return fields;
}
std::span<const AttrField> EyeLikeAttrs::Fields() {
  static const AttrField fields[] = {Field<&EyeLikeAttrs::k>("k"),
                                     Field<&EyeLikeAttrs::dtype>("dtype")};
  return fields;
}
std::span<const AttrField> TriluAttrs::Fields() {
  static const AttrField fields[] = {Field<&TriluAttrs::upper>("upper"),
                                     Field<&TriluAttrs::k>("k")};
  return fields;
}

namespace {

// ---- range --------------------------------------------------------------------------------------

Result<int64_t> RangeLength(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  if (IsInteger(start.dtype())) {
    const Dim a(start.GetInt(0));
    const Dim b(limit.GetInt(0));
    const Dim step(delta.GetInt(0));
    if (step == 0) return ModelError("delta is 0");
    const Dim n = step.value() > 0 ? Dim::CeilDiv(b - a, step) : Dim::CeilDiv(a - b, Dim(0) - step);
    if (!n.is_const()) return LimitError("the range is too long");
    return std::max<int64_t>(0, n.value());
  }
  const double step = delta.GetDouble(0);
  const double n = std::ceil((limit.GetDouble(0) - start.GetDouble(0)) / step);
  if (step == 0 || std::isnan(n))
    return ModelError("the range from {} to {} in steps of {} is not defined", start.GetDouble(0),
                      limit.GetDouble(0), step);
  constexpr double kMax = 0x1p40;
  if (n > kMax) return LimitError("a range of {} numbers exceeds the limit", n);
  return n <= 0 ? 0 : static_cast<int64_t>(n);
}

// Length and contents if the operands are known as expressions.
void InferSymbolicRange(InferContext& ctx, DType dtype) {
  std::optional<Dims> operands[3];
  bool known = true;
  for (size_t i = 0; i < 3; ++i) {
    operands[i] = ctx.elements(i);
    known &= operands[i] && operands[i]->size() == 1;
  }
  const Dim step = known ? (*operands[2])[0] : Dim();
  if (!known || !step.is_const() || step == 0) {
    ctx.set_out(0, Type(dtype, {ctx.NewSymbol()}));
    return;
  }
  const Dim& start = (*operands[0])[0];
  const Dim distance = (*operands[1])[0] - start;
  const Dim n = step.value() > 0 ? Dim::CeilDiv(distance, step)
                                 : Dim::CeilDiv(Dim(0) - distance, Dim(0) - step);
  const Dim length = Dim::Max(0, n);
  ctx.set_out(0, Type(dtype, {length}));
  if (!length.is_const() || length.value() > InferContext::kMaxElements) return;
  Dims contents;
  for (int64_t i = 0; i < length.value(); ++i) contents.push_back(start + step * Dim(i));
  ctx.set_out_elements(0, std::move(contents));
}

Status InferRange(InferContext& ctx) {
  NN_ASSIGN(const DType dtype, SameDType(ctx, {0, 1, 2}));
  for (size_t i = 0; i < 3; ++i) NN_RETURN_IF_ERROR(RequireOneNumber(ctx, i));
  const Tensor* start = ctx.constant(0);
  const Tensor* limit = ctx.constant(1);
  const Tensor* delta = ctx.constant(2);
  if (start != nullptr && limit != nullptr && delta != nullptr) {
    NN_ASSIGN(const int64_t n, RangeLength(*start, *limit, *delta));
    ctx.set_out(0, Type(dtype, {Dim(n)}));
    if (n > InferContext::kMaxElements || !IsInteger(dtype)) return {};
  }
  InferSymbolicRange(ctx, dtype);
  return {};
}

Status EvalRange(EvalContext& ctx) {
  const DType dtype = ctx.in(0).dtype();
  NN_ASSIGN(const int64_t n, RangeLength(ctx.in(0), ctx.in(1), ctx.in(2)));
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(dtype, {n}));
  if (IsInteger(dtype)) {
    auto value = static_cast<uint64_t>(ctx.in(0).GetInt(0));
    const auto step = static_cast<uint64_t>(ctx.in(2).GetInt(0));
    for (int64_t i = 0; i < n; ++i, value += step) out.SetInt(i, static_cast<int64_t>(value));
  } else if (dtype == DType::kF64) {
    const double start = ctx.in(0).GetDouble(0);
    const double step = ctx.in(2).GetDouble(0);
    for (int64_t i = 0; i < n; ++i) out.SetDouble(i, Fma(static_cast<double>(i), step, start));
  } else if (IsFloat(dtype)) {
    const auto start = static_cast<float>(ctx.in(0).GetDouble(0));
    const auto step = static_cast<float>(ctx.in(2).GetDouble(0));
    for (int64_t i = 0; i < n; ++i) out.SetDouble(i, Fma(static_cast<float>(i), step, start));
  } else {
    return UnsupportedError("{} is not supported", DTypeName(dtype));
  }
  ctx.set_out(0, out.Finish());
  return {};
}

// ---- one_hot ------------------------------------------------------------------------------------

Status InferOneHot(InferContext& ctx) {
  const Type& indices = ctx.in(0);
  NN_RETURN_IF_ERROR(RequireOneNumber(ctx, 1));
  const Type& values = ctx.in(2);
  if (values.ranked() &&
      (values.rank() != 1 || (values.dim(0).is_const() && values.dim(0) != Dim(2))))
    return ModelError("values is {}; must be a vector of 2 elements", values.ToString());
  if (!indices.ranked()) {
    ctx.set_out(0, Unranked(ctx.in(2)));
    return {};
  }
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.attrs<OneHotAttrs>().axis, indices.rank() + 1));
  Dim depth = ctx.NewSymbol();
  if (const Tensor* t = ctx.constant(1))
    depth = Dim(t->GetInt(0));
  else if (const auto e = ctx.elements(1); e && e->size() == 1)
    depth = (*e)[0];
  Dims dims = *indices.dims;
  dims.insert(dims.begin() + axis, depth);
  Type y = Unranked(ctx.in(2));
  y.dims = std::move(dims);
  ctx.set_out(0, y);
  return {};
}

Status EvalOneHot(EvalContext& ctx) {
  const auto& a = ctx.attrs<OneHotAttrs>();
  const Tensor& indices = ctx.in(0);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, static_cast<int>(out.dims().size())));
  const int64_t depth = out.dims()[static_cast<size_t>(axis)];
  const int64_t inner = Strides(out.dims())[static_cast<size_t>(axis)];
  out.Fill(0, out.elements(), ctx.in(2), 0);
  const int64_t n = out.elements() == 0 ? 0 : indices.elements();
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = indices.GetInt(i);
    if (a.wrap && at < 0) at += depth;
    if (at < 0 || at >= depth) continue;
    out.Copy((i / inner * depth + at) * inner + i % inner, ctx.in(2), 1);
  }
  ctx.set_out(0, out.Finish());
  return {};
}

// ---- eye_like, trilu ----------------------------------------------------------------------------

Status InferEyeLike(InferContext& ctx) {
  const Type& x = ctx.in(0);
  if (x.ranked() && x.rank() != 2) return ModelError("x is {}; must be a matrix", x.ToString());
  Type y;
  y.dtype = ctx.attrs<EyeLikeAttrs>().dtype;
  if (y.dtype == DType::kUnknown) y.dtype = x.dtype;
  y.dims = x.dims;
  ctx.set_out(0, y);
  return {};
}

Status EvalEyeLike(EvalContext& ctx) {
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const DType dtype = out.dtype();
  if (!IsInteger(dtype) && !IsFloat(dtype) && dtype != DType::kBool)
    return UnsupportedError("{} is not supported", DTypeName(dtype));
  const int64_t rows = out.dims()[0];
  const int64_t columns = out.dims()[1];
  const int64_t k = ctx.attrs<EyeLikeAttrs>().k;
  for (int64_t i = 0; i < rows && columns > 0; ++i)
    for (int64_t j = 0; j < columns; ++j)
      out.SetInt(i * columns + j, CheckedSub(j, k) == i ? 1 : 0);
  ctx.set_out(0, out.Finish());
  return {};
}

Status InferTrilu(InferContext& ctx) {
  const Type& x = ctx.in(0);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  if (x.ranked() && x.rank() < 2)
    return ModelError("x is {}; must have rank 2 or more", x.ToString());
  NN_RETURN_IF_ERROR(RequireOneNumber(ctx, 1));
  ctx.set_out(0, x);
  return {};
}

Status EvalTrilu(EvalContext& ctx) {
  const auto& a = ctx.attrs<TriluAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(const Tensor zero, ZeroElement(ctx.in_type(0)));
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const int64_t columns = x.dims().back();
  const int64_t rows = x.dims()[x.dims().size() - 2];
  // All diagonals beyond the corners give the same result.
  const int64_t k = std::clamp(ctx.has(1) ? ctx.in(1).GetInt(0) : a.k, -rows, columns);
  const int64_t n = out.elements();
  for (int64_t row = 0; n > 0 && row < n / columns; ++row) {
    // Row i keeps its elements [begin, end).
    const int64_t diagonal = row % rows + k;
    const int64_t begin = a.upper ? std::clamp<int64_t>(diagonal, 0, columns) : 0;
    const int64_t end = a.upper ? columns : std::clamp<int64_t>(diagonal + 1, 0, columns);
    out.Fill(row * columns, begin, zero);
    out.Copy(row * columns + begin, x, row * columns + begin, end - begin);
    out.Fill(row * columns + end, columns - end, zero);
  }
  ctx.set_out(0, out.Finish());
  return {};
}

Result<bool> AbsorbDiagonal(Graph& graph, Node& node) {
  const Value* k = node.input(1);
  if (k == nullptr || !k->is_constant() || k->constant().elements() != 1) return false;
  TriluAttrs a = node.attrs<TriluAttrs>();
  a.k = k->constant().GetInt(0);
  graph.SetInputs(&node, {node.input(0)});
  node.set_attrs(a);
  return true;
}

// A sequence of some elements, whatever the step.
Domain RangeDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto dims = DimsOf(node.output());
  const bool known = dims && dims->size() == 1;
  if (input == 0) return Between(0, known ? 0 : 2);
  if (input == 2) return Between(1, known ? 1 : 3);
  const auto count = static_cast<double>(known ? (*dims)[0] : 0);
  return known ? Between(count, count) : Between(4, 16);
}

Domain OneHotDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 2) return y[0].contents ? Domain() : y[0];
  const auto dims = DimsOf(node.output());
  const int64_t axis = node.attrs<OneHotAttrs>().axis;
  const auto rank = dims ? std::ssize(*dims) : 0;
  if (!dims || axis < -rank || axis >= rank) return input == 1 ? Between(1, 8) : Domain();
  const int64_t depth = (*dims)[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
  return input == 0 ? IndexDomain(depth)
                    : Between(static_cast<double>(depth), static_cast<double>(depth));
}

// The diagonals that divide the matrices.
Domain TriluDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto dims = DimsOf(node.input(0));
  if (input == 0 || !dims || dims->size() < 2) return {};
  return Between(static_cast<double>(1 - (*dims)[dims->size() - 2]),
                 static_cast<double>(dims->back() - 1));
}

Interval SequenceRange(RangeContext& ctx, size_t) {
  return Union(ctx.in(0), ctx.in(1));
}

Interval EyeRange(RangeContext&, size_t) {
  return {0, 1};
}

}  // namespace

void RegisterGenerateOps(OpRegistry& ops) {
  OpDef range;
  range.name = "range";
  range.summary = "a sequence of equally spaced numbers";
  range.category = Category::kOther;
  range.exact_integers = true;
  range.range = SequenceRange;
  range.inputs = {{"start"}, {"limit"}, {"delta"}};
  range.infer = InferRange;
  range.eval = EvalRange;
  range.formats = {{"onnx", "Range", 11, {}}};
  ops.Add(std::move(range));

  OpDef one_hot;
  one_hot.name = "one_hot";
  one_hot.summary = "expands indices to vectors with one value at the index and another elsewhere";
  one_hot.category = Category::kOther;
  one_hot.selects = Selection{.inputs = 0b100};
  one_hot.attrs = AttrsInfoOf<OneHotAttrs>();
  one_hot.inputs = {{"indices"}, {"depth"}, {"values", Arity::kRequired, Elements::kAny}};
  one_hot.infer = InferOneHot;
  one_hot.eval = EvalOneHot;
  ops.Add(std::move(one_hot));

  OpDef eye;
  eye.name = "eye_like";
  eye.summary = "a matrix with ones on a diagonal";
  eye.category = Category::kOther;
  eye.quant_rule = QuantRule::kStored;
  eye.range = EyeRange;
  eye.attrs = AttrsInfoOf<EyeLikeAttrs>();
  eye.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  eye.infer = InferEyeLike;
  eye.eval = EvalEyeLike;
  ops.Add(std::move(eye));

  OpDef trilu;
  trilu.name = "trilu";
  trilu.summary = "keeps the upper or lower triangle of matrices";
  trilu.category = Category::kMovement;
  trilu.selects = Selection{.zero = true};
  trilu.attrs = AttrsInfoOf<TriluAttrs>();
  trilu.inputs = {{"x", Arity::kRequired, Elements::kAny}, {"k", Arity::kOptional}};
  trilu.infer = InferTrilu;
  trilu.eval = EvalTrilu;
  trilu.absorb_inputs = AbsorbDiagonal;
  ops.Add(std::move(trilu));
}

void AddGenerateDomains(DomainTable& domains) {
  domains["range"] = RangeDomain;
  domains["one_hot"] = OneHotDomain;
  domains["trilu"] = TriluDomain;
}

}  // namespace nn
