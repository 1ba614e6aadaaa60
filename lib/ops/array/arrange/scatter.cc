#include "ops/array/arrange/scatter.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/slice_update.h"
#include "ops/families.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> ScatterElementsAttrs::Fields() {
  static const AttrField fields[] = {Field<&ScatterElementsAttrs::axis>("axis"),
                                     Field<&ScatterElementsAttrs::reduction>("reduction")};
  return fields;
}
std::span<const AttrField> ScatterNdAttrs::Fields() {
  static const AttrField fields[] = {Field<&ScatterNdAttrs::reduction>("reduction")};
  return fields;
}

namespace {

// The tensor that is updated. `Update(to, from)` applies element `from` of the updates.
class Destination {
 public:
  virtual ~Destination() = default;
  virtual void Update(int64_t to, int64_t from, int64_t count) = 0;
  virtual Tensor Finish() = 0;
};

class Replacing : public Destination {
 public:
  Replacing(TensorBuilder out, const Tensor& updates) : out_(std::move(out)), updates_(updates) {}
  void Update(int64_t to, int64_t from, int64_t count) override {
    out_.Copy(to, updates_, from, count);
  }
  Tensor Finish() override { return out_.Finish(); }

 private:
  TensorBuilder out_;
  const Tensor& updates_;
};

template <typename T>
T Load(const Tensor& t, int64_t i) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(t.GetInt(i));
  else
    return static_cast<T>(t.GetDouble(i));
}

template <typename T>
T Reduce(Reduction reduction, T x, T u) {
  switch (reduction) {
    case Reduction::kAdd:
      return x + u;
    case Reduction::kMul:
      return x * u;
    case Reduction::kMin:
      return x < u ? x : u;
    case Reduction::kMax:
      return x > u ? x : u;
    case Reduction::kNone:
      break;
  }
  return u;
}

// Integers of up to 64 bits as int64_t, or as uint64_t for u64; sums and products wrap.
template <typename T>
class Reducing : public Destination {
 public:
  Reducing(TensorBuilder out, const Tensor& x, const Tensor& updates, Reduction reduction)
      : out_(std::move(out)), updates_(updates), reduction_(reduction) {
    values_.reserve(static_cast<size_t>(x.elements()));
    for (int64_t i = 0; i < x.elements(); ++i) values_.push_back(Load<T>(x, i));
  }
  void Update(int64_t to, int64_t from, int64_t count) override {
    for (int64_t k = 0; k < count; ++k) {
      T& x = values_[static_cast<size_t>(to + k)];
      const T u = Load<T>(updates_, from + k);
      if constexpr (std::is_same_v<T, int64_t>) {
        if (reduction_ == Reduction::kAdd || reduction_ == Reduction::kMul) {
          // The type keeps the low bits, so wrapping once at the end equals wrapping at every step.
          x = static_cast<int64_t>(
              Reduce(reduction_, static_cast<uint64_t>(x), static_cast<uint64_t>(u)));
          continue;
        }
      }
      x = Reduce(reduction_, x, u);
    }
  }
  Tensor Finish() override {
    for (size_t i = 0; i < values_.size(); ++i) {
      if constexpr (std::is_integral_v<T>)
        out_.SetInt(static_cast<int64_t>(i), static_cast<int64_t>(values_[i]));
      else
        out_.SetDouble(static_cast<int64_t>(i), values_[i]);
    }
    return out_.Finish();
  }

 private:
  TensorBuilder out_;
  const Tensor& updates_;
  Reduction reduction_;
  std::vector<T> values_;
};

Result<std::unique_ptr<Destination>> MakeDestination(EvalContext& ctx, Reduction reduction) {
  const Tensor& x = ctx.in(0);
  const Tensor& updates = ctx.in(2);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  if (reduction == Reduction::kNone) {
    out.Copy(0, x, 0, x.elements());
    return std::unique_ptr<Destination>(std::make_unique<Replacing>(std::move(out), updates));
  }
  const auto make = [&]<typename T>(T) {
    return std::unique_ptr<Destination>(
        std::make_unique<Reducing<T>>(std::move(out), x, updates, reduction));
  };
  if (ctx.in_type(0).quantized())
    return UnsupportedError("reduction {} of {} is not supported", EnumName(reduction),
                            ctx.in_type(0).ToString());
  if (x.dtype() == DType::kF64) return make(double{});
  if (IsFloat(x.dtype())) return make(float{});
  if (x.dtype() == DType::kU64) return make(uint64_t{});
  if (IsInteger(x.dtype())) return make(int64_t{});
  return UnsupportedError("reduction {} of {} is not supported", EnumName(reduction),
                          DTypeName(x.dtype()));
}

