// The contents of values that no run can change: for decisions that an import makes.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn {

// Whether the results of a node with constant inputs are constant: it has a reference evaluation,
// and is neither random nor a check.
bool IsFoldable(const Node& node);

// The contents that inference knows as numbers (Value::elements), as a tensor; nullopt if it does
// not know all of them.
Result<std::optional<Tensor>> TensorOfElements(const Value& value);

// Evaluates what leads to a value, and remembers all results. The graph may grow and shrink between
// calls: values are identified by Value::id().
class KnownValues {
 public:
  // Values with more bytes are not computed.
  static constexpr uint64_t kMaxBytes = uint64_t{64} << 10;
  // Element operations of all evaluations, each of which counts as kEvaluation on top.
  static constexpr uint64_t kMaxWork = uint64_t{1} << 30;
  static constexpr uint64_t kEvaluation = 256;

  // The contents of a constant, of a value that inference knows, or of one that is computed from
  // such values; null if they depend on a run, or are too large or too costly. Valid until the next
  // call.
  const Tensor* Of(const Value* value);
  // The same for a single element; of numbers, those other than 0 are true.
  std::optional<int64_t> Int(const Value* value);
  std::optional<bool> Bool(const Value* value);

 private:
  void Evaluate(const Node& node);

  uint64_t work_ = kMaxWork;  // that is left
  std::unordered_map<int64_t, std::optional<Tensor>> known_;
};

}  // namespace nn
