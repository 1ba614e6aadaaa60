// DILATE, STABLEHLO_PAD, REDUCE_WINDOW, STABLEHLO_REDUCE_WINDOW: elements between those of a
// tensor, and reductions of any window by any function.
#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/common/control_flow.h"
#include "formats/tflite/family.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// Limit of TensorFlow Lite: elements of a window of STABLEHLO_REDUCE_WINDOW. Each is an operator.
constexpr int64_t kMaxTaps = 1024;

using Sizes = std::vector<int64_t>;

Result<Sizes> KnownSizes(const Value* v) {
  const auto dims = v->type().const_dims();
  if (!dims) return UnsupportedError("x is {}; its shape must be constant", v->type().ToString());
  return *dims;
}

// A list of the options with a number for each axis, `absent` if there is none. kModel unless all
// are at least `least`.
Result<Sizes> ListFor(const flatbuffers::Vector<int64_t>* list, std::string_view name, size_t count,
                      std::optional<int64_t> absent, int64_t least) {
  Sizes out = ListOf<int64_t>(list);
  if (out.empty() && absent) out.assign(count, *absent);
  if (out.size() != count)
    return ModelError("{} has {} numbers; expected {}", name, out.size(), count);
  if (std::ranges::any_of(out, [least](int64_t v) { return v < least; }))
    return ModelError("{} has a number below {}", name, least);
  return out;
}

constexpr int64_t kAnyNumber = std::numeric_limits<int64_t>::min();

// The kernels copy the integers of the value.
Status CheckFiller(const Value* x, const Value* value) {
  const auto& a = x->type().quant;
  const auto& b = value->type().quant;
  if (x->dtype() != value->dtype() || (a == nullptr) != (b == nullptr) ||
      (a != nullptr && !a->SameMapping(*b)))
    return UnsupportedError("x is {}, but the value between its elements {}", x->type().ToString(),
                            value->type().ToString());
  return {};
}

// x with `value`, a scalar, between the elements of an axis, so that they are `factors` apart.
Result<Value*> Dilated(ImportContext& ctx, Value* x, const Sizes& factors, Value* value) {
  NN_ASSIGN(Sizes dims, KnownSizes(x));
  const auto quant = x->type().quant;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const int64_t factor = factors[axis], size = dims[axis];
    if (factor == 1 || size < 2) continue;
    if (factor > std::numeric_limits<int32_t>::max() / size)
      return UnsupportedError("a dilation by {} is too large", factor);
    const auto at = static_cast<int64_t>(axis);
    NN_ASSIGN(x, ctx.Add("expand_dims", {x}, AxesAttrs{{at + 1}}, quant));
    PadAttrs pad;
    pad.pads.assign(2 * (dims.size() + 1), 0);
    pad.pads[dims.size() + 1 + axis + 1] = factor - 1;
    NN_ASSIGN(x, ctx.Add("pad", {x, value}, pad, quant));
    dims[axis] = size * factor;
    NN_ASSIGN(x, ctx.Add("reshape", {x}, ReshapeAttrs{ToDims(dims)}, quant));
    dims[axis] = (size - 1) * factor + 1;
    NN_ASSIGN(x, ctx.Add("slice", {x}, SliceAttrs{{at}, {0}, {dims[axis]}, {}}, quant));
  }
  return x;
}

// x with elements added at the ends of its axes, and removed where a number is negative: first
// added, because one end may have less elements than it loses.
Result<Value*> PaddedBy(ImportContext& ctx, Value* x, const Sizes& pads, Value* value) {
  for (const bool adds : {true, false}) {
    PadAttrs a{pads};
    for (int64_t& p : a.pads) p = adds ? std::max<int64_t>(p, 0) : std::min<int64_t>(p, 0);
    if (std::ranges::all_of(a.pads, [](int64_t p) { return p == 0; })) continue;
    NN_ASSIGN(x, ctx.Add("pad", {x, value}, a, x->type().quant));
  }
  return x;
}

// The operator's output, with the type of x.
Status EmitSame(ImportContext& ctx, Value* value) {
  if (ctx.output_count() != 1)
    return ModelError("there are {} outputs; expected 1", ctx.output_count());
  ctx.SetOutput(0, value);
  return {};
}

Status ImportDilate(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const Sizes factors, ctx.KnownInts(1, "the dilations"));
  Value* const given = ctx.input(2);
  NN_RETURN_IF_ERROR(CheckFiller(x, given));
  if (factors.size() != static_cast<size_t>(x->type().rank()) ||
      std::ranges::any_of(factors, [](int64_t f) { return f < 1; }))
    return ModelError("the dilations must be one positive number for each of {} axes",
                      x->type().rank());
  NN_ASSIGN(Value* const value, AsScalar(ctx, given));
  NN_ASSIGN(Value* const y, Dilated(ctx, x, factors, value));
  return EmitSame(ctx, y);
}

