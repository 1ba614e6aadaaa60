#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "formats/onnx/export.h"
#include "formats/onnx/tensor.h"
#include "ops/gather.h"
#include "ops/generate.h"
#include "ops/scatter.h"
#include "ops/select.h"

namespace nn::onnx {
namespace {

// ---- Gather, Scatter ----------------------------------------------------------------------------

// Indices are of 32 or 64 bits.
std::string Indices(ExportContext& ctx, const Value* indices) {
  const DType t = indices->dtype();
  return t == DType::kI32 ? ctx.NameOf(indices) : ctx.NameAs(indices, DType::kI64);
}

Status WriteGather(ExportContext& ctx, const Node& node) {
  pb::NodeProto* out =
      ctx.AddNode(node, "Gather", {ctx.NameOf(node.input(0)), Indices(ctx, node.input(1))},
                  {ctx.NameOf(node.output())});
  SetInt(out, "axis", node.attrs<GatherAttrs>().axis);
  return {};
}

std::optional<std::string> WhyNotGather(const Node& node) {
  if (node.attrs<GatherAttrs>().batch_dims != 0) return "it has batch axes";
  return std::nullopt;
}

// GatherND takes indices of 64 bits only.
Status WriteGatherNd(ExportContext& ctx, const Node& node) {
  pb::NodeProto* out = ctx.AddNode(
      node, "GatherND", {ctx.NameOf(node.input(0)), ctx.NameAs(node.input(1), DType::kI64)},
      {ctx.NameOf(node.output())});
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
      {ctx.NameOf(node.input(0)), Indices(ctx, node.input(1)), ctx.NameOf(node.input(2))},
      {ctx.NameOf(node.output())});
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
                  {ctx.NameOf(node.input(0)), ctx.NameAs(node.input(1), DType::kI64),
                   ctx.NameOf(node.input(2))},
                  {ctx.NameOf(node.output())});
  SetReduction(out, node.attrs<ScatterNdAttrs>().reduction);
  return {};
}

int64_t ScatterNdOpset(const Node& node) {
  return ReductionOpset(node.attrs<ScatterNdAttrs>().reduction, 11);
}

// ---- OneHot -------------------------------------------------------------------------------------

bool NeverNegative(const Value* indices) {
  if (!indices->is_constant()) return false;
  const auto numbers = indices->constant().ToInts();
  return std::all_of(numbers.begin(), numbers.end(), [](int64_t i) { return i >= 0; });
}

// What OneHot does with negative indices: they select nothing in operator sets 9 and 10, and count
// from the end in later ones.
bool HasOneHot(const Node& node, int64_t opset) {
  return NeverNegative(node.input(0)) || node.attrs<OneHotAttrs>().wrap == (opset >= 11);
}

// Equal to the numbers below depth, and a choice by that.
Status WriteOneHotByEqual(ExportContext& ctx, const Node& node) {
  const Type& y = node.output()->type();
  const int64_t axis = node.attrs<OneHotAttrs>().axis;
  const int64_t at = axis < 0 ? axis + y.rank() : axis;
  const auto depth = static_cast<size_t>(y.dim(static_cast<int>(at)).value());
  std::vector<int64_t> numbers(depth);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<int64_t> shape(y.dims->size(), 1);
  shape[static_cast<size_t>(at)] = static_cast<int64_t>(depth);
  NN_ASSIGN(const Tensor positions, Tensor::Ints(numbers).Reshaped(shape));
  const std::string indices = ctx.NameAs(node.input(0), DType::kI64);
  const std::string wide = ctx.NewName("indices");
  if (ctx.opset() < 13)
    SetInts(ctx.AddHelper("Unsqueeze", {indices}, {wide}), "axes", {at});
  else
    ctx.AddHelper("Unsqueeze", {indices, ctx.AddTensor(Tensor::Ints({at}), "axes")}, {wide});
  const std::string hot =
      ctx.AddValue("Equal", {wide, ctx.AddTensor(positions, "positions")}, "hot");
  const std::string values = ctx.NameOf(node.input(2));
  const std::string off =
      ctx.AddValue("Gather", {values, ctx.AddTensor(Tensor::Scalar<int64_t>(0), "index")}, "off");
  const std::string on =
      ctx.AddValue("Gather", {values, ctx.AddTensor(Tensor::Scalar<int64_t>(1), "index")}, "on");
  ctx.AddNode(node, "Where", {hot, on, off}, {ctx.NameOf(node.output())});
  return {};
}

