#include "ops/nn/resize/resize.h"

#include <algorithm>
#include <cmath>

#include "base/arith.h"
#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/families.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> ResizeAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&ResizeAttrs::layout>("layout"),
      Field<&ResizeAttrs::mode>("mode"),
      Field<&ResizeAttrs::coordinates>("coordinates"),
      Field<&ResizeAttrs::rounding>("rounding"),
      Field<&ResizeAttrs::scales>("scales"),
      Field<&ResizeAttrs::sizes>("sizes"),
      Field<&ResizeAttrs::roi>("roi"),
      Field<&ResizeAttrs::aspect>("aspect"),
      Field<&ResizeAttrs::antialias>("antialias"),
      Field<&ResizeAttrs::exclude_outside>("exclude_outside"),
      Field<&ResizeAttrs::cubic_coeff_a>("cubic_coeff_a"),
      Field<&ResizeAttrs::extrapolation_value>("extrapolation_value"),
  };
  return fields;
}

namespace {

enum ResizeInput : size_t { kRoi = 1, kScales, kSizes };

std::vector<float> Floats(const Tensor& t) {
  std::vector<float> out;
  for (int64_t i = 0; i < t.elements(); ++i) out.push_back(static_cast<float>(t.GetDouble(i)));
  return out;
}

const Tensor* Known(const InferContext& ctx, size_t i) {
  return ctx.constant(i);
}
const Tensor* Known(const EvalContext& ctx, size_t i) {
  return &ctx.in(i);
}

// The scales and the region from the attributes or the inputs, without the sizes; nullopt if those
// are not known.
template <typename Context>
Result<std::optional<ResizeNumbers>> FloatNumbers(const Context& ctx) {
  const auto& a = ctx.template attrs<ResizeAttrs>();
  ResizeNumbers numbers{a.scales, {}, a.roi};
  const std::pair<size_t, std::vector<float>*> lists[] = {{kRoi, &numbers.roi},
                                                          {kScales, &numbers.scales}};
  for (const auto& [input, list] : lists) {
    if (!ctx.has(input)) continue;
    if (!list->empty()) return ModelError("input {} is also given as an attribute", input);
    const Tensor* t = Known(ctx, input);
    if (t == nullptr) return std::nullopt;
    *list = Floats(*t);
  }
  return numbers;
}

template <typename Context>
Result<std::optional<Dims>> SizesOf(const Context& ctx) {
  const auto& a = ctx.template attrs<ResizeAttrs>();
  if (!ctx.has(kSizes)) return a.sizes;
  if (!a.sizes.empty()) return ModelError("sizes is given both as an attribute and as an input");
  return Contents(ctx, kSizes);
}

size_t SpatialAxis(Layout layout, size_t k) {
  return static_cast<size_t>(FirstSpatialAxis(layout)) + k;
}

// n * scale rounded down, for a size that is an expression; nullopt if no expression represents it.
std::optional<Dim> ScaledSize(const Dim& n, float scale) {
  constexpr float kDenominator = 256;
  const float numerator = scale * kDenominator;
  if (numerator != std::floor(numerator) || numerator > 0x1p30f) return std::nullopt;
  return Dim::FloorDiv(n * Dim(static_cast<int64_t>(numerator)),
                       Dim(static_cast<int64_t>(kDenominator)));
}

// The sizes after resizing if some are expressions. The numbers have been checked as far as known.
Dims SymbolicSizes(InferContext& ctx, const Dims& input, const std::optional<ResizeNumbers>& floats,
                   const std::optional<Dims>& sizes) {
  const auto& a = ctx.attrs<ResizeAttrs>();
  Dims out;
  for (size_t k = 0; k < input.size(); ++k) {
    std::optional<Dim> size;
    if (sizes && sizes->size() == input.size() && TakesSizes(a, input.size())) size = (*sizes)[k];
    if (floats && floats->scales.size() == input.size() && a.coordinates != Coordinates::kCrop)
      size = ScaledSize(input[k], floats->scales[k]);
    out.push_back(size ? *size : ctx.NewSymbol());
  }
  return out;
}

// TensorFlow Lite's arithmetic defines the positions of these only.
bool IsTfliteResize(const ResizeAttrs& a) {
  return a.mode != ResizeMode::kCubic && !a.antialias && !a.exclude_outside &&
         (a.coordinates == Coordinates::kHalfPixel || a.coordinates == Coordinates::kAlignCorners ||
          a.coordinates == Coordinates::kAsymmetric ||
          a.coordinates == Coordinates::kTfHalfPixelForNn);
}

Status InferResize(InferContext& ctx) {
  const auto& a = ctx.attrs<ResizeAttrs>();
  const Type& x = ctx.in(0);
  if (ctx.node().arithmetic() != Arithmetic::kDefault && !IsTfliteResize(a))
    return ModelError("TensorFlow Lite has no {} resize with {} coordinates and these options",
                      EnumName(a.mode), EnumName(a.coordinates));
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  NN_ASSIGN(const auto floats, FloatNumbers(ctx));
  NN_ASSIGN(const auto sizes, SizesOf(ctx));
  if (!x.ranked()) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 3));
  const Dims spatial = SpatialDims(*x.dims, a.layout);
  NN_RETURN_IF_ERROR(RequireList(ctx, kRoi, 2 * spatial.size()));
  NN_RETURN_IF_ERROR(RequireList(ctx, kScales, spatial.size()));
  NN_RETURN_IF_ERROR(RequireList(ctx, kSizes, spatial.size()));
  const auto input = ConstDims(spatial);
  const auto numbers = sizes ? ConstDims(*sizes) : std::nullopt;
  Dims output;
  if (input && floats && numbers) {
    ResizeNumbers all = *floats;
    all.sizes = *numbers;
    NN_ASSIGN(const auto resized, ResizedSizes(a, all, *input));
    output = ToDims(resized);
  } else {
    output = SymbolicSizes(ctx, spatial, floats, sizes);
  }
  Dims dims = *x.dims;
  for (size_t k = 0; k < output.size(); ++k) dims[SpatialAxis(a.layout, k)] = output[k];
  ctx.set_out(0, x.WithDims(std::move(dims)));
  return {};
}

