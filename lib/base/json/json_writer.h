// Streaming JSON output for documents too large to hold in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nn {

// JsonText() (base/json/json.h) on one line, without a newline.
std::string JsonLine(const nlohmann::ordered_json& json);

// Writes values in document order, with a Key() before each value of an object. Indents by two
// spaces.
class JsonWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  explicit JsonWriter(Sink sink) : sink_(std::move(sink)) {}

  void BeginObject() { Begin('{', false); }
  void EndObject() { End('}'); }
  // With `one_line`, all elements are on one line.
  void BeginArray(bool one_line = false) { Begin('[', one_line); }
  void EndArray() { End(']'); }
  void Key(std::string_view name);

  // Requires well-formed UTF-8.
  void String(std::string_view text);
  void Bool(bool value) { Raw(value ? "true" : "false"); }
  // Integers beyond 2^53, which a double cannot represent exactly, are written as strings.
  void Int(int64_t value);
  void Uint(uint64_t value);
  // The shortest number that parses to the same bits. Values that JSON cannot represent become
  // strings: "NaN", "Infinity", "-Infinity", and the bits of any other NaN, "0x7fc00001".
  void Float(float value);
  void Double(double value);
  // Writes a number or bool according to its type.
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
  // Writes the bytes as a Base64 string.
  void Bytes(std::span<const std::byte> bytes);

  // The JSON pointer (RFC 6901) of the next value.
  std::string Place() const;

  // Writes a final newline and flushes to the sink.
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
    uint64_t count = 0;    // values or members so far
    std::string key = {};  // of the last member
  };
  Sink sink_;
  std::string pending_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace nn
