#include "apps/nninspect/loaded.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/text.h"
#include "ir/op_def.h"
#include "passes/ports.h"

namespace nn::app {
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

Status Import(const ShapeOptions& shapes, LoadedModel& out) {
  auto imported = out.read.format->import(*out.read.model);
  if (!imported) {
    if (!shapes.empty()) return tl::unexpected(imported.error());
    out.import_error = imported.error();
    return {};
  }
  out.obstacles = std::move(imported->obstacles);
  out.graph = std::move(imported->graph);
  NamePorts(*out.graph);
  if (shapes.empty()) return {};
  NN_RETURN_IF_ERROR(BindShapes(*out.graph, shapes));
  TakeShapes(out.graph->inputs(), out.summary.inputs);
  TakeShapes(out.graph->outputs(), out.summary.outputs);
  return {};
}

template <typename List, typename Fn>
std::string ListText(const List& list, Fn text) {
  std::string out;
  for (const auto& v : list) out += (out.empty() ? "" : ", ") + text(v);
  return "[" + out + "]";
}

}  // namespace

Result<LoadedModel> Load(const std::string& path, const ShapeOptions& shapes,
                         const LoadOptions& options) {
  NN_ASSIGN(ReadModel read, ReadModelFile(path, options.limits));
  LoadedModel out;
  out.path = path;
  out.read = std::move(read);
  const Format& format = *out.read.format;
  if (format.summarize == nullptr)
    return UnsupportedError("{}: {} models cannot be inspected", path, format.label);
  out.file_bytes = BytesOnDisk(path);
  auto summary = options.in_full ? format.summarize_in_full(*out.read.model)
                                 : format.summarize(*out.read.model);
  if (!summary) return tl::unexpected(summary.error().In(path));
  out.summary = *std::move(summary);
  if (!options.graph && shapes.empty()) return out;
  if (auto s = Import(shapes, out); !s) return tl::unexpected(s.error().In(path));
  return out;
}

Result<const Graph*> GraphOf(const LoadedModel& model) {
  if (model.graph) return &*model.graph;
  return tl::unexpected(model.import_error->In(model.path + ": the model cannot be imported"));
}

Result<std::vector<TensorEntry>> TensorsOf(const LoadedModel& model) {
  const Format& format = *model.read.format;
  if (format.tensors == nullptr)
    return UnsupportedError("{}: the tensors of {} models cannot be listed", model.path,
                            format.label);
  auto tensors = format.tensors(*model.read.model);
  if (!tensors) return tl::unexpected(tensors.error().In(model.path));
  return tensors;
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

std::string SizeText(const Dim& size) {
  std::set<std::string> symbols;
  size.CollectSymbols(symbols);
  const bool known = std::none_of(symbols.begin(), symbols.end(), InferContext::IsNewSymbol);
  return known ? size.ToString() : "?";
}

std::string ShapeText(const Type& type) {
  return type.dims ? ListText(*type.dims, SizeText) : "[*]";
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return ListText(shape, [](int64_t d) { return std::to_string(d); });
}

Result<std::vector<size_t>> FindOperators(const ModelSummary& summary, const std::string& name) {
  std::vector<size_t> found;
  for (size_t i = 0; i < summary.operators.size(); ++i)
    if (summary.operators[i].name == name) found.push_back(i);
  if (!found.empty()) return found;
  for (size_t i = 0; i < summary.operators.size(); ++i)
    for (const std::string& output : summary.operators[i].outputs)
      if (output == name && (found.empty() || found.back() != i)) found.push_back(i);
  if (!found.empty()) return found;
  size_t index = 0;
  const char* end = name.data() + name.size();
  if (name.starts_with("#") && name.size() > 1) {
    const auto r = std::from_chars(name.data() + 1, end, index);
    if (r.ec == std::errc() && r.ptr == end) {
      if (index < summary.operators.size()) return std::vector{index};
      return UsageError("--node {}: out of range; the model has {} operators, #0 to #{}", name,
                        summary.operators.size(), summary.operators.size() - 1);
    }
  }
  return UsageError(
      "--node {}: no operator or operator output has this name; use a name or #NUMBER listed by "
      "--nodes",
      Quote(name));
}

}  // namespace nn::app
