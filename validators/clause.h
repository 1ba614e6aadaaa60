// The requirements of the published documents, statement by statement, and the rules that check
// them.
#pragma once

#include <string_view>

namespace nn {

struct Clause {
  std::string_view where;        // document and section: "onnx.proto: NodeProto.op_type"
  std::string_view statement;    // the requirement, in short
  std::string_view rules;        // the ids of the rules that check it, separated by spaces; or ""
  std::string_view reason = {};  // why no rule checks it
};

}  // namespace nn
