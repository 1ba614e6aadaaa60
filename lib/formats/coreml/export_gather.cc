#include "formats/coreml/export.h"
#include "ops/gather.h"
#include "ops/generate.h"
#include "ops/scatter.h"

namespace nn::coreml {
namespace {

Status WriteGather(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "gather").Int("axis", node.attrs<GatherAttrs>().axis);
  return {};
}
std::optional<std::string> WhyNotGather(const Node& node) {
  if (node.attrs<GatherAttrs>().batch_dims != 0) return "indices of their own for each batch";
  if (node.input(1)->type().rank() == 0) return "a scalar index";
  return std::nullopt;
}

Status WriteGatherNd(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "gatherND");
  return {};
}
std::optional<std::string> WhyNotGatherNd(const Node& node) {
  if (node.attrs<GatherNdAttrs>().batch_dims != 0) return "indices of their own for each batch";
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
  if (node.output()->dtype() != DType::kF32) return "a scatter of integers";
  return std::nullopt;
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
  if (node.input(1) != nullptr) return "a diagonal that is only known in a run";
  return std::nullopt;
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
  if (node.attrs<OneHotAttrs>().wrap) return "indices that count from the end";
  if (ConstantOf(node, 1) == nullptr || ConstantOf(node, 2) == nullptr)
    return "a size or values that are no constants";
  if (node.output()->dtype() != DType::kF32) return "values that are no f32";
  return std::nullopt;
}

}  // namespace

void AddGatherExports(std::vector<ExportRow>& rows) {
  rows.push_back({"gather", WriteGather, WhyNotGather, Types::kAny});
  rows.push_back({"gather_nd", WriteGatherNd, WhyNotGatherNd, Types::kAny});
  rows.push_back({"gather_elements", WriteGatherElements, nullptr, Types::kAny});
  rows.push_back({"scatter_elements", WriteScatterElements, WhyNotScatter, Types::kAny});
  rows.push_back({"scatter_nd", WriteScatterNd, WhyNotScatter, Types::kAny});
  rows.push_back({"trilu", WriteTrilu, WhyNotTrilu});
  rows.push_back({"one_hot", WriteOneHot, WhyNotOneHot, Types::kAny});
}

}  // namespace nn::coreml
