// Examples of rules: for every rule a model that breaks it, and one changed alike that does not.
// nnvalidate --explain shows them, and the tests run them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nn {

// Replaces the first occurrence of `from`, which there must be.
struct Edit {
  std::string from;
  std::string to;
};

// Puts text in front of other text.
inline Edit Before(const std::string& place, const std::string& text) {
  return {place, text + " " + place};
}

struct RuleExample {
  // The rule of the example, and after it those that cannot but break with it.
  std::string_view rules;
  const char* base;          // a model without findings, in text form
  std::vector<Edit> broken;  // make it break exactly `rules`
  std::vector<Edit> near;    // change it alike, and nothing is found in it

  // The id of the rule that it is an example of.
  std::string_view rule() const { return rules.substr(0, rules.find(' ')); }
};

// The examples of a format.
struct RuleExamples {
  std::vector<RuleExample> list;
  std::string_view language;  // of the texts: "JSON by schemas/tflite.fbs"
  // Writes abbreviations of the texts in full; null if there are none.
  std::string (*expand)(const std::string& text) = nullptr;
};

std::vector<RuleExample> JoinExamples(std::vector<std::vector<RuleExample>> lists);

// The text of a base with the edits made, in full. kInternal if one does not fit.
Result<std::string> ExampleText(const RuleExamples& examples, const char* base,
                                const std::vector<Edit>& edits);

// The lines of `text` that are not in `base`, marked "+ ", and the other way round, "- ", in their
// order.
std::string ChangedLines(std::string_view base, std::string_view text);

}  // namespace nn
