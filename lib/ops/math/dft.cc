#include "ops/math/dft.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/math/fourier.h"
#include "ops/math/fourier_rows.h"
#include "ops/reduce/reduction.h"
#include "ops/support/composition.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> DftAttrs::Fields() {
  static const AttrField fields[] = {Field<&DftAttrs::axis>("axis"),
                                     Field<&DftAttrs::inverse>("inverse"),
                                     Field<&DftAttrs::onesided>("onesided")};
  return fields;
}
std::span<const AttrField> StftAttrs::Fields() {
  static const AttrField fields[] = {Field<&StftAttrs::onesided>("onesided")};
  return fields;
}

namespace {

// ---- Operands

// kModel if the input is present and is not a number.
Status RequireNumber(const InferContext& ctx, size_t input) {
  if (!ctx.has(input)) return {};
  const Type& type = ctx.in(input);
  if (type.ranked() && type.rank() != 0)
    return ModelError("input {} is {}; must be a scalar", input, type.ToString());
  if (type.dtype != DType::kUnknown && !IsInteger(type.dtype))
    return ModelError("input {} is {}; must be an integer", input, type.ToString());
  return {};
}

// The number in an input, if it is known; positive if it is a number.
Result<std::optional<Dim>> PositiveNumber(const InferContext& ctx, size_t input,
                                          std::string_view name) {
  NN_RETURN_IF_ERROR(RequireNumber(ctx, input));
  const auto contents = Contents(ctx, input);
  if (!contents || contents->size() != 1) return std::optional<Dim>();
  const Dim& n = contents->front();
  if (n.is_const() && n.value() < 1)
    return ModelError("{} is {}; must be positive", name, n.ToString());
  return std::optional<Dim>(n);
}

Status RequireParts(const Type& x, std::initializer_list<int64_t> allowed, std::string_view what) {
  const Dim& parts = x.dims->back();
  if (!parts.is_const() || std::ranges::count(allowed, parts.value()) != 0) return {};
  return ModelError("{} {} has {} numbers in its last axis, which must be {}", what, x.ToString(),
                    parts.ToString(),
                    allowed.size() == 2     ? "1 or 2"
                    : *allowed.begin() == 1 ? "1, of real elements"
                                            : "2");
}

// ---- dft

// The size of y along the axis, for the size of a transform.
template <typename Size>
Size SpectrumSize(const Size& n, bool half) {
  if (!half) return n;
  if constexpr (std::is_same_v<Size, Dim>)
    return Dim::FloorDiv(n, 2) + 1;
  else
    return n / 2 + 1;
}

Status InferDft(InferContext& ctx) {
  const auto& a = ctx.attrs<DftAttrs>();
  NN_RETURN_IF_ERROR(RequireReal(ctx, 0));
  NN_RETURN_IF_ERROR(RequireNumber(ctx, 2));
  NN_ASSIGN(const auto length, PositiveNumber(ctx, 1, "the length"));
  const Type& x = ctx.in(0);
  if (!x.ranked()) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 2));
  if (!a.onesided)
    NN_RETURN_IF_ERROR(RequireParts(x, {1, 2}, "the input"));
  else
    NN_RETURN_IF_ERROR(a.inverse ? RequireParts(x, {2}, "the spectrum")
                                 : RequireParts(x, {1}, "the input"));
  Dims dims = *x.dims;
  dims.back() = a.onesided && a.inverse ? 1 : 2;
  std::optional<int64_t> given = a.axis;
  if (ctx.has(2)) {
    const auto contents = Contents(ctx, 2);
    const bool known = contents && contents->size() == 1 && contents->front().is_const();
    given = known ? std::optional(contents->front().value()) : std::nullopt;
  }
  if (!given) {
    if (ctx.has(1) || a.onesided)
      for (size_t i = 0; i + 1 < dims.size(); ++i) dims[i] = ctx.NewSymbol();
    ctx.set_out(0, x.WithDims(std::move(dims)));
    return {};
  }
  NN_ASSIGN(const int axis, NormalizeAxis(*given, x.rank()));
  if (axis == x.rank() - 1)
    return ModelError("axis {} is the last one, which holds the parts of complex numbers", *given);
  Dim& size = dims[static_cast<size_t>(axis)];
  Dim n = a.onesided && a.inverse ? (size - 1) * 2 : size;
  if (ctx.has(1)) n = length ? *length : ctx.NewSymbol();
  if (n.is_const() && n.value() < 1)
    return ModelError("axis {} of {} has too few elements for a transform", axis, x.ToString());
  size = SpectrumSize(n, a.onesided && !a.inverse);
  ctx.set_out(0, x.WithDims(std::move(dims)));
  return {};
}

