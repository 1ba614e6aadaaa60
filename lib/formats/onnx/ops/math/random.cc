#include "ops/math/random.h"

#include <cmath>

#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape_of.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

// The attribute is a float; fractions are dropped.
Result<Seeds> SeedsFrom(ImportContext& ctx) {
  if (!ctx.HasAttr("seed")) return SeedsByPosition(ctx.graph());
  const float seed = ctx.Float("seed", 0);
  if (!(std::fabs(seed) < 0x1p62f)) return ModelError("seed {} is out of range", seed);
  return SeedsOf(static_cast<int64_t>(seed));
}

Result<DType> ElementType(ImportContext& ctx, DType fallback) {
  if (!ctx.HasAttr("dtype")) return fallback;
  const DType dtype = DTypeOf(static_cast<int>(ctx.Int("dtype", 0)));
  if (dtype == DType::kUnknown)
    return ModelError("dtype {} is not a known element type", ctx.Int("dtype", 0));
  return dtype;
}

Result<RandomUniformAttrs> UniformFrom(ImportContext& ctx) {
  RandomUniformAttrs a;
  NN_ASSIGN(static_cast<Seeds&>(a), SeedsFrom(ctx));
  a.low = ctx.Float("low", 0);
  a.high = ctx.Float("high", 1);
  return a;
}

Result<RandomNormalAttrs> NormalFrom(ImportContext& ctx) {
  RandomNormalAttrs a;
  NN_ASSIGN(static_cast<Seeds&>(a), SeedsFrom(ctx));
  a.mean = ctx.Float("mean", 0);
  a.scale = ctx.Float("scale", 1);
  return a;
}

template <typename A>
Status ImportRandom(ImportContext& ctx, std::string_view op, Result<A> attrs) {
  NN_ASSIGN(A a, std::move(attrs));
  NN_ASSIGN(a.dtype, ElementType(ctx, DType::kF32));
  a.dims = ToDims(ctx.Ints("shape"));
  return ctx.Emit(op, {}, std::move(a));
}

// The shape is that of an input of any type.
template <typename A>
Status ImportRandomLike(ImportContext& ctx, std::string_view op, Result<A> attrs) {
  NN_ASSIGN(A a, std::move(attrs));
  Value* const x = ctx.input(0);
  NN_ASSIGN(a.dtype, ElementType(ctx, x->dtype()));
  return ctx.Emit(op, {Apply("shape_of", {x}, ShapeOfAttrs{})}, std::move(a));
}

Status ImportRandomUniform(ImportContext& ctx) {
  return ImportRandom(ctx, "random_uniform", UniformFrom(ctx));
}
Status ImportRandomUniformLike(ImportContext& ctx) {
  return ImportRandomLike(ctx, "random_uniform", UniformFrom(ctx));
}
Status ImportRandomNormal(ImportContext& ctx) {
  return ImportRandom(ctx, "random_normal", NormalFrom(ctx));
}
Status ImportRandomNormalLike(ImportContext& ctx) {
  return ImportRandomLike(ctx, "random_normal", NormalFrom(ctx));
}

Status ImportBernoulli(ImportContext& ctx) {
  Value* const p = ctx.input(0);
  BernoulliAttrs a;
  NN_ASSIGN(static_cast<Seeds&>(a), SeedsFrom(ctx));
  NN_ASSIGN(a.dtype, ElementType(ctx, DType::kUnknown));
  return ctx.Emit("bernoulli", {p}, a);
}

Status ImportMultinomial(ImportContext& ctx) {
  Value* const logits = ctx.input(0);
  MultinomialAttrs a;
  NN_ASSIGN(static_cast<Seeds&>(a), SeedsFrom(ctx));
  NN_ASSIGN(a.dtype, ElementType(ctx, DType::kI32));
  a.count = ctx.Int("sample_size", 1);
  return ctx.Emit("multinomial", {logits}, a);
}

// ---- Dropout ------------------------------------------------------------------------------------

