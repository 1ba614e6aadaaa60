#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "formats/tflite/export/export.h"
#include "formats/tflite/export/rewrites.h"
#include "ir/op_def.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/shape.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"
#include "ops/nn/pool.h"
#include "ops/quant/quantized.h"
#include "ops/support/window.h"
#include "ops/support/window_shape.h"
#include "rewrite/expand.h"
#include "rewrite/rewrite.h"
#include "rewrite/weights.h"

namespace nn::tflite {
namespace {

Layout LayoutOf(const Node& node) {
  return *ParseEnum<Layout>(std::get<EnumValue>(*node.attrs().Get("layout")).name);
}

// ---- Padding ------------------------------------------------------------------------------------

int64_t TotalSame(const Window& w) {
  return std::max<int64_t>(0, (w.output.value() - 1) * w.stride + w.extent() - w.input.value());
}

bool Known(const Window& w) {
  return w.input.is_const() && w.output.is_const() && w.pad_begin.is_const();
}

// Whether the padding without a rounding up gives the output size.
bool IsRoundedDown(const Window& w) {
  return w.output == WindowCount(w.input, w.pad_begin + w.pad_end, Dim(w.extent()), Dim(w.stride));
}

// Whether it does with a rounding up, and each window begins before the padding at the end for all
// sizes of the input.
bool IsRoundedUp(const Window& w) {
  const Dim stride(w.stride), padding = w.pad_begin + w.pad_end;
  return w.output == Dim::Min(WindowCountUp(w.input, padding, Dim(w.extent()), stride),
                              SameWindowCount(w.input + w.pad_begin, stride)) &&
         w.pad_end.value() + w.stride <= w.extent();
}

bool IsSame(const Window& w) {
  if (!(w.output == Dim::CeilDiv(w.input, Dim(w.stride)))) return false;
  if (Known(w)) return w.pad_begin == TotalSame(w) / 2;
  if (w.stride == 1) return w.pad_begin == (w.extent() - 1) / 2;
  // The padding is 0 or 1, at the end.
  return w.stride == 2 && w.extent() == 2 && w.pad_begin == 0;
}

bool IsValid(const Window& w) {
  if (!(w.pad_begin == 0)) return false;
  if (Known(w))
    return w.input.value() >= w.extent() &&
           w.output.value() == (w.input.value() - w.extent()) / w.stride + 1;
  return w.pad_end == 0 && IsRoundedDown(w);
}

// The named padding of the windows, SAME only if it may be; nullopt if they need a pad node.
std::optional<Padding> NamedPadding(const std::vector<Window>& windows, bool may_be_same) {
  if (std::all_of(windows.begin(), windows.end(), IsValid)) return Padding::kValid;
  if (may_be_same && std::all_of(windows.begin(), windows.end(), IsSame))
    return Padding::kSameUpper;
  return std::nullopt;
}

// The input of a window operator after a pad that makes the windows VALID; null if the padding is
// unknown or the result is empty. With known sizes, only elements that windows reach are added.
Result<Value*> Padded(Graph& graph, Node& node, const std::vector<Window>& windows, Value* value) {
  Value* x = node.input(0);
  const auto rank = static_cast<size_t>(x->type().rank());
  const auto first = static_cast<size_t>(FirstSpatialAxis(LayoutOf(node)));
  PadAttrs a;
  a.pads.assign(2 * rank, 0);
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& w = windows[i];
    if (!w.pad_begin.is_const()) return nullptr;
    if (!Known(w) && (!w.pad_end.is_const() || !(IsRoundedDown(w) || IsRoundedUp(w))))
      return nullptr;
    if (w.output == 0) return nullptr;  // no pad makes a window fit without a result
    const int64_t begin = w.pad_begin.value();
    const int64_t end =
        Known(w) ? (w.output.value() - 1) * w.stride + w.extent() - w.input.value() - begin
                 : w.pad_end.value() + (IsRoundedDown(w) ? 0 : w.stride - 1);
    a.pads[first + i] = begin;
    a.pads[rank + first + i] = std::max<int64_t>(0, end);
  }
  std::vector<Value*> inputs = {x};
  if (value != nullptr) inputs.push_back(value);
  NN_ASSIGN(Value* const y, ExpansionLike(graph, node).Add("pad", std::move(inputs), std::move(a)));
  Type type = y->type();
  type.quant = x->type().quant;
  y->set_type(std::move(type));
  return y;
}

// Gives a window operator a named padding, after a pad of `value` if needed.
template <typename A>
Result<bool> NamePadding(Graph& graph, Node& node, const std::vector<Window>& windows, Value* value,
                         bool may_be_same = true) {
  A a = node.attrs<A>();
  if (a.padding == Padding::kValid || a.padding == Padding::kSameUpper) return false;
  auto named = NamedPadding(windows, may_be_same);
  if (!named) {
    NN_ASSIGN(Value* const x, Padded(graph, node, windows, value));
    if (x == nullptr) return false;
    graph.SetInput(&node, 0, x);
    named = Padding::kValid;
  }
  a.padding = *named;
  a.pads.clear();
  if constexpr (requires { a.ceil_mode; }) a.ceil_mode = false;
  node.set_attrs(std::move(a));
  NN_RETURN_IF_ERROR(InferNode(node));
  return true;
}

// The lowest value: -infinity, or the lowest integer of a quantized type.
Result<Value*> Lowest(Graph& graph, const Type& type) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(type.dtype, {}));
  if (IsFloat(type.dtype))
    b.SetDouble(0, -std::numeric_limits<double>::infinity());
  else
    b.SetInt(0, MinInteger(type.dtype));
  return graph.AddConstant(b.Finish(), "lowest", type.quant);
}

