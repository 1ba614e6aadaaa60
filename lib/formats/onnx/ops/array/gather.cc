#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/text/text.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/export/unit_axis.h"
#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/generate.h"
#include "passes/facts/ranges.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

Status ImportGather(ImportContext& ctx) {
  return ctx.Emit("gather", ctx.Inputs(2), GatherAttrs{ctx.Int("axis", 0), 0});
}

// `reduction` came with operator set 16, its values min and max with 18.
Result<Reduction> ReadReduction(const ImportContext& ctx) {
  const std::string text = ctx.String("reduction", "none");
  const auto reduction = ParseEnum<Reduction>(text);
  if (!reduction) return ModelError("unknown reduction {}", Quote(text));
  return *reduction;
}

Status ImportScatterElements(ImportContext& ctx) {
  ScatterElementsAttrs a{ctx.Int("axis", 0)};
  NN_ASSIGN(a.reduction, ReadReduction(ctx));
  return ctx.Emit("scatter_elements", ctx.Inputs(3), a);
}

Status ImportScatterNd(ImportContext& ctx) {
  NN_ASSIGN(const Reduction reduction, ReadReduction(ctx));
  return ctx.Emit("scatter_nd", ctx.Inputs(3), ScatterNdAttrs{reduction});
}

// In operator set 9 a negative index selects nothing.
Status ImportOneHot(ImportContext& ctx) {
  if (const Type& values = ctx.input(2)->type(); values.ranked() && values.rank() != 1)
    return ModelError("values must be a vector, not {}", values.ToString());
  if (const Tensor* indices = ctx.Constant(0); indices != nullptr && ctx.opset() < 11)
    for (int64_t i = 0; i < indices->elements(); ++i)
      if (indices->GetDouble(i) < 0)
        return ModelError("negative index {} needs operator set 11", indices->GetDouble(i));
  return ctx.Emit("one_hot", ctx.Inputs(3), OneHotAttrs{ctx.Int("axis", -1), ctx.opset() >= 11});
}

Status ImportEyeLike(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  EyeLikeAttrs a{ctx.Int("k", 0)};
  if (ctx.HasAttr("dtype")) {
    a.dtype = DTypeOf(static_cast<int>(ctx.Int("dtype", 0)));
    if (a.dtype == DType::kUnknown)
      return ModelError("dtype {} is not a known element type", ctx.Int("dtype", 0));
  }
  return ctx.Emit("eye_like", {x}, a);
}

Status ImportTrilu(ImportContext& ctx) {
  const size_t count = ctx.input(1) == nullptr ? 1 : 2;
  return ctx.Emit("trilu", ctx.Inputs(count), TriluAttrs{ctx.Int("upper", 1) != 0});
}

Status ImportCompress(ImportContext& ctx) {
  return ctx.Emit("compress", ctx.Inputs(2),
                  CompressAttrs{!ctx.HasAttr("axis"), ctx.Int("axis", 0)});
}

Status ImportUnique(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  UniqueAttrs a;
  a.flatten = !ctx.HasAttr("axis");
  a.axis = ctx.Int("axis", 0);
  a.sorted = ctx.Int("sorted", 1) != 0;
  return ctx.Emit("unique", {x}, a);
}

