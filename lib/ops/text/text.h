// Operators on strings. A string is a sequence of bytes, UTF-8 where an operator reads characters.
//
// string_concat(a, b): a followed by b; both are broadcast (ONNX StringConcat-20).
//
// string_split(x) -> y, counts: the parts of each string. y has a new last axis, as long as the
// largest number of parts; shorter lists are padded with empty strings. counts, i64, has the number
// of parts of each string (ONNX StringSplit-20).
//
// regex_full_match(x): whether the pattern, in the syntax of RE2, matches the whole string (ONNX
// RegexFullMatch-20).
//
// string_normalizer(x): x, [C] or [1, C], without stop words and in one case (ONNX
// StringNormalizer-10). One empty string remains if all are stop words.
//
// skip_gram(x): the groups of words of the first string of x, each with spaces between its words
// (TensorFlow Lite SKIP_GRAM). A word of a group is at most max_skip words away from the one
// before. A text with fewer words than a group has none. y is [groups].
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attrs.h"

namespace nn {

struct StringSplitAttrs {
  // Empty: runs of white space separate the parts, and those at the ends separate nothing.
  std::string delimiter;
  // The last part has what follows that many splits, with the white space at its end; -1: no limit.
  int64_t max_splits = -1;
  static std::span<const AttrField> Fields();
};

struct SkipGramAttrs {
  int64_t words = 0;  // of a group; 1 or more
  int64_t max_skip = 0;
  bool shorter = false;  // groups of fewer words too
  static std::span<const AttrField> Fields();
};

struct RegexAttrs {
  std::string pattern;
  static std::span<const AttrField> Fields();
};

enum class LetterCase : uint8_t { kNone, kLower, kUpper };
template <>
struct EnumNames<LetterCase> {
  static constexpr std::string_view kNames[] = {"none", "lower", "upper"};
};

struct StringNormalizerAttrs {
  LetterCase to = LetterCase::kNone;  // base/text/unicode.h has the mappings
  bool case_sensitive = false;        // when stop words are compared
  std::vector<std::string> stop_words;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
