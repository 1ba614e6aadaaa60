#include "formats/nnapi/export.h"
#include "ops/gather.h"

namespace nn::nnapi {
namespace {

Status WriteGather(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t lookups, ctx.OperandOf(node.input(1)));
  NN_ASSIGN(const uint32_t values, ctx.OperandOf(node.input(0)));
  return ctx.AddOperation(node, OperationType::kEmbeddingLookup, {lookups, values});
}

std::optional<std::string> WhyNotGather(const Node& node) {
  const auto& a = node.attrs<GatherAttrs>();
  const Type& x = node.input(0)->type();
  const Type& indices = node.input(1)->type();
  if (a.batch_dims != 0) return "gathering in batches";
  if (a.axis != 0) return fmt::format("gathering along axis {}", a.axis);
  if (x.rank() < 2 || x.dtype != DType::kF32) return fmt::format("gathering from {}", x.ToString());
  if (indices.rank() != 1 || indices.dtype != DType::kI32)
    return fmt::format("gathering with indices {}", indices.ToString());
  return std::nullopt;
}

}  // namespace

void AddLookupExports(std::vector<ExportRow>& rows) {
  rows.push_back({"gather", WriteGather, WhyNotGather});
}

}  // namespace nn::nnapi