// Of com.microsoft: the elements of a vector in order of their first occurrence, the index of each
// one's result, and the counts.
Status ImportContribUnique(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (x->type().ranked() && x->type().rank() != 1)
    return ModelError("x is {}; it must be a vector", x->type().ToString());
  NN_ASSIGN(Node* const node,
            ctx.AddNode("unique", {x}, UniqueAttrs{.flatten = true, .sorted = false}, 4));
  ctx.SetOutput(0, node->output(0));
  ctx.SetOutput(1, node->output(2));
  ctx.SetOutput(2, node->output(3));
  return {};
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

// ---- Gather, Scatter ----------------------------------------------------------------------------

// Indices must be i32 or i64.
std::string Indices(ExportContext& ctx, const Value* indices) {
  const DType t = indices->dtype();
  return t == DType::kI32 ? ctx.NameOf(indices) : ctx.NameAs(indices, DType::kI64);
}

Status WriteGather(ExportContext& ctx, const Node& node) {
  pb::NodeProto* out = ctx.AddNode(
      node, "Gather",
      {{ctx.NameOf(node.output())}, {ctx.NameOf(node.input(0)), Indices(ctx, node.input(1))}});
  SetInt(out, "axis", node.attrs<GatherAttrs>().axis);
  return {};
}

std::optional<std::string> WhyNotGather(const Node& node) {
  if (node.attrs<GatherAttrs>().batch_dims != 0) return "batch_dims must be 0";
  return std::nullopt;
}

// GatherND needs i64 indices.
Status WriteGatherNd(ExportContext& ctx, const Node& node) {
  pb::NodeProto* out =
      ctx.AddNode(node, "GatherND",
                  {{ctx.NameOf(node.output())},
                   {ctx.NameOf(node.input(0)), ctx.NameAs(node.input(1), DType::kI64)}});
  if (const int64_t batch = node.attrs<GatherNdAttrs>().batch_dims; batch != 0)
    SetInt(out, "batch_dims", batch);
  return {};
}

int64_t GatherNdOpset(const Node& node) {
  return node.attrs<GatherNdAttrs>().batch_dims != 0 ? 12 : 11;
}

void SetReduction(pb::NodeProto* node, Reduction reduction) {
  if (reduction != Reduction::kNone) SetString(node, "reduction", EnumName(reduction));
}

int64_t ReductionOpset(Reduction reduction, int64_t without) {
  switch (reduction) {
    case Reduction::kNone:
      return without;
    case Reduction::kAdd:
    case Reduction::kMul:
      return 16;
    default:
      return 18;
  }
}

// Before operator set 11 it is named Scatter.
Status WriteScatterElements(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ScatterElementsAttrs>();
  pb::NodeProto* out = ctx.AddNode(
      node, ctx.opset() < 11 ? "Scatter" : "ScatterElements",
      {{ctx.NameOf(node.output())},
       {ctx.NameOf(node.input(0)), Indices(ctx, node.input(1)), ctx.NameOf(node.input(2))}});
  SetInt(out, "axis", a.axis);
  SetReduction(out, a.reduction);
  return {};
}

int64_t ScatterElementsOpset(const Node& node) {
  return ReductionOpset(node.attrs<ScatterElementsAttrs>().reduction, 9);
}

Status WriteScatterNd(ExportContext& ctx, const Node& node) {
  pb::NodeProto* out =
      ctx.AddNode(node, "ScatterND",
                  {{ctx.NameOf(node.output())},
                   {ctx.NameOf(node.input(0)), ctx.NameAs(node.input(1), DType::kI64),
                    ctx.NameOf(node.input(2))}});
  SetReduction(out, node.attrs<ScatterNdAttrs>().reduction);
  return {};
}

int64_t ScatterNdOpset(const Node& node) {
  return ReductionOpset(node.attrs<ScatterNdAttrs>().reduction, 11);
}

// ---- OneHot -------------------------------------------------------------------------------------

// Negative indices of OneHot select nothing in operator sets 9 and 10, and count from the end
// later.
bool HasOneHot(const Node& node, int64_t opset) {
  return NeverNegative(node.input(0)) || node.attrs<OneHotAttrs>().wrap == (opset >= 11);
}

// Compares with the range [0, depth) and selects by the result.
Status WriteOneHotByEqual(ExportContext& ctx, const Node& node) {
  const Type& y = node.output()->type();
  const int64_t at = FrontAxis(node.attrs<OneHotAttrs>().axis, node.output());
  const auto depth = static_cast<size_t>(y.dim(static_cast<int>(at)).value());
  std::vector<int64_t> numbers(depth);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<int64_t> shape(y.dims->size(), 1);
  shape[static_cast<size_t>(at)] = static_cast<int64_t>(depth);
  NN_ASSIGN(const Tensor positions, Tensor::Ints(numbers).Reshaped(shape));
  const std::string indices = ctx.NameAs(node.input(0), DType::kI64);
  const std::string wide = ctx.NewName("indices");
  AddUnitAxis(ctx, "Unsqueeze", wide, indices, at);
  const std::string hot =
      ctx.AddValue("Equal", {wide, ctx.AddTensor(positions, "positions")}, "hot");
  const std::string values = ctx.NameOf(node.input(2));
  const std::string off =
      ctx.AddValue("Gather", {values, ctx.AddTensor(Tensor::Scalar<int64_t>(0), "index")}, "off");
  const std::string on =
      ctx.AddValue("Gather", {values, ctx.AddTensor(Tensor::Scalar<int64_t>(1), "index")}, "on");
  ctx.AddNode(node, "Where", {{ctx.NameOf(node.output())}, {hot, on, off}});
  return {};
}

// Limit of ONNX: depth of a written one-hot tensor where negative indices select nothing. The range
// [0, depth) is written as a constant.
constexpr int64_t kMaxPositions = int64_t{1} << 24;

bool CanCompare(const Node& node) {
  const Type& y = node.output()->type();
  if (!y.ranked() || !IsInteger(node.input(0)->dtype())) return false;
  const int64_t axis = FrontAxis(node.attrs<OneHotAttrs>().axis, node.output());
  const Dim& depth = y.dim(static_cast<int>(axis));
  return depth.is_const() && depth.value() <= kMaxPositions;
}

// OneHot needs indices with an axis.
Status WriteOneHotOfScalar(ExportContext& ctx, const Node& node) {
  const std::string list =
      ctx.AddValue("Reshape", {ctx.NameOf(node.input(0)), ctx.AddInts({1}, "shape")}, "indices");
  const std::string hot =
      ctx.AddValue("OneHot", {list, ctx.NameOf(node.input(1)), ctx.NameOf(node.input(2))}, "hot");
  ctx.AddNode(node, "Reshape", {{ctx.NameOf(node.output())}, {hot, ctx.AddInts({-1}, "shape")}});
  return {};
}

Status WriteOneHot(ExportContext& ctx, const Node& node) {
  if (!HasOneHot(node, ctx.opset())) return WriteOneHotByEqual(ctx, node);
  if (node.input(0)->type().ranked() && node.input(0)->type().rank() == 0)
    return WriteOneHotOfScalar(ctx, node);
  SetInt(ctx.AddNode(node, "OneHot"), "axis", node.attrs<OneHotAttrs>().axis);
  return {};
}

std::optional<std::string> WhyNotOneHot(const Node& node) {
  if (!node.attrs<OneHotAttrs>().wrap && !NeverNegative(node.input(0)) && !CanCompare(node))
    return fmt::format("negative indices select nothing; this needs a constant depth of at most {}",
                       kMaxPositions);
  return std::nullopt;
}

int64_t OneHotOpset(const Node& node) {
  return node.attrs<OneHotAttrs>().wrap && !NeverNegative(node.input(0)) ? 11 : 9;
}

// ---- Others -------------------------------------------------------------------------------------

Status WriteEyeLike(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<EyeLikeAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "EyeLike");
  if (a.dtype != DType::kUnknown) SetInt(out, "dtype", DataTypeOf(a.dtype));
  if (a.k != 0) SetInt(out, "k", a.k);
  return {};
}

