#include "ops/reduce/selection.h"
#include "formats/onnx/family.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

template <bool largest>
Status ImportArg(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  ArgAttrs a;
  a.axis = ctx.Int("axis", 0);
  a.keep_dims = ctx.Int("keepdims", 1) == 1;
  a.select_last_index = ctx.Int("select_last_index", 0) != 0;
  return ctx.Emit(largest ? "arg_max" : "arg_min", {x}, a);
}

Status EmitTopK(ImportContext& ctx, Value* k) {
  Value* const x = ctx.input(0);
  TopKAttrs a;
  a.axis = ctx.Int("axis", -1);
  a.largest = ctx.Int("largest", 1) != 0;
  a.sorted = ctx.Int("sorted", 1) != 0;
  return ctx.Emit("top_k", {x, k}, a);
}

// Before version 10, k is an attribute.
Status ImportTopK1(ImportContext& ctx) {
  if (!ctx.HasAttr("k")) return ModelError("attribute k is missing");
  return EmitTopK(ctx, ctx.Constant(Tensor::Ints({ctx.Int("k", 0)})));
}

Status ImportTopK10(ImportContext& ctx) {
  Value* const k = ctx.input(1);
  return EmitTopK(ctx, k);
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

// The name for the operator's i64 indices, where the value has element type `type`; a Cast must
// follow.
std::string IndexName(ExportContext& ctx, const Value* v) {
  return v->dtype() == DType::kI64 ? ctx.NameOf(v) : ctx.NewName("indices");
}
void CastIndices(ExportContext& ctx, const Value* v, const std::string& from) {
  if (v->dtype() != DType::kI64) ctx.AddCast(from, ctx.NameOf(v), v->dtype());
}

template <const char* op>
Status WriteArg(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ArgAttrs>();
  const std::string y = IndexName(ctx, node.output());
  pb::NodeProto* out = ctx.AddNode(node, op, {{y}, {ctx.NameOf(node.input(0))}});
  SetInt(out, "axis", FrontAxis(a.axis, node.input(0)));
  SetInt(out, "keepdims", a.keep_dims ? 1 : 0);
  if (a.select_last_index) SetInt(out, "select_last_index", 1);
  CastIndices(ctx, node.output(), y);
  return {};
}

// k as an i64 tensor of shape [1].
std::string NameOfK(ExportContext& ctx, const Node& node) {
  const Value* k = node.input(1);
  if (k->is_constant()) return ctx.AddInts({k->constant().GetInt(0)}, "k");
  std::string name = ctx.NameOf(k);
  if (k->dtype() != DType::kI64) {
    const std::string wide = ctx.NewName("k");
    ctx.AddCast(name, wide, DType::kI64);
    name = wide;
  }
  if (k->type().ranked() && k->type().rank() == 1) return name;
  std::string flat = ctx.NewName("k");
  ctx.AddHelper("Reshape", {{flat}, {name, ctx.AddInts({1}, "shape")}});
  return flat;
}

Status WriteTopK(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<TopKAttrs>();
  const Value* indices = node.outputs().size() > 1 ? node.output(1) : nullptr;
  std::vector<std::string> outputs = {ctx.NameOf(node.output()), indices == nullptr
                                                                     ? ctx.NewName("indices")
                                                                     : IndexName(ctx, indices)};
  const std::string index_name = outputs[1];
  pb::NodeProto* out = ctx.AddNode(
      node, "TopK", {std::move(outputs), {ctx.NameOf(node.input(0)), NameOfK(ctx, node)}});
  SetInt(out, "axis", a.axis);
  if (ctx.opset() >= 11) {
    SetInt(out, "largest", a.largest ? 1 : 0);
    SetInt(out, "sorted", a.sorted ? 1 : 0);
  }
  if (indices != nullptr) CastIndices(ctx, indices, index_name);
  return {};
}

// ONNX compares the stored integers, as arg_max and arg_min do for quantized types.
std::optional<std::string> WhyNotArg(const Node& node) {
  if (node.input(0)->dtype() == DType::kBool) return "its operands are bool; ONNX needs numbers";
  return std::nullopt;
}

std::optional<std::string> WhyNotTopK(const Node& node) {
  if (node.input(0)->type().quantized())
    return "its operands are quantized; the ONNX operator needs real ones";
  return WhyNotArg(node);
}

int64_t ArgOpset(const Node& node) {
  const auto& a = node.attrs<ArgAttrs>();
  if (a.select_last_index) return 12;
  return a.axis < 0 && !node.input(0)->type().ranked() ? 11 : 1;
}
int64_t TopKOpset(const Node& node) {
  const auto& a = node.attrs<TopKAttrs>();
  return a.largest && a.sorted ? 10 : 11;
}

}  // namespace

namespace {

constexpr ImportRow kSelectionImports[] = {
    {.op = "ArgMax", .since = 1, .import = ImportArg<true>, .inputs = 1},
    {.op = "ArgMin", .since = 1, .import = ImportArg<false>, .inputs = 1},
    {.op = "TopK", .since = 1, .import = ImportTopK1, .inputs = 1},
    {.op = "TopK", .since = 10, .import = ImportTopK10, .inputs = 2},
};

constexpr char kArgMax[] = "ArgMax", kArgMin[] = "ArgMin";

constexpr ExportRow kSelectionExports[] = {
    {.op = "arg_max", .write = WriteArg<kArgMax>, .why_not = WhyNotArg, .min_opset = ArgOpset},
    {.op = "arg_min", .write = WriteArg<kArgMin>, .why_not = WhyNotArg, .min_opset = ArgOpset},
    {.op = "top_k", .write = WriteTopK, .why_not = WhyNotTopK, .min_opset = TopKOpset},
};

}  // namespace

Family SelectionFamily() {
  return {.imports = kSelectionImports, .exports = kSelectionExports};
}

}  // namespace nn::onnx
