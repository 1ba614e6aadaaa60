#include "ops/math/random.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "formats/coreml/family.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape_of.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

// -1 means that the layer has no seed.
constexpr int64_t kNoSeed = -1;

Seeds SeedsFrom(ImportContext& ctx) {
  const int64_t seed = ctx.params().Int("seed");
  return seed == kNoSeed ? SeedsByPosition(ctx.graph()) : SeedsOf(seed);
}

// Where a layer has its shape: in a field, in the contents of its input, or in the input's shape.
enum class ShapeFrom : uint8_t { kField, kContents, kInput };

// The shape, unless it is in a field.
std::vector<Term> ShapeInput(const ImportContext& ctx, ShapeFrom from) {
  if (from == ShapeFrom::kField) return {};
  const Term x = ctx.input(0);
  return {from == ShapeFrom::kContents ? x : Apply("shape_of", {x}, ShapeOfAttrs{})};
}

// The operator with the parameters that it has of its own, by their names in the layer.
template <typename A, ShapeFrom from>
Status ImportDrawn(ImportContext& ctx, std::string_view op,
                   std::initializer_list<std::pair<float A::*, std::string_view>> parameters) {
  A a;
  static_cast<Seeds&>(a) = SeedsFrom(ctx);
  for (const auto& [member, name] : parameters) a.*member = ctx.params().Float(name);
  if constexpr (from == ShapeFrom::kField) a.dims = ToDims(ctx.params().Ints("outputShape"));
  return ctx.Emit(op, ShapeInput(ctx, from), std::move(a));
}

template <ShapeFrom from>
Status ImportRandomUniform(ImportContext& ctx) {
  using A = RandomUniformAttrs;
  return ImportDrawn<A, from>(ctx, "random_uniform", {{&A::low, "minVal"}, {&A::high, "maxVal"}});
}

template <ShapeFrom from>
Status ImportRandomNormal(ImportContext& ctx) {
  using A = RandomNormalAttrs;
  return ImportDrawn<A, from>(ctx, "random_normal", {{&A::mean, "mean"}, {&A::scale, "stdDev"}});
}

template <ShapeFrom from>
Status ImportRandomBernoulli(ImportContext& ctx) {
  BernoulliAttrs a;
  static_cast<Seeds&>(a) = SeedsFrom(ctx);
  std::vector<Term> inputs = ShapeInput(ctx, from);
  inputs.insert(inputs.begin(), Tensor::Scalar(ctx.params().Float("prob")));
  ExpandAttrs expand;
  if constexpr (from == ShapeFrom::kField) expand.dims = ToDims(ctx.params().Ints("outputShape"));
  return ctx.Emit("bernoulli", {Apply("expand", std::move(inputs), std::move(expand))}, a);
}