Status WriteTrilu(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<TriluAttrs>();
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0)),
                                     ctx.NameAs(node.input(1), DType::kI64)};
  if (a.k != 0 && node.input(1) == nullptr) inputs[1] = ctx.AddTensor(Tensor::Scalar(a.k), "k");
  pb::NodeProto* out = ctx.AddNode(node, "Trilu", {{ctx.NameOf(node.output())}, std::move(inputs)});
  SetInt(out, "upper", a.upper ? 1 : 0);
  return {};
}

Status WriteCompress(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<CompressAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "Compress");
  if (!a.flatten) SetInt(out, "axis", a.axis);
  return {};
}

Status WriteUnique(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<UniqueAttrs>();
  std::vector<std::string> outputs = {ctx.NameOf(node.output(0))};
  std::vector<std::pair<std::string, std::string>> casts;
  for (size_t i = 1; i < node.outputs().size(); ++i) {
    const std::string name = ctx.NameOf(node.output(i));
    outputs.push_back(a.index_type == DType::kI64 ? name : ctx.NewName(name));
    if (outputs.back() != name) casts.emplace_back(outputs.back(), name);
  }
  pb::NodeProto* out =
      ctx.AddNode(node, "Unique", {std::move(outputs), {ctx.NameOf(node.input(0))}});
  if (!a.flatten) SetInt(out, "axis", a.axis);
  SetInt(out, "sorted", a.sorted ? 1 : 0);
  for (const auto& [from, to] : casts) ctx.AddCast(from, to, a.index_type);
  return {};
}

