// Runs the examples of rules: for every rule a model that breaks it, and a near miss that does not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "validators/example.h"

namespace nn::test {

struct RuleCases {
  std::string_view prefix;  // of the rules' ids: "ONNX-"
  std::string file;         // that an example is written to; its extension is the format's
  std::string (*encode)(const std::string& text);
  RuleExamples examples;
  void (*prepare)(const std::string& folder) = nullptr;  // makes files that lie beside an example's
  std::vector<std::string_view> elsewhere = {};          // rules that other tests break
};

// Breaks every rule that has the prefix: under the strict profile nothing is found in the base of
// an example, in the broken model its rules and no others, in the near miss nothing.
void CheckRuleCases(const RuleCases& cases);

// Text forms to files: protobuf text of a message of proto/, JSON by schemas/FILE. "# field N" in
// a protobuf text appends a message of that number, known or not; its bytes may follow in hex.
std::string EncodeProto(const std::string& message, const std::string& text);
std::string EncodeFlatbuffer(const std::string& file, const std::string& text);

}  // namespace nn::test
