// nnrun --against: where two models diverge, or a model diverges from recorded values.
#pragma once

#include <functional>
#include <memory>
#include <optional>
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

// A value that was recorded.
struct RecordedValue {
  std::string name;
  std::string op;                // that computed it; empty if unknown
  std::optional<Type> type;      // if it is quantized
  std::optional<size_t> output;  // of the model, if it is one
  std::function<Result<Tensor>()> read;
};

struct Record {
  PortArrays inputs;  // of the model
  std::vector<RecordedValue> values;
};

// Whether the path is a record: an .npz or .safetensors file with values by name, or out_K and in_K
// by position; a folder of --save-steps; or a folder with input_K.pb and output_K.pb.
bool IsRecord(const std::string& path);
Result<Record> ReadRecord(const std::string& path, const Graph& graph, const ReadLimits& limits);
// `record` must outlive it.
std::unique_ptr<against::Reference> ReferenceOf(const Record& record, const Graph& graph);

// Finds names as PortFinder does.
against::FindName FindNames(const std::vector<std::string>& names);

// Compares the values of the model with those of options.against; false if they part. `graph` and
// `read` are as for GivenInputs().
Result<bool> RunAgainst(Graph graph, const ReadModel& read, const RunOptions& options,
                        RunReport& report);

struct AgainstSummary {
  std::string model, other;
  size_t values = 0;  // that the model computes
  std::vector<against::ValueDrift> drifts;
  std::vector<std::string> outputs;  // without a counterpart
  size_t recorded = 0;               // values without a counterpart in the model
  uint64_t peak_bytes = 0;           // of the values that existed at the same time, in both models

  // The first value that differs; null if all agree.
  const against::ValueDrift* first() const;
};
// Writes the operators that compute the first value that differs although its inputs agree, as
// model.onnx in the folder, with inputs.npz, got.npz and, with the numbers of the counterpart,
// want.npz. `model` is started; `want` is what Reference::Take() returns. Operators that ONNX
// cannot express are a warning, and there is no model.onnx.
Status WriteRepro(Stepper& model, const against::ValueDrift& first, const Tensor& want,
                  const AgainstSummary& summary, const std::string& folder, RunReport& report);

// The differences, as text, JSON or an HTML page.
void DescribeAgainst(const AgainstSummary& summary, const RunOptions& options, RunReport& report);

}  // namespace nn::app