// ReverseSequence needs batch and time on axes 0 and 1, in either order, and i64 lengths.
Status WriteReverseSequence(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ReverseSequenceAttrs>();
  pb::NodeProto* out =
      ctx.AddNode(node, "ReverseSequence",
                  {{ctx.NameOf(node.output())},
                   {ctx.NameOf(node.input(0)), ctx.NameAs(node.input(1), DType::kI64)}});
  SetInt(out, "batch_axis", a.batch_axis);
  SetInt(out, "time_axis", a.time_axis);
  return {};
}

std::optional<std::string> WhyNotReverseSequence(const Node& node) {
  const auto& a = node.attrs<ReverseSequenceAttrs>();
  if (std::min(a.batch_axis, a.time_axis) == 0 && std::max(a.batch_axis, a.time_axis) == 1)
    return std::nullopt;
  return "batch and time must be axes 0 and 1";
}

}  // namespace

namespace {

constexpr ImportRow kGatherImports[] = {
    {.op = "Gather", .since = 1, .import = ImportGather, .inputs = 2},
    {.op = "Scatter", .since = 9, .import = ImportScatterElements, .inputs = 3},
    {.op = "ScatterElements", .since = 11, .import = ImportScatterElements, .inputs = 3},
    {.op = "ScatterND", .since = 11, .import = ImportScatterNd, .inputs = 3},
    {.op = "OneHot", .since = 9, .import = ImportOneHot, .inputs = 3},
    {.op = "EyeLike", .since = 9, .import = ImportEyeLike, .inputs = 1},
    {.op = "Trilu", .since = 14, .import = ImportTrilu, .inputs = 1},
    {.op = "Trilu", .import = ImportTrilu, .inputs = 1, .domain = kMicrosoft},
    {.op = "Compress", .since = 9, .import = ImportCompress, .inputs = 2},
    {.op = "Unique", .since = 11, .import = ImportUnique, .inputs = 1},
    {.op = "Unique", .import = ImportContribUnique, .inputs = 1, .domain = kMicrosoft},
};

constexpr ExportRow kGatherExports[] = {
    {.op = "gather", .write = WriteGather, .why_not = WhyNotGather},
    {.op = "gather_nd", .write = WriteGatherNd, .min_opset = GatherNdOpset},
    {.op = "scatter_elements", .write = WriteScatterElements, .min_opset = ScatterElementsOpset},
    {.op = "scatter_nd", .write = WriteScatterNd, .min_opset = ScatterNdOpset},
    {.op = "one_hot", .write = WriteOneHot, .why_not = WhyNotOneHot, .min_opset = OneHotOpset},
    {.op = "eye_like", .write = WriteEyeLike, .min_opset = Since<9>},
    {.op = "trilu", .write = WriteTrilu, .min_opset = Since<14>},
    {.op = "compress", .write = WriteCompress, .min_opset = Since<9>},
    {.op = "unique", .write = WriteUnique, .min_opset = Since<11>},
    {.op = "reverse_sequence",
     .write = WriteReverseSequence,
     .why_not = WhyNotReverseSequence,
     .min_opset = Since<10>},
};

}  // namespace

Family GatherFamily() {
  return {.imports = kGatherImports, .exports = kGatherExports};
}

}  // namespace nn::onnx