bool IsDilated(const PoolAttrs& a) {
  return std::any_of(a.dilations.begin(), a.dilations.end(), [](int64_t d) { return d != 1; });
}

// Turns VALID padding with ceil_mode and SAME padding of a dilated pool into explicit padding. SAME
// ignores ceil_mode.
template <typename A>
A ExplicitOf(A a, const std::vector<Window>& windows) {
  if (a.ceil_mode && a.padding == Padding::kValid) a.padding = Padding::kExplicit;
  if (a.padding != Padding::kSameUpper) return a;
  a.ceil_mode = false;
  const auto is_known = [](const Window& w) {
    return w.pad_begin.is_const() && w.pad_end.is_const();
  };
  if (!IsDilated(a) || !std::all_of(windows.begin(), windows.end(), is_known)) return a;
  a.padding = Padding::kExplicit;
  a.pads.clear();
  for (const Window& w : windows) a.pads.push_back(w.pad_begin.value());
  for (const Window& w : windows) a.pads.push_back(w.pad_end.value());
  return a;
}

}  // namespace

// CONV_3D has no groups, and neither has TRANSPOSE_CONV.
bool LacksGroups(const Node& conv) {
  return conv.Is<ConvTransposeAttrs>() || conv.output()->type().rank() == 5;
}

std::optional<FilterLayout> FilterOrder(const Node& conv) {
  if (conv.Is<ConvTransposeAttrs>()) return FilterLayout::kOxi;
  if (!conv.Is<ConvAttrs>()) return std::nullopt;
  if (conv.input(1)->type().rank() == 5) return FilterLayout::kXio;
  return IsDepthwise(conv) ? FilterLayout::kIxo : FilterLayout::kOxi;
}

