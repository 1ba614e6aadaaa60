// Compares outputs with expected arrays, one table row each.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "base/text/table.h"
#include "convert/edits/port_finder.h"
#include "convert/inputs/port_arrays.h"
#include "convert/outputs/expect_options.h"
#include "ir/tensor.h"
#include "tensorio/compare.h"
#include "tensorio/named_tensor.h"

namespace nn {

// Adds the numbers of a comparison without a mismatch.
void AddNumbers(const Comparison& comparison, Json& entry);

class Expectation {
 public:
  struct Output {
    std::string name;
    std::optional<Comparison> comparison = {};  // nullopt: no array is expected, or a sequence
    std::string text = {};
  };

  // Compares one output.
  void Check(const std::string& name, const Tensor& want, const Tensor& got,
             const Tolerance& tolerance);
  // Compares the numbers of elements of an output that is a sequence.
  void CheckLength(const std::string& name, size_t want, size_t got);
  // Adds a row for an output without an expected array.
  void Skip(const std::string& name);

  const std::vector<Output>& outputs() const { return outputs_; }
  bool passed() const { return passed_; }
  std::string Text() const;
  Json TakeJson() { return std::move(json_); }

 private:
  std::vector<Output> outputs_;
  Json json_ = Json::array();
  bool passed_ = true;
};

// Compares outputs with the arrays of the options' file and with `arrays`. `ports` are those of the
// outputs, which `finder` finds. kUsage for arrays that match no output, and if there is none that
// does; an output may have no array.
Result<Expectation> CompareWithExpected(const std::vector<PortType>& ports,
                                        const PortFinder& finder,
                                        std::span<const NamedTensor> outputs,
                                        const ExpectOptions& options,
                                        std::span<const NamedTensor> arrays = {});

// {"file", "passed", "outputs"}. Takes what the expectation has of it.
Json ExpectationJson(const std::string& file, Expectation& expectation);

}  // namespace nn
