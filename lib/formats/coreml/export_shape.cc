#include <algorithm>

#include "formats/coreml/export.h"
#include "ops/shape.h"
#include "ops/shape_of.h"
#include "ops/tile.h"
#include "ops/types.h"

namespace nn::coreml {
namespace {

// ---- Reshape ------------------------------------------------------------------------------------

// The result's sizes with one -1 at most; nullopt if more of them vary.
std::optional<std::vector<int64_t>> StaticTarget(const Dims& dims) {
  std::vector<int64_t> target;
  bool rest = false;
  for (const Dim& d : dims) {
    if (!d.is_const() && rest) return std::nullopt;
    rest |= !d.is_const();
    target.push_back(d.is_const() ? d.value() : -1);
  }
  return target;
}

// The same for a shape of the input's rank, with a 0 where the size is the input's.
std::optional<std::vector<int64_t>> PreservingTarget(const Dims& in, const Dims& out) {
  if (in.size() != out.size()) return std::nullopt;
  std::vector<int64_t> target;
  bool rest = false;
  for (size_t i = 0; i < out.size(); ++i) {
    const bool kept = in[i] == out[i];
    if (!kept && !out[i].is_const() && rest) return std::nullopt;
    rest |= !kept && !out[i].is_const();
    target.push_back(kept ? 0 : out[i].is_const() ? out[i].value() : -1);
  }
  return target;
}

// The axis at which the input's axes fall into the two of the result.
std::optional<int64_t> FlattenAxis(const Dims& in, const Dims& out) {
  if (out.size() != 2) return std::nullopt;
  for (size_t axis = 0; axis <= in.size(); ++axis) {
    const auto at = in.begin() + static_cast<ptrdiff_t>(axis);
    if (Product(Dims(in.begin(), at)) == out[0] && Product(Dims(at, in.end())) == out[1])
      return static_cast<int64_t>(axis);
  }
  return std::nullopt;
}

Status WriteReshape(ExportContext& ctx, const Node& node) {
  if (node.input(1) != nullptr) {
    ctx.AddLayer(node, "reshapeDynamic");
    return {};
  }
  const Dims& in = *node.input(0)->type().dims;
  const Dims& out = *node.output()->type().dims;
  if (const auto target = StaticTarget(out))
    ctx.AddLayer(node, "reshapeStatic").Ints("targetShape", *target);
  else if (const auto kept = PreservingTarget(in, out))
    ctx.AddRankedLayer(node, "rankPreservingReshape").Ints("targetShape", *kept);
  else if (const auto axis = FlattenAxis(in, out))
    ctx.AddLayer(node, "flattenTo2D").Int("axis", *axis);
  else
    return InternalError("a shape that was not legalised");
  return {};
}

std::optional<std::string> WhyNotReshape(const Node& node) {
  const Dims& in = *node.input(0)->type().dims;
  const Dims& out = *node.output()->type().dims;
  if (node.input(1) != nullptr) {
    if (node.attrs<ReshapeAttrs>().zero_copies) return "a shape that copies sizes in a run";
    if (const Type& list = node.input(1)->type(); !list.ranked() || list.rank() != 1)
      return "a shape that is not a list";
    return std::nullopt;
  }
  if (std::any_of(out.begin(), out.end(), [](const Dim& d) { return d == 0; }))
    return "a tensor without elements";
  if (StaticTarget(out) || PreservingTarget(in, out) || FlattenAxis(in, out)) return std::nullopt;
  return "a shape with several sizes that vary";
}

// ---- Axes ---------------------------------------------------------------------------------------

Status WriteTranspose(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "transpose").Ints("axes", node.attrs<TransposeAttrs>().perm);
  return {};
}

Status WriteExpandDims(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "expandDims").Ints("axes", node.attrs<AxesAttrs>().axes);
  return {};
}

Status WriteSqueeze(ExportContext& ctx, const Node& node) {
  const auto& axes = node.attrs<AxesAttrs>().axes;
  Writer p = ctx.AddLayer(node, "squeeze");
  if (axes.empty())
    p.Bool("squeezeAll", true);
  else
    p.Ints("axes", axes);
  return {};
}

std::optional<std::string> WhyNotAxes(const Node& node) {
  if (node.input(1) != nullptr) return "axes that are only known in a run";
  return std::nullopt;
}

// ---- Shapes, repetition -------------------------------------------------------------------------

Status WriteShapeOf(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "getShape");
  return {};
}
std::optional<std::string> WhyNotShapeOf(const Node& node) {
  const auto& a = node.attrs<ShapeOfAttrs>();
  if (a.start != 0 || a.end < node.input(0)->type().rank()) return "a part of a shape";
  return std::nullopt;
}

Status WriteTile(ExportContext& ctx, const Node& node) {
  Writer p = ctx.AddLayer(node, "tile");
  if (node.input(1) == nullptr) p.Ints("reps", *ConstDims(node.attrs<TileAttrs>().repeats));
  return {};
}
std::optional<std::string> WhyNotTile(const Node& node) {
  const Dims& repeats = node.attrs<TileAttrs>().repeats;
  if (node.input(1) != nullptr) return std::nullopt;
  const auto numbers = ConstDims(repeats);
  if (!numbers) return "repetitions whose number varies";
  if (std::any_of(numbers->begin(), numbers->end(), [](int64_t n) { return n < 1; }))
    return "no repetitions";
  return std::nullopt;
}

Status WriteExpand(ExportContext& ctx, const Node& node) {
  if (node.input(1) != nullptr)
    ctx.AddLayer(node, "broadcastToDynamic");
  else
    ctx.AddLayer(node, "broadcastToStatic")
        .Ints("targetShape", *node.output()->type().const_dims());
  return {};
}
std::optional<std::string> WhyNotExpand(const Node& node) {
  if (node.input(1) == nullptr && !node.output()->type().const_dims())
    return "a shape whose sizes vary";
  return std::nullopt;
}

}  // namespace

void AddShapeExports(std::vector<ExportRow>& rows) {
  rows.push_back({"reshape", WriteReshape, WhyNotReshape, Types::kAny});
  rows.push_back({"transpose", WriteTranspose, nullptr, Types::kAny});
  rows.push_back({"expand_dims", WriteExpandDims, WhyNotAxes, Types::kAny});
  rows.push_back({"squeeze", WriteSqueeze, WhyNotAxes, Types::kAny});
  rows.push_back({"shape_of", WriteShapeOf, WhyNotShapeOf, Types::kAny});
  rows.push_back({"tile", WriteTile, WhyNotTile, Types::kAny});
  rows.push_back({"expand", WriteExpand, WhyNotExpand, Types::kAny});
}

}  // namespace nn::coreml
