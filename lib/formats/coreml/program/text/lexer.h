// The words of the text form of ML Programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nn::coreml::program {

// Limit of Core ML: types, values and blocks of an ML Program as text, in one another.
inline constexpr int kMaxTextDepth = 32;

// A type, value or block in others, which counts as long as it exists.
class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) { ++depth_; }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

  bool is_too_deep() const { return depth_ > kMaxTextDepth; }

 private:
  int& depth_;
};

// Reads a text from the front. Space, line ends and tabs separate words.
class Lexer {
 public:
  // Must outlive this object.
  explicit Lexer(std::string_view text) : text_(text) {}

  bool AtEnd();
  // Whether the next character is `c`.
  bool Sees(char c);
  // Takes it if it is.
  bool Take(char c);
  bool Take(std::string_view token);  // "->"
  // kParse if it is another one.
  Status Expect(char c);
  Status Expect(std::string_view token);

  // A name of letters, digits, "_" and "@"; kParse if there is none.
  Result<std::string_view> Name();
  // The next name if there is one, without taking it; "" otherwise.
  std::string_view SeenName();
  // A number: decimal or hexadecimal, inf or nan, with a sign.
  Result<double> Real();
  Result<int64_t> Integer();
  // A text in quotes, in which a backslash comes before a quote, a backslash and "n".
  Result<std::string> String();

  // kParse, or kUnsupported: "line 3, column 7: " and a reason, about the next word.
  tl::unexpected<Error> Fail(std::string_view reason);
  tl::unexpected<Error> Refuse(std::string_view reason);

 private:
  void Skip();
  std::string Place();
  std::string_view Number();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace nn::coreml::program
