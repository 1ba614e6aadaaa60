// The words of the text form (ir/text/text.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nn {

// A lexer that tracks the position for messages.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  tl::unexpected<Error> Fail(std::string_view what) const;

  void SkipSpace();
  char Peek() {
    SkipSpace();
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  bool AtEnd() { return Peek() == '\0'; }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++pos_;
    return true;
  }
  Status Expect(char c) {
    if (Take(c)) return {};
    return Fail(fmt::format("expected '{}'", c));
  }
  // Consumes the next word if it is `word`.
  bool TakeWord(std::string_view word);
  // Letters, digits and _ . / : ; empty if there are none. A trailing ':' is not included.
  std::string_view Word();
  Result<std::string> String();
  // The text of a number: sign, digits, point, exponent, inf, nan.
  std::string_view Number();
  // The text up to a ',' or ']' outside parentheses and quotes: one dimension.
  std::string_view DimText();

 private:
  std::string_view text_;
  size_t pos_ = 0;
};

Result<int64_t> ToInt(Lexer& lex, std::string_view text);
// Also inf, -inf and nan.
Result<double> ToReal(Lexer& lex, std::string_view text);

// Parses "item, item]" after the opening bracket.
template <typename Fn>
Status ListRest(Lexer& lex, Fn item) {
  if (lex.Take(']')) return {};
  while (true) {
    NN_RETURN_IF_ERROR(item());
    if (lex.Take(']')) return {};
    NN_RETURN_IF_ERROR(lex.Expect(','));
  }
}

// A number or a list of numbers.
template <typename T>
Result<std::vector<T>> Numbers(Lexer& lex) {
  std::vector<T> out;
  const auto one = [&]() -> Status {
    NN_ASSIGN(const double v, ToReal(lex, lex.Number()));
    out.push_back(static_cast<T>(v));
    return {};
  };
  if (lex.Take('[')) {
    NN_RETURN_IF_ERROR(ListRest(lex, one));
  } else {
    NN_RETURN_IF_ERROR(one());
  }
  return out;
}

}  // namespace nn
