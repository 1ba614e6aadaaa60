#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/shape_of.h"
#include "ops/support/movement.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

Result<PadMode> ReadMode(const ImportContext& ctx) {
  const std::string text = ctx.String("mode", "constant");
  const auto mode = ParseEnum<PadMode>(text);
  if (!mode || *mode == PadMode::kSymmetric) return ModelError("unknown mode {}", Quote(text));
  return *mode;
}

// The integer 0 for quantized values, which the operator would pad with their zero point; absent
// for others.
Term DefaultValue(const Value* x) {
  return x->type().quantized() ? Term(0) : Term();
}

// Pads and value as attributes; operator set 1 names the pads paddings.
Status ImportPad1(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  PadAttrs a;
  NN_ASSIGN(a.mode, ReadMode(ctx));
  a.pads = ctx.Ints(ctx.opset() < 2 ? "paddings" : "pads");
  std::vector<Term> inputs = {x};
  const float value = ctx.Float("value", 0);
  if (value != 0 && a.mode == PadMode::kConstant) {
    if (!IsFloat(x->dtype()))
      return UnsupportedError("attribute value of Pad needs a floating-point input, not {}",
                              x->type().ToString());
    inputs.emplace_back(value);
  }
  return ctx.Emit("pad", std::move(inputs), std::move(a));
}

Status ImportPad11(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const pads = ctx.input(1);
  PadAttrs a;
  NN_ASSIGN(a.mode, ReadMode(ctx));
  std::vector<Term> inputs = {x, ctx.input(2), pads};
  if (inputs[1].is_absent() && a.mode == PadMode::kConstant) inputs[1] = DefaultValue(x);
  if (Value* axes = ctx.input(3)) inputs.push_back(axes);
  return ctx.Emit("pad", std::move(inputs), std::move(a));
}

// The pads of axes of known sizes: half of the difference, rounded toward zero, before the
// elements, the rest after them.
Result<PadAttrs> CenterPads(const std::vector<int64_t>& dims, const std::vector<int64_t>& axes,
                            const std::vector<int64_t>& sizes) {
  PadAttrs a;
  a.pads.assign(2 * dims.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = static_cast<size_t>(axes[i]);
    if (sizes[i] < 0) return ModelError("shape has a negative entry {}", sizes[i]);
    const int64_t added = sizes[i] - dims[at];
    a.pads[at] = added / 2;
    a.pads[dims.size() + at] = added - added / 2;
  }
  return a;
}

// Crops or pads each axis to a size; an odd element goes to the end.
Status ImportCenterCropPad(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const shape = ctx.input(1);
  if (!x->type().ranked()) return UnsupportedError("CenterCropPad needs an input of known rank");
  std::vector<int64_t> axes = ctx.Ints("axes");
  if (!ctx.HasAttr("axes")) {
    axes.resize(x->type().dims->size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  NN_ASSIGN(const auto normal, NormalizeAxes(axes, x->type().rank()));
  axes.assign(normal.begin(), normal.end());
  const Dim entries = static_cast<int64_t>(axes.size());
  const Type& list = shape->type();
  if (list.ranked() && list.rank() != 1)
    return ModelError("shape is {}; must have one axis", list.ToString());
  if (list.ranked() && list.rank() == 1 && list.dim(0).is_const() && !(list.dim(0) == entries))
    return ModelError("shape has {} entries for {} axes", list.dim(0).ToString(), axes.size());
  const Term value = DefaultValue(x);
  const auto elements = ctx.Elements(1);
  const auto sizes = elements ? ConstDims(*elements) : std::nullopt;
  const auto dims = x->type().const_dims();
  if (dims && sizes && sizes->size() == axes.size()) {
    NN_ASSIGN(PadAttrs a, CenterPads(*dims, axes, *sizes));
    return ctx.Emit("pad", {x, value}, std::move(a));
  }
  const Term at = Vector(axes);
  const Term sizes_of_x = Gather(Apply("shape_of", {x}, ShapeOfAttrs{}), at, 0);
  const Term added = Cast(shape, DType::kI64) - sizes_of_x;
  const Term before = added / 2;
  return ctx.Emit("pad", {x, value, Concat({before, added - before}, 0), at}, PadAttrs{});
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

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
    ctx.AddNode(node, "Identity", {{ctx.NameOf(node.output())}, {ctx.NameOf(node.input(0))}});
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
    pb::NodeProto* out = ctx.AddHelper("Gather", {{y}, {x, ctx.AddInts(indices, "indices")}});
    if (last && !node.name().empty()) out->set_name(std::string(node.name()));
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
    pb::NodeProto* out = ctx.AddNode(node, "Pad", {{ctx.NameOf(node.output())}, {x}});
    SetString(out, "mode", EnumName(a.mode));
    SetInts(out, "pads", a.pads);
    if (value != nullptr)
      SetFloat(out, "value", static_cast<float>(value->constant().GetDouble(0)));
    return {};
  }
  std::vector<std::string> inputs = {x, "", "", ctx.NameOf(node.input(3))};
  inputs[1] = node.input(2) != nullptr ? ctx.NameAs(node.input(2), DType::kI64)
                                       : ctx.AddInts(a.pads, "pads");
  if (value != nullptr) {
    inputs[2] = ctx.NameOf(value);
  } else if (node.input(0)->type().quantized() && a.mode == PadMode::kConstant) {
    NN_ASSIGN(const Tensor zero, ZeroElement(node.input(0)->type()));
    inputs[2] = ctx.AddTensor(zero, "zero");
  }
  pb::NodeProto* out = ctx.AddNode(node, "Pad", {{ctx.NameOf(node.output())}, std::move(inputs)});
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

constexpr ImportRow kPadImports[] = {
    {.op = "Pad", .since = 1, .import = ImportPad1, .inputs = 1},
    {.op = "Pad", .since = 11, .import = ImportPad11, .inputs = 2},
    {.op = "CenterCropPad", .since = 18, .import = ImportCenterCropPad, .inputs = 2},
};

constexpr ExportRow kPadExports[] = {
    {.op = "pad", .write = WritePad, .why_not = WhyNotPad, .min_opset = PadOpset},
};

}  // namespace

Family PadFamily() {
  return {.imports = kPadImports, .exports = kPadExports};
}

}  // namespace nn::onnx
