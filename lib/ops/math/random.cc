#include "ops/math/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/op_def.h"
#include "numeric/philox.h"
#include "numeric/scalar_functions.h"
#include "ops/families.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

namespace {

// The fields of an operator's own, then its seeds.
template <typename A>
std::vector<AttrField> WithSeeds(std::vector<AttrField> fields) {
  fields.push_back(Field<&Seeds::seed, A>("seed"));
  fields.push_back(Field<&Seeds::seed2, A>("seed2"));
  return fields;
}

}  // namespace

std::span<const AttrField> RandomUniformAttrs::Fields() {
  using A = RandomUniformAttrs;
  static const auto fields = WithSeeds<A>({Field<&A::low>("low"), Field<&A::high>("high"),
                                           Field<&A::dtype>("dtype"), Field<&A::dims>("dims")});
  return fields;
}
std::span<const AttrField> RandomNormalAttrs::Fields() {
  using A = RandomNormalAttrs;
  static const auto fields = WithSeeds<A>({Field<&A::mean>("mean"), Field<&A::scale>("scale"),
                                           Field<&A::dtype>("dtype"), Field<&A::dims>("dims")});
  return fields;
}
std::span<const AttrField> BernoulliAttrs::Fields() {
  using A = BernoulliAttrs;
  static const auto fields = WithSeeds<A>({Field<&A::dtype>("dtype")});
  return fields;
}
std::span<const AttrField> MultinomialAttrs::Fields() {
  using A = MultinomialAttrs;
  static const auto fields = WithSeeds<A>({Field<&A::count>("count"), Field<&A::dtype>("dtype")});
  return fields;
}

Seeds SeedsOf(int64_t seed) {
  return seed == 0 ? Seeds{0, std::numeric_limits<int32_t>::max()} : Seeds{seed, 0};
}

std::optional<int64_t> SingleSeed(const Seeds& seeds) {
  if (!(SeedsOf(seeds.seed) == seeds)) return std::nullopt;
  return seeds.seed;
}

Seeds SeedsByPosition(const Graph& graph) {
  return {static_cast<int64_t>(graph.nodes().size()) + 1, 0};
}

bool IsRandom(const Node& node) {
  return node.Is<RandomUniformAttrs>() || node.Is<RandomNormalAttrs>() ||
         node.Is<BernoulliAttrs>() || node.Is<MultinomialAttrs>();
}

