// What the published documents say, statement by statement, and what becomes of it here.
#pragma once

#include <string_view>

namespace nn {

struct Clause {
  std::string_view where;        // document and place: "onnx.proto: NodeProto.op_type"
  std::string_view statement;    // what is required there, in short
  std::string_view rules;        // the ids of those that check it, with spaces between them; or ""
  std::string_view reason = {};  // why no rule can: what the file alone does not tell
};

}  // namespace nn
