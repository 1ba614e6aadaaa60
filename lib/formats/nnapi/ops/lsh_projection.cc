#include "ops/reduce/lsh_projection.h"

#include <vector>

#include "formats/nnapi/family.h"

// NNAPI 1.0's sparse projections have no offsets. Dense ones have weights, and sparse ones have
// none.
namespace nn::nnapi {
namespace {

constexpr int64_t kSparseProjection = 1, kDenseProjection = 2;

// ==== From NNAPI =================================================================================

Status ImportLshProjection(ImportContext& ctx) {
  NN_ASSIGN(Value* const hash, ctx.Required(0));
  NN_ASSIGN(Value* const x, ctx.Required(1));
  NN_ASSIGN(const int64_t type, ctx.Int(3));
  if (type != kSparseProjection && type != kDenseProjection)
    return ModelError("the projection type is {}; must be 1 or 2", type);
  std::vector<Value*> inputs = {hash, x};
  if (ctx.input(2) != nullptr) inputs.push_back(ctx.input(2));
  const LshForm form = type == kDenseProjection ? LshForm::kDense : LshForm::kSparse;
  return ctx.Emit("lsh_projection", std::move(inputs), LshProjectionAttrs{form});
}

// ==== To NNAPI ===================================================================================

bool IsDenseProjection(const Node& node) {
  return node.attrs<LshProjectionAttrs>().form == LshForm::kDense;
}

Status WriteLshProjection(ExportContext& ctx, const Node& node) {
  const bool dense = IsDenseProjection(node);
  NN_ASSIGN(const uint32_t hash, ctx.OperandOf(node.input(0)));
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(1)));
  NN_ASSIGN(const uint32_t type, ctx.Int(dense ? kDenseProjection : kSparseProjection));
  uint32_t weights = 0;
  if (!dense) {
    weights = ctx.Omitted(1);
  } else if (node.input(2) != nullptr) {
    NN_ASSIGN(weights, ctx.OperandOf(node.input(2)));
  } else {
    const int64_t rows = node.input(1)->type().dim(0).value();
    const std::vector<float> ones(static_cast<size_t>(rows), 1.0f);
    NN_ASSIGN(weights, ctx.AddConstant(Tensor::Of<float>({rows}, ones)));
  }
  return ctx.AddOperation(node, OperationType::kLshProjection, {hash, x, weights, type});
}

std::optional<std::string> WhyNotLshProjection(const Node& node) {
  const LshForm form = node.attrs<LshProjectionAttrs>().form;
  if (form == LshForm::kDense) {
    if (node.input(2) == nullptr && !node.input(1)->type().dim(0).is_const())
      return "weights for an unknown number of rows cannot be written";
    return std::nullopt;
  }
  if (node.input(2) != nullptr) return "sparse projections have no weights";
  if (form == LshForm::kOffset && !(node.input(0)->type().dim(0) == 1))
    return "sparse projections have no offsets";
  return std::nullopt;
}

constexpr ImportRow kLshProjectionImports[] = {
    {.operation = OperationType::kLshProjection, .import = ImportLshProjection},
};

constexpr ExportRow kLshProjectionExports[] = {
    {.op = "lsh_projection", .write = WriteLshProjection, .why_not = WhyNotLshProjection},
};

}  // namespace

Family LshProjectionFamily() {
  return {.imports = kLshProjectionImports, .exports = kLshProjectionExports};
}

}  // namespace nn::nnapi
