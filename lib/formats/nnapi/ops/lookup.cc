#include "formats/nnapi/family.h"
#include "ops/array/arrange/gather.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "ops/support/term_ops.h"

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

// The values of the first key that equals each lookup, or zeros, and whether there is such a key.
Status ImportHashtableLookup(ImportContext& ctx) {
  NN_ASSIGN(const std::vector<Value*> in, ctx.RequiredInputs(3));
  const Type& values = in[2]->type();
  for (const size_t i : {size_t{0}, size_t{1}})
    if (in[i]->dtype() != DType::kI32 || !in[i]->type().ranked() || in[i]->type().rank() != 1)
      return ModelError("input {} must be a vector of i32; it is {}", i, in[i]->type().ToString());
  if (!values.ranked()) return UnsupportedError("the rank of the values must be known");
  if (values.rank() < 1) return ModelError("the values must have axes; they have none");
  const Term equal = Equal(ExpandDims(in[0], {1}), in[1]);
  const Term found = Apply("reduce_any", {equal}, ReduceAttrs{{1}, false});
  const Term index =
      Apply("arg_max", {Cast(equal, DType::kI32)}, ArgAttrs{.axis = 1, .keep_dims = false});
  NN_ASSIGN(TensorBuilder zero, TensorBuilder::Create(values.dtype, {}));
  zero.SetInt(0, 0);
  Value* const zeros = ctx.graph().AddConstant(zero.Finish(), {}, values.quant);
  std::vector<int64_t> axes;
  for (int k = 1; k < values.rank(); ++k) axes.push_back(k);
  const Term mask = axes.empty() ? found : ExpandDims(found, std::move(axes));
  NN_ASSIGN(Value* const y,
            ctx.Add("select", {mask, Gather(in[2], index, 0), zeros}, {}, ctx.result_type(0)));
  NN_ASSIGN(Value* const flags,
            ctx.Add("quantize", {Cast(found, DType::kF32)},
                    QuantizeAttrs{Rounding::kHalfAway, true}, ctx.result_type(1)));
  ctx.SetOutput(0, y);
  ctx.SetOutput(1, flags);
  return {};
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
    {.operation = OperationType::kHashtableLookup, .import = ImportHashtableLookup},
};

constexpr ExportRow kLookupExports[] = {
    {.op = "gather", .write = WriteGather, .why_not = WhyNotGather},
};

}  // namespace

Family LookupFamily() {
  return {.imports = kLookupImports, .exports = kLookupExports};
}

}  // namespace nn::nnapi
