#include <algorithm>

#include "formats/nnapi/family.h"
#include "ops/nn/pool.h"

namespace nn::nnapi {

// ==== From NNAPI =================================================================================

namespace {

template <typename A>
Status EmitPool(ImportContext& ctx, std::string_view op, A a) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (x->type().ranked() && x->type().rank() != 4)
    return ModelError("input 0 must have rank 4; it is {}", x->type().ToString());
  NN_ASSIGN(WindowArguments w, ReadWindow(ctx, 1, ctx.input_count() == 7));
  NN_ASSIGN(const int64_t width, ctx.Int(w.next));
  NN_ASSIGN(const int64_t height, ctx.Int(w.next + 1));
  a.layout = Layout::kNxc;
  a.kernel = {height, width};
  a.strides = std::move(w.strides);
  a.pads = std::move(w.pads);
  a.padding = w.padding;
  return ctx.EmitFused(op, {x}, std::move(a), w.next + 2);
}

Status ImportAveragePool(ImportContext& ctx) {
  return EmitPool(ctx, "average_pool", AveragePoolAttrs{});
}

Status ImportMaxPool(ImportContext& ctx) {
  return EmitPool(ctx, "max_pool", MaxPoolAttrs{});
}

Status ImportL2Pool(ImportContext& ctx) {
  LpPoolAttrs a;
  a.p = 2.0f;
  a.average = true;
  return EmitPool(ctx, "lp_pool", std::move(a));
}

}  // namespace

// ==== To NNAPI ===================================================================================

namespace {

template <typename A>
Status WritePool(ExportContext& ctx, const Node& node, OperationType type) {
  const PoolAttrs& a = node.attrs<A>();
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0), ChannelsLastMap(node)));
  std::vector<uint32_t> inputs = {x};
  // Implicit padding rounds the output size by its own rule.
  const Padding padding = a.ceil_mode ? Padding::kExplicit : a.padding;
  NN_RETURN_IF_ERROR(
      AppendWindow(ctx, PoolWindows(a, *node.input(0)->type().dims), padding, inputs));
  for (const int64_t size : {a.kernel[1], a.kernel[0]}) {
    NN_ASSIGN(const uint32_t operand, ctx.Int(size));
    inputs.push_back(operand);
  }
  NN_ASSIGN(const uint32_t activation, ctx.Activation(node));
  inputs.push_back(activation);
  return ctx.AddOperation(node, type, std::move(inputs));
}

Status WriteAveragePool(ExportContext& ctx, const Node& node) {
  return WritePool<AveragePoolAttrs>(ctx, node, OperationType::kAveragePool2d);
}
Status WriteMaxPool(ExportContext& ctx, const Node& node) {
  return WritePool<MaxPoolAttrs>(ctx, node, OperationType::kMaxPool2d);
}
Status WriteL2Pool(ExportContext& ctx, const Node& node) {
  return WritePool<LpPoolAttrs>(ctx, node, OperationType::kL2Pool2d);
}

std::optional<std::string> WhyNotPool(const Node& node, const PoolAttrs& a) {
  if (auto reason = WhyNotWindow(node, a.dilations)) return reason;
  return WhyNotArithmetic(node);
}

bool Pads(const Node& node, const PoolAttrs& a) {
  const auto windows = PoolWindows(a, *node.input(0)->type().dims);
  return !windows || std::any_of(windows->begin(), windows->end(), [](const Window& w) {
    return !(w.pad_begin == 0) || !(w.pad_end == 0);
  });
}

std::optional<std::string> WhyNotAveragePool(const Node& node) {
  const auto& a = node.attrs<AveragePoolAttrs>();
  if (a.count_include_pad && node.input(0)->type().rank() == 4 && Pads(node, a))
    return "count_include_pad must be 0";
  return WhyNotPool(node, a);
}

std::optional<std::string> WhyNotMaxPool(const Node& node) {
  if (node.outputs().size() > 1) return "MAX_POOL_2D has no output for the indices";
  return WhyNotPool(node, node.attrs<MaxPoolAttrs>());
}

std::optional<std::string> WhyNotL2Pool(const Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  if (a.p != 2.0f) return fmt::format("L2_POOL_2D needs p = 2, not {}", a.p);
  if (!a.average) return "L2_POOL_2D computes the root of the mean of squares, not of their sum";
  return WhyNotPool(node, a);
}

}  // namespace

namespace {

constexpr ImportRow kPoolImports[] = {
    {.operation = OperationType::kAveragePool2d, .import = ImportAveragePool},
    {.operation = OperationType::kMaxPool2d, .import = ImportMaxPool},
    {.operation = OperationType::kL2Pool2d, .import = ImportL2Pool},
};

constexpr ExportRow kPoolExports[] = {
    {.op = "average_pool",
     .write = WriteAveragePool,
     .why_not = WhyNotAveragePool,
     .why_not_layout = WhyNotLayout,
     .fuses = true},
    {.op = "max_pool",
     .write = WriteMaxPool,
     .why_not = WhyNotMaxPool,
     .why_not_layout = WhyNotLayout,
     .fuses = true},
    {.op = "lp_pool",
     .write = WriteL2Pool,
     .why_not = WhyNotL2Pool,
     .why_not_layout = WhyNotLayout,
     .fuses = true},
};

}  // namespace

Family PoolFamily() {
  return {.imports = kPoolImports, .exports = kPoolExports};
}

}  // namespace nn::nnapi
