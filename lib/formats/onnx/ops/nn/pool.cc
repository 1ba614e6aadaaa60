#include <algorithm>
#include <cmath>
#include <numeric>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/spec/window_attrs.h"
#include "ops/nn/pool.h"
#include "ops/reduce/reduce.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

template <typename A>
Status ReadPool(const ImportContext& ctx, A& a) {
  if (!ctx.HasAttr("kernel_shape")) return ModelError("attribute kernel_shape is missing");
  a.kernel = ctx.Ints("kernel_shape");
  a.ceil_mode = ctx.Int("ceil_mode", 0) != 0;
  return ReadWindow(ctx, a);
}

template <Layout layout>
Status ImportMaxPool(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  MaxPoolAttrs a;
  a.layout = layout;
  NN_RETURN_IF_ERROR(ReadPool(ctx, a));
  a.storage_order = ctx.Int("storage_order", 0);
  return ctx.Emit("max_pool", {x}, std::move(a));
}

Status ImportAveragePool(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  AveragePoolAttrs a;
  NN_RETURN_IF_ERROR(ReadPool(ctx, a));
  a.count_include_pad = ctx.Int("count_include_pad", 0) != 0;
  return ctx.Emit("average_pool", {x}, std::move(a));
}

// p is a float in version 1, an integer from version 2 on.
float ReadP(const ImportContext& ctx) {
  return ctx.opset() < 2 ? ctx.Float("p", 2.0f) : static_cast<float>(ctx.Int("p", 2));
}

Status ImportLpPool(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  LpPoolAttrs a;
  NN_RETURN_IF_ERROR(ReadPool(ctx, a));
  a.p = ReadP(ctx);
  return ctx.Emit("lp_pool", {x}, std::move(a));
}

// Global pooling: a reduction over the spatial axes.
Status EmitGlobal(ImportContext& ctx, std::string_view op) {
  Value* const x = ctx.input(0);
  if (!x->type().ranked())
    return UnsupportedError("{} needs an input of known rank", ctx.node().op_type());
  if (x->type().rank() < 3)
    return ModelError("the input {} has no spatial axis", x->type().ToString());
  ReduceAttrs a;
  a.axes.resize(static_cast<size_t>(x->type().rank()) - 2);
  std::iota(a.axes.begin(), a.axes.end(), 2);
  return ctx.Emit(op, {x}, std::move(a));
}

Status ImportGlobalAveragePool(ImportContext& ctx) {
  return EmitGlobal(ctx, "reduce_mean");
}
Status ImportGlobalMaxPool(ImportContext& ctx) {
  return EmitGlobal(ctx, "reduce_max");
}

Status ImportGlobalLpPool(ImportContext& ctx) {
  const float p = ReadP(ctx);
  if (p == 1.0f) return EmitGlobal(ctx, "reduce_l1");
  if (p == 2.0f) return EmitGlobal(ctx, "reduce_l2");
  Value* const x = ctx.input(0);
  const auto dims = x->type().const_dims();
  if (!dims || dims->size() < 3)
    return UnsupportedError("GlobalLpPool with p = {} and input {}", p, x->type().ToString());
  LpPoolAttrs a;
  a.kernel.assign(dims->begin() + 2, dims->end());
  a.p = p;
  return ctx.Emit("lp_pool", {x}, std::move(a));
}

