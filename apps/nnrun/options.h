// nnrun's arguments and the report of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/model/many.h"
#include "apps/common/model/model.h"
#include "base/json/json.h"
#include "convert/inputs/run_inputs.h"
#include "exec/program.h"
#include "nnsuite/outputs.h"
#include "tensorio/tensor_archive.h"

namespace nn::app {

struct RunOptions : RunInputs {
  std::string test_data;
  // States
  std::optional<int64_t> steps;
  std::string state;
  std::vector<std::string> carry;  // OUT=IN
  // Results
  std::string output;
  std::string labels;
  nnsuite::ExpectOptions expected;  // the tolerances are also those of other comparisons
  std::string save_steps;
  std::string save_inputs;
  std::string against;
  std::string write_repro;
  std::string search_dtype;
  bool digest = false;
  bool resume = false;  // several models: only those without a file of outputs
  ManyOptions many;
  bool explain_plan = false;
  std::string trace;
  std::string format = "text";
  // Execution
  ProgramOptions execution = {.threads = 0};
  std::string target;
  bool list_targets = false;
  // Timing
  bool bench = false;
  bool profile = false;
  int64_t warmup = 3;
  int64_t runs = 10;

  // `execution`, with the number of threads.
  ProgramOptions program() const;
  // Whether the states of the model are read or kept.
  bool keeps_states() const { return steps || !state.empty() || !carry.empty(); }
  // Whether values other than the outputs are written.
  bool saves_values() const { return !save_steps.empty() || !save_inputs.empty(); }
  // Whether --inputs is a folder.
  bool runs_folder() const;
};

// Results in both forms of --format; one of them is printed.
struct RunReport {
  std::string text;
  Json json = Json::object();
};

// Whether the array has a part for each step of a run: one more axis than its input, of their
// number.
bool HasParts(const Tensor& array, const Type& input, const RunOptions& options);
// Whether --carry names input i.
bool IsCarried(const Graph& graph, size_t i, const RunOptions& options);

// Runs the model step by step: an input that --carry names, or a state of the model, gets the value
// of its output in the step before. The file of --state has its value before the first step, and
// after the run that after the last one. Without either, it is the initial value of the model, or
// zeros. The outputs do not contain states of the model; with --steps, they have a first axis of
// steps. `graph` has only these outputs.
struct SequenceResult {
  std::vector<NamedTensor> outputs;
  Graph graph;
};
Result<SequenceResult> RunSequence(ImportedModel model, const ReadModel& read,
                                   const RunOptions& options);

// Runs the model once for each file of the folder options.inputs_file: an archive of inputs, or a
// tensor file or picture for the input that is not given otherwise. Reports each run. Returns, if
// there is a file for them, the outputs of all runs along a new first axis, and the names of the
// files as "files".
Result<std::vector<NamedTensor>> RunFolder(const Graph& graph, const ReadModel& read,
                                           const RunOptions& options, RunReport& report);

// An element of a tensor; complex numbers are text.
Json ValueJson(const Tensor& t, int64_t i);

// The results under the outputs' names.
std::vector<NamedTensor> NameOutputs(const Graph& graph, std::vector<Tensor> outputs);

// The outputs of a classifier that are not tensors of the graph: under its name, the label of the
// class with the highest score (the first of several), and as NAME.labels, for the output NAME with
// the scores, the labels of all classes. Empty, with a warning, if there is not one score for each
// class.
std::vector<NamedTensor> ClassOutputs(const Classes& classes, std::span<const NamedTensor> outputs);

// A table of the outputs: types, shapes, statistics, first values.
void DescribeOutputs(std::span<const NamedTensor> outputs, RunReport& report);
// The five highest scores of each output that has one for each line of the file of labels, or one
// more, which is then that of the background and comes first. Quantized scores are real numbers.
// kUsage if there is no such output.
Status DescribeScores(const Graph& graph, const std::string& labels,
                      std::span<const NamedTensor> outputs, RunReport& report);
// kUsage if --output or --save-inputs has another extension, or is a file that the run reads.
Status CheckOutputPath(const RunOptions& options);
// Writes the outputs, of which `count` are those of the graph, in the form that the extension says:
// .npz, .safetensors, .json, or .npy and .pb for one output. "-": .npz to standard output.
Status WriteOutputs(const std::string& path, std::span<const NamedTensor> outputs, size_t count);
// Writes the inputs of the run by position, without those that became constants.
Status SaveInputs(const RunOptions& options, std::span<const Tensor> inputs);
// Digest() of all outputs; the JSON report also has the digest of each output.
void DigestOutputs(std::span<const NamedTensor> outputs, RunReport& report);

// Runs the ONNX test sets of options.test_data; false on a mismatch.
Result<bool> RunTestData(const ReadModel& read, const InputImporter& import,
                         const RunOptions& options, RunReport& report);

// Appends every computed value to the outputs. Returns the number of outputs added.
size_t ExposeSteps(Graph& graph);
// The name of a value that ExposeSteps() adds, unless another one has it.
std::string SavedName(const Value& value);
// Writes the inputs and outputs of a graph after ExposeSteps() to a folder: .npy files and
// index.json.
Status SaveSteps(const std::string& directory, const Graph& graph, size_t own_outputs,
                 std::span<const Tensor> inputs, std::span<const Tensor> outputs);

// Reports the operators that must stay f32 so that the outputs are within the tolerance if the
// others compute in options.search_dtype. Requires options.expected.rtol. `graph` and `read` are as
// for GivenInputs().
Status ReportDtypeSearch(Graph graph, const ReadModel& read, const RunOptions& options,
                         RunReport& report);

// Reports the plan (Program::Explain).
void DescribePlan(const Program& program, const RunOptions& options, RunReport& report);

// Writes the trace of the program's last run to options.trace: Chrome's trace event format. One
// track has the steps, the others what each thread did.
Status WriteTrace(const Program& program, const RunTrace& trace, const RunOptions& options);

// "f32[1, 16, 16, 16]".
std::string TypeText(const OperandInfo& operand);

// Times the program (--bench).
Status RunBench(const Program& program, std::span<const Tensor> inputs, const RunOptions& options,
                RunReport& report);

}  // namespace nn::app
