#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "apps/common/progress.h"
#include "apps/nnrun/expectation.h"
#include "apps/nnrun/options.h"
#include "base/text.h"
#include "formats/tensor_file.h"
#include "passes/ports.h"

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

// Reads prefix_0.pb, prefix_1.pb, ... up to the first file that is missing.
Result<std::vector<Tensor>> ReadSeries(const fs::path& set, std::string_view prefix,
                                       const std::vector<Port>& ports) {
  std::vector<Tensor> tensors;
  std::error_code error;
  for (size_t i = 0;; ++i) {
    const fs::path path = set / fmt::format("{}_{}.pb", prefix, i);
    if (!fs::exists(path, error)) return tensors;
    if (i == ports.size())
      return UsageError("{}: the model has only {} {}s", path.string(), ports.size(), prefix);
    NN_ASSIGN(Tensor t, ReadTensorFile(path, ports[i].value->type()));
    tensors.push_back(std::move(t));
  }
}

Result<bool> RunSet(const Graph& model, const fs::path& set, const RunOptions& options,
                    RunReport& report) {
  Graph graph = model.Clone();
  NN_ASSIGN(const std::vector<Tensor> inputs, ReadSeries(set, "input", graph.inputs()));
  if (inputs.size() < graph.inputs().size())
    return UsageError("{}: input_{}.pb is missing, for input {}", set.string(), inputs.size(),
                      Quote(graph.inputs()[inputs.size()].name));
  NN_ASSIGN(const std::vector<Tensor> expected, ReadSeries(set, "output", graph.outputs()));
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) shapes[graph.inputs()[i].name] = inputs[i].dims();
  NN_RETURN_IF_ERROR(BindInputs(graph, shapes));
  NN_ASSIGN(Program program, Program::Compile(graph, options.program()));
  NN_ASSIGN(const std::vector<Tensor> outputs, program.Run(inputs));

  Expectation expectation;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.outputs()[i].name;
    if (i < expected.size())
      expectation.Check(name, expected[i], outputs[i],
                        {options.atol.value_or(1e-7), options.rtol.value_or(1e-3), 0});
    else
      expectation.Skip(name);
  }
  const bool passed = expectation.passed() && !expected.empty();
  report.text +=
      fmt::format("{}: {}\n{}", set.string(), passed ? "passed" : "failed", expectation.Text());
  report.json["test_data"].push_back(
      {{"set", set.string()}, {"passed", passed}, {"outputs", expectation.TakeJson()}});
  return passed;
}

}  // namespace

Result<bool> RunTestData(const Graph& graph, const RunOptions& options, RunReport& report) {
  NN_ASSIGN(const auto sets, FindSets(options.test_data));
  report.json["test_data"] = Json::array();
  bool passed = true;
  Progress progress("test sets", sets.size());
  for (const fs::path& set : sets) {
    auto result = RunSet(graph, set, options, report);
    if (!result) return tl::unexpected(result.error().In(set.string()));
    passed = passed && *result;
    progress.Step();
  }
  return passed;
}

}  // namespace nn::app
