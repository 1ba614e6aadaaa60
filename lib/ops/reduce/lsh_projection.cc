#include "ops/reduce/lsh_projection.h"

#include <cstring>
#include <optional>
#include <vector>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "numeric/fingerprint.h"
#include "ops/families.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> LshProjectionAttrs::Fields() {
  static const AttrField fields[] = {Field<&LshProjectionAttrs::form>("form")};
  return fields;
}

namespace {

enum LshInput : size_t { kHash, kPoints, kLshWeights };

// Limit of TensorFlow Lite: bits of a sparse LSH_PROJECTION.
constexpr int64_t kMaxHashBits = 32;

Status RequireFloats(const InferContext& ctx, size_t input, std::string_view name) {
  if (!ctx.has(input) || ctx.in(input).dtype == DType::kUnknown) return {};
  if (ctx.in(input).dtype == DType::kF32) return {};
  return ModelError("{} is {}; must be f32", name, ctx.in(input).ToString());
}

Status InferLshProjection(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireFloats(ctx, kHash, "hash"));
  NN_RETURN_IF_ERROR(RequireFloats(ctx, kLshWeights, "weights"));
  NN_RETURN_IF_ERROR(RequireRank(ctx, kHash, 2, 2));
  NN_RETURN_IF_ERROR(RequireRank(ctx, kPoints, 1));
  const Type& x = ctx.in(kPoints);
  if (x.dtype != DType::kUnknown && DTypeBits(x.dtype) < 8)
    return UnsupportedError("elements of whole bytes are required, not {}", DTypeName(x.dtype));
  if (ctx.has(kLshWeights)) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, kLshWeights, 1, 1));
    const Dim &count = ctx.in(kLshWeights).dim(0), &rows = x.dim(0);
    if (count.is_const() && rows.is_const() && !(count == rows))
      return ModelError("there are {} weights for {} rows of x", count.value(), rows.value());
  }
  const Dim &functions = ctx.in(kHash).dim(0), &bits = ctx.in(kHash).dim(1);
  const bool dense = ctx.attrs<LshProjectionAttrs>().form == LshForm::kDense;
  if (!dense && bits.is_const() && bits.value() > kMaxHashBits)
    return ModelError("the hash has {} bits; at most {} fit in a number", bits.value(),
                      kMaxHashBits);
  ctx.set_out(0, Type(DType::kI32, {dense ? functions * bits : functions}));
  return {};
}

// Whether the weighted sum of the hashes of all rows is above 0. `key` is scratch memory.
bool IsAbove(float seed, const Tensor& x, const Tensor* weights, std::vector<std::byte>& key) {
  const auto rows = static_cast<size_t>(x.dim(0));
  const size_t bytes = rows == 0 ? 0 : x.byte_size() / rows;
  key.resize(sizeof(seed) + bytes);
  std::memcpy(key.data(), &seed, sizeof(seed));
  double sum = 0;
  for (size_t i = 0; i < rows; ++i) {
    if (bytes > 0) std::memcpy(key.data() + sizeof(seed), x.blob().data() + i * bytes, bytes);
    const auto hash = static_cast<double>(static_cast<int64_t>(Fingerprint64(key)));
    sum += weights == nullptr ? hash : static_cast<double>(weights->As<float>()[i]) * hash;
  }
  return sum > 0;
}

Status EvalLshProjection(EvalContext& ctx) {
  const LshForm form = ctx.attrs<LshProjectionAttrs>().form;
  const Tensor& x = ctx.in(kPoints);
  const Tensor* const weights = ctx.has(kLshWeights) ? &ctx.in(kLshWeights) : nullptr;
  const auto seeds = ctx.in(kHash).As<float>();
  const int64_t functions = ctx.in(kHash).dim(0), bits = ctx.in(kHash).dim(1);
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  std::vector<std::byte> key;
  for (int64_t f = 0; f < functions; ++f) {
    uint64_t signature = form == LshForm::kOffset ? static_cast<uint64_t>(f) : 0;
    for (int64_t b = 0; b < bits; ++b) {
      const int64_t at = f * bits + b;
      const bool bit = IsAbove(seeds[static_cast<size_t>(at)], x, weights, key);
      signature = (signature << 1) | (bit ? 1 : 0);
      if (form == LshForm::kDense) y.SetInt(at, bit ? 1 : 0);
    }
    if (form != LshForm::kDense) y.SetInt(f, static_cast<int64_t>(signature));
  }
  ctx.set_out(0, y.Finish());
  return {};
}

// Elements that are hashed.
std::optional<int64_t> LshHashedElements(const Node& node) {
  const auto hash = node.input(kHash)->type().const_dims();
  const auto x = node.input(kPoints)->type().const_dims();
  if (!hash || !x) return std::nullopt;
  std::vector<int64_t> counts = *hash;
  counts.insert(counts.end(), x->begin(), x->end());
  return CheckedElements(counts);
}

}  // namespace

void RegisterLshProjectionOps(OpRegistry& ops) {
  OpDef op;
  op.name = "lsh_projection";
  op.summary = "bits by hashes of rows, for locality-sensitive hashing";
  op.category = Category::kReduction;
  op.quant_rule = QuantRule::kStored;
  op.attrs = AttrsInfoOf<LshProjectionAttrs>();
  op.inputs = {{"hash"}, {"x"}, {"weights", Arity::kOptional}};
  op.infer = InferLshProjection;
  op.eval = EvalLshProjection;
  op.multiply_adds = LshHashedElements;
  ops.Add(std::move(op));
}

}  // namespace nn
