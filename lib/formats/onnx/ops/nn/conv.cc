#include <fmt/core.h>

#include <algorithm>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/activation.h"
#include "formats/onnx/spec/window_attrs.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

Result<Term> Convolution(ImportContext& ctx, Layout layout,
                         FilterLayout filter_layout = FilterLayout::kOix) {
  Value* const x = ctx.input(0);
  Value* const w = ctx.input(1);
  NN_RETURN_IF_ERROR(CheckKernelShape(ctx, w, filter_layout == FilterLayout::kOxi ? 1 : 2));
  ConvAttrs a;
  NN_RETURN_IF_ERROR(ReadWindow(ctx, a));
  a.groups = ctx.Int("group", 1);
  a.layout = layout;
  a.filter_layout = filter_layout;
  std::vector<Value*> inputs = {x, w};
  if (Value* bias = ctx.input(2)) inputs.push_back(bias);
  return Apply("conv", std::move(inputs), std::move(a));
}

Status ImportConv(ImportContext& ctx) {
  NN_ASSIGN(const Term y, Convolution(ctx, Layout::kNcx));
  return ctx.EmitTerm(y);
}

// Of com.microsoft. The documentation gives the filter as OIX, but the kernels of ONNX Runtime read
// OXI, and its optimizer writes it.
Status ImportNhwcConv(ImportContext& ctx) {
  NN_ASSIGN(const Term y, Convolution(ctx, Layout::kNxc, FilterLayout::kOxi));
  return ctx.EmitTerm(y);
}

// The convolution, an addend and an activation. The filter is OIX in both layouts.
template <Layout layout>
Status ImportFusedConv(ImportContext& ctx) {
  NN_ASSIGN(Term y, Convolution(ctx, layout));
  if (Value* const addend = ctx.input(3)) y = y + addend;
  NN_ASSIGN(y, Activated(ctx, y, ctx.String("activation", ""), ctx.Floats("activation_params")));
  return ctx.EmitTerm(y);
}

// With output_shape the pads are derived. An odd element of padding goes to the start; in version 1
// without auto_pad, to the end.
Status EmitConvTranspose(ImportContext& ctx, ConvTransposeAttrs a, Padding split, Value* bias) {
  Value* const x = ctx.input(0);
  Value* const w = ctx.input(1);
  NN_RETURN_IF_ERROR(CheckKernelShape(ctx, w));
  a.groups = ctx.Int("group", 1);
  a.output_padding = ctx.Ints("output_padding");
  if (auto shape = ctx.Ints("output_shape"); !shape.empty()) {
    // Some exporters include batch and channels.
    if (w->type().ranked() && shape.size() == w->type().dims->size())
      shape.erase(shape.begin(), shape.begin() + 2);
    a.output_shape = ToDims(shape);
    a.pads.clear();
    if (a.padding == Padding::kExplicit || a.padding == Padding::kValid) a.padding = split;
  }
  std::vector<Value*> inputs = {x, w};
  if (bias != nullptr) inputs.push_back(bias);
  return ctx.Emit("conv_transpose", std::move(inputs), std::move(a));
}

template <Padding split>
Status ImportConvTranspose(ImportContext& ctx) {
  ConvTransposeAttrs a;
  NN_RETURN_IF_ERROR(ReadWindow(ctx, a));
  return EmitConvTranspose(ctx, std::move(a), split, ctx.input(2));
}

// Of com.microsoft: the pads are an input.
Status ImportConvTransposeWithPads(ImportContext& ctx) {
  ConvTransposeAttrs a;
  NN_RETURN_IF_ERROR(ReadWindow(ctx, a));
  if (ctx.input(2) != nullptr) {
    NN_ASSIGN(Value* const pads, Folded(ctx, ctx.input(2)));
    if (!pads->is_constant())
      return UnsupportedError("{} whose Pads are not constant", ctx.node().op_type());
    a.pads = pads->constant().ToInts();
  }
  return EmitConvTranspose(ctx, std::move(a), Padding::kSameLower, ctx.input(3));
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

Status WriteConv(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "Conv");
  const auto filter = node.input(1)->type().const_dims();
  if (filter) SetInts(out, "kernel_shape", {filter->begin() + 2, filter->end()});
  SetConvWindow(out, node, a);
  if (a.groups != 1) SetInt(out, "group", a.groups);
  return {};
}

std::optional<std::string> WhyNotConv(const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  if (node.output()->type().quantized()) return "its operands are quantized; Conv needs real ones";
  if (a.layout != Layout::kNcx) return "the channels must be axis 1";
  if (a.filter_layout != FilterLayout::kOix) return "the filter layout must be OIX";
  return std::nullopt;
}

// Whether a transposed convolution can have the output padding: it must be less than the stride.
bool MayAdd(int64_t output_padding, int64_t stride, int64_t dilation) {
  return output_padding <= 0 || output_padding < std::max(stride, dilation);
}

