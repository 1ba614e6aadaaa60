// Type inference of string operators.
#include <algorithm>

#include "formats/onnx/infer.h"
#include "ops/support/types.h"

namespace nn::onnx {
namespace {

Status InferStringConcat(TypeContext& ctx) {
  std::optional<Dims> dims;
  if (ctx.dims(0) != nullptr && ctx.dims(1) != nullptr) {
    NN_ASSIGN(dims, BroadcastDims(*ctx.dims(0), *ctx.dims(1)));
  }
  ctx.Set(0, DType::kString, std::move(dims));
  return {};
}

Status InferRegexFullMatch(TypeContext& ctx) {
  ctx.Set(0, DType::kBool, ctx.in(0).tensor.dims);
  return {};
}

Status InferStringSplit(TypeContext& ctx) {
  std::optional<Dims> dims = ctx.in(0).tensor.dims;
  ctx.Set(1, DType::kI64, dims);
  if (dims) dims->push_back(ctx.Unknown());
  ctx.Set(0, DType::kString, std::move(dims));
  return {};
}

Status InferStringNormalizer(TypeContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.CheckRank(0, 1, 2));
  const Dims* x = ctx.dims(0);
  std::optional<Dims> dims;
  if (x != nullptr) {
    if (x->size() == 2 && (*x)[0].is_const() && (*x)[0] != 1)
      return ModelError("input 0 is {}; it must be [C] or [1, C]", ctx.in(0).ToString());
    dims = *x;
    dims->back() = ctx.Unknown();
  }
  ctx.Set(0, DType::kString, std::move(dims));
  return {};
}

Status InferTfIdfVectorizer(TypeContext& ctx) {
  const auto indexes = ctx.node().Ints("ngram_indexes");
  if (indexes.empty() || std::ranges::min(indexes) < 0)
    return ModelError("ngram_indexes must not be empty or have negative entries");
  NN_RETURN_IF_ERROR(ctx.CheckRank(0, 1, 2));
  std::optional<Dims> dims = ctx.in(0).tensor.dims;
  if (dims) dims->back() = Dim(std::ranges::max(indexes)) + 1;
  ctx.Set(0, DType::kF32, std::move(dims));
  return {};
}

}  // namespace

void AddTextInferences(InferTable& t) {
  t.Add("", "StringConcat", 20, InferStringConcat);
  t.Add("", "RegexFullMatch", 20, InferRegexFullMatch);
  t.Add("", "StringSplit", 20, InferStringSplit);
  t.Add("", "StringNormalizer", 10, InferStringNormalizer);
  t.Add("", "TfIdfVectorizer", 9, InferTfIdfVectorizer);
}

}  // namespace nn::onnx
