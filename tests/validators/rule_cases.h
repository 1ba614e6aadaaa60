// Runs the examples of rules: for every rule a model that breaks it, and a near miss that does not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "validators/example.h"

namespace nn::test {

struct RuleCases {
  std::string_view prefix;  // of the rules' ids: "ONNX-"
  std::string file;         // to which an example is written, with the extension of the format
  std::string (*encode)(const std::string& text);
  RuleExamples examples;
  void (*prepare)(const std::string& folder) =
      nullptr;                                   // creates the files beside that of an example
  std::vector<std::string_view> elsewhere = {};  // rules that other tests break
};

// Tests every rule with the prefix: under the strict profile, the base of an example and the near
// miss have no findings, and the broken model breaks exactly the listed rules.
void CheckRuleCases(const RuleCases& cases);

// Text forms to files: protobuf text of a message of proto/, JSON by schemas/FILE. "# field N" in
// a protobuf text appends a message of that number, known or not; its bytes may follow in hex.
std::string EncodeProto(const std::string& message, const std::string& text);
std::string EncodeFlatbuffer(const std::string& file, const std::string& text);

}  // namespace nn::test