// Transforms all rows, one after the other.
template <typename T>
void TransformRows(const FourierRows& rows, bool inverse, const T* x, const T* window, T* y) {
  const FourierTransform transform(static_cast<size_t>(rows.n), inverse);
  std::vector<double> room(4 * transform.room());
  double* const at = room.data();
  const size_t n = transform.room();
  const FourierArrays arrays = {at, at + n, at + 2 * n, at + 3 * n, 1};
  for (int64_t row = 0; row < rows.count; ++row) {
    rows.Read(x, window, row, arrays, 0);
    RunFourier(transform, arrays);
    rows.Write(arrays, 0, row, y);
  }
}

Status EvalDft(EvalContext& ctx) {
  const auto& a = ctx.attrs<DftAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.has(2) ? ctx.in(2).GetInt(0) : a.axis, x.rank()));
  const int64_t n = ctx.has(1) ? ctx.in(1).GetInt(0) : DftSize(a, x.dims(), axis);
  if (n < 1) return ModelError("a transform of {} elements", n);
  return WithReals(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    if (y.size() != 0) {
      const Reals<T> values(x);
      const auto rows = DftRows(a, x.dims(), *ctx.out_type().const_dims(), axis, n);
      TransformRows<T>(rows, a.inverse, values.data(), nullptr, y.data());
    }
    y.Finish();
    return {};
  });
}

// As many transforms as y has rows; at most the products of transforms of all of its axes.
std::optional<int64_t> DftProducts(const Node& node) {
  const auto& a = node.attrs<DftAttrs>();
  const auto y = node.output()->type().const_dims();
  if (!y || y->size() < 2) return std::nullopt;
  const auto rank = static_cast<int64_t>(y->size());
  const auto elements = CheckedElements(*y);
  if (!elements || *elements == 0) return elements;
  std::optional<int64_t> most = 0;
  for (int64_t axis = 0; axis + 1 < rank; ++axis) {
    if (node.input(2) == nullptr && axis != (a.axis < 0 ? a.axis + rank : a.axis)) continue;
    const int64_t size = (*y)[static_cast<size_t>(axis)];
    int64_t n = a.onesided && !a.inverse ? 2 * size - 1 : size;
    if (const Value* v = node.input(1); v != nullptr && v->is_constant())
      n = v->constant().GetInt(0);
    else if (node.input(2) == nullptr && node.input(1) == nullptr && !a.inverse)
      if (const auto x = node.input(0)->type().const_dims()) n = (*x)[static_cast<size_t>(axis)];
    const auto products = FourierTransform::Products(n);
    const auto total = products ? CheckedMul(*products, *elements / size + 1) : products;
    if (!total) return std::nullopt;
    most = std::max(*most, *total);
  }
  return most;
}

// Moves an axis input with known contents to the attribute.
Result<bool> AbsorbDftAxis(Graph& graph, Node& node) {
  if (node.input(2) == nullptr) return false;
  const auto contents = Contents(InferContext(node), 2);
  if (!contents || contents->size() != 1 || !contents->front().is_const()) return false;
  DftAttrs attrs = node.attrs<DftAttrs>();
  attrs.axis = contents->front().value();
  graph.SetInputs(&node, {node.input(0), node.input(1)});
  node.set_attrs(attrs);
  return true;
}

