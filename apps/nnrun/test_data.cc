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

using Kinds = std::vector<std::pair<std::string, PortKind>>;

// The file of one input or output of the model.
struct TestFile {
  std::string path;
  std::optional<TensorList> list;  // its contents, unless they are a tensor
};

Result<TensorList> ReadList(const std::string& path, PortKind kind) {
  if (kind == PortKind::kOther)
    return UnsupportedError("{}: is neither a tensor nor a sequence of tensors", path);
  return kind == PortKind::kSequence ? ReadSequenceFile(path) : ReadOptionalFile(path);
}

// Finds prefix_0.pb, prefix_1.pb, ... up to the first file that is missing.
Result<std::vector<TestFile>> FindSeries(const fs::path& set, std::string_view prefix,
                                         const Kinds& kinds) {
  std::vector<TestFile> series;
  std::error_code error;
  for (size_t i = 0;; ++i) {
    const fs::path path = set / fmt::format("{}_{}.pb", prefix, i);
    if (!fs::exists(path, error)) return series;
    if (i == kinds.size())
      return UsageError("{}: the model has only {} {}s", path.string(), kinds.size(), prefix);
    TestFile& file = series.emplace_back(TestFile{path, {}});
    if (kinds[i].second != PortKind::kTensor) {
      NN_ASSIGN(file.list, ReadList(path, kinds[i].second));
    }
  }
}

ListLengths LengthsOf(const std::vector<TestFile>& files, const Kinds& kinds) {
  ListLengths lengths;
  for (size_t i = 0; i < files.size(); ++i)
    if (const auto& list = files[i].list)
      lengths[kinds[i].first] = list->absent ? kAbsent : static_cast<int64_t>(list->tensors.size());
  return lengths;
}

// Where the array of one input of the graph comes from.
struct Source {
  std::string path;
  std::optional<Tensor> element;  // of a list
};

std::vector<Source> SourcesOf(const std::vector<TestFile>& files) {
  std::vector<Source> sources;
  for (const TestFile& file : files) {
    if (!file.list) sources.push_back({file.path, {}});
    if (!file.list) continue;
    for (const Tensor& element : file.list->tensors) sources.push_back({file.path, element});
  }
  return sources;
}

Result<PortArrays> ReadSources(const std::vector<Source>& sources, const std::vector<Port>& ports) {
  PortArrays arrays(ports.size());
  for (size_t i = 0; i < ports.size() && i < sources.size(); ++i) {
    arrays[i] = sources[i].element;
    if (!arrays[i]) {
      NN_ASSIGN(arrays[i], ReadTensorFile(sources[i].path, ports[i].value->type()));
    }
  }
  return arrays;
}

// Inputs with few integers, which may decide about lengths and positions.
std::map<size_t, Tensor> DecidingArrays(const PortArrays& arrays) {
  constexpr int64_t kFew = 64;
  std::map<size_t, Tensor> out;
  for (size_t i = 0; i < arrays.size(); ++i)
    if (arrays[i] && arrays[i]->elements() <= kFew &&
        (IsInteger(arrays[i]->dtype()) || arrays[i]->dtype() == DType::kBool))
      out.emplace(i, *arrays[i]);
  return out;
}

// The graph for the inputs of a set, and its inputs: where the model's sequences need it, with
// those that decide about them as constants.
struct BoundModel {
  Graph graph;
  std::vector<Source> sources;
};
Result<BoundModel> ImportFor(const std::vector<TestFile>& files, const Kinds& kinds,
                             const ModelImporter& import) {
  BoundModel out{Graph(), SourcesOf(files)};
  InputSettings settings;
  settings.lengths = LengthsOf(files, kinds);
  Result<ImportedModel> imported = import(settings);
  if (!imported && imported.error().code() == ErrorCode::kUnsupported) {
    std::map<size_t, Tensor> fixed;
    settings.constants = [&](const Graph& g) -> Result<std::map<size_t, Tensor>> {
      NN_ASSIGN(const PortArrays arrays, ReadSources(out.sources, g.inputs()));
      fixed = DecidingArrays(arrays);
      return fixed;
    };
    if (Result<ImportedModel> decided = import(settings)) {
      imported = std::move(decided);
      for (auto it = fixed.rbegin(); it != fixed.rend(); ++it)
        out.sources.erase(out.sources.begin() + static_cast<ptrdiff_t>(it->first));
    }
  }
  if (!imported) return tl::unexpected(imported.error());
  out.graph = std::move(imported->graph);
  return out;
}