// Quantized biases have 32 bits (64 with 16-bit inputs) and the scales of the products.
Result<bool> ZeroBias(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  const Type& filter = node.input(1)->type();
  const FilterLayout layout = node.attrs<ConvAttrs>().filter_layout;
  if (node.input(2) != nullptr || filter.rank() != 4 || !filter.const_dims() ||
      (layout != FilterLayout::kOxi && layout != FilterLayout::kIxo))
    return false;
  const auto channels = static_cast<size_t>(AxesOf(layout, 4).output);
  DType dtype = x.dtype;
  std::shared_ptr<const Quant> quant = ProductQuant(x, filter);
  if (quant != nullptr) dtype = x.dtype == DType::kI16 ? DType::kI64 : DType::kI32;
  NN_ASSIGN(TensorBuilder zeros, TensorBuilder::Create(dtype, {(*filter.const_dims())[channels]}));
  for (int64_t i = 0; i < zeros.elements(); ++i) zeros.SetInt(i, 0);
  graph.SetInputs(&node, {node.input(0), node.input(1),
                          graph.AddConstant(zeros.Finish(), {}, std::move(quant))});
  return true;
}

Result<bool> ConvPadding(Graph& graph, Node& node) {
  NN_ASSIGN(const auto windows, ConvWindows(node.attrs<ConvAttrs>(), *node.input(0)->type().dims,
                                            *node.input(1)->type().dims));
  return NamePadding<ConvAttrs>(graph, node, windows, nullptr);
}

Result<bool> MaxPoolPadding(Graph& graph, Node& node) {
  if (node.outputs().size() != 1) return false;
  const auto& given = node.attrs<MaxPoolAttrs>();
  NN_ASSIGN(const auto windows, PoolWindows(given, *node.input(0)->type().dims));
  const auto a = ExplicitOf(given, windows);
  NN_ASSIGN(Value* const lowest, Lowest(graph, node.input(0)->type()));
  const bool changed = a.ceil_mode != given.ceil_mode;
  node.set_attrs(a);
  NN_ASSIGN(const bool named,
            NamePadding<MaxPoolAttrs>(graph, node, windows, lowest, !IsDilated(a)));
  return named || changed;
}

namespace {

// The divisor for the sum of window i along an axis.
int64_t CountAt(const Window& w, int64_t i, bool include_pad) {
  const int64_t low = include_pad ? -w.pad_begin.value() : 0;
  const int64_t high = w.input.value() + (include_pad ? w.pad_end.value() : 0);
  const int64_t start = i * w.stride - w.pad_begin.value();
  const int64_t first = std::max<int64_t>(0, CeilDiv(low - start, w.dilation));
  const int64_t end = std::min(w.kernel, CeilDiv(high - start, w.dilation));
  return std::max<int64_t>(0, end - first);
}

// Factors that convert means over the whole kernel to the requested ones, [1, H, W, 1] or [1, 1, H,
// W]; empty if all are 1. That of a window without elements is infinite: its mean, 0 / 0, is NaN.
// nullopt if sizes are unknown, or there are too many.
std::optional<std::vector<float>> Corrections(const std::vector<Window>& windows,
                                              bool include_pad) {
  std::vector<std::vector<int64_t>> counts;
  // Limit of TensorFlow Lite: factors that correct the means of a written average pooling at its
  // borders.
  constexpr int64_t kMaxFactors = int64_t{1} << 24;
  int64_t kernel = 1, factors = 1;
  for (const Window& w : windows) {
    if (!Known(w) || !w.pad_end.is_const() || w.output.value() > kMaxFactors) return std::nullopt;
    factors *= std::max<int64_t>(1, w.output.value());
    if (factors > kMaxFactors) return std::nullopt;
    kernel *= w.kernel;
    counts.emplace_back();
    for (int64_t i = 0; i < w.output.value(); ++i)
      counts.back().push_back(CountAt(w, i, include_pad));
  }
  std::vector<float> out;
  for (const int64_t a : counts[0])
    for (const int64_t b : counts[1])
      out.push_back(static_cast<float>(kernel) / static_cast<float>(a * b));
  if (std::all_of(out.begin(), out.end(), [](float f) { return f == 1; })) out.clear();
  return out;
}

}  // namespace

