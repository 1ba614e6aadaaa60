// string_concat and string_split.
#include "ops/text/text.h"

#include <algorithm>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "base/text/unicode.h"
#include "ir/eval.h"
#include "ops/families.h"
#include "ops/support/broadcast.h"
#include "ops/text/text_impl.h"

namespace nn {

std::span<const AttrField> StringSplitAttrs::Fields() {
  static const AttrField fields[] = {Field<&StringSplitAttrs::delimiter>("delimiter"),
                                     Field<&StringSplitAttrs::max_splits>("max_splits")};
  return fields;
}

Status RequireStrings(const InferContext& ctx, size_t input) {
  const DType dtype = ctx.in(input).dtype;
  if (dtype == DType::kString || dtype == DType::kUnknown) return {};
  return ModelError("input {} ({}) is {}; must be str", input, ctx.node().op().inputs[input].name,
                    ctx.in(input).ToString());
}

Status CheckTextMemory(EvalContext& ctx, uint64_t strings, uint64_t bytes) {
  const auto objects = CheckedMul<uint64_t>(strings, sizeof(std::string));
  const auto total = objects ? CheckedAdd<uint64_t>(*objects, bytes) : std::nullopt;
  if (total && *total <= ctx.budget().bytes) return {};
  return LimitError("{} strings with {} bytes of text exceed the memory that remains, {}",
                    WithThousands(strings), WithThousands(bytes), HumanBytes(ctx.budget().bytes));
}

namespace {

// ---- string_concat ------------------------------------------------------------------------------

Status InferStringConcat(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireStrings(ctx, 0));
  NN_RETURN_IF_ERROR(RequireStrings(ctx, 1));
  Type y;
  y.dtype = DType::kString;
  NN_ASSIGN(y.dims, BroadcastInputs(ctx));
  ctx.set_out(0, std::move(y));
  return {};
}

Status EvalStringConcat(EvalContext& ctx) {
  const Tensor& a = ctx.in(0);
  const Tensor& b = ctx.in(1);
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const auto each = [&](auto fn) {
    ForEachBroadcast<2>(y.dims(), {a.dims(), b.dims()}, [&](int64_t i, const auto& at) {
      fn(static_cast<size_t>(i), a.strings()[static_cast<size_t>(at[0])],
         b.strings()[static_cast<size_t>(at[1])]);
    });
  };
  uint64_t bytes = 0;
  each([&](size_t, const std::string& s, const std::string& t) { bytes += s.size() + t.size(); });
  NN_RETURN_IF_ERROR(CheckTextMemory(ctx, static_cast<uint64_t>(y.elements()), bytes));
  each([&](size_t i, const std::string& s, const std::string& t) { y.strings()[i] = s + t; });
  ctx.set_out(0, y.Finish());
  return {};
}

// ---- string_split -------------------------------------------------------------------------------

Status InferStringSplit(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireStrings(ctx, 0));
  const int64_t most = ctx.attrs<StringSplitAttrs>().max_splits;
  if (most < -1) return ModelError("max_splits is {}; must be -1 or more", most);
  Type y;
  y.dtype = DType::kString;
  Type counts;
  counts.dtype = DType::kI64;
  counts.dims = ctx.in(0).dims;
  if (ctx.in(0).ranked()) {
    Dims dims = *ctx.in(0).dims;
    dims.push_back(ctx.NewSymbol());
    y.dims = std::move(dims);
  }
  ctx.set_out(0, std::move(y));
  if (ctx.output_count() > 1) ctx.set_out(1, std::move(counts));
  return {};
}

// The bytes of white space at the start.
size_t LeadingSpace(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Character c = FirstCharacter(text.substr(at));
    if (!c.code_point || !IsWhiteSpace(*c.code_point)) break;
    at += c.bytes;
  }
  return at;
}

// The bytes before the first white space.
size_t LeadingWord(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Character c = FirstCharacter(text.substr(at));
    if (c.code_point && IsWhiteSpace(*c.code_point)) break;
    at += c.bytes;
  }
  return at;
}

// Calls fn(part) for each part, in order.
template <typename Fn>
void ForEachPart(std::string_view text, const StringSplitAttrs& a, Fn fn) {
  const bool at_spaces = a.delimiter.empty();
  if (at_spaces) text.remove_prefix(LeadingSpace(text));
  for (int64_t splits = 0; !at_spaces || !text.empty(); ++splits) {
    const size_t end = splits == a.max_splits ? text.size()
                       : at_spaces            ? LeadingWord(text)
                                              : std::min(text.find(a.delimiter), text.size());
    fn(text.substr(0, end));
    if (end == text.size()) return;
    text.remove_prefix(end + a.delimiter.size());
    if (at_spaces) text.remove_prefix(LeadingSpace(text));
  }
}

Status EvalStringSplit(EvalContext& ctx) {
  const auto& a = ctx.attrs<StringSplitAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder counts, TensorBuilder::Create(DType::kI64, x.dims()));
  int64_t longest = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < x.strings().size(); ++i) {
    int64_t& count = counts.As<int64_t>()[i];
    count = 0;
    ForEachPart(x.strings()[i], a, [&](std::string_view) { ++count; });
    longest = std::max(longest, count);
    bytes += x.strings()[i].size();
  }
  std::vector<int64_t> dims = x.dims();
  dims.push_back(longest);
  const auto parts =
      CheckedMul(static_cast<uint64_t>(x.strings().size()), static_cast<uint64_t>(longest));
  if (!parts) return LimitError("the number of parts overflows");
  NN_RETURN_IF_ERROR(CheckTextMemory(ctx, *parts, bytes));
  NN_ASSIGN(TensorBuilder y, TensorBuilder::Create(DType::kString, std::move(dims)));
  for (size_t i = 0; i < x.strings().size(); ++i) {
    size_t next = i * static_cast<size_t>(longest);
    ForEachPart(x.strings()[i], a,
                [&](std::string_view part) { y.strings()[next++] = std::string(part); });
  }
  ctx.set_out(0, y.Finish());
  if (ctx.output_count() > 1) ctx.set_out(1, counts.Finish());
  return {};
}

}  // namespace

void RegisterTextOps(OpRegistry& ops) {
  OpDef op;
  op.name = "string_concat";
  op.summary = "strings, one after the other";
  op.category = Category::kOther;
  op.inputs = {{"a", Arity::kRequired, Elements::kAny}, {"b", Arity::kRequired, Elements::kAny}};
  op.infer = InferStringConcat;
  op.eval = EvalStringConcat;
  op.change_axes = ChangeBroadcastAxes;
  op.formats = {{"onnx", "StringConcat", 20, {}}};
  ops.Add(std::move(op));

  op = OpDef();
  op.name = "string_split";
  op.summary = "the parts of strings between delimiters";
  op.category = Category::kOther;
  op.attrs = AttrsInfoOf<StringSplitAttrs>();
  op.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  op.outputs = {{"y"}, {"counts", Arity::kOptional}};
  op.infer = InferStringSplit;
  op.eval = EvalStringSplit;
  ops.Add(std::move(op));
}

}  // namespace nn
