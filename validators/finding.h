// What a validator has to say about a model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nn {

enum class Severity : uint8_t { kNote, kWarning, kError };

// "note", "warning", "error".
std::string_view SeverityName(Severity severity);

// Where in a file. What is not known stays empty.
struct Location {
  std::string file;
  std::string element;             // path to the field: "graph.node[3].attribute[\"pads\"]"
  int64_t index = -1;              // of the operator, layer or tensor that `element` is part of
  std::optional<uint64_t> offset;  // of the first byte in the file
};

struct Finding {
  std::string rule;  // the id of the rule that is broken, "ONNX-012"
  Severity severity = Severity::kError;
  std::string message;  // what is wrong with this file, names quoted
  Location location;
  std::string hint;  // how to mend it; may be empty
};

// A rule as it is listed; the ids are stable.
struct RuleInfo {
  std::string_view id;
  Severity severity = Severity::kError;
  std::string_view statement;  // one sentence that is true of a file that keeps the rule
  std::string_view clause;     // where it is published
  bool vendor = false;         // the format owner's own loader or checker enforces it
  std::string_view hint = {};
  bool lint = false;  // advice that no published document gives; only the strict profile has it
};

}  // namespace nn
