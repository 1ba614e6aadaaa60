#include "formats/coreml/program/text/lexer.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/text/text.h"

namespace nn::coreml::program {
namespace {

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '@';
}

bool IsNumberCharacter(char c) {
  return IsNameCharacter(c) || c == '.' || c == '-' || c == '+';
}

}  // namespace

void Lexer::Skip() {
  while (at_ < text_.size() &&
         std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
    ++at_;
}

bool Lexer::AtEnd() {
  Skip();
  return at_ == text_.size();
}

bool Lexer::Sees(char c) {
  Skip();
  return at_ < text_.size() && text_[at_] == c;
}

bool Lexer::Take(char c) {
  if (!Sees(c)) return false;
  ++at_;
  return true;
}

bool Lexer::Take(std::string_view token) {
  Skip();
  if (!text_.substr(at_).starts_with(token)) return false;
  at_ += token.size();
  return true;
}

Status Lexer::Expect(char c) {
  return Expect(std::string_view(&c, 1));
}

Status Lexer::Expect(std::string_view token) {
  if (Take(token)) return {};
  return Fail(fmt::format("expected {}", Quote(token)));
}

std::string_view Lexer::SeenName() {
  Skip();
  size_t end = at_;
  while (end < text_.size() && IsNameCharacter(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

Result<std::string_view> Lexer::Name() {
  const std::string_view name = SeenName();
  if (name.empty()) return Fail("expected a name");
  at_ += name.size();
  return name;
}

std::string_view Lexer::Number() {
  Skip();
  size_t end = at_;
  while (end < text_.size() && IsNumberCharacter(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

Result<double> Lexer::Real() {
  const std::string number(Number());
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || end != number.c_str() + number.size()) return Fail("expected a number");
  at_ += number.size();
  return value;
}

Result<int64_t> Lexer::Integer() {
  const std::string_view number = Number();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size())
    return Fail("expected an integer");
  at_ += number.size();
  return value;
}

Result<std::string> Lexer::String() {
  NN_RETURN_IF_ERROR(Expect('"'));
  std::string out;
  for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    char c = text_[at_];
    if (c == '\\' && at_ + 1 < text_.size()) {
      c = text_[++at_];
      if (c == 'n') c = '\n';
    }
    out += c;
  }
  if (at_ == text_.size()) return Fail("the text has no end");
  ++at_;
  if (!IsUtf8(out)) return Fail("the text is not UTF-8");
  return out;
}

std::string Lexer::Place() {
  Skip();
  const std::string_view before = text_.substr(0, at_);
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t begin = before.rfind('\n') + 1;  // 0 if there is none
  return fmt::format("line {}, column {}", line, at_ - begin + 1);
}

tl::unexpected<Error> Lexer::Fail(std::string_view reason) {
  return ParseError("{}: {}", Place(), reason);
}

tl::unexpected<Error> Lexer::Refuse(std::string_view reason) {
  return UnsupportedError("{}: {}", Place(), reason);
}

}  // namespace nn::coreml::program
