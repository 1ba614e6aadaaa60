// A project's requirements on its models beyond the formats' rules: nnvalidate --assert-*.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/command_line.h"
#include "formats/format.h"
#include "validators/finding.h"

namespace nn::app {

struct Assertions {
  std::vector<std::string> ops;        // the allowed operators, by the format's names
  std::optional<uint64_t> max_params;  // elements of constants
  std::optional<uint64_t> max_bytes;   // of the files, external data included
  std::optional<uint64_t> macs_below;  // multiply-adds of a run
  bool static_shapes = false;          // inputs and outputs have static shapes
  std::vector<std::string> dtypes;     // the allowed types of inputs, outputs and constants: "f32"
  std::vector<std::string> inputs;     // "NAME:f32[1, 3, 224, 224]"

  bool empty() const;
  // Replaces what `other` sets.
  void Override(const Assertions& other);
};

void AddAssertionOptions(CommandLine& command, Assertions& assertions);

// kUsage for unknown types.
Status CheckUsage(const Assertions& assertions);

// One finding for each violation; the rule ids are "ASSERT-OPS" and so on. Requires that
// CheckUsage() succeeded.
std::vector<Finding> CheckAssertions(const ReadModel& model, const std::string& path,
                                     const Assertions& assertions);

// The assertions as rules, for reports.
std::vector<RuleInfo> AssertionRules(const Assertions& assertions);
std::vector<RuleInfo> AllAssertionRules();

// Sets the assertion of a configuration, "max_params" for --assert-max-params. kUsage for unknown
// names and values of another type.
Status SetAssertion(const std::string& name, const nlohmann::json& value, Assertions& assertions);

}  // namespace nn::app