// ---- Evaluation ---------------------------------------------------------------------------------

// Interpolates one axis; `dims` is the shape before.
template <typename T>
std::vector<T> Interpolate(const std::vector<T>& x, const std::vector<int64_t>& dims, size_t at,
                           const ResizeAxis& axis) {
  int64_t outer = 1;
  int64_t inner = 1;
  for (size_t d = 0; d < dims.size(); ++d) (d < at ? outer : inner) *= d == at ? 1 : dims[d];
  std::vector<T> y(static_cast<size_t>(outer * axis.size() * inner));
  auto to = y.begin();
  for (int64_t o = 0; o < outer; ++o) {
    const T* slab = x.data() + o * dims[at] * inner;
    for (int64_t i = 0; i < axis.size(); ++i) {
      for (int64_t k = 0; k < inner; ++k) {
        T sum = 0;
        for (int64_t t = i * axis.taps; t < (i + 1) * axis.taps; ++t)
          sum = Fma(static_cast<T>(axis.weight[static_cast<size_t>(t)]),
                    slab[axis.index[static_cast<size_t>(t)] * inner + k], sum);
        *to++ = sum;
      }
    }
  }
  return y;
}

void Store(TensorBuilder& out, int64_t i, double value, bool quantized) {
  if (IsFloat(out.dtype())) {
    out.SetDouble(i, value);
    return;
  }
  value = quantized ? std::nearbyint(value) : std::trunc(value);
  if (std::isnan(value)) value = 0;
  // double cannot represent the largest 64-bit integers, so compare before the conversion.
  const int64_t low = MinInteger(out.dtype());
  const int64_t high = MaxInteger(out.dtype());
  if (value <= static_cast<double>(low))
    out.SetInt(i, low);
  else if (value >= static_cast<double>(high))
    out.SetInt(i, high);
  else
    out.SetInt(i, static_cast<int64_t>(value));
}

