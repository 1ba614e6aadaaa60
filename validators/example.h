// Examples of rules: for every rule a model that breaks it, and a similar one that does not.
// nnvalidate --explain shows them, and the tests run them.
// Design: docs/design/057-rules-and-examples.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nn {

// Replaces the first occurrence of `from`, which must exist.
struct Edit {
  std::string from;
  std::string to;
};

struct RuleExample {
  // The rule of the example, followed by the rules that the example breaks as well.
  std::string rules;
  std::string base;          // a model without findings, in text form
  std::vector<Edit> broken;  // edits that break exactly `rules`
  std::vector<Edit> near;    // similar edits that break no rule

  // The id of the rule that this is an example of.
  std::string_view rule() const { return std::string_view(rules).substr(0, rules.find(' ')); }
};

// The examples of a format.
struct RuleExamples {
  std::vector<RuleExample> list;
  std::string_view language;  // of the models: "JSON by schemas/tflite.fbs"
  // Expands abbreviations in a model's text; null if the format has none.
  std::string (*expand)(const std::string& text) = nullptr;
};

// Reads a text of validators/<format>/doc/*.examples:
//
//   model NAME
//     LINES
//   RULES: NAME
//   = FROM => TO
//   - FROM => TO
//   + FROM => TO
//
// The lines that begin with "-" are edits that break the rules, those with "+" similar ones, and
// those with "=" precede both. In TO, & is FROM; "\n" is a new line. A model that only one example
// has may be below its rules. What is malformed gives an example that the tests reject.
std::vector<RuleExample> ParseExamples(std::string_view text);

// The expanded text of a base with the edits applied. kInternal if an edit does not apply.
Result<std::string> ExampleText(const RuleExamples& examples, const std::string& base,
                                const std::vector<Edit>& edits);

// The differing lines in order: those only in `text` are marked "+ ", and those only in `base`
// "- ".
std::string ChangedLines(std::string_view base, std::string_view text);

}  // namespace nn