// Reads the inputs of a set and binds the graph to their shapes.
Status BindSet(Graph& graph, const fs::path& set, const std::vector<Source>& sources,
               PortArrays& inputs) {
  NN_ASSIGN(inputs, ReadSources(sources, graph.inputs()));
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = graph.inputs()[i].name;
    if (!inputs[i])
      return UsageError("{}: input_{}.pb is missing, for input {}", set.string(), i, Quote(name));
    shapes[name] = inputs[i]->dims();
  }
  return BindInputs(graph, shapes);
}

// The number of the graph's outputs, from position `at` on, that are the output `name` of the model
// or its elements.
size_t CountPorts(const std::vector<Port>& ports, size_t at, const std::string& name,
                  PortKind kind) {
  if (kind == PortKind::kTensor || (at < ports.size() && ports[at].name == name)) return 1;
  size_t count = 0;
  while (at + count < ports.size() && ports[at + count].name == ElementName(name, count)) ++count;
  return count;
}

Status Compare(const std::vector<TestFile>& files, const Kinds& kinds, const Graph& graph,
               const std::vector<Tensor>& outputs, const Tolerance& tolerance,
               Expectation& expectation) {
  size_t at = 0;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const size_t count = CountPorts(graph.outputs(), at, kinds[i].first, kinds[i].second);
    const auto name = [&](size_t k) { return graph.outputs()[at + k].name; };
    if (i >= files.size()) {
      for (size_t k = 0; k < count; ++k) expectation.Skip(name(k));
    } else if (!files[i].list) {
      NN_ASSIGN(const Tensor want,
                ReadTensorFile(files[i].path, graph.outputs()[at].value->type()));
      expectation.Check(name(0), want, outputs[at], tolerance);
    } else {
      const std::vector<Tensor>& want = files[i].list->tensors;
      expectation.CheckLength(kinds[i].first, want.size(), count);
      for (size_t k = 0; k < count && k < want.size(); ++k)
        expectation.Check(name(k), want[k], outputs[at + k], tolerance);
    }
    at += count;
  }
  return {};
}

Result<bool> RunSet(const fs::path& set, const PortKinds& kinds, const ModelImporter& import,
                    const RunOptions& options, RunReport& report) {
  NN_ASSIGN(const auto input_files, FindSeries(set, "input", kinds.inputs));
  NN_ASSIGN(const auto output_files, FindSeries(set, "output", kinds.outputs));
  NN_ASSIGN(auto model, ImportFor(input_files, kinds.inputs, import));
  const std::vector<PortType> ports = TypesOf(model.graph.inputs());
  PortArrays given(ports.size());
  if (const Status bound = BindSet(model.graph, set, model.sources, given); !bound)
    return tl::unexpected(WithPorts(bound.error(), "input", ports, given));
  NN_ASSIGN(Program program, Program::Compile(model.graph, options.program()));
  std::vector<Tensor> inputs;
  for (std::optional<Tensor>& input : given) inputs.push_back(*std::move(input));
  NN_ASSIGN(const std::vector<Tensor> outputs, program.Run(inputs));

  Expectation expectation;
  NN_RETURN_IF_ERROR(Compare(output_files, kinds.outputs, model.graph, outputs,
                             {options.atol.value_or(1e-7), options.rtol.value_or(1e-3), 0},
                             expectation));
  const bool passed = expectation.passed() && !output_files.empty();
  report.text +=
      fmt::format("{}: {}\n{}", set.string(), passed ? "passed" : "failed", expectation.Text());
  report.json["test_data"].push_back(
      {{"set", set.string()}, {"passed", passed}, {"outputs", expectation.TakeJson()}});
  return passed;
}

}  // namespace

Result<bool> RunTestData(const ReadModel& read, const ModelImporter& import,
                         const RunOptions& options, RunReport& report) {
  const PortKinds kinds = PortKindsOf(read);
  NN_ASSIGN(const auto sets, FindSets(options.test_data));
  report.json["test_data"] = Json::array();
  bool passed = true;
  Progress progress("test sets", sets.size());
  for (const fs::path& set : sets) {
    auto result = RunSet(set, kinds, import, options, report);
    if (!result) return tl::unexpected(result.error().In(set.string()));
    passed = passed && *result;
    progress.Step();
  }
  return passed;
}

}  // namespace nn::app