Status ImportStablehloPad(ImportContext& ctx) {
  const auto* const o = ctx.op().builtin_options_2_as_StablehloPadOptions();
  if (o == nullptr) return ModelError("the options are missing or of a different kind");
  Value* const x = ctx.input(0);
  Value* const given = ctx.input(1);
  NN_RETURN_IF_ERROR(CheckFiller(x, given));
  const auto rank = static_cast<size_t>(x->type().rank());
  NN_ASSIGN(Sizes pads, ListFor(o->edge_padding_low(), "edge_padding_low", rank, {}, kAnyNumber));
  NN_ASSIGN(const Sizes high,
            ListFor(o->edge_padding_high(), "edge_padding_high", rank, {}, kAnyNumber));
  NN_ASSIGN(Sizes factors, ListFor(o->interior_padding(), "interior_padding", rank, {}, 0));
  for (int64_t& f : factors) ++f;
  pads.insert(pads.end(), high.begin(), high.end());
  NN_ASSIGN(Value* const value, AsScalar(ctx, given));
  NN_ASSIGN(Value * y, Dilated(ctx, x, factors, value));
  NN_ASSIGN(y, PaddedBy(ctx, y, pads, value));
  return EmitSame(ctx, y);
}

struct Windows {
  Sizes sizes, strides, dilations;
};

// The reduction of each window of x by a function that begins with `start`, a scalar, and takes the
// elements in order.
Result<Value*> Reduced(ImportContext& ctx, Value* x, Value* start,
                       fb::ReduceWindowFunction function, const Windows& w) {
  using F = fb::ReduceWindowFunction;
  constexpr std::string_view kOps[] = {"", "add", "mul", "minimum", "maximum", "and", "or"};
  if (function <= F::UNSUPPORTED || function > F::ANY)
    return UnsupportedError("the reduction {} is unsupported", static_cast<int>(function));
  const std::string_view op = kOps[static_cast<size_t>(function)];
  const bool logical = function == F::ALL || function == F::ANY;
  const auto quant = x->type().quant;
  if (quant != nullptr && function != F::MINIMUM && function != F::MAXIMUM)
    return UnsupportedError("the reduction {} of a quantized tensor is unsupported", op);
  NN_ASSIGN(const Sizes dims, KnownSizes(x));
  const DType dtype = x->dtype();
  if (logical && dtype != DType::kBool) {
    NN_ASSIGN(x, ctx.Add("cast", {x}, CastAttrs{DType::kBool}));
    NN_ASSIGN(start, ctx.Add("cast", {start}, CastAttrs{DType::kBool}));
  }
  int64_t taps = 1;
  Sizes counts;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (w.sizes[i] > kMaxTaps || (taps *= w.sizes[i]) > kMaxTaps)
      return UnsupportedError("windows of more than {} elements are unsupported", kMaxTaps);
    const int64_t rest = dims[i] - 1 - (w.sizes[i] - 1) * w.dilations[i];
    counts.push_back(rest < 0 ? 0 : rest / w.strides[i] + 1);
  }
  NN_ASSIGN(Value * y, ctx.Add("expand", {start}, ExpandAttrs{ToDims(counts)}, quant));
  if (std::ranges::find(counts, 0) != counts.end()) taps = 0;
  for (int64_t tap = 0; tap < taps; ++tap) {
    SliceAttrs part;
    int64_t rest = tap;
    for (size_t i = dims.size(); i-- > 0;) {
      const int64_t begin = rest % w.sizes[i] * w.dilations[i];
      rest /= w.sizes[i];
      part.axes.push_back(static_cast<int64_t>(i));
      part.starts.push_back(begin);
      part.ends.push_back(begin + (counts[i] - 1) * w.strides[i] + 1);
      part.steps.push_back(w.strides[i]);
    }
    NN_ASSIGN(Value* const elements, ctx.Add("slice", {x}, std::move(part), quant));
    NN_ASSIGN(y, ctx.Add(op, {y, elements}, {}, quant));
  }
  if (y->dtype() == dtype) return y;
  return ctx.Add("cast", {y}, CastAttrs{dtype});
}

