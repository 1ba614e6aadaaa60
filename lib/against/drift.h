// Compares the values that a model computes with those of a reference, in one pass.
#pragma once

#include <cstddef>
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
  size_t id = 0;                 // of the counterpart (Reference)
  std::string name;              // of the counterpart
  std::string op;                // that computes it; empty if unknown
  std::string type;
  double step = 0;  // of its quantized type, as a real number; 0 if it is not quantized
  PairedBy by = PairedBy::kName;
};

// A value of the model and what it is compared with.
struct CounterpartId {
  const Value* value = nullptr;
  size_t id = 0;
  PairedBy by = PairedBy::kName;
};

// Values that those of a model are compared with, by numbers from 0 on.
class Reference {
 public:
  virtual ~Reference() = default;
  // In the order of the model's values.
  virtual const std::vector<Counterpart>& counterparts() const = 0;
  // The real numbers of a counterpart. Called once for each, in order.
  virtual Result<Tensor> Take(size_t i) = 0;
  // Calls the function with the real numbers of each value, in order, whether it is a counterpart
  // or not. Take() cannot be called afterwards.
  virtual Status Visit(const std::function<Status(size_t id, const Tensor& real)>& visit) = 0;
  // The same with other counterparts, in the order of the model's values. This reference cannot be
  // used any more, except for With() and Visit().
  virtual Result<std::unique_ptr<Reference>> With(std::span<const CounterpartId> pairs) = 0;
};

// Another model, run step by step on these inputs. Its values are ComparedValues().
Result<std::unique_ptr<Reference>> ModelReference(Stepper& model, std::vector<Tensor> inputs,
                                                  std::span<const ValuePair> pairs);

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

// Runs the model and compares. In the order of the model's values. A value may differ by the
// tolerance and by a step of the quantized types of both. If the first value that parts is in an
// uncertain pair, both run again, and pairs by contents (contents.h) take the place of such pairs.
// Afterwards, the reference is good for With() alone.
Result<std::vector<ValueDrift>> CompareValues(Stepper& model, const std::vector<Tensor>& inputs,
                                              Reference& reference, const DriftOptions& options);

// The real numbers of a value with this type.
Result<Tensor> RealNumbers(const Tensor& tensor, const Type& type);
// What one step of the quantized type is, the largest for several scales; 0 if not quantized.
double LargestStep(const Type& type);
// "%12" for a value without a name.
std::string NameOf(const Value& value);
// "Conv 3" for the operator of the file, else that of the graph; "input" or "constant" without one.
std::string OperatorOf(const Value& value);

}  // namespace nn::against
