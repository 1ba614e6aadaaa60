#include "ops/array/arrange/gather.h"

#include <fmt/core.h>

#include "formats/coreml/export/integer_range.h"
#include "formats/coreml/family.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/generate.h"
#include "ops/array/shape.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

// ---- Gather -------------------------------------------------------------------------------------

Status ImportGather(ImportContext& ctx) {
  return ctx.EmitTerm(Gather(ctx.input(0), ctx.input(1), ctx.params().Int("axis")));
}
Status ImportGatherNd(ImportContext& ctx) {
  return ctx.Emit("gather_nd", ctx.inputs(), GatherNdAttrs{});
}
Status ImportGatherAlongAxis(ImportContext& ctx) {
  return ctx.Emit("gather_elements", ctx.inputs(), GatherElementsAttrs{ctx.params().Int("axis")});
}

// Windows of an axis are gathered by a table of their indices.
Status ImportSlidingWindows(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  NN_ASSIGN(const int axis, NormalizeAxis(p.Int("axis"), x->type().rank()));
  NN_ASSIGN(const int64_t window, p.Size("windowSize"));
  NN_ASSIGN(const int64_t step, p.Size("step"));
  const Dim& size = x->type().dim(axis);
  if (!size.is_const())
    return UnsupportedError("windows of an axis of dynamic size are unsupported");
  if (window < 1 || step < 1 || window > size.value())
    return ModelError("windows of {} elements, {} apart, do not fit an axis of size {}", window,
                      step, size.value());
  const int64_t count = (size.value() - window) / step + 1;
  NN_ASSIGN(TensorBuilder indices, TensorBuilder::Create(DType::kI64, {count, window}));
  const auto to = indices.As<int64_t>();
  for (size_t i = 0; i < to.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    to[i] = at / window * step + at % window;
  }
  return ctx.EmitTerm(Gather(x, indices.Finish(), axis));
}

// ---- Scatter ------------------------------------------------------------------------------------

struct Updates {
  Term values;
  Reduction reduction;
};

// The updates and the reduction; subtraction adds the negative, division multiplies by the
// reciprocal.
Result<Updates> UpdatesOf(ImportContext& ctx) {
  const Term values = ctx.input(2);
  const std::string_view mode = ctx.params().Enum("mode");
  if (mode == "SCATTER_UPDATE") return Updates{values, Reduction::kNone};
  if (mode == "SCATTER_ADD") return Updates{values, Reduction::kAdd};
  if (mode == "SCATTER_MUL") return Updates{values, Reduction::kMul};
  if (mode == "SCATTER_MAX") return Updates{values, Reduction::kMax};
  if (mode == "SCATTER_MIN") return Updates{values, Reduction::kMin};
  if (mode == "SCATTER_DIV")  // rounds twice
    return Updates{Apply("reciprocal", {values}), Reduction::kMul};
  if (mode == "SCATTER_SUB") return Updates{-values, Reduction::kAdd};
  return ModelError("an unknown scatter mode");
}

// The value with `count` axes, from `from` on, before the others.
Result<Value*> MoveToFront(ImportContext& ctx, Value* v, int64_t from, int64_t count) {
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < count; ++i) perm.push_back(from + i);
  for (int64_t i = 0; i < v->type().rank(); ++i)
    if (i < from || i >= from + count) perm.push_back(i);
  return Rearrange(ctx.graph(), v, AxisMap::Permutation(perm));
}

// Scatters whole slices along an axis. Along the first axis, one coordinate addresses a slice.
Status ImportScatter(ImportContext& ctx) {
  NN_ASSIGN(const Updates u, UpdatesOf(ctx));
  NN_ASSIGN(Value * values, ctx.Build(u.values));
  Value *x = ctx.input(0), *const indices = ctx.input(1);
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.params().Int("axis"), x->type().rank()));
  const int64_t count = indices->type().rank();
  if (values->type().rank() != x->type().rank() - 1 + count)
    return ModelError("the updates are {} for {} indices in {}", values->type().ToString(),
                      indices->type().ToString(), x->type().ToString());
  NN_ASSIGN(x, MoveToFront(ctx, x, axis, 1));
  NN_ASSIGN(values, MoveToFront(ctx, values, axis, count));
  NN_ASSIGN(Value * y, ctx.Add("scatter_nd", {x, ExpandDims(indices, {-1}), values},
                               ScatterNdAttrs{u.reduction}));
  NN_ASSIGN(y, MoveToFront(ctx, y, 1, axis));
  return ctx.EmitTerm(y);
}

