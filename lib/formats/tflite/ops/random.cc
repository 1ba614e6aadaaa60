#include "ops/math/random.h"

#include "formats/tflite/family.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// Zeros mean that the operator has no seed.
Result<Seeds> SeedsFrom(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::RandomOptions>());
  const Seeds seeds = {o->seed(), o->seed2()};
  return seeds == Seeds() ? SeedsByPosition(ctx.graph()) : seeds;
}

Status ImportRandomUniform(ImportContext& ctx) {
  RandomUniformAttrs a;
  NN_ASSIGN(static_cast<Seeds&>(a), SeedsFrom(ctx));
  Value* const shape = ctx.input(0);
  return ctx.Emit("random_uniform", {shape}, std::move(a));
}

Status ImportRandomNormal(ImportContext& ctx) {
  RandomNormalAttrs a;
  NN_ASSIGN(static_cast<Seeds&>(a), SeedsFrom(ctx));
  Value* const shape = ctx.input(0);
  return ctx.Emit("random_normal", {shape}, std::move(a));
}

Status ImportMultinomial(ImportContext& ctx) {
  MultinomialAttrs a;
  NN_ASSIGN(static_cast<Seeds&>(a), SeedsFrom(ctx));
  Value* const logits = ctx.input(0);
  Value* const count = ctx.input(1);
  a.dtype = ctx.output_type().dtype;
  return ctx.Emit("multinomial", {logits, count}, a);
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

std::optional<std::string> WhyNotSeeds(const Seeds& seeds) {
  if (seeds == Seeds()) return "its seeds are 0, which means no seed in TensorFlow Lite";
  return std::nullopt;
}

flatbuffers::Offset<fb::RandomOptions> RandomOptionsOf(ExportContext& ctx, const Seeds& seeds) {
  return fb::CreateRandomOptions(ctx.builder(), seeds.seed, seeds.seed2);
}

template <Op op, typename A>
Status WriteDrawn(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<A>();
  TensorIndex shape = kNoTensor;
  if (node.input(0) != nullptr) {
    shape = ctx.TensorAs(node.input(0), DType::kI32);
  } else {
    NN_ASSIGN(shape, ctx.AddDims(a.dims, "shape"));
  }
  ctx.AddOperator(op, {ctx.ResultsOf(node), {shape}}, RandomOptionsOf(ctx, a));
  return {};
}

std::optional<std::string> WhyNotRandomUniform(const Node& node) {
  const auto& a = node.attrs<RandomUniformAttrs>();
  if (a.low != 0 || a.high != 1) return "RANDOM_UNIFORM draws from [0, 1)";
  return WhyNotSeeds(a);
}

std::optional<std::string> WhyNotRandomNormal(const Node& node) {
  const auto& a = node.attrs<RandomNormalAttrs>();
  if (a.mean != 0 || a.scale != 1)
    return "RANDOM_STANDARD_NORMAL draws with mean 0 and deviation 1";
  return WhyNotSeeds(a);
}

Status WriteMultinomial(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MultinomialAttrs>();
  TensorIndex count = kNoTensor;
  if (node.input(1) != nullptr) {
    count = ctx.TensorAs(node.input(1), DType::kI32);
  } else {
    NN_ASSIGN(count, ctx.AddInt(a.count, "num_samples"));
  }
  ctx.AddOperator(Op::MULTINOMIAL, {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0)), count}},
                  RandomOptionsOf(ctx, a));
  return {};
}

std::optional<std::string> WhyNotMultinomial(const Node& node) {
  const Value* count = node.input(1);
  if (count != nullptr && !(count->type().ranked() && count->type().rank() == 0))
    return "the number of samples must be a scalar";
  return WhyNotSeeds(node.attrs<MultinomialAttrs>());
}

constexpr ImportRow kRandomImports[] = {
    {.op = Op::RANDOM_UNIFORM, .import = ImportRandomUniform, .inputs = "a"},
    {.op = Op::RANDOM_STANDARD_NORMAL, .import = ImportRandomNormal, .inputs = "a"},
    {.op = Op::MULTINOMIAL, .import = ImportMultinomial, .inputs = "aa"},
};

constexpr ExportRow kRandomExports[] = {
    {.op = "random_uniform",
     .write = WriteDrawn<Op::RANDOM_UNIFORM, RandomUniformAttrs>,
     .why_not = WhyNotRandomUniform},
    {.op = "random_normal",
     .write = WriteDrawn<Op::RANDOM_STANDARD_NORMAL, RandomNormalAttrs>,
     .why_not = WhyNotRandomNormal},
    {.op = "multinomial", .write = WriteMultinomial, .why_not = WhyNotMultinomial},
};

}  // namespace

Family RandomFamily() {
  return {.imports = kRandomImports, .exports = kRandomExports};
}

}  // namespace nn::tflite