// ---- stft

enum StftInput : size_t { kSignal, kStep, kWindow, kLength };

Status InferStft(InferContext& ctx) {
  const bool onesided = ctx.attrs<StftAttrs>().onesided;
  NN_RETURN_IF_ERROR(RequireReal(ctx, kSignal));
  NN_ASSIGN(const auto step, PositiveNumber(ctx, kStep, "the step"));
  NN_ASSIGN(const auto length, PositiveNumber(ctx, kLength, "the length"));
  NN_RETURN_IF_ERROR(RequireRank(ctx, kSignal, 3, 3));
  const Type& signal = ctx.in(kSignal);
  NN_RETURN_IF_ERROR(onesided ? RequireParts(signal, {1}, "the signal")
                              : RequireParts(signal, {1, 2}, "the signal"));
  Dim n = signal.dim(1);
  if (ctx.has(kWindow)) {
    NN_RETURN_IF_ERROR(RequireReal(ctx, kWindow));
    NN_RETURN_IF_ERROR(SameDType(ctx, {kSignal, kWindow}));
    NN_RETURN_IF_ERROR(RequireRank(ctx, kWindow, 1, 1));
    n = ctx.in(kWindow).dim(0);
    if (length && length->is_const() && n.is_const() && n != *length)
      return ModelError("the window has {} elements, but frames have {}", n.ToString(),
                        length->ToString());
  }
  if (ctx.has(kLength) && !(ctx.has(kWindow) && n.is_const()))
    n = length ? *length : ctx.NewSymbol();
  if (n.is_const() && n.value() < 1) return ModelError("frames have no elements");
  Dim frames = step ? Dim::Max(0, Dim::FloorDiv(signal.dim(1) - n, *step) + 1) : ctx.NewSymbol();
  ctx.set_out(0,
              Type(signal.dtype, {signal.dim(0), std::move(frames), SpectrumSize(n, onesided), 2}));
  return {};
}

Status EvalStft(EvalContext& ctx) {
  const Tensor& signal = ctx.in(kSignal);
  const int64_t step = ctx.in(kStep).GetInt(0), size = signal.dim(1);
  int64_t n = ctx.has(kWindow) ? ctx.in(kWindow).elements() : size;
  if (ctx.has(kLength)) n = ctx.in(kLength).GetInt(0);
  if (n < 1 || step < 1) return ModelError("frames of {} elements at a distance of {}", n, step);
  if (ctx.has(kWindow) && ctx.in(kWindow).elements() != n)
    return ModelError("the window has {} elements, but frames have {}", ctx.in(kWindow).elements(),
                      n);
  return WithReals(signal.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    if (y.size() != 0) {
      const Reals<T> values(signal);
      std::optional<Reals<T>> window;
      if (ctx.has(kWindow)) window.emplace(ctx.in(kWindow));
      const auto rows = StftRows(signal.dims(), *ctx.out_type().const_dims(), n, step);
      TransformRows<T>(rows, false, values.data(), window ? window->data() : nullptr, y.data());
    }
    y.Finish();
    return {};
  });
}

std::optional<int64_t> StftProducts(const Node& node) {
  const auto y = node.output()->type().const_dims();
  if (!y) return std::nullopt;
  int64_t n = node.attrs<StftAttrs>().onesided ? 2 * (*y)[2] - 1 : (*y)[2];
  if (const Value* v = node.input(kLength); v != nullptr && v->is_constant())
    n = v->constant().GetInt(0);
  else if (const Value* w = node.input(kWindow); w != nullptr && w->type().const_dims())
    n = w->type().const_dims()->front();
  const auto products = FourierTransform::Products(n);
  const auto frames = CheckedMul((*y)[0], (*y)[1]);
  return products && frames ? CheckedMul(*products, *frames) : std::nullopt;
}

