#include "ops/array/arrange/positions.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> CompressAttrs::Fields() {
  static const AttrField fields[] = {Field<&CompressAttrs::flatten>("flatten"),
                                     Field<&CompressAttrs::axis>("axis")};
  return fields;
}
std::span<const AttrField> UniqueAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&UniqueAttrs::flatten>("flatten"), Field<&UniqueAttrs::axis>("axis"),
      Field<&UniqueAttrs::sorted>("sorted"), Field<&UniqueAttrs::index_type>("index_type")};
  return fields;
}
std::span<const AttrField> ReverseSequenceAttrs::Fields() {
  static const AttrField fields[] = {Field<&ReverseSequenceAttrs::batch_axis>("batch_axis"),
                                     Field<&ReverseSequenceAttrs::time_axis>("time_axis")};
  return fields;
}

namespace {

// Compares elements of one tensor: negative, 0 or positive. NaN is equal to itself and larger than
// any number, -0 equals +0.
class Comparison {
 public:
  explicit Comparison(const Tensor& t) : t_(t) {}

  static bool Supports(DType dtype) {
    return IsInteger(dtype) || IsFloat(dtype) || dtype == DType::kBool || dtype == DType::kString;
  }

  int operator()(int64_t a, int64_t b) const {
    if (t_.dtype() == DType::kString)
      return t_.strings()[static_cast<size_t>(a)].compare(t_.strings()[static_cast<size_t>(b)]);
    if (IsFloat(t_.dtype())) return CompareReals(t_.GetDouble(a), t_.GetDouble(b));
    if (t_.dtype() == DType::kU64)
      return Sign(static_cast<uint64_t>(t_.GetInt(a)), static_cast<uint64_t>(t_.GetInt(b)));
    return Sign(t_.GetInt(a), t_.GetInt(b));
  }

 private:
  template <typename T>
  static int Sign(T a, T b) {
    return a < b ? -1 : (a > b ? 1 : 0);
  }
  static int CompareReals(double a, double b) {
    const bool a_nan = a != a;
    const bool b_nan = b != b;
    if (a_nan || b_nan) return static_cast<int>(a_nan) - static_cast<int>(b_nan);
    return Sign(a, b);
  }
  const Tensor& t_;
};

Status CheckIndexType(DType dtype) {
  if (dtype == DType::kI32 || dtype == DType::kI64) return {};
  return ModelError("the index type is {}; must be i32 or i64", DTypeName(dtype));
}

Result<Tensor> IndexTensor(DType dtype, const std::vector<int64_t>& values) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) b.SetInt(static_cast<int64_t>(i), values[i]);
  return b.Finish();
}

// A tensor as rows along an axis: element j of row i is at i / inner * size * inner + i % inner +
// j * inner.
struct AxisView {
  int64_t outer, size, inner;
  AxisView(const std::vector<int64_t>& dims, int axis) : outer(1), size(0), inner(1) {
    for (size_t d = 0; d < dims.size(); ++d)
      (d < static_cast<size_t>(axis) ? outer : inner) *=
          d == static_cast<size_t>(axis) ? 1 : dims[d];
    size = dims[static_cast<size_t>(axis)];
  }
};

// ---- non_zero, compress -------------------------------------------------------------------------

Status InferNonZero(InferContext& ctx) {
  const Type& x = ctx.in(0);
  if (IsComplex(x.dtype)) return UnsupportedError("{} is not supported", DTypeName(x.dtype));
  const Dim rank = x.ranked() ? Dim(x.rank()) : ctx.NewSymbol();
  ctx.set_out(0, Type(DType::kI64, {rank, ctx.NewSymbol()}));
  return {};
}

Status EvalNonZero(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  const int64_t zero_point = ctx.in_type(0).quantized() ? ctx.in_type(0).quant->zero_point() : 0;
  const auto is_set = [&](int64_t i) {
    if (x.dtype() == DType::kString) return !x.strings()[static_cast<size_t>(i)].empty();
    return IsFloat(x.dtype()) ? x.GetDouble(i) != 0 : x.GetInt(i) != zero_point;
  };
  // Counted first: a list of the positions could take eight times the memory of the input.
  int64_t n = 0;
  for (int64_t i = 0; i < x.elements(); ++i) n += is_set(i) ? 1 : 0;
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(DType::kI64, {x.rank(), n}));
  const auto strides = Strides(x.dims());
  size_t next = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    if (!is_set(i)) continue;
    for (size_t d = 0; d < strides.size(); ++d)
      out.As<int64_t>()[d * static_cast<size_t>(n) + next] = i / strides[d] % x.dims()[d];
    ++next;
  }
  ctx.set_out(0, out.Finish());
  return {};
}