template <typename T>
Status InterpolateAll(EvalContext& ctx, const std::vector<ResizeAxis>& axes) {
  const auto& a = ctx.attrs<ResizeAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  std::vector<T> values(static_cast<size_t>(x.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(x.GetDouble(static_cast<int64_t>(i)));
  std::vector<int64_t> dims = x.dims();
  for (size_t k = axes.size(); k-- > 0;) {
    const size_t at = SpatialAxis(a.layout, k);
    if (axes[k].IsIdentity(dims[at])) continue;
    values = Interpolate(values, dims, at, axes[k]);
    dims[at] = axes[k].size();
  }
  const auto strides = Strides(dims);
  for (int64_t i = 0; i < out.elements(); ++i) {
    bool outside = false;
    for (size_t k = 0; k < axes.size(); ++k) {
      const size_t at = SpatialAxis(a.layout, k);
      outside |= axes[k].outside[static_cast<size_t>(i / strides[at] % dims[at])] != 0;
    }
    Store(out, i, outside ? a.extrapolation_value : values[static_cast<size_t>(i)],
          ctx.in_type(0).quantized());
  }
  ctx.set_out(0, out.Finish());
  return {};
}

Status EvalNearest(EvalContext& ctx, const std::vector<ResizeAxis>& axes) {
  const auto& a = ctx.attrs<ResizeAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder fill, TensorBuilder::Create(x.dtype(), {}));
  if (a.coordinates == Coordinates::kCrop) {
    if (!IsFloat(x.dtype()) && !IsInteger(x.dtype()))
      return UnsupportedError("cropping of {} is not supported", DTypeName(x.dtype()));
    Store(fill, 0, a.extrapolation_value, false);
  }
  const Tensor outside = fill.Finish();
  return MoveInput(
      ctx,
      [&] {
        const auto strides = Strides(x.dims());
        auto tables = WholeAxes(x.dims());
        for (size_t k = 0; k < axes.size(); ++k) {
          const size_t at = SpatialAxis(a.layout, k);
          tables[at].clear();
          for (size_t i = 0; i < axes[k].index.size(); ++i)
            tables[at].push_back(axes[k].outside[i] != 0 ? kFillEntry
                                                         : axes[k].index[i] * strides[at]);
        }
        return tables;
      },
      &outside);
}

Status EvalResize(EvalContext& ctx) {
  const auto& a = ctx.attrs<ResizeAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(auto numbers, FloatNumbers(ctx));
  NN_ASSIGN(const auto sizes, SizesOf(ctx));
  auto known = ConstDims(*sizes);
  // Inference may have determined them from the sizes of x.
  if (const auto y = ctx.out_type().const_dims(); !known && y && a.aspect == AspectPolicy::kStretch)
    known = ConstDims(SpatialDims(ToDims(*y), a.layout));
  if (!known) return UnsupportedError("the output sizes are not known");
  numbers->sizes = *known;
  const auto input = *ConstDims(SpatialDims(ToDims(x.dims()), a.layout));
  NN_ASSIGN(const auto output, ResizedSizes(a, *numbers, input));
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  if (out.elements() == 0) {
    ctx.set_out(0, out.Finish());
    return {};
  }
  const Arithmetic arithmetic = ctx.node().arithmetic();
  NN_ASSIGN(const auto axes, ResizeAxes(a, arithmetic, *numbers, input, output));
  if (a.mode == ResizeMode::kNearest) return EvalNearest(ctx, axes);
  if (arithmetic == Arithmetic::kTflite && ctx.in_type(0).quantized())
    return EvalTfliteBilinear(ctx, input, output);
  const DType dtype = x.dtype();
  if (dtype == DType::kF64 || IsInteger(dtype)) return InterpolateAll<double>(ctx, axes);
  if (IsFloat(dtype)) return InterpolateAll<float>(ctx, axes);
  return UnsupportedError("{} interpolation of {} is not supported", EnumName(a.mode),
                          DTypeName(dtype));
}

Result<bool> AbsorbNumbers(Graph& graph, Node& node) {
  const InferContext ctx(node);
  if (!ctx.has(kRoi) && !ctx.has(kScales) && !ctx.has(kSizes)) return false;
  NN_ASSIGN(const auto numbers, FloatNumbers(ctx));
  NN_ASSIGN(const auto sizes, SizesOf(ctx));
  if (!numbers || !sizes || !KnownBeforeRun(*sizes)) return false;
  ResizeAttrs a = node.attrs<ResizeAttrs>();
  a.roi = numbers->roi;
  a.scales = numbers->scales;
  a.sizes = *sizes;
  graph.SetInputs(&node, {node.input(0)});
  node.set_attrs(std::move(a));
  return true;
}

// The dimensions of a result, or those that it has before axes are dropped whose result has a
// declared shape.
std::optional<std::vector<int64_t>> DimsBeforeSqueeze(const Value* y) {
  auto dims = DimsOf(y);
  if (dims || y->uses().size() != 1) return dims;
  const Node& squeeze = *y->uses()[0].node;
  if (!squeeze.Is("squeeze") || squeeze.inputs().size() > 1) return dims;
  dims = DimsOf(squeeze.output());
  if (!dims) return dims;
  for (const int64_t axis : squeeze.attrs<AxesAttrs>().axes) {
    if (axis < 0 || axis > std::ssize(*dims)) return std::nullopt;
    dims->insert(dims->begin() + static_cast<std::ptrdiff_t>(axis), 1);
  }
  return dims;
}

// The declared sizes, or those of x.
Domain ResizeDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto x = DimsOf(node.input(0));
  auto out = DimsBeforeSqueeze(node.output());
  const auto count = LengthOf(node.input(input));
  if (input == 0 || !x || !count) return {};
  if (!out) out = x;
  if (out->size() != x->size()) return {};
  const auto n = static_cast<size_t>(std::max<int64_t>(*count, 0));
  Domain d;
  d.contents.emplace();
  if (input == 1) {  // all of the image
    d.contents->assign(n, 0);
    std::fill(d.contents->begin() + static_cast<std::ptrdiff_t>(n / 2), d.contents->end(), 1);
    return d;
  }
  // Either of all axes or of the spatial ones.
  const size_t rank = x->size();
  if (n != rank && n + 2 != rank) return {};
  const Layout layout = node.attrs<ResizeAttrs>().layout;
  for (size_t k = 0; k < n; ++k) {
    const size_t axis = n == rank ? k : k + (layout == Layout::kNcx ? 2 : 1);
    const auto size = static_cast<double>((*out)[axis]);
    d.contents->push_back(input == 3 ? size : size / static_cast<double>((*x)[axis]));
  }
  return d;
}