// ---- Domains

Domain DftDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto x = DimsOf(node.input(0));
  if (input == 1) return Between(1, 16);
  if (input == 2 && x && x->size() > 1) return Between(0, static_cast<double>(x->size()) - 2);
  return {};
}

Domain StftDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto signal = DimsOf(node.input(kSignal));
  const auto window = node.inputs().size() > kWindow ? LengthOf(node.input(kWindow)) : std::nullopt;
  if (input == kStep) return Between(1, 8);
  if (input != kLength) return {};
  if (window) return Between(static_cast<double>(*window), static_cast<double>(*window));
  return Between(1, signal && signal->size() == 3
                        ? std::max<double>(1, static_cast<double>((*signal)[1]))
                        : 16);
}

}  // namespace

int64_t DftSize(const DftAttrs& a, const std::vector<int64_t>& x, int axis) {
  const int64_t size = x[static_cast<size_t>(axis)];
  return a.onesided && a.inverse ? 2 * (size - 1) : size;
}

FourierRows DftRows(const DftAttrs& a, const std::vector<int64_t>& x, const std::vector<int64_t>& y,
                    int axis, int64_t n) {
  const auto at = static_cast<size_t>(axis);
  FourierRows r;
  r.n = n;
  r.is_half = a.onesided && a.inverse;
  r.given = std::min(x[at], r.is_half ? n / 2 + 1 : n);
  r.kept = y[at];
  r.x_step = Strides(x)[at];
  r.y_step = Strides(y)[at];
  r.x_inner = r.x_parts = x.back();
  r.y_inner = r.y_parts = y.back();
  r.x_outer = x[at] * r.x_step;
  r.y_outer = r.kept * r.y_step;
  r.inner = r.y_step / r.y_parts;
  r.count = r.inner;
  for (size_t k = 0; k < at; ++k) r.count *= y[k];
  return r;
}

FourierRows StftRows(const std::vector<int64_t>& signal, const std::vector<int64_t>& y, int64_t n,
                     int64_t step) {
  FourierRows r;
  r.n = r.given = n;
  r.inner = y[1];
  r.count = y[0] * y[1];
  r.x_step = r.x_parts = signal[2];
  r.x_inner = step * r.x_parts;
  r.x_outer = signal[1] * r.x_parts;
  r.kept = y[2];
  r.y_step = r.y_parts = 2;
  r.y_inner = r.kept * 2;
  r.y_outer = r.inner * r.y_inner;
  return r;
}

void RegisterDftOps(OpRegistry& ops) {
  OpDef dft;
  dft.name = "dft";
  dft.summary = "the discrete Fourier transform along an axis";
  dft.category = Category::kArithmetic;
  dft.attrs = AttrsInfoOf<DftAttrs>();
  dft.inputs = {{"x"}, {"length", Arity::kOptional}, {"axis", Arity::kOptional}};
  dft.infer = InferDft;
  dft.eval = EvalDft;
  dft.absorb_inputs = AbsorbDftAxis;
  dft.multiply_adds = DftProducts;
  ops.Add(std::move(dft));

  OpDef stft;
  stft.name = "stft";
  stft.summary = "the Fourier transforms of overlapping frames of signals";
  stft.category = Category::kArithmetic;
  stft.attrs = AttrsInfoOf<StftAttrs>();
  stft.inputs = {{"signal"}, {"step"}, {"window", Arity::kOptional}, {"length", Arity::kOptional}};
  stft.infer = InferStft;
  stft.eval = EvalStft;
  stft.multiply_adds = StftProducts;
  ops.Add(std::move(stft));
}

void AddDftDomains(DomainTable& domains) {
  domains["dft"] = DftDomain;
  domains["stft"] = StftDomain;
}

}  // namespace nn