Status ImportScatterNd(ImportContext& ctx) {
  NN_ASSIGN(const Updates u, UpdatesOf(ctx));
  return ctx.Emit("scatter_nd", {ctx.input(0), ctx.input(1), u.values},
                  ScatterNdAttrs{u.reduction});
}

Status ImportScatterAlongAxis(ImportContext& ctx) {
  NN_ASSIGN(const Updates u, UpdatesOf(ctx));
  return ctx.Emit("scatter_elements", {ctx.input(0), ctx.input(1), u.values},
                  ScatterElementsAttrs{ctx.params().Int("axis"), u.reduction});
}

// ---- Places and masks ---------------------------------------------------------------------------

// One row per nonzero element.
Status ImportWhereNonZero(ImportContext& ctx) {
  return ctx.EmitTerm(Transpose(Apply("non_zero", {ctx.input(0)}), {1, 0}));
}

Status ImportMatrixBandPart(ImportContext& ctx) {
  Term y = ctx.input(0);
  if (const int64_t lower = ctx.params().Int("numLower"); lower >= 0)
    y = Apply("trilu", {y}, TriluAttrs{true, -lower});
  if (const int64_t upper = ctx.params().Int("numUpper"); upper >= 0)
    y = Apply("trilu", {y}, TriluAttrs{false, upper});
  return ctx.EmitTerm(y);
}

template <bool upper>
Status ImportTriangular(ImportContext& ctx) {
  return ctx.Emit("trilu", ctx.inputs(), TriluAttrs{upper, ctx.params().Int("k")});
}

Status ImportOneHot(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Term depth = ctx.input(1);
  if (depth.is_absent()) {
    NN_ASSIGN(const int64_t size, p.Size("oneHotVectorSize"));
    depth = Vector({size});
  }
  const Term values = Tensor::Of<float>({2}, {p.Float("offValue"), p.Float("onValue")});
  return ctx.Emit("one_hot", {ctx.input(0), depth, values}, OneHotAttrs{p.Int("axis"), false});
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

Status WriteGather(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "gather").Int("axis", node.attrs<GatherAttrs>().axis);
  return {};
}
std::optional<std::string> WhyNotGather(const Node& node) {
  if (node.attrs<GatherAttrs>().batch_dims != 0) return "batch_dims must be 0";
  if (node.input(1)->type().rank() == 0) return "the indices cannot be a scalar";
  return std::nullopt;
}

Status WriteGatherNd(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "gatherND");
  return {};
}
std::optional<std::string> WhyNotGatherNd(const Node& node) {
  if (node.attrs<GatherNdAttrs>().batch_dims != 0) return "batch_dims must be 0";
  return std::nullopt;
}

Status WriteGatherElements(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "gatherAlongAxis").Int("axis", node.attrs<GatherElementsAttrs>().axis);
  return {};
}

std::string_view ModeOf(Reduction r) {
  switch (r) {
    case Reduction::kNone:
      return "SCATTER_UPDATE";
    case Reduction::kAdd:
      return "SCATTER_ADD";
    case Reduction::kMul:
      return "SCATTER_MUL";
    case Reduction::kMin:
      return "SCATTER_MIN";
    case Reduction::kMax:
      return "SCATTER_MAX";
  }
  return {};
}

std::optional<std::string> WhyNotScatter(const Node& node) {
  const DType dtype = node.output()->dtype();
  if (dtype == DType::kF32 || IsExactArithmetic(node)) return std::nullopt;
  return WhyNotComputed(dtype);
}

std::optional<std::string> WhyNotScatterNd(const Node& node) {
  // Also of constants, which are written as vectors elsewhere.
  if (node.input(2)->type().ranked() && node.input(2)->type().rank() == 0)
    return "Core ML has no scalars, such as its update";
  return WhyNotScatter(node);
}

Status WriteScatterElements(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ScatterElementsAttrs>();
  Writer p = ctx.AddLayer(node, "scatterAlongAxis");
  p.Int("axis", a.axis);
  p.Enum("mode", ModeOf(a.reduction));
  return {};
}
Status WriteScatterNd(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "scatterND").Enum("mode", ModeOf(node.attrs<ScatterNdAttrs>().reduction));
  return {};
}

