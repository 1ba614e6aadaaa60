#include "base/json/json_writer.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json/base64.h"
#include "base/json/json.h"
#include "base/text/from_chars.h"
#include "base/text/text.h"
#include "base/text/unicode.h"

namespace nn {
namespace {

constexpr size_t kFlushAt = size_t{1} << 16;
constexpr uint64_t kExactInteger = uint64_t{1} << 53;

template <typename T>
std::string NumberText(T value) {
  char buffer[32];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
  // "-0" would be an integer.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <typename T, typename Bits>
std::string RealText(T value) {
  const auto bits = std::bit_cast<Bits>(value);
  if (bits == std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN())) return "\"NaN\"";
  if (std::isnan(value)) return fmt::format("\"0x{:0{}x}\"", bits, sizeof(T) * 2);
  if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  std::string text = NumberText(value);
  if constexpr (sizeof(T) < sizeof(double)) {
    // Readers may round to a double first; a few short decimals do not survive that.
    double read = 0;
    FromChars(text.data(), text.data() + text.size(), read);
    if (static_cast<T>(read) != value) return NumberText(static_cast<double>(value));
  }
  return text;
}

// The bytes of the character at i if it is to be escaped, else 0. Those of ASCII below U+0020 are
// escaped already in strings, and separate values outside.
size_t EscapedLength(std::string_view text, size_t i) {
  return static_cast<uint8_t>(text[i]) < 0x20 ? 0 : ControlLength(text.substr(i));
}

}  // namespace

std::string EscapeJsonControls(std::string json) {
  size_t first = 0;
  while (first < json.size() && EscapedLength(json, first) == 0) ++first;
  if (first == json.size()) return json;
  std::string out = json.substr(0, first);
  for (size_t i = first; i < json.size();) {
    const size_t n = EscapedLength(json, i);
    if (n == 0) {
      out += json[i++];
      continue;
    }
    out += fmt::format("\\u{:04x}", *FirstCharacter(std::string_view(json).substr(i)).code_point);
    i += n;
  }
  return out;
}

std::string JsonLine(const nlohmann::ordered_json& json) {
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  return EscapeJsonControls(json.dump(-1, ' ', false, kReplace));
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  Level& level = levels_.back();
  if (level.count != 0) pending_ += level.one_line ? ", " : ",";
  if (!level.one_line) pending_.append("\n").append(2 * levels_.size(), ' ');
  ++level.count;
}

void JsonWriter::Raw(std::string_view text) {
  Separate();
  pending_ += text;
  FlushIfFull();
}

void JsonWriter::FlushIfFull() {
  if (pending_.size() < kFlushAt) return;
  sink_(pending_);
  pending_.clear();
}

void JsonWriter::Begin(char bracket, bool one_line) {
  Separate();
  pending_ += bracket;
  levels_.push_back({one_line, bracket == '['});
}

void JsonWriter::End(char bracket) {
  const bool break_line = levels_.back().count != 0 && !levels_.back().one_line;
  levels_.pop_back();
  if (break_line) pending_.append("\n").append(2 * levels_.size(), ' ');
  pending_ += bracket;
  FlushIfFull();
}

void JsonWriter::Key(std::string_view name) {
  String(name);
  levels_.back().key = name;
  pending_ += ": ";
  after_key_ = true;
}

std::string JsonWriter::Place() const {
  std::string out;
  for (size_t i = 0; i < levels_.size(); ++i) {
    const Level& level = levels_[i];
    // Outer levels have already counted the value that is being written.
    const uint64_t begun = i + 1 < levels_.size() ? 1 : 0;
    out += '/';
    out += level.is_array ? std::to_string(level.count - begun) : JsonPointerToken(level.key);
  }
  return out;
}

void JsonWriter::String(std::string_view text) {
  Raw(EscapeJsonControls(nlohmann::json(text).dump()));
}

void JsonWriter::Int(int64_t value) {
  if (value < 0 && -static_cast<uint64_t>(value) <= kExactInteger)
    Raw(std::to_string(value));
  else if (value < 0)
    Raw(fmt::format("\"{}\"", value));
  else
    Uint(static_cast<uint64_t>(value));
}

void JsonWriter::Uint(uint64_t value) {
  Raw(value <= kExactInteger ? std::to_string(value) : fmt::format("\"{}\"", value));
}

void JsonWriter::Float(float value) {
  Raw(RealText<float, uint32_t>(value));
}

void JsonWriter::Double(double value) {
  Raw(RealText<double, uint64_t>(value));
}

void JsonWriter::Bytes(std::span<const std::byte> bytes) {
  constexpr size_t kStep = 3 * 4096;  // a multiple of 3: no padding between pieces
  Separate();
  pending_ += '"';
  for (size_t at = 0; at < bytes.size(); at += kStep) {
    pending_ += Base64(bytes.subspan(at, std::min(kStep, bytes.size() - at)));
    FlushIfFull();
  }
  pending_ += '"';
  FlushIfFull();
}

void JsonWriter::Finish() {
  pending_ += '\n';
  sink_(pending_);
  pending_.clear();
}

}  // namespace nn