namespace {

Philox GeneratorOf(const Seeds& seeds) {
  return Philox(static_cast<uint64_t>(seeds.seed), static_cast<uint64_t>(seeds.seed2));
}

// In [0, 1).
float UniformOf(uint32_t word) {
  return static_cast<float>(word & 0x7FFFFF) * 0x1p-23f;
}

std::array<float, 4> UniformsOf(const Philox::Words& words) {
  return {UniformOf(words[0]), UniformOf(words[1]), UniformOf(words[2]), UniformOf(words[3])};
}

std::array<float, 4> NormalsOf(const Philox::Words& words) {
  constexpr float kTwoPi = 6.28318530717958647692f;
  std::array<float, 4> out = {};
  for (size_t i = 0; i < 4; i += 2) {
    const float r = std::sqrt(-2.0f * ScalarFunctions::Log(std::max(UniformOf(words[i]), 1e-7f)));
    const float v = UniformOf(words[i + 1]) * kTwoPi;
    out[i] = r * ScalarFunctions::Sin(v);
    out[i + 1] = r * ScalarFunctions::Cos(v);
  }
  return out;
}

// Calls store(i, number) for each of n elements; `numbers` computes them from a block.
template <typename Numbers, typename Store>
void Draw(const Seeds& seeds, int64_t n, Numbers numbers, Store store) {
  const Philox generator = GeneratorOf(seeds);
  for (int64_t i = 0; i < n; i += 4) {
    const auto four = numbers(generator.Block(static_cast<uint64_t>(i) / 4));
    for (int64_t k = 0; k < std::min<int64_t>(4, n - i); ++k)
      store(i + k, four[static_cast<size_t>(k)]);
  }
}

// ---- random_uniform, random_normal --------------------------------------------------------------

Status InferDrawn(InferContext& ctx, DType dtype, const Dims& attr) {
  if (!IsFloat(dtype) || DTypeBits(dtype) < 16)
    return UnsupportedError("random numbers of type {} are not supported", DTypeName(dtype));
  if (ctx.has(0)) {
    const DType t = ctx.in(0).dtype;
    if (t != DType::kI32 && t != DType::kI64 && t != DType::kUnknown)
      return ModelError("the shape is {}; must be i32 or i64", ctx.in(0).ToString());
  }
  NN_ASSIGN(const auto dims, SizesOf(ctx, attr, 0));
  if (dims) {
    ctx.set_out(0, Type(dtype, *dims));
    return {};
  }
  const auto length = KnownLength(ctx.in(0));
  if (length && *length > kMaxRank)
    return LimitError("the result has rank {}, which exceeds the limit", *length);
  Type y;
  y.dtype = dtype;
  if (length) {
    Dims symbols;
    for (int64_t i = 0; i < *length; ++i) symbols.push_back(ctx.NewSymbol());
    y.dims = std::move(symbols);
  }
  ctx.set_out(0, y);
  return {};
}

Status InferRandomUniform(InferContext& ctx) {
  const auto& a = ctx.attrs<RandomUniformAttrs>();
  if (!std::isfinite(a.high - a.low))
    return ModelError("the range from {} to {} is not finite", a.low, a.high);
  return InferDrawn(ctx, a.dtype, a.dims);
}

Status InferRandomNormal(InferContext& ctx) {
  const auto& a = ctx.attrs<RandomNormalAttrs>();
  if (!std::isfinite(a.mean) || !std::isfinite(a.scale))
    return ModelError("the mean {} or the scale {} is not finite", a.mean, a.scale);
  return InferDrawn(ctx, a.dtype, a.dims);
}

// numbers(block) * factor + offset.
template <typename Numbers>
Status EvalDrawn(EvalContext& ctx, const Seeds& seeds, Numbers numbers, float factor,
                 float offset) {
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  Draw(seeds, out.elements(), numbers,
       [&](int64_t i, float v) { out.SetDouble(i, v * factor + offset); });
  ctx.set_out(0, out.Finish());
  return {};
}

Status EvalRandomUniform(EvalContext& ctx) {
  const auto& a = ctx.attrs<RandomUniformAttrs>();
  return EvalDrawn(ctx, a, UniformsOf, a.high - a.low, a.low);
}

Status EvalRandomNormal(EvalContext& ctx) {
  const auto& a = ctx.attrs<RandomNormalAttrs>();
  return EvalDrawn(ctx, a, NormalsOf, a.scale, a.mean);
}

template <typename A>
std::optional<AxesChange> ChangeDrawnAxes(const Node& node, Operand changed, const AxisMap& map) {
  const Type& y = node.output()->type();
  if (node.input(0) != nullptr || !changed.is_output || !y.ranked() || !map.KeepsOrder(*y.dims))
    return std::nullopt;
  A a = node.attrs<A>();
  a.dims = map.Apply(*y.dims);
  return AxesChange{std::move(a), {}};
}

template <typename A>
Result<bool> AbsorbDrawnShape(Graph& graph, Node& node) {
  if (node.input(0) == nullptr) return false;
  A a = node.attrs<A>();
  NN_ASSIGN(auto dims, SizesOf(InferContext(node), a.dims, 0));
  if (!dims || !KnownBeforeRun(*dims)) return false;
  a.dims = *std::move(dims);
  graph.SetInputs(&node, {});
  node.set_attrs(std::move(a));
  return true;
}

// The declared shape, or a small one.
Domain DrawnDomain(const Node& node, size_t, std::span<const Domain>) {
  if (const auto dims = DimsOf(node.output())) return Exactly(*dims);
  const auto count = LengthOf(node.input(0));
  if (!count || *count < 0) return Between(1, 4);
  return Exactly(std::vector<int64_t>(static_cast<size_t>(*count), 2));
}

// ---- bernoulli ----------------------------------------------------------------------------------

Status InferBernoulli(InferContext& ctx) {
  const Type& p = ctx.in(0);
  if (p.dtype != DType::kUnknown && !IsFloat(p.dtype))
    return ModelError("the probabilities are {}; must be floating-point", p.ToString());
  Type y;
  y.dtype = ctx.attrs<BernoulliAttrs>().dtype;
  if (y.dtype == DType::kUnknown) y.dtype = p.dtype;
  if (y.dtype != DType::kUnknown && y.dtype != DType::kBool && !IsInteger(y.dtype) &&
      !IsFloat(y.dtype))
    return UnsupportedError("{} is not supported", DTypeName(y.dtype));
  y.dims = p.dims;
  ctx.set_out(0, y);
  return {};
}

Status EvalBernoulli(EvalContext& ctx) {
  const Tensor& p = ctx.in(0);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  Draw(ctx.attrs<BernoulliAttrs>(), out.elements(), UniformsOf,
       [&](int64_t i, float u) { out.SetInt(i, u < static_cast<float>(p.GetDouble(i)) ? 1 : 0); });
  ctx.set_out(0, out.Finish());
  return {};
}

std::optional<AxesChange> ChangeBernoulliAxes(const Node& node, Operand changed,
                                              const AxisMap& map) {
  const Type& p = node.input(0)->type();
  if (!p.ranked() || !map.KeepsOrder(*p.dims)) return std::nullopt;
  return SameAxesChange(node, changed, map, node.attrs());
}

Domain BernoulliDomain(const Node&, size_t, std::span<const Domain>) {
  return Between(0, 1);
}

// ---- multinomial --------------------------------------------------------------------------------

Status InferMultinomial(InferContext& ctx) {
  const auto& a = ctx.attrs<MultinomialAttrs>();
  const Type& x = ctx.in(0);
  if (x.dtype != DType::kUnknown && !IsFloat(x.dtype))
    return ModelError("the logits are {}; must be floating-point", x.ToString());
  if (x.ranked() && x.rank() != 2)
    return ModelError("the logits are {}; must be a matrix", x.ToString());
  if (a.dtype != DType::kI32 && a.dtype != DType::kI64)
    return ModelError("the classes are {}; must be i32 or i64", DTypeName(a.dtype));
  NN_RETURN_IF_ERROR(RequireOneNumber(ctx, 1));
  Dim count = Dim(a.count);
  if (ctx.has(1)) {
    const auto known = ctx.elements(1);
    count = known && known->size() == 1 ? (*known)[0] : ctx.NewSymbol();
  }
  if (count.is_const() && count.value() < 0)
    return ModelError("{} samples cannot be drawn", count.value());
  if (x.ranked() && x.dim(1) == 0) return ModelError("there are no classes to draw from");
  ctx.set_out(0, Type(a.dtype, {x.ranked() ? x.dim(0) : ctx.NewSymbol(), count}));
  return {};
}

// Running sums of the weights of one row.
void SumWeights(const Tensor& logits, int64_t begin, std::vector<double>& sums) {
  float largest = -std::numeric_limits<float>::infinity();
  const auto at = [&](size_t i) {
    return static_cast<float>(logits.GetDouble(begin + static_cast<int64_t>(i)));
  };
  for (size_t i = 0; i < sums.size(); ++i)
    if (std::isfinite(at(i))) largest = std::max(largest, at(i));
  double sum = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (std::isfinite(at(i))) sum += static_cast<double>(ScalarFunctions::Exp(at(i) - largest));
    sums[i] = sum;
  }
}

