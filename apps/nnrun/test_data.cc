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
Status ReadSeries(const fs::path& set, std::string_view prefix, const std::vector<PortType>& ports,
                  PortArrays& arrays) {
  std::error_code error;
  for (size_t i = 0;; ++i) {
    const fs::path path = set / fmt::format("{}_{}.pb", prefix, i);
    if (!fs::exists(path, error)) return {};
    if (i == ports.size())
      return UsageError("{}: the model has only {} {}s", path.string(), ports.size(), prefix);
    NN_ASSIGN(arrays[i], ReadTensorFile(path, ports[i].type));
  }
}

// Reads the inputs of a set and binds the graph to their shapes.
Status BindSet(Graph& graph, const fs::path& set, const std::vector<PortType>& ports,
               PortArrays& inputs) {
  NN_RETURN_IF_ERROR(ReadSeries(set, "input", ports, inputs));
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i])
      return UsageError("{}: input_{}.pb is missing, for input {}", set.string(), i,
                        Quote(ports[i].name));
    shapes[ports[i].name] = inputs[i]->dims();
  }
  return BindInputs(graph, shapes);
}

Result<bool> RunSet(const Graph& model, const fs::path& set, const RunOptions& options,
                    RunReport& report) {
  Graph graph = model.Clone();
  const std::vector<PortType> ports = TypesOf(graph.inputs());
  PortArrays given(ports.size());
  if (const Status bound = BindSet(graph, set, ports, given); !bound)
    return tl::unexpected(WithPorts(bound.error(), "input", ports, given));
  PortArrays expected(graph.outputs().size());
  NN_RETURN_IF_ERROR(ReadSeries(set, "output", TypesOf(graph.outputs()), expected));
  NN_ASSIGN(Program program, Program::Compile(graph, options.program()));
  std::vector<Tensor> inputs;
  for (std::optional<Tensor>& input : given) inputs.push_back(*std::move(input));
  NN_ASSIGN(const std::vector<Tensor> outputs, program.Run(inputs));

  Expectation expectation;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.outputs()[i].name;
    if (expected[i])
      expectation.Check(name, *expected[i], outputs[i],
                        {options.atol.value_or(1e-7), options.rtol.value_or(1e-3), 0});
    else
      expectation.Skip(name);
  }
  const bool any = std::ranges::any_of(expected, [](const auto& t) { return t.has_value(); });
  const bool passed = expectation.passed() && any;
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
