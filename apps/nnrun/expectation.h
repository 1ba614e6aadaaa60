// Compares outputs with expected arrays, one table row each.
#pragma once

#include <string>

#include "base/json/json.h"
#include "base/text/table.h"
#include "tensorio/compare.h"

namespace nn::app {

// Adds the numbers of a comparison without a mismatch.
void AddNumbers(const Comparison& comparison, Json& entry);

class Expectation {
 public:
  // Compares one output.
  void Check(const std::string& name, const Tensor& want, const Tensor& got,
             const Tolerance& tolerance);
  // Compares the numbers of elements of an output that is a sequence.
  void CheckLength(const std::string& name, size_t want, size_t got);
  // Adds a row for an output without an expected array.
  void Skip(const std::string& name);

  bool passed() const { return passed_; }
  std::string Text() const { return table_.Text(2); }
  Json TakeJson() { return std::move(json_); }

 private:
  Table table_{{{""}, {""}}};
  Json json_ = Json::array();
  bool passed_ = true;
};

}  // namespace nn::app