// The classes are the last axis. Probabilities below eps count as eps.
Status ImportCategorical(ImportContext& ctx) {
  const Fields& p = ctx.params();
  MultinomialAttrs a;
  static_cast<Seeds&>(a) = SeedsFrom(ctx);
  a.dtype = DType::kI64;
  NN_ASSIGN(a.count, p.Size("numSamples"));
  Term x = ctx.input(0);
  Dims dims = *ctx.input(0)->type().dims;
  if (dims.empty()) return ModelError("the input has no axes");
  if (!p.Bool("isLogits")) x = Apply("log", {Maximum(x, p.FloatOr("eps", 1e-10f))});
  if (const float temperature = p.FloatOr("temperature", 1); temperature != 1) x = x / temperature;
  if (dims.size() == 2) return ctx.Emit("multinomial", {x}, a);
  const Dims rows(dims.begin(), dims.end() - 1);
  const Term y = Apply("multinomial", {Reshape(x, {Product(rows), dims.back()})}, a);
  dims.back() = Dim(a.count);
  return ctx.EmitTerm(Reshape(y, std::move(dims)));
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

std::optional<std::string> WhyNotSeeds(const Seeds& seeds) {
  const auto seed = SingleSeed(seeds);
  if (!seed)
    return fmt::format("its seeds are {} and {}; Core ML has a single one", seeds.seed,
                       seeds.seed2);
  if (*seed == kNoSeed) return "its seed is -1, which means no seed in Core ML";
  return std::nullopt;
}

template <typename A>
std::optional<std::string> WhyNotDrawn(const Node& node) {
  const auto& a = node.attrs<A>();
  if (node.input(0) == nullptr && !ConstDims(a.dims)) return "its shape must be constant";
  if (node.input(0) == nullptr && a.dims.empty()) return "Core ML has no scalars";
  return WhyNotSeeds(a);
}

// A layer with the shape in a field or an input.
template <typename A>
Writer AddDrawn(ExportContext& ctx, const Node& node, const std::string& kind) {
  const auto& a = node.attrs<A>();
  Writer p = ctx.AddLayer(node, kind + (node.input(0) == nullptr ? "Static" : "Dynamic"));
  if (node.input(0) == nullptr) p.Ints("outputShape", *ConstDims(a.dims));
  p.Int("seed", *SingleSeed(a));
  return p;
}

Status WriteRandomUniform(ExportContext& ctx, const Node& node) {
  Writer p = AddDrawn<RandomUniformAttrs>(ctx, node, "randomUniform");
  p.Float("minVal", node.attrs<RandomUniformAttrs>().low);
  p.Float("maxVal", node.attrs<RandomUniformAttrs>().high);
  return {};
}

Status WriteRandomNormal(ExportContext& ctx, const Node& node) {
  Writer p = AddDrawn<RandomNormalAttrs>(ctx, node, "randomNormal");
  p.Float("mean", node.attrs<RandomNormalAttrs>().mean);
  p.Float("stdDev", node.attrs<RandomNormalAttrs>().scale);
  return {};
}

// The layer has one probability.
Status WriteBernoulli(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<BernoulliAttrs>();
  const Tensor& probabilities = node.input(0)->constant();
  Writer p = ctx.AddLayer(node, "randomBernoulliStatic", 0);
  p.Int("seed", *SingleSeed(a));
  p.Float("prob", static_cast<float>(probabilities.GetDouble(0)));
  p.Ints("outputShape", probabilities.dims());
  return {};
}

std::optional<std::string> WhyNotBernoulli(const Node& node) {
  if (auto reason = WhyNotOneProbability(node)) return reason;
  return WhyNotSeeds(node.attrs<BernoulliAttrs>());
}

Status WriteMultinomial(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MultinomialAttrs>();
  Writer p = ctx.AddLayer(node, "categoricalDistribution");
  p.Int("seed", *SingleSeed(a));
  p.Int("numSamples", a.count);
  p.Bool("isLogits", true);
  p.Float("eps", 1e-10f);
  p.Float("temperature", 1);
  return {};
}

std::optional<std::string> WhyNotMultinomial(const Node& node) {
  if (node.input(1) != nullptr) return "its number of samples must be constant";
  return WhyNotSeeds(node.attrs<MultinomialAttrs>());
}

constexpr ImportRow kRandomImports[] = {
    {.layer = "randomUniformStatic", .import = ImportRandomUniform<ShapeFrom::kField>},
    {.layer = "randomUniformDynamic",
     .import = ImportRandomUniform<ShapeFrom::kContents>,
     .inputs = "i"},
    {.layer = "randomUniformLike", .import = ImportRandomUniform<ShapeFrom::kInput>, .inputs = "a"},
    {.layer = "randomNormalStatic", .import = ImportRandomNormal<ShapeFrom::kField>},
    {.layer = "randomNormalDynamic",
     .import = ImportRandomNormal<ShapeFrom::kContents>,
     .inputs = "i"},
    {.layer = "randomNormalLike", .import = ImportRandomNormal<ShapeFrom::kInput>, .inputs = "a"},
    {.layer = "randomBernoulliStatic", .import = ImportRandomBernoulli<ShapeFrom::kField>},
    {.layer = "randomBernoulliDynamic",
     .import = ImportRandomBernoulli<ShapeFrom::kContents>,
     .inputs = "i"},
    {.layer = "randomBernoulliLike",
     .import = ImportRandomBernoulli<ShapeFrom::kInput>,
     .inputs = "a"},
    {.layer = "categoricalDistribution", .import = ImportCategorical, .inputs = "f"},
};

constexpr ExportRow kRandomExports[] = {
    {.op = "random_uniform",
     .write = WriteRandomUniform,
     .why_not = WhyNotDrawn<RandomUniformAttrs>,
     .types = Types::kAny},
    {.op = "random_normal",
     .write = WriteRandomNormal,
     .why_not = WhyNotDrawn<RandomNormalAttrs>,
     .types = Types::kAny},
    {.op = "bernoulli", .write = WriteBernoulli, .why_not = WhyNotBernoulli, .types = Types::kAny},
    {.op = "multinomial",
     .write = WriteMultinomial,
     .why_not = WhyNotMultinomial,
     .types = Types::kAny},
};

}  // namespace

Family RandomFamily() {
  return {.imports = kRandomImports, .exports = kRandomExports};
}

}  // namespace nn::coreml