Status InferCompress(InferContext& ctx) {
  const auto& a = ctx.attrs<CompressAttrs>();
  const Type& x = ctx.in(0);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  const Type& condition = ctx.in(1);
  if (condition.dtype != DType::kUnknown && condition.dtype != DType::kBool)
    return ModelError("the condition is {}; must be bool", condition.ToString());
  if (condition.ranked() && condition.rank() != 1)
    return ModelError("the condition is {}; must be a vector", condition.ToString());
  if (!x.ranked() && !a.flatten) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  Dims dims = {ctx.NewSymbol()};
  if (!a.flatten) {
    NN_ASSIGN(const int axis, NormalizeAxis(a.axis, x.rank()));
    const Dim chosen = dims[0];
    dims = *x.dims;
    dims[static_cast<size_t>(axis)] = chosen;
  }
  ctx.set_out(0, x.WithDims(std::move(dims)));
  return {};
}

Status EvalCompress(EvalContext& ctx) {
  const auto& a = ctx.attrs<CompressAttrs>();
  const Tensor& condition = ctx.in(1);
  Tensor x = ctx.in(0);
  int axis = 0;
  if (a.flatten) {
    NN_ASSIGN(x, x.Reshaped({x.elements()}));
  } else {
    NN_ASSIGN(axis, NormalizeAxis(a.axis, x.rank()));
  }
  const auto at = static_cast<size_t>(axis);
  std::vector<int64_t> dims = x.dims();
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < condition.elements(); ++i) {
    if (condition.GetInt(i) == 0) continue;
    if (i >= dims[at])
      return ModelError("the condition selects element {} of an axis of size {}", i, dims[at]);
    chosen.push_back(i);
  }
  dims[at] = static_cast<int64_t>(chosen.size());
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(x.dtype(), dims));
  if (out.elements() == 0) {
    ctx.set_out(0, out.Finish());
    return {};
  }
  auto tables = WholeAxes(x.dims());
  const int64_t stride = Strides(x.dims())[at];
  tables[at] = chosen;
  for (int64_t& entry : tables[at]) entry *= stride;
  NN_ASSIGN(Tensor y, MoveElements(x, tables));
  ctx.set_out(0, std::move(y));
  return {};
}

std::optional<AxesChange> ChangeCompressAxes(const Node& node, Operand changed,
                                             const AxisMap& map) {
  CompressAttrs a = node.attrs<CompressAttrs>();
  const auto axis = a.flatten ? std::nullopt : MapAxis(a.axis, map);
  if (!axis || changed == Operand{false, 1}) return std::nullopt;
  a.axis = *axis;
  return SameAxesChange(node, changed, map, a);
}

// ---- unique -------------------------------------------------------------------------------------

Status InferUnique(InferContext& ctx) {
  const auto& a = ctx.attrs<UniqueAttrs>();
  const Type& x = ctx.in(0);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  NN_RETURN_IF_ERROR(CheckIndexType(a.index_type));
  const Dim count = ctx.NewSymbol();
  Dim total = ctx.NewSymbol();
  Type y = Unranked(x);
  if (a.flatten) {
    y.dims = Dims{count};
    if (x.ranked()) total = Product(*x.dims);
  } else if (x.ranked()) {
    NN_ASSIGN(const int axis, NormalizeAxis(a.axis, x.rank()));
    Dims dims = *x.dims;
    dims[static_cast<size_t>(axis)] = count;
    y.dims = std::move(dims);
    total = x.dim(axis);
  }
  ctx.set_out(0, y);
  for (size_t i = 1; i < ctx.output_count(); ++i)
    ctx.set_out(i, Type(a.index_type, {i == 2 ? total : count}));
  return {};
}

// The distinct slices of an axis: for each result its first occurrence and its number of
// occurrences, and for each slice the number of its result.
struct Distinct {
  std::vector<int64_t> first, inverse, counts;
};