// Means that count padding are VALID windows after a pad; others are corrected by a product.
Result<bool> AveragePoolPadding(Graph& graph, Node& node) {
  const auto& given = node.attrs<AveragePoolAttrs>();
  NN_ASSIGN(const auto windows, PoolWindows(given, *node.input(0)->type().dims));
  auto a = ExplicitOf(given, windows);
  if (a.kernel.size() != 2 || a.padding == Padding::kValid) return false;
  const Type& type = node.output()->type();
  if (type.dtype != DType::kF32 && !type.quantized()) return false;  // unsupported in any form
  if (a.padding == Padding::kSameUpper && !a.count_include_pad) {
    const bool changed = given.ceil_mode;
    node.set_attrs(a);
    return changed;
  }
  const auto named = NamedPadding(windows, !IsDilated(a));
  if (named && (*named == Padding::kValid || !a.count_include_pad)) {
    if (a.padding == Padding::kSameUpper) a.padding = Padding::kExplicit;
    a.count_include_pad &= *named != Padding::kValid;
    node.set_attrs(a);
    return NamePadding<AveragePoolAttrs>(graph, node, windows, nullptr);
  }
  auto factors = Corrections(windows, a.count_include_pad);
  if (!factors) {
    // Without rounding up, every window is inside the counted padding.
    if (!a.count_include_pad || a.ceil_mode) return false;
    factors.emplace();
  }
  if (!factors->empty() && node.output()->type().quantized()) return false;
  NN_ASSIGN(Value* const x, Padded(graph, node, windows, nullptr));
  if (x == nullptr) return false;
  a.padding = Padding::kValid;
  a.pads.clear();
  a.ceil_mode = false;
  a.count_include_pad = false;
  Term y = Apply("average_pool", {x}, a);
  if (!factors->empty()) {
    const int64_t height = windows[0].output.value(), width = windows[1].output.value();
    std::vector<int64_t> dims = {height, width};
    if (a.layout == Layout::kNxc) dims.push_back(1);
    y = y * Tensor::Of(dims, *factors);
  }
  return ExpansionLike(graph, node).Replace(y);
}

// Pads without a name: VALID, then a slice (a negative pad) removes the surplus.
Result<bool> TransposedConvPadding(Graph& graph, Node& node) {
  auto a = node.attrs<ConvTransposeAttrs>();
  const auto rank = static_cast<size_t>(node.output()->type().rank());
  if (a.groups != 1 || TransposePadding(node) || (rank != 4 && rank != 5)) return false;
  NN_ASSIGN(const auto windows,
            ConvTransposeWindows(a, *node.input(0)->type().dims, *node.input(1)->type().dims));
  const auto first = static_cast<size_t>(FirstSpatialAxis(a.layout));
  PadAttrs cut;
  cut.pads.assign(2 * rank, 0);
  a.output_shape.clear();
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& w = windows[i];
    if (w.input == 0) return false;  // VALID needs a nonempty input
    const Dim full = w.input * Dim(w.stride) + Dim(w.extent() - w.stride);
    const Dim cut_end = full - w.pad_begin - w.output;
    if (!w.pad_begin.is_const() || !cut_end.is_const()) return false;
    const int64_t least = full.is_const() ? full.value() : w.extent();
    if (w.pad_begin.value() >= least) return false;  // no element of the result has a tap
    a.output_shape.push_back(full);
    cut.pads[first + i] = -w.pad_begin.value();
    cut.pads[rank + first + i] = -cut_end.value();
  }
  // Elements added at the end have no tap; they equal the bias, which a zero pad does not produce.
  for (size_t i = rank; i < 2 * rank; ++i)
    if (cut.pads[i] > 0 && node.input(2) != nullptr) return false;
  a.padding = Padding::kExplicit;
  a.pads.clear();
  a.output_padding.clear();
  const Term full = Apply("conv_transpose", node.inputs(), a);
  return ExpansionLike(graph, node).Replace(Apply("pad", {full}, std::move(cut)));
}

}  // namespace nn::tflite
