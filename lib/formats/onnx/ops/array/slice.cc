#include <algorithm>
#include <limits>

#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "ops/array/arrange/slice.h"
#include "ops/support/types.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

Status ImportSlice1(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.Emit("slice", {x},
                  SliceAttrs{ctx.Ints("axes"), ctx.Ints("starts"), ctx.Ints("ends"), {}});
}

Status ImportSlice10(ImportContext& ctx) {
  return ctx.Emit("slice", ctx.inputs(), SliceAttrs{});
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

// Before operator set 10, operands are attributes and there are no steps.
Status WriteSlice(ExportContext& ctx, const Node& node) {
  SliceAttrs a = node.attrs<SliceAttrs>();
  for (int64_t& axis : a.axes) axis = FrontAxis(axis, node.input(0));
  if (ctx.opset() < 10) {
    pb::NodeProto* out = ctx.AddNode(node, "Slice");
    if (!a.axes.empty()) SetInts(out, "axes", a.axes);
    SetInts(out, "starts", a.starts);
    SetInts(out, "ends", a.ends);
    return {};
  }
  if (node.input(1) != nullptr) {
    // Starts, ends, axes and steps have one type.
    std::vector<std::string> operands = {ctx.NameOf(node.input(0))};
    for (size_t i = 1; i < node.inputs().size(); ++i)
      operands.push_back(ctx.NameAs(node.input(i), DType::kI64));
    ctx.AddNode(node, "Slice", {{ctx.NameOf(node.output())}, std::move(operands)});
    return {};
  }
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0)), ctx.AddInts(a.starts, "starts"),
                                     ctx.AddInts(a.ends, "ends"), "", ""};
  if (!a.axes.empty()) inputs[3] = ctx.AddInts(a.axes, "axes");
  if (!a.steps.empty()) inputs[4] = ctx.AddInts(a.steps, "steps");
  ctx.AddNode(node, "Slice", {{ctx.NameOf(node.output())}, std::move(inputs)});
  return {};
}

int64_t SliceOpset(const Node& node) {
  const auto& steps = node.attrs<SliceAttrs>().steps;
  const bool plain = std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s == 1; });
  return node.input(1) == nullptr && plain ? 1 : 10;
}

// A slice with steps of -1.
Status WriteReverse(ExportContext& ctx, const Node& node) {
  std::vector<int64_t> axes = node.attrs<ReverseAttrs>().axes;
  for (int64_t& axis : axes) axis = FrontAxis(axis, node.input(0));
  const std::vector<int64_t> last(axes.size(), -1);
  const std::vector<int64_t> before_first(axes.size(), std::numeric_limits<int64_t>::min());
  ctx.AddNode(
      node, "Slice",
      {{ctx.NameOf(node.output())},
       {ctx.NameOf(node.input(0)), ctx.AddInts(last, "starts"), ctx.AddInts(before_first, "ends"),
        ctx.AddInts(axes, "axes"), ctx.AddInts(last, "steps")}});
  return {};
}

}  // namespace

namespace {

constexpr ImportRow kSliceImports[] = {
    {.op = "Slice", .since = 1, .import = ImportSlice1, .inputs = 1},
    {.op = "Slice", .since = 10, .import = ImportSlice10, .inputs = 3},
};

constexpr ExportRow kSliceExports[] = {
    {.op = "slice", .write = WriteSlice, .min_opset = SliceOpset},
    {.op = "reverse", .write = WriteReverse, .min_opset = Since<10>},
};

}  // namespace

Family SliceFamily() {
  return {.imports = kSliceImports, .exports = kSliceExports};
}

}  // namespace nn::onnx
