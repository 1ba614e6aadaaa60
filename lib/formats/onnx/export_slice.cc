#include <algorithm>
#include <limits>

#include "formats/onnx/export.h"
#include "ops/concat.h"
#include "ops/movement.h"
#include "ops/pad.h"
#include "ops/slice.h"

namespace nn::onnx {
namespace {

// ---- Concat, Split ------------------------------------------------------------------------------

// Axes count from the front: negative ones came with operator set 11.
int64_t FrontAxis(int64_t axis, const Value* value) {
  return axis < 0 && value->type().ranked() ? axis + value->type().rank() : axis;
}

Status WriteConcat(ExportContext& ctx, const Node& node) {
  SetInt(ctx.AddNode(node, "Concat"), "axis",
         FrontAxis(node.attrs<ConcatAttrs>().axis, node.output()));
  return {};
}

// The sizes of the parts; empty if all are known to be equal and none were stated.
Dims PartSizes(const Node& node) {
  const auto& a = node.attrs<SplitAttrs>();
  const bool stated = !a.sizes.empty();
  if (stated && std::find(a.sizes.begin(), a.sizes.end(), -1) == a.sizes.end())
    return ToDims(a.sizes);
  Dims sizes;
  for (const Value* part : node.outputs())
    sizes.push_back(part->type().dim(static_cast<int>(FrontAxis(a.axis, part))));
  const bool equal =
      std::all_of(sizes.begin(), sizes.end(), [&](const Dim& s) { return s == sizes.front(); });
  return equal && !stated ? Dims() : sizes;
}

// Sizes are an attribute before operator set 13, then an input; from 18 on equal parts need a
// number.
Status WriteSplit(ExportContext& ctx, const Node& node) {
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0))};
  Dims sizes;
  if (node.input(1) != nullptr) {
    inputs.push_back(ctx.NameAs(node.input(1), DType::kI64));
  } else if (sizes = PartSizes(node); !sizes.empty() && ctx.opset() >= 13) {
    NN_ASSIGN(std::string name, ctx.AddDims(sizes, "sizes"));
    inputs.push_back(std::move(name));
  }
  std::vector<std::string> outputs;
  for (const Value* v : node.outputs()) outputs.push_back(ctx.NameOf(v));
  const bool counted = inputs.size() == 1 && ctx.opset() >= 18;
  pb::NodeProto* out = ctx.AddNode(node, "Split", std::move(inputs), std::move(outputs));
  SetInt(out, "axis", FrontAxis(node.attrs<SplitAttrs>().axis, node.input(0)));
  if (!sizes.empty() && ctx.opset() < 13) SetInts(out, "split", *ConstDims(sizes));
  if (counted) SetInt(out, "num_outputs", static_cast<int64_t>(node.outputs().size()));
  return {};
}

std::optional<std::string> WhyNotSplit(const Node& node) {
  if (node.input(1) == nullptr && !node.input(0)->type().ranked()) return "its rank is not known";
  return std::nullopt;
}

int64_t SplitOpset(const Node& node) {
  return node.input(1) == nullptr && ConstDims(PartSizes(node)) ? 2 : 13;
}

// ---- Slice, and what is one ---------------------------------------------------------------------

std::string AddInts(ExportContext& ctx, const std::vector<int64_t>& values, std::string_view hint) {
  return ctx.AddTensor(Tensor::Ints(values), hint);
}

// Operands are attributes before operator set 10, which has no steps.
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
    // Starts, ends, axes and steps are of one type.
    std::vector<std::string> operands = {ctx.NameOf(node.input(0))};
    for (size_t i = 1; i < node.inputs().size(); ++i)
      operands.push_back(ctx.NameAs(node.input(i), DType::kI64));
    ctx.AddNode(node, "Slice", std::move(operands), {ctx.NameOf(node.output())});
    return {};
  }
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0)), AddInts(ctx, a.starts, "starts"),
                                     AddInts(ctx, a.ends, "ends"), "", ""};
  if (!a.axes.empty()) inputs[3] = AddInts(ctx, a.axes, "axes");
  if (!a.steps.empty()) inputs[4] = AddInts(ctx, a.steps, "steps");
  ctx.AddNode(node, "Slice", std::move(inputs), {ctx.NameOf(node.output())});
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
      {ctx.NameOf(node.input(0)), AddInts(ctx, last, "starts"), AddInts(ctx, before_first, "ends"),
       AddInts(ctx, axes, "axes"), AddInts(ctx, last, "steps")},
      {ctx.NameOf(node.output())});
  return {};
}

// ---- Pad ----------------------------------------------------------------------------------------

bool IsPadded(const PadAttrs& a, size_t axis) {
  return a.pads[axis] != 0 || a.pads[a.pads.size() / 2 + axis] != 0;
}

