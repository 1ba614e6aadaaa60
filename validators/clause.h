// The requirements of the published documents, statement by statement, and the rules that check
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nn {

struct Clause {
  std::string where;      // document and section: "onnx.proto: NodeProto.op_type"
  std::string statement;  // the requirement, in short
  std::string rules;      // the ids of the rules that check it, separated by spaces; or ""
  std::string reason;     // why no rule checks it
};

// Reads a text of validators/<format>/doc/*.clauses:
//
//   = SECTION
//   STATEMENT | RULES
//   STATEMENT ~ REASON
std::vector<Clause> ParseClauses(std::string_view text);

}  // namespace nn