Status InferScatter(InferContext& ctx) {
  const Type& x = ctx.in(0);
  NN_RETURN_IF_ERROR(SameDType(ctx, {0, 2}));
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  NN_RETURN_IF_ERROR(RequireIntegers(ctx, 1, "indices"));
  const Type& updates = ctx.in(2);
  if (x.quant != nullptr && (updates.quant == nullptr || !x.quant->SameMapping(*updates.quant)))
    return UnsupportedError("updates {} have a different quantization than x {}",
                            updates.ToString(), x.ToString());
  ctx.set_out(0, x);
  return {};
}

Status CheckEqual(const Dims& have, const Dims& want, std::string_view what) {
  bool fits = have.size() == want.size();
  for (size_t d = 0; fits && d < have.size(); ++d)
    fits = !have[d].is_const() || !want[d].is_const() || have[d] == want[d];
  if (!fits) return ModelError("{} {}; must be {}", what, ToString(have), ToString(want));
  return {};
}

// ---- scatter_elements ---------------------------------------------------------------------------

Status InferScatterElements(InferContext& ctx) {
  NN_RETURN_IF_ERROR(InferScatter(ctx));
  const Type& x = ctx.in(0);
  const Type& indices = ctx.in(1);
  if (!x.ranked() || !indices.ranked() || !ctx.in(2).ranked()) return {};
  NN_RETURN_IF_ERROR(NormalizeAxis(ctx.attrs<ScatterElementsAttrs>().axis, x.rank()));
  if (indices.rank() != x.rank())
    return ModelError("x is {} and the indices are {}: their ranks differ", x.ToString(),
                      indices.ToString());
  NN_RETURN_IF_ERROR(CheckEqual(*ctx.in(2).dims, *indices.dims, "the updates have shape"));
  return {};
}

Status EvalScatterElements(EvalContext& ctx) {
  const auto& a = ctx.attrs<ScatterElementsAttrs>();
  const Tensor& x = ctx.in(0);
  const Tensor& indices = ctx.in(1);
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, x.rank()));
  NN_ASSIGN(auto destination, MakeDestination(ctx, a.reduction));
  const auto strides = Strides(x.dims());
  const auto& dims = indices.dims();
  std::vector<int64_t> index(dims.size(), 0);
  const int64_t n = indices.elements();
  for (int64_t i = 0; i < n; ++i) {
    int64_t to = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      const bool addressed = d == static_cast<size_t>(axis);
      NN_ASSIGN(const int64_t at,
                CheckIndex(addressed ? indices.GetInt(i) : index[d], x.dims()[d]));
      to += at * strides[d];
    }
    destination->Update(to, i, 1);
    for (size_t d = dims.size(); d-- > 0 && ++index[d] == dims[d];) index[d] = 0;
  }
  ctx.set_out(0, destination->Finish());
  return {};
}

std::optional<AxesChange> ChangeScatterElementsAxes(const Node& node, Operand changed,
                                                    const AxisMap& map) {
  // Permuted indices would be visited in a different order, which matters for duplicate indices.
  for (size_t i = 0, last = 0; i < map.from().size(); ++i) {
    if (map.from()[i] == AxisMap::kNew) continue;
    const auto f = static_cast<size_t>(map.from()[i]);
    if (f < last) return std::nullopt;
    last = f;
  }
  ScatterElementsAttrs a = node.attrs<ScatterElementsAttrs>();
  const auto axis = MapAxis(a.axis, map);
  if (!axis) return std::nullopt;
  for (int d = 0; d < map.source_rank(); ++d)
    if (!map.ResultAxis(d) &&
        !(node.input(0)->type().dim(d) == 1 && node.input(1)->type().dim(d) == 1))
      return std::nullopt;
  a.axis = *axis;
  return SameAxesChange(node, changed, map, a, 3);
}

// ---- scatter_nd ---------------------------------------------------------------------------------

Status InferScatterNd(InferContext& ctx) {
  NN_RETURN_IF_ERROR(InferScatter(ctx));
  const Type& x = ctx.in(0);
  const Type& indices = ctx.in(1);
  if (!x.ranked() || !indices.ranked() || !ctx.in(2).ranked()) return {};
  if (indices.rank() == 0) return ModelError("indices must not be a scalar");
  const Dim& k = indices.dims->back();
  if (!k.is_const()) return {};
  if (k.value() > x.rank())
    return ModelError("the index vectors have {} entries, x has {} axes", k.ToString(), x.rank());
  Dims want(indices.dims->begin(), indices.dims->end() - 1);
  want.insert(want.end(), x.dims->begin() + k.value(), x.dims->end());
  return CheckEqual(*ctx.in(2).dims, want, "the updates have shape");
}

