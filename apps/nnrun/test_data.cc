#include "apps/nnrun/test_data.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "apps/common/progress.h"
#include "apps/nnrun/options.h"
#include "base/text/text.h"
#include "convert/outputs/expectation.h"
#include "formats/test_set.h"
#include "passes/core/ports.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSetPrefix = "test_data_set_";

bool IsTestSet(const fs::path& directory) {
  std::error_code error;
  return fs::exists(directory / "input_0.pb", error) ||
         fs::exists(directory / "output_0.pb", error);
}

// The number at the end of a set's name: set 10 sorts after set 9.
uint64_t SetNumber(const fs::path& path) {
  const std::string name = path.filename();
  uint64_t number = UINT64_MAX;
  if (name.starts_with(kSetPrefix))
    std::from_chars(name.data() + kSetPrefix.size(), name.data() + name.size(), number);
  return number;
}

Result<std::vector<fs::path>> FindSets(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) return IoError("{}: not a folder", directory.string());
  if (IsTestSet(directory)) return std::vector<fs::path>{directory};
  std::vector<fs::path> sets;
  for (const auto& entry : fs::directory_iterator(directory, error))
    if (SetNumber(entry.path()) != UINT64_MAX && IsTestSet(entry.path()))
      sets.push_back(entry.path());
  if (sets.empty())
    return IoError("{}: contains neither input_0.pb and output_0.pb nor {}* folders",
                   directory.string(), kSetPrefix);
  std::sort(sets.begin(), sets.end(),
            [](const auto& a, const auto& b) { return SetNumber(a) < SetNumber(b); });
  return sets;
}

// Reads the inputs of a set and binds the graph to their shapes.
Status BindSet(ModelForSet& model, const fs::path& set, PortArrays& inputs) {
  Graph& graph = model.graph;
  NN_ASSIGN(inputs, ReadInputs(model));
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = graph.inputs()[i].name;
    if (!inputs[i])
      return UsageError("{}: input_{}.pb is missing, for input {}", set.string(), i, Quote(name));
    shapes[name] = inputs[i]->dims();
  }
  return BindInputs(graph, shapes);
}

void Compare(const MatchedOutputs& expected, const std::vector<Port>& ports,
             const std::vector<Tensor>& outputs, const Tolerance& tolerance,
             Expectation& expectation) {
  for (const auto& [name, want, got] : expected.lengths) expectation.CheckLength(name, want, got);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (expected.arrays[i])
      expectation.Check(ports[i].name, *expected.arrays[i], outputs[i], tolerance);
    else
      expectation.Skip(ports[i].name);
}

Result<bool> RunSet(const fs::path& set, const PortKinds& kinds, const InputImporter& import,
                    const RunOptions& options, RunReport& report) {
  NN_ASSIGN(const TestSet files, FindTestSet(set, kinds));
  NN_ASSIGN(ModelForSet model, ImportForSet(files, kinds, import));
  const std::vector<PortType> ports = TypesOf(model.graph.inputs());
  PortArrays given(ports.size());
  if (const Status bound = BindSet(model, set, given); !bound)
    return tl::unexpected(WithPorts(bound.error(), "input", ports, given));
  NN_ASSIGN(Program program, Program::Compile(model.graph, options.program()));
  std::vector<Tensor> inputs;
  for (std::optional<Tensor>& input : given) inputs.push_back(*std::move(input));
  NN_ASSIGN(const std::vector<Tensor> outputs, program.Run(inputs));

  Expectation expectation;
  NN_ASSIGN(const MatchedOutputs expected, MatchOutputs(files, kinds, model.graph));
  Compare(expected, model.graph.outputs(), outputs,
          {options.expected.atol.value_or(1e-7), options.expected.rtol.value_or(1e-3), 0},
          expectation);
  const bool passed = expectation.passed() && !files.outputs.empty();
  report.text +=
      fmt::format("{}: {}\n{}", set.string(), passed ? "passed" : "failed", expectation.Text());
  report.json["test_data"].push_back(
      {{"set", set.string()}, {"passed", passed}, {"outputs", expectation.TakeJson()}});
  return passed;
}

}  // namespace

Result<bool> RunTestData(const ReadModel& read, const InputImporter& import,
                         const RunOptions& options, RunReport& report) {
  const PortKinds kinds = PortKindsOf(read);
  // Sets without lists share one import.
  std::optional<ImportedModel> plain;
  const InputImporter import_once = [&](const InputSettings& known) -> Result<ImportedModel> {
    if (!known.lengths.empty() || !known.shapes.empty() || known.constants) return import(known);
    if (!plain) {
      NN_ASSIGN(plain, import(known));
    }
    ImportedModel copy;
    copy.graph = plain->graph.Clone();
    return copy;
  };
  NN_ASSIGN(const auto sets, FindSets(options.test_data));
  report.json["test_data"] = Json::array();
  bool passed = true;
  Progress progress("test sets", sets.size());
  for (const fs::path& set : sets) {
    auto result = RunSet(set, kinds, import_once, options, report);
    if (!result) return tl::unexpected(result.error().In(set.string()));
    passed = passed && *result;
    progress.Step();
  }
  return passed;
}

}  // namespace nn::app
