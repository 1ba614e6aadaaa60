// skip_gram.
#include <algorithm>

#include "ops/families.h"
#include "ops/support/types.h"
#include "ops/text/text.h"
#include "ops/text/text_impl.h"

namespace nn {

std::span<const AttrField> SkipGramAttrs::Fields() {
  static const AttrField fields[] = {Field<&SkipGramAttrs::words>("words"),
                                     Field<&SkipGramAttrs::max_skip>("max_skip"),
                                     Field<&SkipGramAttrs::shorter>("shorter")};
  return fields;
}

namespace {

Status InferSkipGram(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireStrings(ctx, 0));
  const auto& a = ctx.attrs<SkipGramAttrs>();
  if (a.words < 1) return UnsupportedError("groups of {} words are unsupported", a.words);
  ctx.set_out(0, Type(DType::kString, Dims{ctx.NewSymbol()}));
  return {};
}

bool IsAsciiSpace(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// As the kernel splits: the first byte separates nothing, so that a word that begins with white
// space is dropped unless it is the last one.
std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    if (!IsAsciiSpace(text[i])) continue;
    if (i > begin && !IsAsciiSpace(text[begin])) words.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

// Calls fn(positions) for each group of `count` words in order of their positions, of which each
// is at most 1 + max_skip after the one before; a group before those that begin with it, or after
// them. Stops at an error. Of groups that do not become long enough none is begun.
template <typename Fn>
Status ForEachGroup(size_t words, const SkipGramAttrs& a, Fn fn) {
  const auto count = static_cast<size_t>(a.words);
  std::vector<size_t> group;
  size_t next = 0;  // the next word to append
  for (;;) {
    const size_t longest = a.shorter ? 1 : count - group.size();
    const bool has_room = group.size() < count && next + longest <= words;
    const bool is_near =
        group.empty() ||
        next - group.back() <= static_cast<uint64_t>(std::max<int64_t>(a.max_skip, -1)) + 1;
    if (has_room && is_near) {
      group.push_back(next++);
      continue;
    }
    if (group.empty()) return {};
    if (a.shorter || group.size() == count) NN_RETURN_IF_ERROR(fn(group));
    next = group.back() + 1;
    group.pop_back();
  }
}

Status EvalSkipGram(EvalContext& ctx) {
  const auto& a = ctx.attrs<SkipGramAttrs>();
  const std::vector<std::string>& strings = ctx.in(0).strings();
  if (strings.empty()) return ModelError("x has no string");
  const std::vector<std::string_view> words = WordsOf(strings[0]);
  std::vector<std::string> groups;
  uint64_t bytes = 0;
  if (words.size() >= static_cast<uint64_t>(a.words)) {
    const auto add = [&](const std::vector<size_t>& group) -> Status {
      std::string text;
      for (const size_t word : group) {
        if (word != group[0]) text += ' ';
        text += words[word];
      }
      bytes += text.size();
      NN_RETURN_IF_ERROR(CheckTextMemory(ctx, groups.size() + 1, bytes));
      groups.push_back(std::move(text));
      return {};
    };
    NN_RETURN_IF_ERROR(ForEachGroup(words.size(), a, add));
  }
  std::vector<int64_t> dims = {static_cast<int64_t>(groups.size())};
  ctx.set_out(0, Tensor(std::move(dims), std::move(groups)));
  return {};
}

}  // namespace

void RegisterSkipGramOps(OpRegistry& ops) {
  OpDef op;
  op.name = "skip_gram";
  op.summary = "groups of words of a text";
  op.category = Category::kOther;
  op.attrs = AttrsInfoOf<SkipGramAttrs>();
  op.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  op.infer = InferSkipGram;
  op.eval = EvalSkipGram;
  op.formats = {{"tflite",
                 "SKIP_GRAM",
                 1,
                 {{"words", "ngram_size"},
                  {"max_skip", "max_skip_size"},
                  {"shorter", "include_all_ngrams"}}}};
  ops.Add(std::move(op));
}

}  // namespace nn