// The arithmetic divides the range of each axis among the elements of the result, whatever the
// scales are, and interpolates between four elements.
bool HasQuantizedResize(const Node& node, const Type&, const Type&) {
  const auto& a = node.attrs<ResizeAttrs>();
  const auto from = node.input(0)->type().const_dims(), to = node.output()->type().const_dims();
  if (a.mode == ResizeMode::kNearest) return a.coordinates != Coordinates::kCrop;
  if (a.mode != ResizeMode::kLinear || a.antialias || a.exclude_outside ||
      node.output()->type().rank() != 4 || a.aspect != AspectPolicy::kStretch ||
      (node.inputs().size() > 2 && node.input(2) != nullptr))
    return false;
  for (size_t k = 0; k < a.scales.size(); ++k) {
    const auto axis = k + static_cast<size_t>(FirstSpatialAxis(a.layout));
    if (!from || !to ||
        static_cast<float>((*from)[axis]) * a.scales[k] != static_cast<float>((*to)[axis]))
      return false;
  }
  return a.coordinates == Coordinates::kHalfPixel || a.coordinates == Coordinates::kAlignCorners ||
         a.coordinates == Coordinates::kAsymmetric;
}

// An arithmetic determines the positions, of quantized and real numbers alike; the nearest element
// is only moved, so that it needs none to be quantized.
Arithmetic QuantizedResizeArithmetic(const Node& node) {
  return node.attrs<ResizeAttrs>().mode == ResizeMode::kNearest ? node.arithmetic()
                                                                : Arithmetic::kTflite;
}

bool IsNearest(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  return a.mode == ResizeMode::kNearest && a.coordinates != Coordinates::kCrop;
}

}  // namespace

void RegisterResizeOps(OpRegistry& ops) {
  OpDef resize;
  resize.name = "resize";
  resize.summary = "resamples the spatial axes to new sizes";
  resize.category = Category::kMovement;
  resize.selects = Selection{.applies = IsNearest};
  resize.quant_rule = QuantRule::kSame;
  resize.has_quantized_form = HasQuantizedResize;
  resize.quantized_arithmetic = QuantizedResizeArithmetic;
  resize.has_real_arithmetic = true;
  resize.takes_unit_axes = true;
  resize.attrs = AttrsInfoOf<ResizeAttrs>();
  resize.inputs = {
      {"x"}, {"roi", Arity::kOptional}, {"scales", Arity::kOptional}, {"sizes", Arity::kOptional}};
  resize.infer = InferResize;
  resize.eval = EvalResize;
  resize.change_axes = LayoutChange;
  resize.absorb_inputs = AbsorbNumbers;
  ops.Add(std::move(resize));
}

void AddResizeDomains(DomainTable& domains) {
  domains["resize"] = ResizeDomain;
}

}  // namespace nn