Status EvalScatterNd(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  const Tensor& indices = ctx.in(1);
  NN_ASSIGN(auto destination, MakeDestination(ctx, ctx.attrs<ScatterNdAttrs>().reduction));
  const auto k = static_cast<size_t>(indices.dims().back());
  const auto strides = Strides(x.dims());
  const int64_t run = std::accumulate(x.dims().begin() + static_cast<std::ptrdiff_t>(k),
                                      x.dims().end(), int64_t{1}, std::multiplies<>());
  const int64_t count = run == 0 ? 0 : ctx.in(2).elements() / run;
  for (int64_t i = 0; i < count; ++i) {
    int64_t to = 0;
    for (size_t d = 0; d < k; ++d) {
      NN_ASSIGN(const int64_t at,
                CheckIndex(indices.GetInt(i * static_cast<int64_t>(k) + static_cast<int64_t>(d)),
                           x.dims()[d]));
      to += at * strides[d];
    }
    destination->Update(to, i * run, run);
  }
  ctx.set_out(0, destination->Finish());
  return {};
}

// Updates that replace elements are elements of y.
Domain ReplacedDomain(Reduction reduction, std::span<const Domain> y) {
  const bool selects =
      reduction == Reduction::kNone || reduction == Reduction::kMin || reduction == Reduction::kMax;
  return selects && !y[0].contents ? y[0] : Domain();
}

Domain ScatterElementsDomain(const Node& node, size_t input, std::span<const Domain> y) {
  const auto& a = node.attrs<ScatterElementsAttrs>();
  if (input != 1) return ReplacedDomain(a.reduction, y);
  const auto dims = DimsOf(node.input(0));
  const auto rank = dims ? std::ssize(*dims) : 0;
  if (!dims || a.axis < -rank || a.axis >= rank) return {};
  return IndexDomain((*dims)[static_cast<size_t>(a.axis < 0 ? a.axis + rank : a.axis)]);
}

Domain ScatterNdDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input != 1) return ReplacedDomain(node.attrs<ScatterNdAttrs>().reduction, y);
  const auto dims = DimsOf(node.input(0));
  const auto indices = DimsOf(node.input(1));
  if (!dims || !indices || indices->empty()) return {};
  // The smallest of the addressed axes.
  int64_t smallest = std::numeric_limits<int64_t>::max();
  for (int64_t k = 0; k < indices->back() && k < std::ssize(*dims); ++k)
    smallest = std::min(smallest, (*dims)[static_cast<size_t>(k)]);
  return IndexDomain(smallest);
}

// Whether updates replace elements, or compete with them.
template <typename A>
bool IsSelection(const Node& node) {
  const Reduction reduction = node.attrs<A>().reduction;
  return reduction != Reduction::kAdd && reduction != Reduction::kMul;
}

}  // namespace

void RegisterScatterOps(OpRegistry& ops) {
  OpDef elements;
  elements.name = "scatter_elements";
  elements.summary = "writes elements to positions given by an index on one axis";
  elements.category = Category::kMovement;
  elements.wraps_integers = true;
  elements.exact_integers = true;
  elements.selects = Selection{.inputs = 0b101, .applies = IsSelection<ScatterElementsAttrs>};
  elements.attrs = AttrsInfoOf<ScatterElementsAttrs>();
  elements.inputs = {{"x", Arity::kRequired, Elements::kAny},
                     {"indices"},
                     {"updates", Arity::kRequired, Elements::kAny}};
  elements.infer = InferScatterElements;
  elements.eval = EvalScatterElements;
  elements.change_axes = ChangeScatterElementsAxes;
  ops.Add(std::move(elements));

  OpDef nd;
  nd.name = "scatter_nd";
  nd.summary = "writes slices to positions given by indices on several axes";
  nd.category = Category::kMovement;
  nd.wraps_integers = true;
  nd.exact_integers = true;
  nd.selects = Selection{.inputs = 0b101, .applies = IsSelection<ScatterNdAttrs>};
  nd.attrs = AttrsInfoOf<ScatterNdAttrs>();
  nd.inputs = {{"x", Arity::kRequired, Elements::kAny},
               {"indices"},
               {"updates", Arity::kRequired, Elements::kAny}};
  nd.infer = InferScatterNd;
  nd.eval = EvalScatterNd;
  ops.Add(std::move(nd));

  RegisterSliceUpdateOp(ops);
}

void AddScatterDomains(DomainTable& domains) {
  domains["scatter_elements"] = ScatterElementsDomain;
  domains["scatter_nd"] = ScatterNdDomain;
  AddSliceUpdateDomain(domains);
}

}  // namespace nn