Status ImportReduceWindow(ImportContext& ctx) {
  const auto* const o = ctx.op().builtin_options_2_as_ReduceWindowOptions();
  if (o == nullptr) return ModelError("the options are missing or of a different kind");
  Value* const x = ctx.input(0);
  Value* const given = ctx.input(1);
  NN_RETURN_IF_ERROR(CheckFiller(x, given));
  Windows w;
  NN_ASSIGN(w.sizes, ctx.KnownInts(2, "the sizes of the window"));
  NN_ASSIGN(w.strides, ctx.KnownInts(3, "the strides"));
  NN_ASSIGN(w.dilations, ctx.KnownInts(4, "the dilations"));
  for (const Sizes* list : {&w.sizes, &w.strides, &w.dilations})
    if (list->size() != static_cast<size_t>(x->type().rank()) ||
        std::ranges::any_of(*list, [](int64_t v) { return v < 1; }))
      return ModelError("the window must have one positive number for each of {} axes",
                        x->type().rank());
  NN_ASSIGN(Value* const start, AsScalar(ctx, given));
  NN_ASSIGN(Value* const y, Reduced(ctx, x, start, o->reduce_function(), w));
  return EmitSame(ctx, y);
}

// The kernel looks at the only operator of the body.
Result<fb::ReduceWindowFunction> FunctionOf(const ImportContext& ctx, int64_t subgraph) {
  using F = fb::ReduceWindowFunction;
  const fb::SubGraph* const sub = tflite::At(ctx.model().root->subgraphs(), subgraph);
  if (sub == nullptr) return ModelError("subgraph {} does not exist", subgraph);
  const fb::OperatorCode* const code =
      SizeOf(sub->operators()) != 1 ? nullptr
                                    : tflite::At(ctx.model().root->operator_codes(),
                                                 tflite::At(sub->operators(), 0)->opcode_index());
  if (code == nullptr)
    return UnsupportedError("a reduction of other than one operator is unsupported");
  switch (OperatorOf(*code)) {
    case Op::ADD:
    case Op::STABLEHLO_ADD:
      return F::ADD;
    case Op::MUL:
    case Op::STABLEHLO_MULTIPLY:
      return F::MUL;
    case Op::MAXIMUM:
    case Op::STABLEHLO_MAXIMUM:
      return F::MAXIMUM;
    case Op::MINIMUM:
    case Op::STABLEHLO_MINIMUM:
      return F::MINIMUM;
    case Op::LOGICAL_AND:
    case Op::STABLEHLO_AND:
      return F::ALL;
    case Op::LOGICAL_OR:
    case Op::STABLEHLO_OR:
      return F::ANY;
    default:
      return UnsupportedError("a reduction by {} is unsupported",
                              fb::EnumNameBuiltinOperator(OperatorOf(*code)));
  }
}

Status ImportStablehloReduceWindow(ImportContext& ctx) {
  const auto* const o = ctx.op().builtin_options_2_as_StablehloReduceWindowOptions();
  if (o == nullptr) return ModelError("the options are missing or of a different kind");
  if (ctx.input_count() != 2 || ctx.output_count() != 1)
    return UnsupportedError("a reduction of several tensors at once is unsupported");
  Value* const x = ctx.input(0);
  Value* const given = ctx.input(1);
  NN_RETURN_IF_ERROR(CheckFiller(x, given));
  const auto rank = static_cast<size_t>(x->type().rank());
  Windows w;
  NN_ASSIGN(w.sizes, ListFor(o->window_dimensions(), "window_dimensions", rank, {}, 1));
  NN_ASSIGN(w.strides, ListFor(o->window_strides(), "window_strides", rank, 1, 1));
  NN_ASSIGN(w.dilations, ListFor(o->window_dilations(), "window_dilations", rank, 1, 1));
  NN_ASSIGN(const Sizes factors, ListFor(o->base_dilations(), "base_dilations", rank, 1, 1));
  NN_ASSIGN(const Sizes pairs, ListFor(o->padding(), "padding", 2 * rank, 0, kAnyNumber));
  NN_ASSIGN(const fb::ReduceWindowFunction function, FunctionOf(ctx, o->body_subgraph_index()));
  Sizes pads;
  for (size_t i = 0; i < 2 * rank; ++i)
    pads.push_back(pairs[i < rank ? 2 * i : 2 * (i - rank) + 1]);
  NN_ASSIGN(Value* const start, AsScalar(ctx, given));
  NN_ASSIGN(Value * y, Dilated(ctx, x, factors, start));
  NN_ASSIGN(y, PaddedBy(ctx, y, pads, start));
  NN_ASSIGN(y, Reduced(ctx, y, start, function, w));
  return EmitSame(ctx, y);
}

constexpr ImportRow kWindowImports[] = {
    {.op = Op::DILATE, .import = ImportDilate, .inputs = "r-r"},
    {.op = Op::STABLEHLO_PAD, .import = ImportStablehloPad, .inputs = "rr"},
    {.op = Op::REDUCE_WINDOW, .import = ImportReduceWindow, .inputs = "rr"},
    {.op = Op::STABLEHLO_REDUCE_WINDOW, .import = ImportStablehloReduceWindow, .inputs = "rr"},
};

}  // namespace

Family WindowFamily() {
  return {.imports = kWindowImports};
}

}  // namespace nn::tflite
