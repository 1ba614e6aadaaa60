// Makes each fault of a specification an error of the compiler.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "formats/common/spec/reader.h"

namespace nn::spec {

// A fault of a text, with its file.
struct FaultAt {
  char file[64] = {};
  Fault fault;
};

constexpr FaultAt At(const Text& text, const Fault& fault) {
  FaultAt found;
  found.fault = fault;
  for (size_t i = 0; i < text.file.size() && i + 1 < sizeof(found.file); ++i)
    found.file[i] = text.file[i];
  return found;
}

constexpr FaultAt FaultOf(const Text& text, const Vocabulary& words) {
  Reader reader(text.text, words);
  Row row;
  while (reader.Next(row)) {
  }
  return At(text, reader.fault());
}

// The texts of a format together list each operator in one place.
constexpr FaultAt RepetitionIn(std::span<const Text> texts) {
  List<std::string_view, 512> names;
  for (const Text& text : texts) {
    Rows rows(text.text);
    std::string_view last;
    while (!rows.Next().empty()) {
      const std::string_view name = Cursor(rows.row()).Word();
      if (name == last) continue;
      last = name;
      if (names.full()) return At(text, Fault(rows.line(), "too many operators", name));
      if (PositionOf({names.begin(), names.end()}, name) >= 0)
        return At(text, Fault(rows.line(), "operator listed twice", name));
      names.Add() = name;
    }
  }
  return {};
}

// An instance for a fault does not compile; the compiler prints the arguments.
template <FaultAt kFault>
struct Faultless {
  static_assert(kFault.fault.line == 0, "a specification has a fault: file, line, what, word");
  static constexpr bool value = kFault.fault.line == 0;
};

// Whether the texts of a format have no fault; does not compile otherwise.
template <const auto& kTexts, const auto& kWords>
consteval bool IsValid() {
  return []<size_t... i>(std::index_sequence<i...>) {
    return (Faultless<FaultOf(kTexts[i], kWords)>::value && ...);
  }
  (std::make_index_sequence<std::size(kTexts)>()) && Faultless<RepetitionIn(kTexts)>::value;
}

}  // namespace nn::spec
