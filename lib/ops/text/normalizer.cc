// string_normalizer.
#include <set>

#include "base/text/text.h"
#include "base/text/unicode.h"
#include "ops/families.h"
#include "ops/support/types.h"
#include "ops/text/text.h"
#include "ops/text/text_impl.h"

namespace nn {

std::span<const AttrField> StringNormalizerAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&StringNormalizerAttrs::to>("to"),
      Field<&StringNormalizerAttrs::case_sensitive>("case_sensitive"),
      Field<&StringNormalizerAttrs::stop_words>("stop_words")};
  return fields;
}

namespace {

Status InferStringNormalizer(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireStrings(ctx, 0));
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 1, 2));
  Dims dims = *ctx.in(0).dims;
  if (dims.size() == 2 && dims[0].is_const() && dims[0] != 1)
    return ModelError("x is {}; must be [C] or [1, C]", ctx.in(0).ToString());
  if (dims.back() == 0) return ModelError("x is {}, without strings", ctx.in(0).ToString());
  if (dims.size() == 2) dims[0] = 1;
  if (!ctx.attrs<StringNormalizerAttrs>().stop_words.empty()) dims.back() = ctx.NewSymbol();
  ctx.set_out(0, Type(DType::kString, std::move(dims)));
  return {};
}

Result<std::string> Checked(std::optional<std::string> mapped, const std::string& text) {
  if (!mapped) return ModelError("{} is not UTF-8", Quote(text));
  return *std::move(mapped);
}

Result<std::string> InCase(LetterCase to, const std::string& text) {
  if (to == LetterCase::kNone) return text;
  return Checked(to == LetterCase::kLower ? LowerCase(text) : UpperCase(text), text);
}

Result<std::string> ForComparison(const StringNormalizerAttrs& a, const std::string& text) {
  if (a.case_sensitive) return text;
  return Checked(FoldCase(text), text);
}

Status EvalStringNormalizer(EvalContext& ctx) {
  const auto& a = ctx.attrs<StringNormalizerAttrs>();
  const Tensor& x = ctx.in(0);
  std::set<std::string> stop_words;
  for (const std::string& word : a.stop_words) {
    NN_ASSIGN(std::string form, ForComparison(a, word));
    stop_words.insert(std::move(form));
  }
  std::vector<std::string> kept;
  for (const std::string& text : x.strings()) {
    if (!stop_words.empty()) {
      NN_ASSIGN(const std::string form, ForComparison(a, text));
      if (stop_words.contains(form)) continue;
    }
    NN_ASSIGN(std::string mapped, InCase(a.to, text));
    kept.push_back(std::move(mapped));
  }
  if (kept.empty()) kept.emplace_back();
  std::vector<int64_t> dims(x.dims().size(), 1);
  dims.back() = static_cast<int64_t>(kept.size());
  ctx.set_out(0, Tensor(std::move(dims), std::move(kept)));
  return {};
}

}  // namespace

void RegisterStringNormalizerOps(OpRegistry& ops) {
  OpDef op;
  op.name = "string_normalizer";
  op.summary = "strings in one case, without stop words";
  op.category = Category::kOther;
  op.attrs = AttrsInfoOf<StringNormalizerAttrs>();
  op.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  op.infer = InferStringNormalizer;
  op.eval = EvalStringNormalizer;
  ops.Add(std::move(op));
}

}  // namespace nn
