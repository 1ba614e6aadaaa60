// What a project wants of its models beyond the formats' rules: nnvalidate --assert-*.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/command_line.h"
#include "formats/format.h"
#include "validators/finding.h"

namespace nn::app {

struct Assertions {
  std::vector<std::string> ops;        // the only operators, by the format's names
  std::optional<uint64_t> max_params;  // elements of constants
  std::optional<uint64_t> max_bytes;   // of the files, external data included
  std::optional<uint64_t> macs_below;  // multiply-adds of a run
  bool static_shapes = false;          // inputs and outputs have shapes of numbers
  std::vector<std::string> dtypes;     // the only types of inputs, outputs and constants: "f32"
  std::vector<std::string> inputs;     // "NAME:f32[1, 3, 224, 224]"

  bool empty() const;
};

void AddAssertionOptions(CommandLine& command, Assertions& assertions);

// kUsage for types that there are not.
Status CheckUsage(const Assertions& assertions);

// One finding for each way in which the model is not as asserted; the ids are "ASSERT-OPS" and so
// on. Requires CheckUsage().
std::vector<Finding> CheckAssertions(const ReadModel& model, const std::string& path,
                                     const Assertions& assertions);

// The assertions as rules, for reports.
std::vector<RuleInfo> AssertionRules(const Assertions& assertions);

}  // namespace nn::app
