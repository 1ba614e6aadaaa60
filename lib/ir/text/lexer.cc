#include "ir/text/lexer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "base/text/from_chars.h"

namespace nn {
namespace {

bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/' ||
         c == ':';
}

}  // namespace

tl::unexpected<Error> Lexer::Fail(std::string_view what) const {
  size_t line = 1;
  size_t column = 1;
  for (size_t i = 0; i < pos_ && i < text_.size(); ++i) {
    if (text_[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return ParseError("line {}, column {}: {}", line, column, what);
}

void Lexer::SkipSpace() {
  while (pos_ < text_.size()) {
    if (text_[pos_] == '#') {
      while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
    } else if (std::isspace(static_cast<unsigned char>(text_[pos_]))) {
      ++pos_;
    } else {
      break;
    }
  }
}

bool Lexer::TakeWord(std::string_view word) {
  SkipSpace();
  if (text_.substr(pos_, word.size()) != word) return false;
  const size_t end = pos_ + word.size();
  if (end < text_.size() && IsWordChar(text_[end])) return false;
  pos_ = end;
  return true;
}

std::string_view Lexer::Word() {
  SkipSpace();
  const size_t begin = pos_;
  while (pos_ < text_.size() && IsWordChar(text_[pos_])) ++pos_;
  while (pos_ > begin && text_[pos_ - 1] == ':') --pos_;
  return text_.substr(begin, pos_ - begin);
}

Result<std::string> Lexer::String() {
  NN_RETURN_IF_ERROR(Expect('"'));
  std::string out;
  while (pos_ < text_.size() && text_[pos_] != '"') {
    char c = text_[pos_++];
    if (c == '\\' && pos_ < text_.size()) {
      c = text_[pos_++];
      if (c == 'n') {
        c = '\n';
      } else if (c == 't') {
        c = '\t';
      } else if (c == 'r') {
        c = '\r';
      } else if (c == 'x') {
        int v = 0;
        const auto r = std::from_chars(text_.data() + pos_,
                                       text_.data() + std::min(pos_ + 2, text_.size()), v, 16);
        if (r.ec != std::errc()) return Fail("expected two hexadecimal digits");
        pos_ = static_cast<size_t>(r.ptr - text_.data());
        c = static_cast<char>(v);
      }
    }
    out += c;
  }
  NN_RETURN_IF_ERROR(Expect('"'));
  return out;
}

std::string_view Lexer::Number() {
  SkipSpace();
  const size_t begin = pos_;
  if (pos_ < text_.size() && (text_[pos_] == '-' || text_[pos_] == '+')) ++pos_;
  while (pos_ < text_.size() &&
         (std::isalnum(static_cast<unsigned char>(text_[pos_])) || text_[pos_] == '.' ||
          ((text_[pos_] == '-' || text_[pos_] == '+') &&
           (text_[pos_ - 1] == 'e' || text_[pos_ - 1] == 'E'))))
    ++pos_;
  return text_.substr(begin, pos_ - begin);
}

std::string_view Lexer::DimText() {
  SkipSpace();
  const size_t begin = pos_;
  int depth = 0;
  bool quoted = false;
  for (; pos_ < text_.size(); ++pos_) {
    const char c = text_[pos_];
    if (c == '\\' && quoted) {
      ++pos_;
    } else if (c == '\'') {
      quoted = !quoted;
    } else if (!quoted && c == '(') {
      ++depth;
    } else if (!quoted && c == ')') {
      --depth;
    } else if (!quoted && depth == 0 && (c == ',' || c == ']')) {
      break;
    }
  }
  return text_.substr(begin, std::min(pos_, text_.size()) - begin);
}

Result<int64_t> ToInt(Lexer& lex, std::string_view text) {
  int64_t v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size())
    return lex.Fail(fmt::format("\"{}\" is not an integer", text));
  return v;
}

Result<double> ToReal(Lexer& lex, std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  double v = 0;
  const auto r = FromChars(text.data(), text.data() + text.size(), v);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size())
    return lex.Fail(fmt::format("\"{}\" is not a number", text));
  return v;
}

}  // namespace nn
