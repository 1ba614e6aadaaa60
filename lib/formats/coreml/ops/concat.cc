#include <fmt/core.h>

#include "formats/coreml/family.h"
#include "ops/array/arrange/concat.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

// Along C, or along S.
Status ImportConcat(ImportContext& ctx) {
  return ctx.Emit("concat", ctx.inputs(),
                  ConcatAttrs{ctx.params().Bool("sequenceConcat") ? -5 : -3});
}

// Concatenates the inputs along a new axis.
Term Stack(const std::vector<Value*>& inputs, int64_t axis) {
  std::vector<Term> parts;
  for (Value* const v : inputs) parts.push_back(ExpandDims(v, {axis}));
  return Concat(std::move(parts), axis);
}

Status ImportConcatNd(ImportContext& ctx) {
  const std::vector<Value*>& inputs = ctx.inputs();
  int64_t axis = ctx.params().Int("axis");
  if (!ctx.params().Bool("interleave")) return ctx.Emit("concat", inputs, ConcatAttrs{axis});
  // Interleaves the elements: concatenates along a new axis and merges it.
  Dims dims = *inputs[0]->type().dims;
  const auto rank = static_cast<int64_t>(dims.size());
  if (axis < -rank || axis >= rank)
    return ModelError("axis {} is out of range for rank {}", axis, rank);
  if (axis < 0) axis += rank;
  Dim& joined = dims[static_cast<size_t>(axis)];
  joined = joined * Dim(static_cast<int64_t>(inputs.size()));
  return ctx.EmitTerm(Reshape(Stack(inputs, axis + 1), std::move(dims)));
}

Status ImportStack(ImportContext& ctx) {
  return ctx.EmitTerm(Stack(ctx.inputs(), ctx.params().Int("axis")));
}

// Without sizes, the parts are equal, or nearly so if they may be uneven.
Status EmitSplit(ImportContext& ctx, Value* x, int64_t axis, std::vector<int64_t> sizes,
                 bool uneven) {
  const size_t count = ctx.output_count();
  const int rank = x->type().rank();
  if (count == 0) return ModelError("it has no outputs");
  if (axis < -rank || axis >= rank)
    return ModelError("axis {} is out of range for rank {}", axis, rank);
  const Dim& size = x->type().dim(static_cast<int>(axis < 0 ? axis + rank : axis));
  const auto parts = static_cast<int64_t>(count);
  if (sizes.empty() && size.is_const() && size.value() % parts != 0 && !uneven)
    return ModelError("an axis of size {} cannot be split into {} equal parts", size.value(),
                      count);
  // The first parts have one more of the rest.
  for (int64_t i = 0; size.is_const() && sizes.size() < count; ++i)
    sizes.push_back(size.value() / parts + (i < size.value() % parts ? 1 : 0));
  NN_ASSIGN(Node* const node, ctx.AddNode("split", {x}, SplitAttrs{axis, std::move(sizes)}, count));
  ctx.SetOutputs(node->outputs());
  return {};
}

Status ImportSplit(ImportContext& ctx) {
  return EmitSplit(ctx, ctx.input(0), -3, {}, false);
}

Status ImportSplitNd(ImportContext& ctx) {
  const auto sizes = ctx.params().Ints("splitSizes");
  if (!sizes.empty() && sizes.size() != ctx.output_count())
    return ModelError("there are {} sizes for {} outputs", sizes.size(), ctx.output_count());
  return EmitSplit(ctx, ctx.input(0), ctx.params().Int("axis"), sizes, true);
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

// concatND needs two inputs or more.
Status WriteConcat(ExportContext& ctx, const Node& node) {
  if (node.inputs().size() == 1) {
    ctx.AddLayer(node, "copy");
    return {};
  }
  ctx.AddLayer(node, "concatND").Int("axis", node.attrs<ConcatAttrs>().axis);
  return {};
}

std::optional<std::vector<int64_t>> PartSizes(const Node& node) {
  const auto axis = NormalizeAxis(node.attrs<SplitAttrs>().axis, node.input(0)->type().rank());
  if (!axis) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const Value* v : node.outputs()) {
    const Dim& d = v->type().dim(*axis);
    if (!d.is_const()) return std::nullopt;
    sizes.push_back(d.value());
  }
  return sizes;
}

Status WriteSplit(ExportContext& ctx, const Node& node) {
  Writer p = ctx.AddLayer(node, "splitND", 1);
  p.Int("axis", node.attrs<SplitAttrs>().axis);
  p.Int("numSplits", static_cast<int64_t>(node.outputs().size()));
  p.Ints("splitSizes", *PartSizes(node));
  return {};
}

std::optional<std::string> WhyNotSplit(const Node& node) {
  const auto sizes = PartSizes(node);
  if (!sizes) return "its parts must have constant sizes";
  if (std::any_of(sizes->begin(), sizes->end(), [](int64_t n) { return n == 0; }))
    return "its parts cannot be empty";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kConcatImports[] = {
    {.layer = "concat", .import = ImportConcat, .inputs = "+"},
    {.layer = "concatND", .import = ImportConcatNd, .inputs = "+"},
    {.layer = "stack", .import = ImportStack, .inputs = "+"},
    {.layer = "split", .import = ImportSplit, .inputs = "a"},
    {.layer = "splitND", .import = ImportSplitNd, .inputs = "a"},
};

constexpr ExportRow kConcatExports[] = {
    {.op = "concat", .write = WriteConcat, .types = Types::kAny},
    {.op = "split", .write = WriteSplit, .why_not = WhyNotSplit, .types = Types::kAny},
};

}  // namespace

Family ConcatFamily() {
  return {.imports = kConcatImports, .exports = kConcatExports};
}

}  // namespace nn::coreml
