#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "base/text.h"
#include "formats/onnx/family.h"
#include "formats/onnx/tensor.h"
#include "ops/array/concat.h"
#include "ops/array/pad.h"
#include "ops/array/slice.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

std::vector<Value*> AllInputs(const ImportContext& ctx) {
  std::vector<Value*> inputs;
  for (size_t i = 0; i < ctx.input_count(); ++i) inputs.push_back(ctx.input(i));
  return inputs;
}

// ---- Concat, Split ------------------------------------------------------------------------------

Status ImportConcat1(ImportContext& ctx) {
  return ctx.Emit("concat", AllInputs(ctx), ConcatAttrs{ctx.Int("axis", 1)});
}

Status ImportConcat4(ImportContext& ctx) {
  NN_ASSIGN(const int64_t axis, ctx.RequiredInt("axis"));
  return ctx.Emit("concat", AllInputs(ctx), ConcatAttrs{axis});
}

// Equal parts; before operator set 18 they must divide the axis evenly.
Status CheckEvenSplit(const ImportContext& ctx, const Type& x, int64_t axis) {
  if (!x.ranked()) return {};
  NN_ASSIGN(const int at, NormalizeAxis(axis, x.rank()));
  const Dim& size = x.dim(at);
  const auto parts = static_cast<int64_t>(ctx.output_count());
  if (size.is_const() && parts > 0 && size.value() % parts != 0)
    return ModelError("an axis of size {} cannot be split into {} equal parts", size.value(),
                      parts);
  return {};
}

// Sizes as an attribute; Split-1 may have them as an input instead.
Status ImportSplit1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  SplitAttrs a{ctx.Int("axis", 0), ctx.Ints("split")};
  if (ctx.input(1) != nullptr && a.sizes.empty()) {
    if (ctx.Constant(1) == nullptr)
      return UnsupportedError("the sizes of the parts must be constant");
    a.sizes = ctx.Constant(1)->ToInts();
  }
  if (a.sizes.empty()) NN_RETURN_IF_ERROR(CheckEvenSplit(ctx, x->type(), a.axis));
  return ctx.Emit("split", {x}, std::move(a));
}

Status ImportSplit13(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const SplitAttrs a{ctx.Int("axis", 0), {}};
  if (Value* sizes = ctx.input(1)) return ctx.Emit("split", {x, sizes}, a);
  if (ctx.opset() < 18) {
    NN_RETURN_IF_ERROR(CheckEvenSplit(ctx, x->type(), a.axis));
  } else {
    NN_ASSIGN(const int64_t parts, ctx.RequiredInt("num_outputs"));
    if (parts != static_cast<int64_t>(ctx.output_count()))
      return ModelError("num_outputs is {}, but the node has {} outputs", parts,
                        ctx.output_count());
  }
  return ctx.Emit("split", {x}, a);
}

// ---- Slice --------------------------------------------------------------------------------------

Status ImportSlice1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("slice", {x},
                  SliceAttrs{ctx.Ints("axes"), ctx.Ints("starts"), ctx.Ints("ends"), {}});
}

Status ImportSlice10(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.Required(1));
  NN_RETURN_IF_ERROR(ctx.Required(2));
  return ctx.Emit("slice", AllInputs(ctx), SliceAttrs{});
}

// ---- Pad ----------------------------------------------------------------------------------------

Result<PadMode> ReadMode(const ImportContext& ctx) {
  const std::string text = ctx.String("mode", "constant");
  const auto mode = ParseEnum<PadMode>(text);
  if (!mode || *mode == PadMode::kSymmetric) return ModelError("unknown mode {}", Quote(text));
  return *mode;
}

// Pads and value as attributes; operator set 1 names the pads paddings.
Status ImportPad1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  PadAttrs a;
  NN_ASSIGN(a.mode, ReadMode(ctx));
  a.pads = ctx.Ints(ctx.opset() < 2 ? "paddings" : "pads");
  std::vector<Value*> inputs = {x};
  const float value = ctx.Float("value", 0);
  if (value != 0 && a.mode == PadMode::kConstant) {
    if (!IsFloat(x->dtype()))
      return UnsupportedError("attribute value of Pad needs a floating-point input, not {}",
                              x->type().ToString());
    NN_ASSIGN(inputs.emplace_back(), ctx.Number(x->dtype(), static_cast<double>(value)));
  }
  return ctx.Emit("pad", std::move(inputs), std::move(a));
}

Status ImportPad11(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const pads, ctx.Required(1));
  PadAttrs a;
  NN_ASSIGN(a.mode, ReadMode(ctx));
  std::vector<Value*> inputs = {x, ctx.input(2), pads};
  if (Value* axes = ctx.input(3)) inputs.push_back(axes);
  return ctx.Emit("pad", std::move(inputs), std::move(a));
}

