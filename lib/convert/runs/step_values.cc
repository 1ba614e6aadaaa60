#include "convert/runs/step_values.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "tensorio/npy.h"

namespace nn {
namespace {

constexpr size_t kMaxNamePart = 100;

// "0012_features.0_conv.npy": only letters, digits, '.', '-' and '_' of the name are kept.
std::string FileNameFor(size_t index, std::string_view name) {
  std::string out = fmt::format("{:04}_", index);
  for (const char c : name.substr(0, kMaxNamePart)) {
    const auto u = static_cast<unsigned char>(c);
    out += std::isalnum(u) != 0 || c == '.' || c == '-' ? c : '_';
  }
  return out + ".npy";
}

Json StepJson(const Port& port, const Tensor& tensor, std::string_view kind) {
  Json json = {{"name", port.name},
               {"kind", kind},
               {"type", DTypeName(tensor.dtype())},
               {"shape", tensor.dims()}};
  const Type& type = port.value->type();
  if (type.quantized()) json["quantized_type"] = type.ToString();
  if (const Node* node = port.value->def()) {
    json["operator"] = node->op_name();
    if (!node->name().empty()) json["node"] = node->name();
    if (const std::string source = node->source().ToString(); !source.empty())
      json["source"] = source;
  }
  return json;
}

}  // namespace

std::string SavedName(const Value& value) {
  return value.name().empty() ? fmt::format("value_{}", value.id()) : std::string(value.name());
}

size_t ExposeSteps(Graph& graph) {
  std::set<std::string> names;
  for (const Port& p : graph.outputs()) names.insert(p.name);
  std::vector<Port> added;
  for (const Node& node : graph.nodes())
    for (Value* v : node.outputs()) {
      if (graph.IsOutput(v) || v->dtype() == DType::kUnknown) continue;
      const std::string base = SavedName(*v);
      std::string name = base;
      for (int i = 1; !names.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
      added.push_back({std::move(name), v});
    }
  for (Port& p : added) graph.AddOutput(std::move(p.name), p.value);
  return added.size();
}

Status SaveSteps(const std::string& directory, const Graph& graph, size_t own_outputs,
                 std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                 const std::function<Status(uint64_t done, uint64_t total)>& progress) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return IoError("{}: {}", directory, error.message());
  Json values = Json::array();
  const auto tell = [&] {
    return progress ? progress(values.size(), inputs.size() + outputs.size()) : Status();
  };
  NN_RETURN_IF_ERROR(tell());
  const auto save = [&](const Port& port, const Tensor& tensor, std::string_view kind) -> Status {
    const std::string file = FileNameFor(values.size(), port.name);
    auto image = NpyImage(tensor);
    if (!image) return tl::unexpected(image.error().In("value " + Quote(port.name)));
    NN_RETURN_IF_ERROR(WriteFile((std::filesystem::path(directory) / file).string(), *image));
    Json entry = StepJson(port, tensor, kind);
    entry["file"] = file;
    values.push_back(std::move(entry));
    return tell();
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    NN_RETURN_IF_ERROR(save(graph.inputs()[i], inputs[i], "input"));
  for (size_t i = own_outputs; i < outputs.size(); ++i)
    NN_RETURN_IF_ERROR(save(graph.outputs()[i], outputs[i], "intermediate"));
  for (size_t i = 0; i < own_outputs; ++i)
    NN_RETURN_IF_ERROR(save(graph.outputs()[i], outputs[i], "output"));
  const Json index = {{"version", 1}, {"values", std::move(values)}};
  return WriteFile((std::filesystem::path(directory) / "index.json").string(), JsonText(index));
}

}  // namespace nn
