#include "inspect/loaded.h"

#include "base/file/file.h"
#include "inspect/report/shape_text.h"
#include "passes/core/ports.h"

namespace nn::inspect {
namespace {

// Sets the summary's shapes from the bound graph.
void TakeShapes(const std::vector<Port>& ports, std::vector<TensorSummary>& tensors) {
  for (size_t i = 0; i < ports.size() && i < tensors.size(); ++i) {
    const Type& type = ports[i].value->type();
    if (!type.ranked()) continue;
    tensors[i].shape.emplace();
    for (const Dim& d : *type.dims) tensors[i].shape->push_back(SizeText(d));
  }
}

Status Import(const InputSettings& inputs, const std::function<Status(Graph&)>& bind,
              LoadedModel& out) {
  auto imported = ImportWith(out.read, inputs);
  if (!imported) {
    if (bind) return tl::unexpected(imported.error());
    out.import_error = imported.error();
    return {};
  }
  out.unsupported = std::move(imported->unsupported);
  out.graph = std::move(imported->graph);
  NamePorts(*out.graph);
  if (!bind) return {};
  NN_RETURN_IF_ERROR(bind(*out.graph));
  out.bound = true;
  TakeShapes(out.graph->inputs(), out.summary.inputs);
  TakeShapes(out.graph->outputs(), out.summary.outputs);
  return {};
}

}  // namespace

Result<LoadedModel> Load(const std::string& path, const LoadOptions& options) {
  NN_ASSIGN(ReadModel read, ReadModelFile(path, options.limits));
  NN_ASSIGN(read, WithFunction(std::move(read), options.function));
  return LoadFrom(std::move(read), path, options);
}

Result<LoadedModel> LoadFrom(ReadModel read, const std::string& path, const LoadOptions& options) {
  LoadedModel out;
  out.path = path;
  out.read = std::move(read);
  const Format& format = *out.read.format;
  out.file_bytes = BytesOnDisk(path);
  auto summary = options.in_full ? format.describer.SummarizeInFull(*out.read.model)
                                 : format.describer.Summarize(*out.read.model);
  if (!summary) return tl::unexpected(summary.error().In(path));
  out.summary = *std::move(summary);
  if (!options.graph && !options.bind) return out;
  if (auto s = Import(options.inputs, options.bind, out); !s)
    return tl::unexpected(s.error().In(path));
  return out;
}

Result<const Graph*> GraphOf(const LoadedModel& model) {
  if (model.graph) return &*model.graph;
  if (!model.import_error) return UsageError("{}: the graph was not requested", model.path);
  return tl::unexpected(model.import_error->In(model.path + ": the model cannot be imported"));
}

Result<std::vector<TensorEntry>> TensorsOf(const ReadModel& read, const std::string& path) {
  auto tensors = read.format->describer.TensorsOf(*read.model);
  if (!tensors) return tl::unexpected(tensors.error().In(path));
  return tensors;
}

Result<std::vector<TensorEntry>> TensorsOf(const LoadedModel& model) {
  return TensorsOf(model.read, model.path);
}

std::map<std::string, const Type*, std::less<>> TypesByName(const LoadedModel& model) {
  std::map<std::string, const Type*, std::less<>> types;
  if (!model.graph) return types;
  for (const Value& v : model.graph->values())
    if (!v.name().empty()) types.emplace(v.name(), &v.type());
  for (const auto* ports : {&model.graph->inputs(), &model.graph->outputs()})
    for (const Port& p : *ports) types.insert_or_assign(p.name, &p.value->type());
  return types;
}

std::vector<size_t> OperatorsNamed(const ModelSummary& summary, std::string_view name) {
  std::vector<size_t> found;
  for (size_t i = 0; i < summary.operators.size(); ++i)
    if (summary.operators[i].name == name) found.push_back(i);
  if (!found.empty()) return found;
  for (size_t i = 0; i < summary.operators.size(); ++i)
    for (const std::string& output : summary.operators[i].outputs)
      if (output == name && (found.empty() || found.back() != i)) found.push_back(i);
  return found;
}

}  // namespace nn::inspect