// In [0, 1), from a pair of words.
double WideUniformOf(uint32_t a, uint32_t b) {
  return static_cast<double>((uint64_t{b & 0xFFFFF} << 32) | a) * 0x1p-52;
}

Status EvalMultinomial(EvalContext& ctx) {
  const Tensor& logits = ctx.in(0);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const int64_t batch = out.dims()[0];
  const int64_t count = out.dims()[1];
  const Philox generator = GeneratorOf(ctx.attrs<MultinomialAttrs>());
  std::vector<double> sums(static_cast<size_t>(logits.dims()[1]));
  for (int64_t row = 0, k = 0; row < batch; ++row) {
    if (count > 0) SumWeights(logits, row * logits.dims()[1], sums);
    for (int64_t i = 0; i < count; ++i, ++k) {
      const auto words = generator.Block(static_cast<uint64_t>(k) / 2);
      const size_t pair = static_cast<size_t>(k % 2) * 2;
      const double target = WideUniformOf(words[pair], words[pair + 1]) * sums.back();
      const auto found = std::upper_bound(sums.begin(), sums.end() - 1, target);
      out.SetInt(k, found - sums.begin());
    }
  }
  ctx.set_out(0, out.Finish());
  return {};
}

Result<bool> AbsorbCount(Graph& graph, Node& node) {
  const Value* count = node.input(1);
  if (count == nullptr || !count->is_constant() || count->constant().elements() != 1 ||
      !IsInteger(count->dtype()))
    return false;
  MultinomialAttrs a = node.attrs<MultinomialAttrs>();
  a.count = count->constant().GetInt(0);
  graph.SetInputs(&node, {node.input(0)});
  node.set_attrs(a);
  return true;
}

