#include "convert/runs/test_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text/text.h"
#include "convert/inputs/port_arrays.h"
#include "passes/core/ports.h"

namespace nn {
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

void CompareSet(const MatchedOutputs& expected, const std::vector<Port>& ports,
                const std::vector<Tensor>& outputs, const Tolerance& tolerance,
                Expectation& expectation) {
  for (const auto& [name, want, got] : expected.lengths) expectation.CheckLength(name, want, got);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (expected.arrays[i])
      expectation.Check(ports[i].name, *expected.arrays[i], outputs[i], tolerance);
    else
      expectation.Skip(ports[i].name);
}

Result<TestedSet> RunSet(const fs::path& set, const PortKinds& kinds, const InputImporter& import,
                         const TestDataOptions& options, const ProgramOptions& o) {
  NN_ASSIGN(const TestSet files, FindTestSet(set, kinds));
  NN_ASSIGN(ModelForSet model, ImportForSet(files, kinds, import));
  const std::vector<PortType> ports = TypesOf(model.graph.inputs());
  PortArrays given(ports.size());
  if (const Status bound = BindSet(model, set, given); !bound)
    return tl::unexpected(WithPorts(bound.error(), "input", ports, given));
  NN_ASSIGN(const Program program, Program::Compile(model.graph, o));
  std::vector<Tensor> inputs;
  for (std::optional<Tensor>& input : given) inputs.push_back(*std::move(input));
  NN_ASSIGN(const std::vector<Tensor> outputs, program.Run(inputs));

  TestedSet out = {set.string(), {}, false};
  NN_ASSIGN(const MatchedOutputs expected, MatchOutputs(files, kinds, model.graph));
  CompareSet(expected, model.graph.outputs(), outputs,
             {options.atol.value_or(1e-7), options.rtol.value_or(1e-3), 0}, out.expectation);
  out.passed = out.expectation.passed() && !files.outputs.empty();
  return out;
}

// An import that sets without lists share.
InputImporter ImportingOnce(const InputImporter& import) {
  return [&import, plain = std::make_shared<std::optional<Graph>>()](
             const InputSettings& known) -> Result<ImportedModel> {
    if (!known.lengths.empty() || !known.shapes.empty() || known.constants) return import(known);
    if (!*plain) {
      NN_ASSIGN(ImportedModel imported, import(known));
      *plain = std::move(imported.graph);
    }
    ImportedModel copy;
    copy.graph = (*plain)->Clone();
    return copy;
  };
}

}  // namespace

OptionTable TestDataOptionTable() {
  static const std::vector<OptionField> fields = {
      Option<&TestDataOptions::atol>("atol", {.help = "Largest absolute difference (default 1e-7)",
                                              .surfaces = kInBindings,
                                              .least = 0}),
      Option<&TestDataOptions::rtol>(
          "rtol", {.help = "Largest difference relative to the expected value (default 1e-3)",
                   .surfaces = kInBindings,
                   .least = 0}),
  };
  return fields;
}

Result<std::vector<TestedSet>> RunTestData(
    const ReadModel& read, const InputImporter& import, const std::string& folder,
    const TestDataOptions& options, const ProgramOptions& program,
    const std::function<Status(uint64_t done, uint64_t total)>& progress) {
  const PortKinds kinds = PortKindsOf(read);
  const InputImporter import_once = ImportingOnce(import);
  NN_ASSIGN(const std::vector<fs::path> sets, FindSets(folder));
  std::vector<TestedSet> out;
  for (const fs::path& set : sets) {
    if (progress) NN_RETURN_IF_ERROR(progress(out.size(), sets.size()));
    auto tested = RunSet(set, kinds, import_once, options, program);
    if (!tested) return tl::unexpected(tested.error().In(set.string()));
    out.push_back(*std::move(tested));
  }
  if (progress) NN_RETURN_IF_ERROR(progress(out.size(), sets.size()));
  return out;
}

bool AllPassed(const std::vector<TestedSet>& sets) {
  return std::ranges::all_of(sets, &TestedSet::passed);
}

std::string TestDataText(const std::vector<TestedSet>& sets) {
  std::string out;
  for (const TestedSet& set : sets)
    out += fmt::format("{}: {}\n{}", set.folder, set.passed ? "passed" : "failed",
                       set.expectation.Text());
  return out;
}

Json TestDataJson(std::vector<TestedSet>& sets) {
  Json list = Json::array();
  for (TestedSet& set : sets)
    list.push_back(
        {{"set", set.folder}, {"passed", set.passed}, {"outputs", set.expectation.TakeJson()}});
  return {{"test_data", std::move(list)}};
}

}  // namespace nn
