// Random numbers. Seed -1 is a new one for each run; the graph's operators have one for each
// operation.
#include "ops/math/random.h"

#include <fmt/core.h>

#include "formats/coreml/export/export.h"
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

// ---- Export -------------------------------------------------------------------------------------

// -1 means that the operation has no seed.
std::optional<std::string> WhyNotSeeds(const Seeds& seeds) {
  const auto seed = SingleSeed(seeds);
  if (!seed)
    return fmt::format("its seeds are {} and {}; ML Programs have a single one", seeds.seed,
                       seeds.seed2);
  if (*seed == -1) return "its seed is -1, which means no seed in ML Programs";
  return std::nullopt;
}

template <typename A>
std::optional<std::string> WhyNotDrawn(const Node& node) {
  const auto& a = node.attrs<A>();
  if (node.input(0) == nullptr && a.dims.empty()) return "ML Programs draw no scalars";
  return WhyNotSeeds(a);
}

// Ends an operation that draws float32 numbers, for an output that may have another element type.
Status WriteNumbers(ExportContext& ctx, const Node& node, OperationWriter& op) {
  const Value* const y = node.output();
  if (y->dtype() == DType::kF32) return op.To(node);
  NN_ASSIGN(const std::string numbers, op.Helper({DType::kF32, *y->type().dims}, node));
  return ctx.Add("cast").In("x", numbers).Text("dtype", NameInPrograms(y->dtype())).To(node);
}

template <typename A>
Status WriteDrawn(ExportContext& ctx, const Node& node, std::string_view type,
                  std::initializer_list<std::pair<std::string_view, float A::*>> parameters) {
  const auto& a = node.attrs<A>();
  NN_ASSIGN(const std::string shape,
            node.input(0) != nullptr ? ctx.NameFor(node.input(0)) : ctx.AddSizes(a.dims));
  OperationWriter op = ctx.Add(type);
  op.In("shape", shape);
  for (const auto& [input, attribute] : parameters) op.Const(input, Tensor::Scalar(a.*attribute));
  op.Int("seed", *SingleSeed(a));
  return WriteNumbers(ctx, node, op);
}

Status WriteRandomUniform(ExportContext& ctx, const Node& node) {
  using A = RandomUniformAttrs;
  return WriteDrawn<A>(ctx, node, "random_uniform", {{"low", &A::low}, {"high", &A::high}});
}

Status WriteRandomNormal(ExportContext& ctx, const Node& node) {
  using A = RandomNormalAttrs;
  return WriteDrawn<A>(ctx, node, "random_normal", {{"mean", &A::mean}, {"stddev", &A::scale}});
}

std::optional<std::string> WhyNotBernoulli(const Node& node) {
  if (auto reason = WhyNotOneProbability(node)) return reason;
  return WhyNotSeeds(node.attrs<BernoulliAttrs>());
}

Status WriteBernoulli(ExportContext& ctx, const Node& node) {
  const Tensor& p = node.input(0)->constant();
  OperationWriter op = ctx.Add("random_bernoulli");
  op.Ints("shape", p.dims())
      .Const("prob", Tensor::Scalar(static_cast<float>(p.GetDouble(0))))
      .Int("seed", *SingleSeed(node.attrs<BernoulliAttrs>()));
  return WriteNumbers(ctx, node, op);
}

std::optional<std::string> WhyNotMultinomial(const Node& node) {
  if (node.input(1) != nullptr) return "its number of samples must be constant";
  return WhyNotSeeds(node.attrs<MultinomialAttrs>());
}

// Of float16, the results would be numbers of float16, too, which are not all classes.
Status WriteMultinomial(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MultinomialAttrs>();
  const Value* const x = node.input(0);
  NN_ASSIGN(std::string logits, ctx.NameFor(x));
  if (x->dtype() != DType::kF32) {
    NN_ASSIGN(logits, ctx.Add("cast")
                          .In("x", logits)
                          .Text("dtype", "fp32")
                          .Helper({DType::kF32, *x->type().dims}, node));
  }
  OperationWriter op = ctx.Add("random_categorical");
  op.In("x", logits).Text("mode", "logits").Int("size", a.count).Int("seed", *SingleSeed(a));
  return WriteNumbers(ctx, node, op);
}

}  // namespace

Family RandomFamily() {
  static constexpr ImportRow kImports[] = {
      {"random_bernoulli", ImportRandomBernoulli},
      {"random_categorical", ImportRandomCategorical},
      {"random_normal", ImportRandomNormal},
      {"random_uniform", ImportRandomUniform},
  };
  static constexpr ExportRow kExports[] = {
      {"bernoulli", WriteBernoulli, WhyNotBernoulli},
      {"multinomial", WriteMultinomial, WhyNotMultinomial},
      {"random_normal", WriteRandomNormal, WhyNotDrawn<RandomNormalAttrs>},
      {"random_uniform", WriteRandomUniform, WhyNotDrawn<RandomUniformAttrs>},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program