Domain MultinomialDomain(const Node& node, size_t input, std::span<const Domain>) {
  if (input == 0) return {};
  const auto dims = DimsOf(node.output());
  if (!dims || dims->size() != 2) return Between(1, 4);
  return Between(static_cast<double>((*dims)[1]), static_cast<double>((*dims)[1]));
}

OpDef RandomOp(std::string_view name, std::string_view summary, const AttrsInfo* attrs,
               std::vector<OperandDef> inputs, decltype(OpDef::infer) infer,
               decltype(OpDef::eval) eval) {
  OpDef op;
  op.name = name;
  op.summary = summary;
  op.category = Category::kOther;
  op.attrs = attrs;
  op.inputs = std::move(inputs);
  op.infer = infer;
  op.eval = eval;
  return op;
}

// An operator whose result has the shape of an attribute or an input.
template <typename A>
OpDef DrawnOp(std::string_view name, std::string_view summary, decltype(OpDef::infer) infer,
              decltype(OpDef::eval) eval) {
  OpDef op = RandomOp(name, summary, AttrsInfoOf<A>(), {{"shape", Arity::kOptional}}, infer, eval);
  op.change_axes = ChangeDrawnAxes<A>;
  op.absorb_inputs = AbsorbDrawnShape<A>;
  return op;
}

}  // namespace

void RegisterRandomOps(OpRegistry& ops) {
  ops.Add(DrawnOp<RandomUniformAttrs>("random_uniform", "uniformly distributed random numbers",
                                      InferRandomUniform, EvalRandomUniform));
  ops.Add(DrawnOp<RandomNormalAttrs>("random_normal", "normally distributed random numbers",
                                     InferRandomNormal, EvalRandomNormal));
  OpDef bernoulli = RandomOp("bernoulli", "random zeros and ones with given probabilities of ones",
                             AttrsInfoOf<BernoulliAttrs>(), {{"p"}}, InferBernoulli, EvalBernoulli);
  bernoulli.change_axes = ChangeBernoulliAxes;
  ops.Add(std::move(bernoulli));
  OpDef multinomial =
      RandomOp("multinomial", "random classes with given logits", AttrsInfoOf<MultinomialAttrs>(),
               {{"logits"}, {"count", Arity::kOptional}}, InferMultinomial, EvalMultinomial);
  multinomial.absorb_inputs = AbsorbCount;
  ops.Add(std::move(multinomial));
}

void AddRandomDomains(DomainTable& domains) {
  domains["random_uniform"] = DrawnDomain;
  domains["random_normal"] = DrawnDomain;
  domains["bernoulli"] = BernoulliDomain;
  domains["multinomial"] = MultinomialDomain;
}

}  // namespace nn