// Whether the sizes of all padded axes are known, so that padding can be a choice by indices.
bool PaddedAxesKnown(const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  const Type& x = node.input(0)->type();
  if (node.input(2) != nullptr || !x.ranked()) return false;
  for (size_t d = 0; d < x.dims->size(); ++d)
    if (IsPadded(a, d) && !(*x.dims)[d].is_const()) return false;
  return true;
}

// One Gather an axis, for modes that Pad does not have.
void WritePadByIndices(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  const Dims& dims = *node.input(0)->type().dims;
  std::vector<size_t> axes;
  for (size_t d = 0; d < dims.size(); ++d)
    if (IsPadded(a, d)) axes.push_back(d);
  if (axes.empty()) {
    ctx.AddNode(node, "Identity", {ctx.NameOf(node.input(0))}, {ctx.NameOf(node.output())});
    return;
  }
  std::string x = ctx.NameOf(node.input(0));
  for (const size_t d : axes) {
    const int64_t begin = a.pads[d];
    const int64_t end = a.pads[dims.size() + d];
    const int64_t size = dims[d].value();
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < begin + size + end; ++i)
      indices.push_back(*PaddedIndex(i, begin, end, size, a.mode));
    const bool last = d == axes.back();
    const std::string y = last ? ctx.NameOf(node.output()) : ctx.NewName("padded");
    pb::NodeProto* out = ctx.AddHelper("Gather", {x, AddInts(ctx, indices, "indices")}, {y});
    if (last && !node.name().empty()) out->set_name(node.name());
    SetInt(out, "axis", static_cast<int64_t>(d));
    x = y;
  }
}

bool HasMode(PadMode mode, int64_t opset) {
  return mode != PadMode::kSymmetric && (mode != PadMode::kWrap || opset >= 19);
}

// Pads and value are attributes before operator set 11.
Status WritePad(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  if (!HasMode(a.mode, ctx.opset())) {
    WritePadByIndices(ctx, node);
    return {};
  }
  const Value* value = a.mode == PadMode::kConstant ? node.input(1) : nullptr;
  const std::string x = ctx.NameOf(node.input(0));
  if (ctx.opset() < 11) {
    pb::NodeProto* out = ctx.AddNode(node, "Pad", {x}, {ctx.NameOf(node.output())});
    SetString(out, "mode", EnumName(a.mode));
    SetInts(out, "pads", a.pads);
    if (value != nullptr)
      SetFloat(out, "value", static_cast<float>(value->constant().GetDouble(0)));
    return {};
  }
  std::vector<std::string> inputs = {x, "", "", ctx.NameOf(node.input(3))};
  inputs[1] = node.input(2) != nullptr ? ctx.NameAs(node.input(2), DType::kI64)
                                       : AddInts(ctx, a.pads, "pads");
  if (value != nullptr) {
    inputs[2] = ctx.NameOf(value);
  } else if (node.input(0)->type().quantised() && a.mode == PadMode::kConstant) {
    NN_ASSIGN(const Tensor zero, ZeroElement(node.input(0)->type()));
    inputs[2] = ctx.AddTensor(zero, "zero");
  }
  pb::NodeProto* out = ctx.AddNode(node, "Pad", std::move(inputs), {ctx.NameOf(node.output())});
  SetString(out, "mode", EnumName(a.mode));
  return {};
}

std::optional<std::string> WhyNotPad(const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  if (a.mode == PadMode::kSymmetric && !PaddedAxesKnown(node))
    return "symmetric padding of axes of unknown size";
  return std::nullopt;
}

int64_t PadOpset(const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  if (!HasMode(a.mode, 1)) return PaddedAxesKnown(node) ? 1 : 19;
  if (node.input(3) != nullptr) return 18;
  const DType dtype = node.input(0)->dtype();
  const bool simple = dtype == DType::kF16 || dtype == DType::kF32 || dtype == DType::kF64;
  const Value* value = a.mode == PadMode::kConstant ? node.input(1) : nullptr;
  const bool fixed = node.input(2) == nullptr && (value == nullptr || value->is_constant());
  // A value of double precision may not fit the attribute.
  const bool exact =
      value == nullptr || !fixed || dtype != DType::kF64 ||
      static_cast<float>(value->constant().GetDouble(0)) == value->constant().GetDouble(0);
  return simple && fixed && exact ? 2 : 11;
}

}  // namespace

void AddSliceExports(std::vector<ExportRow>& rows) {
  rows.push_back({"concat", WriteConcat});
  rows.push_back({"split", WriteSplit, WhyNotSplit, SplitOpset});
  rows.push_back({"slice", WriteSlice, nullptr, SliceOpset});
  rows.push_back({"reverse", WriteReverse, nullptr, Since<10>});
  rows.push_back({"pad", WritePad, WhyNotPad, PadOpset});
}

}  // namespace nn::onnx