// Crops or pads each axis to a size; an odd element goes to the end.
Status ImportCenterCropPad(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const auto dims = x->type().const_dims();
  const auto elements = ctx.Elements(1);
  const auto shape = elements ? ConstDims(*elements) : std::nullopt;
  if (!dims || !shape) return UnsupportedError("CenterCropPad needs known shapes");
  std::vector<int64_t> axes = ctx.Ints("axes");
  if (!ctx.HasAttr("axes"))
    for (size_t d = 0; d < dims->size(); ++d) axes.push_back(static_cast<int64_t>(d));
  if (axes.size() != shape->size())
    return ModelError("shape has {} entries for {} axes", shape->size(), axes.size());
  NN_ASSIGN(const auto normal, NormalizeAxes(axes, x->type().rank()));
  PadAttrs a;
  a.pads.assign(2 * dims->size(), 0);
  for (size_t i = 0; i < normal.size(); ++i) {
    const auto at = static_cast<size_t>(normal[i]);
    const int64_t size = (*shape)[i];
    const int64_t have = (*dims)[at];
    if (size < 0) return ModelError("shape has a negative entry {}", size);
    const int64_t begin = size < have ? -((have - size) / 2) : (size - have) / 2;
    a.pads[at] = begin;
    a.pads[dims->size() + at] = size - have - begin;
  }
  return ctx.Emit("pad", {x}, std::move(a));
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

// ---- Concat, Split ------------------------------------------------------------------------------

// Axes are written non-negative: negative ones need operator set 11.
int64_t FrontAxis(int64_t axis, const Value* value) {
  return axis < 0 && value->type().ranked() ? axis + value->type().rank() : axis;
}

Status WriteConcat(ExportContext& ctx, const Node& node) {
  SetInt(ctx.AddNode(node, "Concat"), "axis",
         FrontAxis(node.attrs<ConcatAttrs>().axis, node.output()));
  return {};
}

// The sizes of the parts; empty if none were stated and all are known to be equal.
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

// Sizes are an attribute before operator set 13, then an input; from 18 on equal parts need
// num_outputs.
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
  if (node.input(1) == nullptr && !node.input(0)->type().ranked()) return "its rank must be known";
  return std::nullopt;
}

int64_t SplitOpset(const Node& node) {
  return node.input(1) == nullptr && ConstDims(PartSizes(node)) ? 2 : 13;
}

// ---- Slice, and operators written as one --------------------------------------------------------

std::string AddInts(ExportContext& ctx, const std::vector<int64_t>& values, std::string_view hint) {
  return ctx.AddTensor(Tensor::Ints(values), hint);
}

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

// Whether the sizes of all padded axes are known, so that padding can be a Gather.
bool PaddedAxesKnown(const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  const Type& x = node.input(0)->type();
  if (node.input(2) != nullptr || !x.ranked()) return false;
  for (size_t d = 0; d < x.dims->size(); ++d)
    if (IsPadded(a, d) && !(*x.dims)[d].is_const()) return false;
  return true;
}

// One Gather per axis, for modes that Pad lacks.
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
  } else if (node.input(0)->type().quantized() && a.mode == PadMode::kConstant) {
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
    return "symmetric padding needs axes of known size";
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
  // An f64 value may not fit the float attribute.
  const bool exact =
      value == nullptr || !fixed || dtype != DType::kF64 ||
      static_cast<float>(value->constant().GetDouble(0)) == value->constant().GetDouble(0);
  return simple && fixed && exact ? 2 : 11;
}

}  // namespace

namespace {

constexpr ImportRow kSliceImports[] = {
    {.op = "Concat", .since = 1, .import = ImportConcat1},
    {.op = "Concat", .since = 4, .import = ImportConcat4},
    {.op = "Split", .since = 1, .import = ImportSplit1},
    {.op = "Split", .since = 13, .import = ImportSplit13},
    {.op = "Slice", .since = 1, .import = ImportSlice1},
    {.op = "Slice", .since = 10, .import = ImportSlice10},
    {.op = "Pad", .since = 1, .import = ImportPad1},
    {.op = "Pad", .since = 11, .import = ImportPad11},
    {.op = "CenterCropPad", .since = 18, .import = ImportCenterCropPad},
};

constexpr ExportRow kSliceExports[] = {
    {.op = "concat", .write = WriteConcat},
    {.op = "split", .write = WriteSplit, .why_not = WhyNotSplit, .min_opset = SplitOpset},
    {.op = "slice", .write = WriteSlice, .min_opset = SliceOpset},
    {.op = "reverse", .write = WriteReverse, .min_opset = Since<10>},
    {.op = "pad", .write = WritePad, .why_not = WhyNotPad, .min_opset = PadOpset},
};

}  // namespace

Family SliceFamily() {
  return {.imports = kSliceImports, .exports = kSliceExports};
}

}  // namespace nn::onnx
