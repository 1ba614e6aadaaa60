// regex_full_match.
#include <re2/re2.h>

#include "base/text/text.h"
#include "ops/families.h"
#include "ops/math/elementwise/impl.h"
#include "ops/text/text.h"
#include "ops/text/text_impl.h"

namespace nn {

std::span<const AttrField> RegexAttrs::Fields() {
  static const AttrField fields[] = {Field<&RegexAttrs::pattern>("pattern")};
  return fields;
}

namespace {

// RE2 matches in time linear in the text, whatever the pattern, and limits the size of compiled
// patterns. It would write errors to standard error.
RE2::Options RegexOptions() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

Status CheckRegex(const RE2& regex, const std::string& pattern) {
  if (regex.ok()) return {};
  return ModelError("the pattern {} is not a regular expression of RE2: {}", Quote(pattern),
                    regex.error());
}

Status InferRegexFullMatch(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireStrings(ctx, 0));
  const std::string& pattern = ctx.attrs<RegexAttrs>().pattern;
  NN_RETURN_IF_ERROR(CheckRegex(RE2(pattern, RegexOptions()), pattern));
  Type y;
  y.dtype = DType::kBool;
  y.dims = ctx.in(0).dims;
  ctx.set_out(0, std::move(y));
  return {};
}

Status EvalRegexFullMatch(EvalContext& ctx) {
  const std::string& pattern = ctx.attrs<RegexAttrs>().pattern;
  const RE2 regex(pattern, RegexOptions());
  NN_RETURN_IF_ERROR(CheckRegex(regex, pattern));
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const std::vector<std::string>& strings = ctx.in(0).strings();
  for (size_t i = 0; i < strings.size(); ++i)
    y.As<uint8_t>()[i] = RE2::FullMatch(strings[i], regex) ? 1 : 0;
  ctx.set_out(0, y.Finish());
  return {};
}

}  // namespace

void RegisterRegexOps(OpRegistry& ops) {
  OpDef op;
  op.name = "regex_full_match";
  op.summary = "whether a regular expression matches whole strings";
  op.category = Category::kOther;
  op.attrs = AttrsInfoOf<RegexAttrs>();
  op.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  op.infer = InferRegexFullMatch;
  op.eval = EvalRegexFullMatch;
  op.change_axes = ChangeUnaryAxes;
  ops.Add(std::move(op));
}

}  // namespace nn
