// Cases of rules: for every rule a model that breaks it, and a near miss that does not.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nn::test {

// Replaces the first occurrence of `from`, which there must be.
struct Edit {
  std::string from;
  std::string to;
};

struct RuleCase {
  // The rule of the case, and after it those that cannot but break with it.
  std::string_view rules;
  const char* base;          // a model in text form
  std::vector<Edit> broken;  // make it break exactly `rules`
  std::vector<Edit> near;    // change it alike, and nothing is found in it
};

struct RuleCases {
  std::string_view prefix;  // of the rules' ids: "ONNX-"
  std::string file;         // that a case is written to; its extension is the format's
  std::string (*encode)(const std::string& text);
  std::vector<std::vector<RuleCase>> cases;
  void (*prepare)(const std::string& folder) = nullptr;  // makes files that lie beside a case's
  std::vector<std::string_view> elsewhere = {};          // rules whose cases are in other tests
};

// Runs the cases under the strict profile, and checks that every rule with the prefix has one.
void CheckRuleCases(const RuleCases& cases);

// Text forms to files: protobuf text of a message of proto/, JSON by schemas/FILE. "# field N" in
// a protobuf text appends a message of that number, known or not; its bytes may follow in hex.
std::string EncodeProto(const std::string& message, const std::string& text);
std::string EncodeFlatbuffer(const std::string& file, const std::string& text);

}  // namespace nn::test