Distinct FindDistinct(const Tensor& x, const AxisView& view, bool sorted) {
  const Comparison compare(x);
  const auto before = [&](int64_t i, int64_t j) {
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t k = 0; k < view.inner; ++k)
        if (const int c =
                compare((o * view.size + i) * view.inner + k, (o * view.size + j) * view.inner + k);
            c != 0)
          return c < 0;
    return false;
  };
  std::map<int64_t, int64_t, decltype(before)> numbers(before);  // slice -> result
  Distinct d;
  for (int64_t i = 0; i < view.size; ++i) {
    const auto [it, added] = numbers.emplace(i, static_cast<int64_t>(d.first.size()));
    if (added) {
      d.first.push_back(i);
      d.counts.push_back(0);
    }
    d.inverse.push_back(it->second);
    ++d.counts[static_cast<size_t>(it->second)];
  }
  if (!sorted) return d;
  Distinct ordered;
  std::vector<int64_t> rank(d.first.size());
  for (const auto& [slice, number] : numbers) {
    rank[static_cast<size_t>(number)] = static_cast<int64_t>(ordered.first.size());
    ordered.first.push_back(slice);
    ordered.counts.push_back(d.counts[static_cast<size_t>(number)]);
  }
  for (const int64_t number : d.inverse)
    ordered.inverse.push_back(rank[static_cast<size_t>(number)]);
  return ordered;
}

Status EvalUnique(EvalContext& ctx) {
  const auto& a = ctx.attrs<UniqueAttrs>();
  Tensor x = ctx.in(0);
  if (!Comparison::Supports(x.dtype()))
    return UnsupportedError("{} is not supported", DTypeName(x.dtype()));
  int axis = 0;
  if (a.flatten) {
    NN_ASSIGN(x, x.Reshaped({x.elements()}));
  } else {
    NN_ASSIGN(axis, NormalizeAxis(a.axis, x.rank()));
  }
  const AxisView view(x.dims(), axis);
  if (view.size > 0 && view.outer * view.inner == 0)
    return UnsupportedError("{} slices without elements are not supported", view.size);
  const Distinct d = FindDistinct(x, view, a.sorted);
  std::vector<int64_t> dims = x.dims();
  dims[static_cast<size_t>(axis)] = static_cast<int64_t>(d.first.size());
  NN_ASSIGN(TensorBuilder y, TensorBuilder::Create(x.dtype(), dims));
  for (int64_t o = 0; y.elements() > 0 && o < view.outer; ++o)
    for (size_t i = 0; i < d.first.size(); ++i)
      y.Copy((o * static_cast<int64_t>(d.first.size()) + static_cast<int64_t>(i)) * view.inner, x,
             (o * view.size + d.first[i]) * view.inner, view.inner);
  ctx.set_out(0, y.Finish());
  const std::vector<int64_t>* const lists[] = {&d.first, &d.inverse, &d.counts};
  for (size_t i = 1; i < ctx.output_count(); ++i) {
    NN_ASSIGN(Tensor list, IndexTensor(a.index_type, *lists[i - 1]));
    ctx.set_out(i, std::move(list));
  }
  return {};
}

// ---- reverse_sequence ---------------------------------------------------------------------------

struct SequenceAxes {
  size_t batch, time;
};

Result<SequenceAxes> AxesOf(const ReverseSequenceAttrs& a, int rank) {
  NN_ASSIGN(const int batch, NormalizeAxis(a.batch_axis, rank));
  NN_ASSIGN(const int time, NormalizeAxis(a.time_axis, rank));
  if (batch == time) return ModelError("batch_axis and time_axis are both {}", batch);
  return SequenceAxes{static_cast<size_t>(batch), static_cast<size_t>(time)};
}

Status InferReverseSequence(InferContext& ctx) {
  const Type& x = ctx.in(0);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  if (ctx.in(1).ranked() && ctx.in(1).rank() != 1)
    return ModelError("lengths is {}; must be a vector", ctx.in(1).ToString());
  ctx.set_out(0, x);
  if (!x.ranked()) return {};
  NN_ASSIGN(const SequenceAxes at, AxesOf(ctx.attrs<ReverseSequenceAttrs>(), x.rank()));
  if (!ctx.in(1).ranked()) return {};
  const Dim& n = ctx.in(1).dim(0);
  const Dim& batch = (*x.dims)[at.batch];
  if (n.is_const() && batch.is_const() && n != batch)
    return ModelError("lengths has {} entries for a batch of {}", n.ToString(), batch.ToString());
  return {};
}

Status EvalReverseSequence(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(const SequenceAxes at, AxesOf(ctx.attrs<ReverseSequenceAttrs>(), x.rank()));
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const auto strides = Strides(x.dims());
  const int64_t steps = x.dims()[at.time];
  const auto lengths = ctx.in(1).ToInts();
  for (const int64_t length : lengths)
    if (length < 0 || length > steps)
      return ModelError("sequence length {} is out of range for an axis of size {}", length, steps);
  const int64_t n = out.elements();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t t = i / strides[at.time] % steps;
    const int64_t length = lengths[static_cast<size_t>(i / strides[at.batch] % x.dims()[at.batch])];
    out.Copy(i, x, t < length ? i + (length - 1 - 2 * t) * strides[at.time] : i);
  }
  ctx.set_out(0, out.Finish());
  return {};
}

