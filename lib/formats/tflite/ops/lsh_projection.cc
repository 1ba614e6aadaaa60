#include "ops/reduce/lsh_projection.h"

#include <vector>

#include "formats/tflite/family.h"

// LSH_PROJECTION adds offsets to sparse projections, so that equal bits of different functions are
// different numbers.
namespace nn::tflite {
namespace {

// ==== From TensorFlow Lite =======================================================================

Status ImportLshProjection(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::LSHProjectionOptions>());
  LshProjectionAttrs a;
  if (o->type() == fb::LSHProjectionType::SPARSE)
    a.form = LshForm::kOffset;
  else if (o->type() != fb::LSHProjectionType::DENSE)
    return ModelError("the projection type is neither SPARSE nor DENSE");
  return ctx.Emit("lsh_projection", ctx.inputs(), a);
}

// ==== To TensorFlow Lite =========================================================================

Status WriteLshProjection(ExportContext& ctx, const Node& node) {
  const LshForm form = node.attrs<LshProjectionAttrs>().form;
  const auto options = fb::CreateLSHProjectionOptions(
      ctx.builder(),
      form == LshForm::kDense ? fb::LSHProjectionType::DENSE : fb::LSHProjectionType::SPARSE);
  const std::vector<TensorIndex> inputs = ctx.InputsOf(node);
  if (form != LshForm::kSparse) {
    ctx.AddOperator(Op::LSH_PROJECTION, {ctx.ResultsOf(node), inputs}, options);
    return {};
  }
  const Type& hash = node.input(0)->type();
  const int64_t functions = hash.dim(0).value(), bits = hash.dim(1).value();
  std::vector<int32_t> offsets;
  for (int64_t f = 0; f < functions; ++f)
    offsets.push_back(static_cast<int32_t>(static_cast<uint64_t>(f) << bits));
  const TensorIndex numbered = ctx.AddTensor(node.output()->type(), "numbered");
  ctx.AddOperator(Op::LSH_PROJECTION, {{numbered}, inputs}, options);
  ctx.AddOperator(
      Op::SUB,
      {ctx.ResultsOf(node),
       {numbered, ctx.AddConstant(Tensor::Of<int32_t>({functions}, offsets), "offsets")}},
      fb::CreateSubOptions(ctx.builder()));
  return {};
}

// Whether the kernel's offsets and the bits of a hash fit in 32 bits.
bool OffsetsFit(int64_t functions, int64_t bits) {
  return bits <= 32 && functions <= (int64_t{1} << (32 - bits));
}

std::optional<std::string> WhyNotLshProjection(const Node& node) {
  const Type& hash = node.input(0)->type();
  const Dim &functions = hash.dim(0), &bits = hash.dim(1);
  const LshForm form = node.attrs<LshProjectionAttrs>().form;
  if (form == LshForm::kDense) return std::nullopt;
  if (!functions.is_const() || !bits.is_const()) {
    if (form == LshForm::kOffset) return std::nullopt;
    return "sparse projections have offsets, which need hashes of constant size";
  }
  if (!OffsetsFit(functions.value(), bits.value()))
    return fmt::format("the offsets of {} functions of {} bits exceed 32 bits", functions.value(),
                       bits.value());
  return std::nullopt;
}

constexpr ImportRow kLshProjectionImports[] = {
    {.op = Op::LSH_PROJECTION, .import = ImportLshProjection, .inputs = "rr"},
};

constexpr ExportRow kLshProjectionExports[] = {
    {.op = "lsh_projection",
     .write = WriteLshProjection,
     .why_not = WhyNotLshProjection,
     .any_type = true},
};

}  // namespace

Family LshProjectionFamily() {
  return {.imports = kLshProjectionImports, .exports = kLshProjectionExports};
}

}  // namespace nn::tflite