// The numbers below depth are written as a list.
constexpr int64_t kMostPositions = int64_t{1} << 24;

bool CanCompare(const Node& node) {
  const Type& y = node.output()->type();
  const int64_t axis = node.attrs<OneHotAttrs>().axis;
  if (!y.ranked() || !IsInteger(node.input(0)->dtype())) return false;
  const Dim& depth = y.dim(static_cast<int>(axis < 0 ? axis + y.rank() : axis));
  return depth.is_const() && depth.value() <= kMostPositions;
}

Status WriteOneHot(ExportContext& ctx, const Node& node) {
  if (!HasOneHot(node, ctx.opset())) return WriteOneHotByEqual(ctx, node);
  SetInt(ctx.AddNode(node, "OneHot"), "axis", node.attrs<OneHotAttrs>().axis);
  return {};
}

std::optional<std::string> WhyNotOneHot(const Node& node) {
  if (!node.attrs<OneHotAttrs>().wrap && !NeverNegative(node.input(0)) && !CanCompare(node))
    return fmt::format("negative indices select nothing, and the depth is not known or above {}",
                       kMostPositions);
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
  if (a.k != 0) inputs[1] = ctx.AddTensor(Tensor::Scalar(a.k), "k");
  pb::NodeProto* out = ctx.AddNode(node, "Trilu", std::move(inputs), {ctx.NameOf(node.output())});
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
  pb::NodeProto* out = ctx.AddNode(node, "Unique", {ctx.NameOf(node.input(0))}, std::move(outputs));
  if (!a.flatten) SetInt(out, "axis", a.axis);
  SetInt(out, "sorted", a.sorted ? 1 : 0);
  for (const auto& [from, to] : casts) ctx.AddCast(from, to, a.index_type);
  return {};
}

// The axes of ReverseSequence are the first two, in either order; lengths are of 64 bits.
Status WriteReverseSequence(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ReverseSequenceAttrs>();
  pb::NodeProto* out = ctx.AddNode(
      node, "ReverseSequence", {ctx.NameOf(node.input(0)), ctx.NameAs(node.input(1), DType::kI64)},
      {ctx.NameOf(node.output())});
  SetInt(out, "batch_axis", a.batch_axis);
  SetInt(out, "time_axis", a.time_axis);
  return {};
}

std::optional<std::string> WhyNotReverseSequence(const Node& node) {
  const auto& a = node.attrs<ReverseSequenceAttrs>();
  if (std::min(a.batch_axis, a.time_axis) == 0 && std::max(a.batch_axis, a.time_axis) == 1)
    return std::nullopt;
  return "batch and time are not on the first two axes";
}

}  // namespace

void AddGatherExports(std::vector<ExportRow>& rows) {
  rows.push_back({"gather", WriteGather, WhyNotGather});
  rows.push_back({"gather_nd", WriteGatherNd, nullptr, GatherNdOpset});
  rows.push_back({"scatter_elements", WriteScatterElements, nullptr, ScatterElementsOpset});
  rows.push_back({"scatter_nd", WriteScatterNd, nullptr, ScatterNdOpset});
  rows.push_back({"one_hot", WriteOneHot, WhyNotOneHot, OneHotOpset});
  rows.push_back({"eye_like", WriteEyeLike, nullptr, Since<9>});
  rows.push_back({"trilu", WriteTrilu, nullptr, Since<14>});
  rows.push_back({"compress", WriteCompress, nullptr, Since<9>});
  rows.push_back({"unique", WriteUnique, nullptr, Since<11>});
  rows.push_back({"reverse_sequence", WriteReverseSequence, WhyNotReverseSequence, Since<10>});
}

}  // namespace nn::onnx