// Pads and output padding that give output_shape for the given begins; nullopt if there are none.
struct ExplicitPads {
  std::vector<int64_t> pads, output_padding;
};
std::optional<ExplicitPads> PadsFor(const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  const auto resolved =
      ConvTransposeWindows(a, *node.input(0)->type().dims, *node.input(1)->type().dims);
  if (!resolved) return std::nullopt;
  const auto windows = ConstWindows(*resolved);
  if (!windows) return std::nullopt;
  ExplicitPads p;
  for (const ConstWindow& w : *windows) {
    if (w.pad_begin < 0) return std::nullopt;
    p.pads.push_back(w.pad_begin);
  }
  for (size_t i = 0; i < windows->size(); ++i) {
    const int64_t end = (*windows)[i].pad_end;
    p.pads.push_back(std::max<int64_t>(0, end));
    p.output_padding.push_back((a.output_padding.empty() ? 0 : a.output_padding[i]) +
                               std::max<int64_t>(0, -end));
    if (!MayAdd(p.output_padding.back(), (*windows)[i].stride, (*windows)[i].dilation))
      return std::nullopt;
  }
  return p;
}

bool HasExplicitBegins(const ConvTransposeAttrs& a) {
  return a.padding == Padding::kExplicit || a.padding == Padding::kValid;
}

Status WriteConvTranspose(ExportContext& ctx, const Node& node) {
  ConvTransposeAttrs a = node.attrs<ConvTransposeAttrs>();
  if (!a.output_shape.empty() && HasExplicitBegins(a)) {
    ExplicitPads p = *PadsFor(node);
    a.padding = Padding::kExplicit;
    a.pads = std::move(p.pads);
    a.output_padding = std::move(p.output_padding);
    a.output_shape.clear();
  }
  pb::NodeProto* out = ctx.AddNode(node, "ConvTranspose");
  if (const auto filter = node.input(1)->type().const_dims())
    SetInts(out, "kernel_shape", {filter->begin() + 2, filter->end()});
  SetWindow(out, a);
  if (a.groups != 1) SetInt(out, "group", a.groups);
  if (!a.output_padding.empty()) SetInts(out, "output_padding", a.output_padding);
  if (!a.output_shape.empty()) SetInts(out, "output_shape", *ConstDims(a.output_shape));
  return {};
}

std::optional<std::string> WhyNotConvTranspose(const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  if (node.output()->type().quantized())
    return "its operands are quantized; ConvTranspose needs real ones";
  if (a.layout != Layout::kNcx) return "the channels must be axis 1";
  if (a.filter_layout != FilterLayout::kIox) return "the filter layout must be IOX";
  if (std::any_of(a.pads.begin(), a.pads.end(), [](int64_t p) { return p < 0; }))
    return "pads must be at least 0 in ConvTranspose";
  const auto step = [](const std::vector<int64_t>& list, size_t i) {
    return i < list.size() ? list[i] : 1;
  };
  for (size_t i = 0; i < a.output_padding.size(); ++i)
    if (!MayAdd(a.output_padding[i], step(a.strides, i), step(a.dilations, i)))
      return fmt::format("its output padding {} must be less than its stride {}",
                         a.output_padding[i], step(a.strides, i));
  if (a.output_shape.empty()) return std::nullopt;
  if (!ConstDims(a.output_shape)) return "its output size must be constant";
  if (HasExplicitBegins(a) && !PadsFor(node))
    return "no pads and output padding give its output size";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kConvImports[] = {
    {.op = "Conv", .since = 1, .import = ImportConv, .inputs = 2},
    {.op = "FusedConv", .import = ImportFusedConv<Layout::kNcx>, .inputs = 2, .domain = kMicrosoft},
    {.op = "NhwcConv", .import = ImportNhwcConv, .inputs = 2, .domain = kMicrosoft},
    {.op = "NhwcFusedConv",
     .import = ImportFusedConv<Layout::kNxc>,
     .inputs = 2,
     .domain = kMicrosoft},
    {.op = "ConvTranspose",
     .since = 1,
     .import = ImportConvTranspose<Padding::kSameUpper>,
     .inputs = 2},
    {.op = "ConvTranspose",
     .since = 11,
     .import = ImportConvTranspose<Padding::kSameLower>,
     .inputs = 2},
    {.op = "ConvTransposeWithDynamicPads",
     .import = ImportConvTransposeWithPads,
     .inputs = 2,
     .domain = kMicrosoft},
};

constexpr ExportRow kConvExports[] = {
    {.op = "conv", .write = WriteConv, .why_not = WhyNotConv},
    {.op = "conv_transpose", .write = WriteConvTranspose, .why_not = WhyNotConvTranspose},
};

}  // namespace

Family ConvFamily() {
  return {.imports = kConvImports, .exports = kConvExports};
}

}  // namespace nn::onnx
