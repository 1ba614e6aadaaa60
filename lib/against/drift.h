// Compares the values that a model computes with those of a reference, in one pass.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "against/align.h"
#include "against/pairing.h"
#include "base/status.h"
#include "exec/stepper.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn::against {

// What a value of the model is compared with.
struct Counterpart {
  const Value* value = nullptr;  // of the model
  std::string name;              // of the counterpart
  std::string op;                // that computes it; empty if unknown
  std::string type;
  double step = 0;  // of its quantized type, as a real number; 0 if it is not quantized
  PairedBy by = PairedBy::kName;
};

class Reference {
 public:
  virtual ~Reference() = default;
  // In the order of the model's values.
  virtual const std::vector<Counterpart>& counterparts() const = 0;
  // The real numbers of a counterpart. Called once for each, in order.
  virtual Result<Tensor> Take(size_t i) = 0;
};

// Another model, run step by step. The stepper is started with its inputs.
std::unique_ptr<Reference> ModelReference(Stepper& model, std::span<const ValuePair> pairs);

struct ValueDrift {
  const Value* value = nullptr;
  Counterpart other;
  std::string name;  // of the value, or "%12"
  std::string op;    // that computes it: that of the file with its position, if there is one
  std::string type;
  bool comparable = true;  // else `where` says why not, and the members below mean nothing
  Comparison comparison;
  std::string where;            // Describe()
  std::optional<AxisMap> axes;  // from those of the counterpart
  NotFinite here, there;
  // Whether the value differs and the difference counts. It does not if the pair is uncertain, both
  // values have nothing in common, and all values that are computed from them agree.
  bool parts = false;
};

struct DriftOptions {
  double atol = 0;
  double rtol = 0;
  // Called after each comparison.
  std::function<void()> progress = nullptr;
};

// Runs the model, started with its inputs, and compares. In the order of the counterparts. A value
// may differ by the tolerance and by a step of the quantized types of both.
Result<std::vector<ValueDrift>> CompareValues(Stepper& model, Reference& reference,
                                              const DriftOptions& options);

// The real numbers of a value with this type.
Result<Tensor> RealNumbers(const Tensor& tensor, const Type& type);
// What one step of the quantized type is, the largest for several scales; 0 if not quantized.
double LargestStep(const Type& type);
// "%12" for a value without a name.
std::string NameOf(const Value& value);
// "Conv 3" for the operator of the file, else that of the graph; "input" or "constant" without one.
std::string OperatorOf(const Value& value);

}  // namespace nn::against