Status ImportMaxUnpool(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const indices = ctx.input(1);
  MaxUnpoolAttrs a;
  a.kernel = ctx.Ints("kernel_shape");
  a.strides = ctx.Ints("strides");
  a.pads = ctx.Ints("pads");
  std::vector<Value*> inputs = {x, indices};
  if (const Tensor* shape = ctx.Constant(2)) {
    a.output_shape = ToDims(shape->ToInts());
    if (a.output_shape.size() < 3)
      return ModelError("output_shape has {} entries", a.output_shape.size());
    a.output_shape.erase(a.output_shape.begin(), a.output_shape.begin() + 2);
  } else if (Value* shape_input = ctx.input(2)) {
    inputs.push_back(shape_input);
  }
  return ctx.Emit("max_unpool", std::move(inputs), std::move(a));
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

bool Dilated(const PoolAttrs& a) {
  return std::any_of(a.dilations.begin(), a.dilations.end(), [](int64_t d) { return d != 1; });
}

// Writes the attributes common to all pools.
pb::NodeProto* WritePool(ExportContext& ctx, const Node& node, std::string_view op, PoolAttrs a) {
  if (!Dilated(a)) a.dilations.clear();
  pb::NodeProto* out = ctx.AddNode(node, op);
  SetInts(out, "kernel_shape", a.kernel);
  SetWindow(out, a, PoolWindows(a, *node.input(0)->type().dims));
  if (a.ceil_mode) SetInt(out, "ceil_mode", 1);
  return out;
}

Status WriteMaxPool(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MaxPoolAttrs>();
  pb::NodeProto* out = WritePool(ctx, node, "MaxPool", a);
  if (a.storage_order != 0) SetInt(out, "storage_order", a.storage_order);
  return {};
}

Status WriteAveragePool(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<AveragePoolAttrs>();
  pb::NodeProto* out = WritePool(ctx, node, "AveragePool", a);
  if (a.count_include_pad) SetInt(out, "count_include_pad", 1);
  return {};
}

Status WriteLpPool(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  SetInt(WritePool(ctx, node, "LpPool", a), "p", static_cast<int64_t>(a.p));
  return {};
}

std::optional<std::string> WhyNotPool(const Node& node, const PoolAttrs& a) {
  if (node.input(0)->type().quantized())
    return "its operands are quantized; the ONNX pool needs real ones";
  if (a.layout != Layout::kNcx) return "the channels must be axis 1";
  return std::nullopt;
}

std::optional<std::string> WhyNotMaxPool(const Node& node) {
  return WhyNotPool(node, node.attrs<MaxPoolAttrs>());
}
std::optional<std::string> WhyNotAveragePool(const Node& node) {
  return WhyNotPool(node, node.attrs<AveragePoolAttrs>());
}
std::optional<std::string> WhyNotLpPool(const Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  if (a.average) return "it averages the powers, which LpPool of ONNX adds";
  if (a.p != std::floor(a.p)) return fmt::format("p must be an integer, not {}", a.p);
  return WhyNotPool(node, a);
}

int64_t MaxPoolOpset(const Node& node) {
  const auto& a = node.attrs<MaxPoolAttrs>();
  if (Dilated(a) || a.ceil_mode) return 10;
  return node.outputs().size() > 1 || a.storage_order != 0 ? 8 : 1;
}
int64_t AveragePoolOpset(const Node& node) {
  const auto& a = node.attrs<AveragePoolAttrs>();
  if (Dilated(a)) return 19;
  return a.ceil_mode ? 10 : 7;
}
int64_t LpPoolOpset(const Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  return Dilated(a) || a.ceil_mode ? 18 : 2;
}

Status WriteMaxUnpool(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MaxUnpoolAttrs>();
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0)), ctx.NameOf(node.input(1))};
  if (node.input(2) != nullptr)
    inputs.push_back(ctx.NameOf(node.input(2)));
  else if (!a.output_shape.empty())
    inputs.push_back(ctx.AddInts(*node.output()->type().const_dims(), "shape"));
  pb::NodeProto* out =
      ctx.AddNode(node, "MaxUnpool", {{ctx.NameOf(node.output())}, std::move(inputs)});
  SetInts(out, "kernel_shape", a.kernel);
  if (!a.strides.empty()) SetInts(out, "strides", a.strides);
  if (!a.pads.empty()) SetInts(out, "pads", a.pads);
  return {};
}

std::optional<std::string> WhyNotMaxUnpool(const Node& node) {
  const auto& a = node.attrs<MaxUnpoolAttrs>();
  if (a.layout != Layout::kNcx) return "the channels must be axis 1";
  if (!a.output_shape.empty() && !node.output()->type().const_dims())
    return "its output size must be constant";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kPoolImports[] = {
    {.op = "MaxPool", .since = 1, .import = ImportMaxPool<Layout::kNcx>, .inputs = 1},
    {.op = "NhwcMaxPool", .import = ImportMaxPool<Layout::kNxc>, .inputs = 1, .domain = kMicrosoft},
    {.op = "AveragePool", .since = 1, .import = ImportAveragePool, .inputs = 1},
    {.op = "LpPool", .since = 1, .import = ImportLpPool, .inputs = 1},
    {.op = "GlobalAveragePool", .since = 1, .import = ImportGlobalAveragePool, .inputs = 1},
    {.op = "GlobalMaxPool", .since = 1, .import = ImportGlobalMaxPool, .inputs = 1},
    {.op = "GlobalLpPool", .since = 1, .import = ImportGlobalLpPool, .inputs = 1},
    {.op = "MaxUnpool", .since = 9, .import = ImportMaxUnpool, .inputs = 2},
};

constexpr ExportRow kPoolExports[] = {
    {.op = "max_pool", .write = WriteMaxPool, .why_not = WhyNotMaxPool, .min_opset = MaxPoolOpset},
    {.op = "average_pool",
     .write = WriteAveragePool,
     .why_not = WhyNotAveragePool,
     .min_opset = AveragePoolOpset},
    {.op = "lp_pool", .write = WriteLpPool, .why_not = WhyNotLpPool, .min_opset = LpPoolOpset},
    {.op = "max_unpool",
     .write = WriteMaxUnpool,
     .why_not = WhyNotMaxUnpool,
     .min_opset = Since<9>},
};

}  // namespace

Family PoolFamily() {
  return {.imports = kPoolImports, .exports = kPoolExports};
}

}  // namespace nn::onnx
