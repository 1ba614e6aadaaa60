// What the rules for models of any format look at: what a format can tell of a model without
// knowing its operators.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/format.h"
#include "validators/rule.h"

namespace nn::lint {

// What is unusual in the contents of a constant tensor.
struct Contents {
  uint64_t nans = 0;
  uint64_t infinities = 0;
  uint64_t denormals =
      0;                 // of float32 and float64: slow on many processors, flushed to 0 on others
  bool uniform = false;  // all elements have the same bits
};

class Subject {
 public:
  Subject(const NativeModel& model, const Format& format);

  const NativeModel& model() const { return model_; }
  const Format& format() const { return format_; }
  // Empty if the format cannot tell.
  const ModelSummary& summary() const { return summary_; }
  const std::vector<TensorEntry>& tensors() const { return tensors_; }
  // By tensor; nullopt where the contents cannot be read. All weights are read at the first call,
  // a tensor at a time.
  const std::vector<std::optional<Contents>>& contents() const;

 private:
  const NativeModel& model_;
  const Format& format_;
  ModelSummary summary_;
  std::vector<TensorEntry> tensors_;
  mutable std::vector<std::optional<Contents>> contents_;
};

using Rule = nn::Rule<Subject>;

// "conv1.weight" (3 x 3) for messages: the name, or where it lies.
std::string Title(const TensorEntry& tensor);

std::span<const Rule> DeadRules();
std::span<const Rule> WeightRules();
std::span<const Rule> PortabilityRules();

}  // namespace nn::lint
