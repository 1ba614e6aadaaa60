// JSON text written piece by piece, for documents that are too large to be held.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nn {

// Calls must come in the order of the text: a Key() before each value of an object. Indented by two
// spaces.
class JsonWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  explicit JsonWriter(Sink sink) : sink_(std::move(sink)) {}

  void BeginObject() { Begin('{', false); }
  void EndObject() { End('}'); }
  // With `one_line`, all elements follow on the same line.
  void BeginArray(bool one_line = false) { Begin('[', one_line); }
  void EndArray() { End(']'); }
  void Key(std::string_view name);

  // Requires well-formed UTF-8.
  void String(std::string_view text);
  void Bool(bool value) { Raw(value ? "true" : "false"); }
  // Integers that a double does not hold, those beyond 2^53, are strings of digits.
  void Int(int64_t value);
  void Uint(uint64_t value);
  // The shortest number that reads as the same bits. What JSON has no number for is a string:
  // "NaN", "Infinity", "-Infinity", and the bits of any other NaN, "0x7fc00001".
  void Float(float value);
  void Double(double value);
  // One of the above by the type of a number.
  template <typename T>
  void Number(T value) {
    if constexpr (std::is_same_v<T, bool>)
      Bool(value);
    else if constexpr (std::is_same_v<T, float>)
      Float(value);
    else if constexpr (std::is_same_v<T, double>)
      Double(value);
    else if constexpr (std::is_signed_v<T>)
      Int(value);
    else
      Uint(value);
  }
  // A string of Base64.
  void Bytes(std::span<const std::byte> bytes);

  // Where the value that comes next will stand: a JSON pointer (RFC 6901).
  std::string Place() const;

  // Ends the text with a newline and gives the sink what is left.
  void Finish();

 private:
  void Begin(char bracket, bool one_line);
  void End(char bracket);
  void Separate();
  void Raw(std::string_view text);
  void FlushIfFull();

  struct Level {
    bool one_line;
    bool is_array;
    uint64_t count = 0;    // of values or members that were begun
    std::string key = {};  // the last
  };
  Sink sink_;
  std::string pending_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace nn
