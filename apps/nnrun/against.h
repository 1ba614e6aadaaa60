// nnrun --against: where a model parts from another one, or from recorded values.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "against/drift.h"
#include "apps/nnrun/options.h"

namespace nn::app {

// Another model, bound to the shapes of the inputs of a model.
struct OtherModel {
  Graph graph;
  std::vector<against::PortPair> inputs;  // positions in the model, and in this one
  std::vector<AxisMap> input_axes;        // from the axes of the model, by position in this one
  std::vector<against::PortPair> outputs;
};

// Reads the model of options.against and pairs its inputs and outputs with those of `graph`, whose
// shapes are known: by name, else by position. kUsage if an input has no counterpart.
Result<OtherModel> ReadOther(const Graph& graph, const RunOptions& options);

// The inputs of the other model, with the same real numbers. Where it is quantized and an input is
// not `given`, the input itself becomes what the quantized one represents.
Result<std::vector<Tensor>> InputsOfOther(const Graph& graph, const OtherModel& other,
                                          const PortArrays& given, std::vector<Tensor>& inputs);

// Compares the values of the model with those of options.against; false if they part. `graph` and
// `read` are as for GivenInputs().
Result<bool> RunAgainst(Graph graph, const ReadModel& read, const RunOptions& options,
                        RunReport& report);

// The differences, as text, JSON or an HTML page.
struct AgainstSummary {
  std::string model, other;
  size_t values = 0;  // that the model computes
  std::vector<against::ValueDrift> drifts;
  uint64_t peak_bytes = 0;  // of the values that existed at the same time, in both models

  // The first value that parts; null if there is none.
  const against::ValueDrift* first() const;
};
void DescribeAgainst(const AgainstSummary& summary, const RunOptions& options, RunReport& report);

}  // namespace nn::app
