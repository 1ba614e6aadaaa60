// The context of the rules for models of any format: what a format tells about a model without
// knowledge of its operators.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/format.h"
#include "validators/rule.h"

namespace nn::lint {

// Unusual values in a constant tensor.
struct Contents {
  uint64_t nans = 0;
  uint64_t infinities = 0;
  // Of float32 and float64 only: slow on many processors, flushed to 0 on others.
  uint64_t denormals = 0;
  bool uniform = false;  // all elements have the same bits
};

class RuleContext {
 public:
  RuleContext(const NativeModel& model, const Format& format) : model_(model), format_(format) {}

  const NativeModel& model() const { return model_; }
  const Format& format() const { return format_; }
  // Empty if the format cannot provide them. Made by the first call.
  const ModelSummary& summary() const;
  const std::vector<TensorEntry>& tensors() const;
  // By tensor; nullopt if the contents cannot be read. The first call reads all weights, one tensor
  // at a time.
  const std::vector<std::optional<Contents>>& contents() const;

 private:
  const NativeModel& model_;
  const Format& format_;
  mutable std::optional<ModelSummary> summary_;
  mutable std::optional<std::vector<TensorEntry>> tensors_;
  mutable std::vector<std::optional<Contents>> contents_;
};

using Rule = nn::Rule<RuleContext>;

// The tensor in a message: `constant "conv1.weight"`, or by its location if it has no name.
std::string Title(const TensorEntry& tensor);

std::span<const Rule> DeadRules();
std::span<const Rule> WeightRules();
std::span<const Rule> PortabilityRules();

}  // namespace nn::lint