// Outside of training, a copy of the input, with a mask of ones.
Status CopyWithMask(ImportContext& ctx, Value* x) {
  ctx.SetOutput(0, x);
  if (!ctx.WantsOutput(1)) return {};
  if (!x->type().ranked())
    return UnsupportedError("the mask of Dropout needs an input of known rank, not {}",
                            x->type().ToString());
  // Before version 10 the mask has the type of the data.
  const DType dtype = ctx.opset() < 10 ? x->dtype() : DType::kBool;
  NN_ASSIGN(Value* const one, ctx.Number(dtype, 1));
  return ctx.EmitTerm(Apply("expand", {one}, ExpandAttrs{*x->type().dims}), 1);
}

// mask = u >= ratio, y = x * mask * 1 / (1 - ratio). `ratio` is a scalar of float32.
Status EmitDropout(ImportContext& ctx, Value* x, const Term& ratio, const Seeds& seeds) {
  RandomUniformAttrs a;
  static_cast<Seeds&>(a) = seeds;
  const Term shape = Apply("shape_of", {x}, ShapeOfAttrs{});
  const Term mask = GreaterEqual(Apply("random_uniform", {shape}, std::move(a)), ratio);
  const Term kept = Cast(mask, x->dtype());
  const Term scale = As(1 / (1 - ratio), DType::kF32, x->dtype());
  NN_RETURN_IF_ERROR(ctx.EmitTerm(x * kept * scale));
  // Before version 10 the mask has the type of the data.
  return ctx.EmitTerm(ctx.opset() < 10 ? kept : mask, 1);
}

// Versions 1 and 6 train unless is_test is set, versions 7 and 10 never.
Status ImportDropout1(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const float ratio = ctx.Float("ratio", 0.5f);
  if (ctx.opset() >= 7 || ctx.Int("is_test", 0) != 0 || ratio == 0) return CopyWithMask(ctx, x);
  return EmitDropout(ctx, x, Tensor::Scalar(ratio), SeedsByPosition(ctx.graph()));
}

// From version 12 on, the ratio and the mode are inputs. Training with ratio 0 drops nothing.
Status ImportDropout12(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const auto is_zero = [&](size_t i) {
    const Tensor* t = ctx.Constant(i);
    return t != nullptr && t->elements() == 1 && t->GetDouble(0) == 0;
  };
  if (ctx.input(2) == nullptr || is_zero(2) || is_zero(1)) return CopyWithMask(ctx, x);
  const Seeds seeds =
      ctx.HasAttr("seed") ? SeedsOf(ctx.Int("seed", 0)) : SeedsByPosition(ctx.graph());
  const Term ratio =
      ctx.input(1) == nullptr ? Term(Tensor::Scalar(0.5f)) : As(ctx.input(1), DType::kF32);
  return EmitDropout(ctx, x, ratio * As(ctx.input(2), DType::kF32), seeds);
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

std::optional<std::string> WhyNotSeeds(const Seeds& seeds) {
  const auto seed = SingleSeed(seeds);
  if (!seed)
    return fmt::format("its seeds are {} and {}; ONNX has a single one", seeds.seed, seeds.seed2);
  const auto written = static_cast<float>(*seed);
  if (!(std::fabs(written) < 0x1p62f) || static_cast<int64_t>(written) != *seed)
    return fmt::format("its seed {} is not a float32 number, as ONNX stores seeds", *seed);
  return std::nullopt;
}

template <typename A>
std::optional<std::string> WhyNotRandom(const Node& node) {
  return WhyNotSeeds(node.attrs<A>());
}

void SetSeed(pb::NodeProto* out, const Seeds& seeds) {
  SetFloat(out, "seed", static_cast<float>(*SingleSeed(seeds)));
}

// A constant shape is an attribute. Any other is that of a tensor of zeros.
template <typename A>
Result<pb::NodeProto*> WriteDrawn(ExportContext& ctx, const Node& node, std::string op) {
  const auto& a = node.attrs<A>();
  pb::NodeProto* out = nullptr;
  const auto dims = ConstDims(a.dims);
  if (node.input(0) == nullptr && dims) {
    out = ctx.AddNode(node, op, {{ctx.NameOf(node.output())}, {}});
    SetInts(out, "shape", *dims);
  } else {
    std::string shape;
    if (node.input(0) != nullptr) {
      shape = ctx.NameAs(node.input(0), DType::kI64);
    } else {
      NN_ASSIGN(shape, ctx.AddDims(a.dims, "shape"));
    }
    const std::string zeros = ctx.AddValue("ConstantOfShape", {shape}, "zeros");
    out = ctx.AddNode(node, op + "Like", {{ctx.NameOf(node.output())}, {zeros}});
  }
  SetInt(out, "dtype", DataTypeOf(a.dtype));
  SetSeed(out, a);
  return out;
}

Status WriteRandomUniform(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(pb::NodeProto* const out, WriteDrawn<RandomUniformAttrs>(ctx, node, "RandomUniform"));
  SetFloat(out, "low", node.attrs<RandomUniformAttrs>().low);
  SetFloat(out, "high", node.attrs<RandomUniformAttrs>().high);
  return {};
}

Status WriteRandomNormal(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(pb::NodeProto* const out, WriteDrawn<RandomNormalAttrs>(ctx, node, "RandomNormal"));
  SetFloat(out, "mean", node.attrs<RandomNormalAttrs>().mean);
  SetFloat(out, "scale", node.attrs<RandomNormalAttrs>().scale);
  return {};
}

template <typename A>
int64_t DrawnOpset(const Node& node) {
  return node.input(0) == nullptr && ConstDims(node.attrs<A>().dims) ? 1 : 9;
}

Status WriteBernoulli(ExportContext& ctx, const Node& node) {
  pb::NodeProto* out = ctx.AddNode(node, "Bernoulli");
  SetInt(out, "dtype", DataTypeOf(node.output()->dtype()));
  SetSeed(out, node.attrs<BernoulliAttrs>());
  return {};
}

Status WriteMultinomial(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MultinomialAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "Multinomial");
  SetInt(out, "dtype", DataTypeOf(a.dtype));
  SetInt(out, "sample_size", a.count);
  SetSeed(out, a);
  return {};
}

