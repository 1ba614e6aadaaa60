// The lexical part of specifications (row.h): rows, words, numbers and lists of types.
#pragma once

#include <cstddef>
#include <string_view>

namespace nn::spec {

constexpr bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A position in a text. Pointers, because compilers interpret them faster than string_view.
class Cursor {
 public:
  constexpr explicit Cursor(std::string_view text)
      : start_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  constexpr bool AtEnd() const { return at_ == end_; }
  constexpr char Peek() const { return at_ == end_ ? '\0' : *at_; }
  constexpr std::string_view Rest() const { return From(at_, end_); }
  constexpr size_t position() const { return static_cast<size_t>(at_ - start_); }

  constexpr void Skip() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n')) ++at_;
  }
  constexpr bool Take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  constexpr bool Take(std::string_view token) {
    if (Peek() != token[0] || !Rest().starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  constexpr std::string_view Word() {
    const char* const start = at_;
    while (at_ != end_ && IsWordChar(*at_)) ++at_;
    return From(start, at_);
  }
  // The text up to one of two characters, or up to the end.
  constexpr std::string_view Until(char a, char b) {
    const char* const start = at_;
    while (at_ != end_ && *at_ != a && *at_ != b) ++at_;
    return From(start, at_);
  }
  // -1 if there is none.
  constexpr int Number() {
    if (Peek() < '0' || Peek() > '9') return -1;
    int value = 0;
    for (; Peek() >= '0' && Peek() <= '9' && value < 100'000; ++at_)
      value = 10 * value + (*at_ - '0');
    return value;
  }

 private:
  static constexpr std::string_view From(const char* start, const char* end) {
    return {start, static_cast<size_t>(end - start)};
  }

  const char* start_;
  const char* at_;
  const char* end_;
};

// Calls visit(around, word) for each type of a list, which returns whether to go on: ("", "f32"),
// ("seq(map(i64:", "f32"). Returns the part at which the visit ends, because it refuses the word or
// because the part has no such form; "" if it has visited all types.
template <typename Visit>
constexpr std::string_view EachType(std::string_view list, const Visit& visit) {
  Cursor in(list);
  size_t around = 0;  // where the enclosing type begins
  int depth = 0;
  for (;;) {
    while (in.Take(' ') || in.Take('\n') || in.Take(',')) {
    }
    if (in.AtEnd()) break;
    if (depth == 0) around = in.position();
    if (in.Take(')')) {
      if (--depth < 0 || (depth > 0 && in.Peek() != ')')) return list;
      continue;
    }
    const size_t start = in.position();
    const std::string_view word = in.Word();
    if (word.empty()) return in.Rest();
    if (in.Take('(')) {
      const bool is_map = word == "map";
      if (!is_map && word != "seq" && word != "opt" && word != "sparse_tensor" && word != "state")
        return word;
      if (is_map && (in.Word().empty() || !in.Take(':'))) return word;
      ++depth;
      continue;
    }
    // What encloses several types is written once: "seq(f32 f64)".
    const size_t open = depth > 0 ? list.substr(0, start).find_last_of("(:") + 1 : around;
    if (!visit(list.substr(around, open - around), word)) return word;
  }
  return depth == 0 ? std::string_view() : list;
}

// Whether a text is a number: "1", "-1", "0.75", "1e-5".
constexpr bool IsNumber(std::string_view text) {
  Cursor in(text);
  in.Take('-');
  if (in.Number() < 0 || (in.Take('.') && in.Number() < 0)) return false;
  if (in.Take('e')) {
    in.Take('-');
    if (in.Number() < 0) return false;
  }
  return in.AtEnd();
}

// Whether a list such as "up|down" has a word.
constexpr bool HasChoice(std::string_view choices, std::string_view word) {
  for (Cursor in(choices); !in.AtEnd(); in.Take('|')) {
    if (in.Until('|', '|') == word) return true;
  }
  return false;
}

// The rows of a text, one by one: their lines.
class Rows {
 public:
  constexpr explicit Rows(std::string_view text) : in_(text) {}

  // "" at the end.
  constexpr std::string_view Next() {
    for (row_ = {}; row_.empty() && !in_.AtEnd();) {
      line_ = next_line_;
      const std::string_view rest = in_.Rest();
      const bool skipped = in_.Peek() == '\n' || in_.Peek() == '#';
      size_t size = 0;
      do {
        size += in_.Until('\n', '\n').size() + 1;
        in_.Take('\n');
        ++next_line_;
      } while (!skipped && in_.Peek() == ' ');
      if (!skipped) row_ = rest.substr(0, size - 1);
    }
    return row_;
  }
  constexpr std::string_view row() const { return row_; }
  constexpr int line() const { return line_; }

 private:
  Cursor in_;
  std::string_view row_;
  int line_ = 0;
  int next_line_ = 1;
};

}  // namespace nn::spec
