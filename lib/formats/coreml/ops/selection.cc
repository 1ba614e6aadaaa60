#include "ops/reduce/selection.h"

#include <fmt/core.h>

#include "formats/coreml/export/integer_range.h"
#include "formats/coreml/family.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

template <const char* kOp>
Status ImportArg(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const bool scalar = ctx.params().Bool("removeDim") && x->type().rank() == 1;
  ArgAttrs a;
  a.axis = ctx.params().Int("axis");
  a.keep_dims = !ctx.params().Bool("removeDim") || scalar;
  return ctx.Emit(kOp, {x}, a);
}

Status ImportTopK(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  Value* k = ctx.input(1);
  if (k == nullptr) {
    NN_ASSIGN(const int64_t count, p.Size("K"));
    k = ctx.Constant(Tensor::Ints({count}));
  }
  if (ctx.output_count() > 2)
    return ModelError("there are {} outputs; expected at most 2", ctx.output_count());
  NN_ASSIGN(Node* const node,
            ctx.AddNode("top_k", {x, k}, TopKAttrs{p.Int("axis"), !p.Bool("useBottomK")}, 2));
  ctx.SetOutputs(node->outputs());
  return {};
}

// The indices of a top_k over the whole axis.
Status ImportArgSort(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  const int64_t axis = p.Int("axis");
  if (axis < 0 || axis >= x->type().rank())
    return ModelError("axis {} is out of range for rank {}", axis, x->type().rank());
  const Dim& size = x->type().dim(static_cast<int>(axis));
  if (!size.is_const()) return UnsupportedError("argsort needs an axis of constant size");
  NN_ASSIGN(Node* const node, ctx.AddNode("top_k", {x, ctx.Constant(Tensor::Ints({size.value()}))},
                                          TopKAttrs{axis, p.Bool("descending")}, 2));
  ctx.SetOutput(0, node->output(1));
  return {};
}

constexpr char kArgMax[] = "arg_max", kArgMin[] = "arg_min";

}  // namespace

// ==== To Core ML =================================================================================

namespace {

std::optional<std::string> WhyNotOrdered(const Node& node) {
  const DType dtype = node.input(0)->dtype();
  if (dtype == DType::kF32 || IsExactArithmetic(node)) return std::nullopt;
  return WhyNotComputed(dtype);
}

template <const char* kKind>
Status WriteArg(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ArgAttrs>();
  Writer p = ctx.AddLayer(node, kKind);
  p.Int("axis", a.axis);
  p.Bool("removeDim", !a.keep_dims);
  return {};
}
std::optional<std::string> WhyNotArg(const Node& node) {
  if (node.attrs<ArgAttrs>().select_last_index) return "select_last_index must be 0";
  return WhyNotOrdered(node);
}

Status WriteTopK(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<TopKAttrs>();
  const Tensor* k = ConstantOf(node, 1);
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0))};
  if (k == nullptr) inputs.push_back(ctx.NameOf(node.input(1)));
  // The layer has both outputs, even if nothing uses the indices.
  std::vector<std::string> outputs = {ctx.NameOf(node.output())};
  outputs.push_back(node.outputs().size() > 1 ? ctx.NameOf(node.output(1))
                                              : ctx.NewName(outputs[0] + "_indices"));
  Writer p = ctx.AddLayer(node, "topK", inputs, outputs);
  p.Int("axis", a.axis);
  if (k != nullptr) p.Int("K", k->GetInt(0));
  p.Bool("useBottomK", !a.largest);
  return {};
}

constexpr char kArgMaxLayer[] = "argMax", kArgMinLayer[] = "argMin";

constexpr ImportRow kSelectionImports[] = {
    {.layer = "argMax", .import = ImportArg<kArgMax>, .inputs = "f"},
    {.layer = "argMin", .import = ImportArg<kArgMin>, .inputs = "f"},
    {.layer = "topK", .import = ImportTopK, .inputs = "f?i"},
    {.layer = "argSort", .import = ImportArgSort, .inputs = "f"},
};

constexpr ExportRow kSelectionExports[] = {
    {.op = "arg_max", .write = WriteArg<kArgMaxLayer>, .why_not = WhyNotArg, .types = Types::kAny},
    {.op = "arg_min", .write = WriteArg<kArgMinLayer>, .why_not = WhyNotArg, .types = Types::kAny},
    {.op = "top_k", .write = WriteTopK, .why_not = WhyNotOrdered, .types = Types::kAny},
};

}  // namespace

Family SelectionFamily() {
  return {.imports = kSelectionImports, .exports = kSelectionExports};
}

}  // namespace nn::coreml
