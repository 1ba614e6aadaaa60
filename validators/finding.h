// Findings of a validator about a model, and the rules that they break.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nn {

enum class Severity : uint8_t { kNote, kWarning, kError };

// "note", "warning", "error".
std::string_view SeverityName(Severity severity);

// Where in a file. Unknown parts stay empty.
struct Location {
  std::string file;
  std::string element;             // path to the field: "graph.node[3].attribute[\"pads\"]"
  int64_t index = -1;              // of the operator, layer or tensor that `element` is part of
  std::optional<uint64_t> offset;  // of the first byte in the file
};

struct Finding {
  std::string rule;  // the id of the broken rule, "ONNX-OP-004"
  Severity severity = Severity::kError;
  std::string message;  // what is wrong with this file; names are quoted
  Location location;
  std::string hint;  // how to fix it; may be empty
};

// The description of a rule. Ids are stable.
struct RuleInfo {
  std::string_view id;
  Severity severity = Severity::kError;
  std::string_view statement;  // one sentence, true of a file that follows the rule
  std::string_view clause;     // where the rule is published
  bool vendor = false;         // the format owner's own loader or checker enforces it
  std::string_view hint = {};  // how to fix a file that breaks the rule
  bool lint = false;           // advice beyond the published documents; only in the strict profile
};

}  // namespace nn