std::optional<AxesChange> ChangeReverseSequenceAxes(const Node& node, Operand changed,
                                                    const AxisMap& map) {
  const auto& a = node.attrs<ReverseSequenceAttrs>();
  const auto batch = MapAxis(a.batch_axis, map);
  const auto time = MapAxis(a.time_axis, map);
  if (!batch || !time || changed == Operand{false, 1}) return std::nullopt;
  return SameAxesChange(node, changed, map, ReverseSequenceAttrs{*batch, *time});
}

Domain CompressDomain(const Node&, size_t input, std::span<const Domain> y) {
  return input == 0 && !y[0].contents ? y[0] : Domain();
}

Domain ReverseSequenceDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 0) return y[0].contents ? Domain() : y[0];
  const auto dims = DimsOf(node.input(0));
  const int64_t axis = node.attrs<ReverseSequenceAttrs>().time_axis;
  const auto rank = dims ? std::ssize(*dims) : 0;
  if (!dims || axis < -rank || axis >= rank) return {};
  const int64_t size = (*dims)[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
  return Between(1, static_cast<double>(size));
}

// Positions along the axes of the input.
Interval NonZeroRange(RangeContext& ctx, size_t) {
  return IndexRange(ctx.node().input(0)->type());
}

Interval UniqueRange(RangeContext&, size_t output) {
  return output == 0 ? Interval() : Interval{0, kLargestSize};
}

}  // namespace

void RegisterSelectOps(OpRegistry& ops) {
  OpDef non_zero;
  non_zero.name = "non_zero";
  non_zero.summary = "the indices of nonzero elements";
  non_zero.category = Category::kOther;
  non_zero.wraps_integers = true;
  non_zero.range = NonZeroRange;
  non_zero.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  non_zero.infer = InferNonZero;
  non_zero.eval = EvalNonZero;
  non_zero.formats = {{"onnx", "NonZero", 9, {}}};
  ops.Add(std::move(non_zero));

  OpDef compress;
  compress.name = "compress";
  compress.summary = "selects the slices along an axis whose condition is true";
  compress.category = Category::kMovement;
  compress.selects = Selection();
  compress.attrs = AttrsInfoOf<CompressAttrs>();
  compress.inputs = {{"x", Arity::kRequired, Elements::kAny}, {"condition"}};
  compress.infer = InferCompress;
  compress.eval = EvalCompress;
  compress.change_axes = ChangeCompressAxes;
  ops.Add(std::move(compress));

  OpDef unique;
  unique.name = "unique";
  unique.summary = "the distinct elements or slices of a tensor";
  unique.category = Category::kOther;
  unique.wraps_integers = true;
  unique.selects = Selection{.by_value = true};
  unique.range = UniqueRange;
  unique.attrs = AttrsInfoOf<UniqueAttrs>();
  unique.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  unique.outputs = {{"y"},
                    {"first", Arity::kOptional},
                    {"inverse", Arity::kOptional},
                    {"counts", Arity::kOptional}};
  unique.infer = InferUnique;
  unique.eval = EvalUnique;
  ops.Add(std::move(unique));

  OpDef sequence;
  sequence.name = "reverse_sequence";
  sequence.summary = "reverses the first elements of sequences of given lengths";
  sequence.category = Category::kMovement;
  sequence.wraps_integers = true;
  sequence.selects = Selection();
  sequence.attrs = AttrsInfoOf<ReverseSequenceAttrs>();
  sequence.inputs = {{"x", Arity::kRequired, Elements::kAny}, {"lengths"}};
  sequence.infer = InferReverseSequence;
  sequence.eval = EvalReverseSequence;
  sequence.change_axes = ChangeReverseSequenceAxes;
  sequence.formats = {
      {"mil", "reverse_sequence", 1, {{"batch_axis", "batch_axis"}, {"time_axis", "seq_axis"}}},
      {"onnx", "ReverseSequence", 10, {{"batch_axis", "batch_axis"}, {"time_axis", "time_axis"}}}};
  ops.Add(std::move(sequence));
}

void AddPositionDomains(DomainTable& domains) {
  domains["compress"] = CompressDomain;
  domains["reverse_sequence"] = ReverseSequenceDomain;
}

}  // namespace nn
