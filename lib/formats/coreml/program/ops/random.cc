// Random numbers. Seed -1 is a new one for each run; the graph's operators have one for each
// operation.
#include "ops/math/random.h"

#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/operands.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

Result<Seeds> SeedsOfOperation(ImportContext& ctx) {
  NN_ASSIGN(const int64_t seed, ctx.Int("seed"));
  return seed == -1 ? SeedsByPosition(ctx.graph()) : SeedsOf(seed);
}

DType FloatType(const ImportContext& ctx) {
  return IsFloat(ctx.DeclaredType()) ? ctx.DeclaredType() : DType::kF32;
}

// The parameters of a distribution: the inputs, and the attributes that they become.
template <typename A>
Status EmitDistribution(ImportContext& ctx, std::string_view op,
                        std::initializer_list<std::pair<std::string_view, float A::*>> parameters) {
  NN_ASSIGN(Value* const shape, ctx.In("shape"));
  A a;
  NN_ASSIGN(static_cast<Seeds&>(a), SeedsOfOperation(ctx));
  for (const auto& [input, attribute] : parameters) {
    NN_ASSIGN(a.*attribute, ctx.Float(input));
  }
  a.dtype = FloatType(ctx);
  return ctx.Emit(op, {shape}, std::move(a));
}

Status ImportRandomUniform(ImportContext& ctx) {
  return EmitDistribution<RandomUniformAttrs>(
      ctx, "random_uniform",
      {{"low", &RandomUniformAttrs::low}, {"high", &RandomUniformAttrs::high}});
}

Status ImportRandomNormal(ImportContext& ctx) {
  return EmitDistribution<RandomNormalAttrs>(
      ctx, "random_normal",
      {{"mean", &RandomNormalAttrs::mean}, {"stddev", &RandomNormalAttrs::scale}});
}

Status ImportRandomBernoulli(ImportContext& ctx) {
  NN_ASSIGN(Value* const shape, ctx.In("shape"));
  NN_ASSIGN(const float probability, ctx.Float("prob"));
  BernoulliAttrs a;
  NN_ASSIGN(static_cast<Seeds&>(a), SeedsOfOperation(ctx));
  a.dtype = FloatType(ctx);
  return ctx.Emit("bernoulli",
                  {Apply("expand", {Tensor::Scalar(probability), shape}, ExpandAttrs{})}, a);
}

// The classes are the last axis.
Status ImportRandomCategorical(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const std::string mode, ctx.String("mode"));
  if (mode != "logits" && mode != "probs") return ModelError("mode {} is unknown", mode);
  const int64_t last = x->type().rank() - 1;
  if (last < 0) return ModelError("input x has no axes");
  MultinomialAttrs a;
  NN_ASSIGN(static_cast<Seeds&>(a), SeedsOfOperation(ctx));
  NN_ASSIGN(a.count, ctx.Int("size"));
  Term logits = Wide(x);
  if (mode == "probs") logits = Apply("log", {logits});
  const Term rows =
      Apply("reshape", {logits, Concat({Vector({-1}), SizeOfAxis(x, last)}, 0)}, ReshapeAttrs{});
  const Term sizes =
      Concat({Apply("shape_of", {x}, ShapeOfAttrs{.end = last}), Vector({a.count})}, 0);
  return ctx.EmitCast(Apply("reshape", {Apply("multinomial", {rows}, a), sizes}, ReshapeAttrs{}));
}

}  // namespace

Family RandomFamily() {
  static constexpr ImportRow kImports[] = {
      {"random_bernoulli", ImportRandomBernoulli},
      {"random_categorical", ImportRandomCategorical},
      {"random_normal", ImportRandomNormal},
      {"random_uniform", ImportRandomUniform},
  };
  return {kImports};
}

}  // namespace nn::coreml::program
