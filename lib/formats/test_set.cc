#include "formats/test_set.h"

#include <filesystem>
#include <system_error>

#include "formats/common/known_inputs.h"
#include "formats/tensor_file.h"

namespace nn {
namespace {

namespace fs = std::filesystem;

using Kinds = std::vector<std::pair<std::string, PortKind>>;
using Arrays = std::vector<std::optional<Tensor>>;

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

std::vector<TestSource> SourcesOf(const std::vector<TestFile>& files) {
  std::vector<TestSource> sources;
  for (const TestFile& file : files) {
    if (!file.list) sources.push_back({file.path, {}});
    if (!file.list) continue;
    for (const Tensor& element : file.list->tensors) sources.push_back({file.path, element});
  }
  return sources;
}

Result<Arrays> ReadSources(const std::vector<TestSource>& sources, const std::vector<Port>& ports) {
  Arrays arrays(ports.size());
  for (size_t i = 0; i < ports.size() && i < sources.size(); ++i) {
    arrays[i] = sources[i].element;
    if (!arrays[i]) {
      NN_ASSIGN(arrays[i], ReadTensorFile(sources[i].path, ports[i].value->type()));
    }
  }
  return arrays;
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

}  // namespace

Result<TestSet> FindTestSet(const std::string& folder, const PortKinds& kinds) {
  TestSet set;
  NN_ASSIGN(set.inputs, FindSeries(folder, "input", kinds.inputs));
  NN_ASSIGN(set.outputs, FindSeries(folder, "output", kinds.outputs));
  return set;
}

std::map<size_t, Tensor> DecidingArrays(const Arrays& arrays) {
  std::map<size_t, Tensor> out;
  for (size_t i = 0; i < arrays.size(); ++i)
    if (arrays[i] && arrays[i]->elements() <= kFewNumbers &&
        (IsInteger(arrays[i]->dtype()) || arrays[i]->dtype() == DType::kBool))
      out.emplace(i, *arrays[i]);
  return out;
}

Result<ModelForSet> ImportForSet(const TestSet& set, const PortKinds& kinds,
                                 const InputImporter& import) {
  ModelForSet out{Graph(), SourcesOf(set.inputs)};
  InputSettings settings;
  settings.lengths = LengthsOf(set.inputs, kinds.inputs);
  Result<ImportedModel> imported = import(settings);
  if (!imported && imported.error().code() == ErrorCode::kUnsupported) {
    std::map<size_t, Tensor> fixed;
    InputShapes shapes;
    settings.constants = [&](const Graph& g) -> Result<std::map<size_t, Tensor>> {
      NN_ASSIGN(const Arrays arrays, ReadSources(out.sources, g.inputs()));
      fixed = DecidingArrays(arrays);
      for (size_t i = 0; i < arrays.size(); ++i)
        if (arrays[i]) shapes[g.inputs()[i].name] = arrays[i]->dims();
      return std::map<size_t, Tensor>();
    };
    static_cast<void>(import(settings));
    settings.constants = nullptr;
    settings.shapes = std::move(shapes);
    Result<ImportedModel> decided = import(settings);
    if (decided) fixed.clear();
    if (!decided && !fixed.empty()) {
      settings.constants = [&fixed](const Graph& /*graph*/) { return fixed; };
      decided = import(settings);
    }
    if (decided) {
      imported = std::move(decided);
      for (auto it = fixed.rbegin(); it != fixed.rend(); ++it)
        out.sources.erase(out.sources.begin() + static_cast<ptrdiff_t>(it->first));
    }
  }
  if (!imported) return tl::unexpected(imported.error());
  out.graph = std::move(imported->graph);
  return out;
}

Result<Arrays> ReadInputs(const ModelForSet& model) {
  return ReadSources(model.sources, model.graph.inputs());
}

Result<MatchedOutputs> MatchOutputs(const TestSet& set, const PortKinds& kinds,
                                    const Graph& graph) {
  MatchedOutputs out;
  out.arrays.resize(graph.outputs().size());
  size_t at = 0;
  for (size_t i = 0; i < kinds.outputs.size(); ++i) {
    const auto& [name, kind] = kinds.outputs[i];
    const size_t count = CountPorts(graph.outputs(), at, name, kind);
    if (i < set.outputs.size() && !set.outputs[i].list) {
      NN_ASSIGN(out.arrays[at],
                ReadTensorFile(set.outputs[i].path, graph.outputs()[at].value->type()));
    } else if (i < set.outputs.size()) {
      const std::vector<Tensor>& want = set.outputs[i].list->tensors;
      out.lengths.push_back({name, want.size(), count});
      for (size_t k = 0; k < count && k < want.size(); ++k) out.arrays[at + k] = want[k];
    }
    at += count;
  }
  return out;
}

}  // namespace nn
