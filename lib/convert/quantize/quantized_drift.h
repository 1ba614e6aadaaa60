// Measures how far a float32 model is from the model that it was made from: a quantized one
// (Dequantize() in passes/qdq/qdq.h), or one of other floating-point types (ComputeInFloat32() in
// passes/types/float32.h). For information: nothing passes or fails.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "exec/program.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/types/type.h"

namespace nn {

// One output: the worst value of each measure over all runs.
struct QuantizedOutputDrift {
  std::string name;
  // The largest difference of an element, also in steps of StepOf() of the quantized output.
  double max_absolute = 0;
  std::optional<double> max_steps = std::nullopt;
  double snr_db = std::numeric_limits<double>::infinity();  // see Comparison (tensorio/compare.h)
  double cosine = 1;
};

struct QuantizedDrift {
  bool quantized = true;  // the model, not only of other floating-point types
  uint64_t runs = 0;
  std::vector<QuantizedOutputDrift> outputs;  // in the order of the model's outputs
  std::string failure;  // why the quantized model could not be compared; empty if it was
};

// What one step of the quantized values of an output is, as a real number: the scale of its type,
// or of the type that is dequantized to compute it, before operators that only move elements.
// nullopt if there is no such scale, or several.
std::optional<float> StepOf(const Value& output);

// The integers that represent `tensor` in the quantized type, or its numbers in another
// floating-point type, and back. kUnsupported if there are no such operators for the type.
Result<Tensor> StoredTensor(const Tensor& tensor, const Type& type);
Result<Tensor> RealTensor(const Tensor& tensor, const Type& type);

// The original model. Not for concurrent use.
class QuantizedModel {
 public:
  using Compile = std::function<Result<Program>(Graph&&)>;

  explicit QuantizedModel(Graph graph);

  // The type of each input, for an input of the float model of type `real`.
  Type InputType(size_t i, const Type& real) const;

  // Runs the quantized model on inputs of the float model and compares the results with `outputs`,
  // those of the float model. After an error, `drift().failure` is set and further calls do
  // nothing.
  void CompareRun(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                  const Compile& compile);

  const QuantizedDrift& drift() const { return drift_; }

 private:
  Status TryRun(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                const Compile& compile);
  // Compiles for the shapes of the inputs, unless they are those of the last run.
  Status CompileFor(const std::vector<Tensor>& inputs, const Compile& compile);

  Graph graph_;
  std::vector<Type> input_types_, output_types_;
  std::vector<std::optional<float>> steps_;  // by output
  std::vector<std::vector<int64_t>> dims_;   // of the inputs of program_
  std::optional<Program> program_;
  QuantizedDrift drift_;
};

}  // namespace nn