// ---- Masks --------------------------------------------------------------------------------------

Status WriteTrilu(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<TriluAttrs>();
  ctx.AddLayer(node, a.upper ? "upperTriangular" : "lowerTriangular").Int("k", a.k);
  return {};
}
std::optional<std::string> WhyNotTrilu(const Node& node) {
  if (node.input(1) != nullptr) return "its diagonal must be constant";
  return std::nullopt;
}

// One row per nonzero element, transposed.
Status WriteNonZero(ExportContext& ctx, const Node& node) {
  const std::string rows = ctx.NewName(ctx.NameOf(node.output()) + "_rows");
  ctx.AddHelper("whereNonZero", {ctx.NameOf(node.input(0))}, {rows});
  ctx.AddLayer(node, "transpose", {rows}, {ctx.NameOf(node.output())}).Ints("axes", {1, 0});
  return {};
}

Status WriteOneHot(ExportContext& ctx, const Node& node) {
  const Tensor& values = *ConstantOf(node, 2);
  Writer p = ctx.AddLayer(node, "oneHot", 1);
  p.Int("oneHotVectorSize", ConstantOf(node, 1)->GetInt(0));
  p.Int("axis", node.attrs<OneHotAttrs>().axis);
  p.Float("offValue", static_cast<float>(values.GetDouble(0)));
  p.Float("onValue", static_cast<float>(values.GetDouble(1)));
  return {};
}
std::optional<std::string> WhyNotOneHot(const Node& node) {
  if (ConstantOf(node, 1) == nullptr || ConstantOf(node, 2) == nullptr)
    return "its depth and values must be constant";
  if (node.output()->dtype() != DType::kF32) return "its values must be f32";
  if (node.attrs<OneHotAttrs>().wrap) return "oneHot does not count negative indices from the end";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kGatherImports[] = {
    {.layer = "slidingWindows", .import = ImportSlidingWindows, .inputs = "a"},
    {.layer = "gather", .import = ImportGather, .inputs = "ai"},
    {.layer = "gatherND", .import = ImportGatherNd, .inputs = "ai"},
    {.layer = "gatherAlongAxis", .import = ImportGatherAlongAxis, .inputs = "ai"},
    {.layer = "scatter", .import = ImportScatter, .inputs = "fif"},
    {.layer = "scatterND", .import = ImportScatterNd, .inputs = "fif"},
    {.layer = "scatterAlongAxis", .import = ImportScatterAlongAxis, .inputs = "fif"},
    {.layer = "whereNonZero", .import = ImportWhereNonZero, .inputs = "a"},
    {.layer = "matrixBandPart", .import = ImportMatrixBandPart, .inputs = "f"},
    {.layer = "lowerTriangular", .import = ImportTriangular<false>, .inputs = "f"},
    {.layer = "upperTriangular", .import = ImportTriangular<true>, .inputs = "f"},
    {.layer = "oneHot", .import = ImportOneHot, .inputs = "i?i"},
};

constexpr ExportRow kGatherExports[] = {
    {.op = "gather", .write = WriteGather, .why_not = WhyNotGather, .types = Types::kAny},
    {.op = "gather_nd", .write = WriteGatherNd, .why_not = WhyNotGatherNd, .types = Types::kAny},
    {.op = "gather_elements", .write = WriteGatherElements, .types = Types::kAny},
    {.op = "scatter_elements",
     .write = WriteScatterElements,
     .why_not = WhyNotScatter,
     .types = Types::kAny},
    {.op = "scatter_nd", .write = WriteScatterNd, .why_not = WhyNotScatterNd, .types = Types::kAny},
    {.op = "trilu", .write = WriteTrilu, .why_not = WhyNotTrilu, .types = Types::kAny},
    {.op = "non_zero", .write = WriteNonZero, .types = Types::kAny},
    {.op = "one_hot", .write = WriteOneHot, .why_not = WhyNotOneHot, .types = Types::kAny},
};

}  // namespace

Family GatherFamily() {
  return {.imports = kGatherImports, .exports = kGatherExports};
}

}  // namespace nn::coreml