std::optional<std::string> WhyNotMultinomial(const Node& node) {
  const auto& a = node.attrs<MultinomialAttrs>();
  if (node.input(1) != nullptr) return "its number of samples must be constant";
  if (a.count < 1) return "its number of samples is 0, but Multinomial of ONNX draws 1 or more";
  return WhyNotSeeds(a);
}

constexpr ImportRow kRandomImports[] = {
    {.op = "RandomUniform", .since = 1, .import = ImportRandomUniform},
    {.op = "RandomUniformLike", .since = 1, .import = ImportRandomUniformLike, .inputs = 1},
    {.op = "RandomNormal", .since = 1, .import = ImportRandomNormal},
    {.op = "RandomNormalLike", .since = 1, .import = ImportRandomNormalLike, .inputs = 1},
    {.op = "Bernoulli", .since = 15, .import = ImportBernoulli, .inputs = 1},
    {.op = "Multinomial", .since = 7, .import = ImportMultinomial, .inputs = 1},
    {.op = "Dropout", .since = 1, .import = ImportDropout1, .inputs = 1},
    {.op = "Dropout", .since = 12, .import = ImportDropout12, .inputs = 1},
};

constexpr ExportRow kRandomExports[] = {
    {.op = "random_uniform",
     .write = WriteRandomUniform,
     .why_not = WhyNotRandom<RandomUniformAttrs>,
     .min_opset = DrawnOpset<RandomUniformAttrs>},
    {.op = "random_normal",
     .write = WriteRandomNormal,
     .why_not = WhyNotRandom<RandomNormalAttrs>,
     .min_opset = DrawnOpset<RandomNormalAttrs>},
    {.op = "bernoulli",
     .write = WriteBernoulli,
     .why_not = WhyNotRandom<BernoulliAttrs>,
     .min_opset = Since<15>},
    {.op = "multinomial",
     .write = WriteMultinomial,
     .why_not = WhyNotMultinomial,
     .min_opset = Since<7>},
};

}  // namespace

Family RandomFamily() {
  return {.imports = kRandomImports, .exports = kRandomExports};
}

}  // namespace nn::onnx
