#include "formats/nnapi/family.h"
#include "ops/array/gather.h"

namespace nn::nnapi {

// ==== From NNAPI =================================================================================

namespace {

Status ImportEmbeddingLookup(ImportContext& ctx) {
  NN_ASSIGN(Value* const lookups, ctx.Required(0));
  NN_ASSIGN(Value* const values, ctx.Required(1));
  if (lookups->dtype() != DType::kI32 || (lookups->type().ranked() && lookups->type().rank() != 1))
    return ModelError("input 0 must be a vector of i32; it is {}", lookups->type().ToString());
  if (values->type().ranked() && values->type().rank() < 2)
    return ModelError("input 1 must have rank 2 or more; it is {}", values->type().ToString());
  return ctx.Emit("gather", {values, lookups}, GatherAttrs{});
}

}  // namespace

// ==== To NNAPI ===================================================================================

namespace {

Status WriteGather(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t lookups, ctx.OperandOf(node.input(1)));
  NN_ASSIGN(const uint32_t values, ctx.OperandOf(node.input(0)));
  return ctx.AddOperation(node, OperationType::kEmbeddingLookup, {lookups, values});
}

std::optional<std::string> WhyNotGather(const Node& node) {
  const auto& a = node.attrs<GatherAttrs>();
  if (a.batch_dims != 0) return "batch_dims must be 0";
  if (a.axis != 0) return fmt::format("EMBEDDING_LOOKUP gathers along axis 0, not {}", a.axis);
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kLookupImports[] = {
    {.operation = OperationType::kEmbeddingLookup, .import = ImportEmbeddingLookup},
};

constexpr ExportRow kLookupExports[] = {
    {.op = "gather", .write = WriteGather, .why_not = WhyNotGather},
};

}  // namespace

Family LookupFamily() {
  return {.imports = kLookupImports, .exports = kLookupExports};
}

}  // namespace nn::nnapi
