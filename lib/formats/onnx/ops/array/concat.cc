#include <algorithm>

#include "formats/onnx/family.h"
#include "ops/array/arrange/concat.h"
#include "ops/support/types.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

Status ImportConcat1(ImportContext& ctx) {
  return ctx.Emit("concat", ctx.inputs(), ConcatAttrs{ctx.Int("axis", 1)});
}

Status ImportConcat4(ImportContext& ctx) {
  NN_ASSIGN(const int64_t axis, ctx.RequiredInt("axis"));
  return ctx.Emit("concat", ctx.inputs(), ConcatAttrs{axis});
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
  Value* const x = ctx.input(0);
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
  Value* const x = ctx.input(0);
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

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

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
  pb::NodeProto* out = ctx.AddNode(node, "Split", {std::move(outputs), std::move(inputs)});
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

}  // namespace

namespace {

constexpr ImportRow kConcatImports[] = {
    {.op = "Concat", .since = 1, .import = ImportConcat1},
    {.op = "Concat", .since = 4, .import = ImportConcat4},
    {.op = "Split", .since = 1, .import = ImportSplit1, .inputs = 1},
    {.op = "Split", .since = 13, .import = ImportSplit13, .inputs = 1},
};

constexpr ExportRow kConcatExports[] = {
    {.op = "concat", .write = WriteConcat},
    {.op = "split", .write = WriteSplit, .why_not = WhyNotSplit, .min_opset = SplitOpset},
};

}  // namespace

Family ConcatFamily() {
  return {.imports = kConcatImports, .exports = kConcatExports};
}

}  // namespace nn::onnx
