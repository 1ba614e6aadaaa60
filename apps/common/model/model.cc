#include "apps/common/model/model.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/file/file.h"
#include "base/text/text.h"
#include "formats/common/describe/dump.h"
#include "passes/core/ports.h"

namespace nn::app {
namespace {

Result<std::vector<int64_t>> ParseShape(std::string_view text) {
  std::vector<int64_t> shape;
  while (!text.empty()) {
    int64_t v = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
    if (r.ec != std::errc() || v < 0)
      return UsageError("{} is not a list of sizes such as 1,3,224,224", Quote(text));
    text.remove_prefix(static_cast<size_t>(r.ptr - text.data()));
    shape.push_back(v);
    if (text.empty()) break;
    if (text[0] != ',' || text.size() == 1)
      return UsageError("{} is not a list of sizes such as 1,3,224,224", Quote(text));
    text.remove_prefix(1);
  }
  return shape;
}

// Names may contain colons: the shape follows the last one.
Result<std::pair<std::string, std::vector<int64_t>>> ParseInputShape(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    return UsageError("--input-shape {}: expected NAME:SIZE,SIZE,...", Quote(text));
  auto shape = ParseShape(std::string_view(text).substr(colon + 1));
  if (!shape) return tl::unexpected(shape.error().In("--input-shape"));
  return std::pair(text.substr(0, colon), *std::move(shape));
}

}  // namespace

Status WriteDumpOf(const ReadModel& read, const std::string& path, const DumpOptions& options) {
  NN_ASSIGN(const std::string file, WriteDumpFiles(read, path, options));
  if (!file.empty() && PlainRelativePath(options.file) != file) SayOtherName(options.file, file);
  return {};
}

void SayOtherName(std::string_view wanted, std::string_view name) {
  spdlog::info("{} exists with different contents and is kept; the tensors are in {}",
               Quote(wanted), Quote(name));
}

Result<InputShapes> ShapesOf(const ShapeOptions& options) {
  InputShapes shapes;
  for (const std::string& text : options.input_shapes) {
    NN_ASSIGN(auto shape, ParseInputShape(text));
    if (!shapes.insert(std::move(shape)).second)
      return UsageError("--input-shape {}: the input already has a shape", Quote(text));
  }
  return shapes;
}

Result<InputSettings> SettingsOf(const ShapeOptions& options) {
  InputSettings settings;
  NN_ASSIGN(settings.shapes, ShapesOf(options));
  settings.batch = options.batch;
  for (const std::string& text : options.lengths) {
    const size_t equals = text.rfind('=');
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    int64_t length = kAbsent;
    const char* const end = value.data() + value.size();
    const auto r = std::from_chars(value.data(), end, length);
    const bool is_number = r.ec == std::errc() && r.ptr == end && length >= 0;
    if (!is_number && value != "none")
      return UsageError("--length {}: expected NAME=NUMBER or NAME=none", Quote(text));
    if (!settings.lengths.emplace(text.substr(0, equals), is_number ? length : kAbsent).second)
      return UsageError("--length {}: the input already has a length", Quote(text));
  }
  return settings;
}

Status FitRanks(Graph& graph, const ReadModel& read, const std::string& path,
                const InputShapes& shapes) {
  if (read.format->import_with_shapes == nullptr) return {};
  const bool differs = std::ranges::any_of(graph.inputs(), [&](const Port& p) {
    const auto given = shapes.find(p.name);
    return given != shapes.end() && p.value->type().ranked() &&
           given->second.size() != p.value->type().dims->size();
  });
  if (!differs) return {};
  NN_ASSIGN(graph, ImportGraph(read, path, shapes));
  NamePorts(graph);
  return {};
}

Status BindShapes(Graph& graph, const ShapeOptions& options) {
  NN_ASSIGN(const InputSettings settings, SettingsOf(options));
  return BindShapes(graph, settings.shapes, settings.batch);
}

Result<Assignment> SplitAssignment(const std::string& text, const std::vector<std::string>& names) {
  for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1))
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == std::string_view(text).substr(0, at))
        return Assignment{i, text.substr(at + 1)};
  if (text.find('=') == std::string::npos)
    return UsageError("{}: expected NAME=VALUE", Quote(text));
  return UsageError("{}: unknown name; expected one of {}", Quote(text), NameList(names));
}

}  // namespace nn::app
