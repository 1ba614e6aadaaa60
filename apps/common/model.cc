#include "apps/common/model.h"

#include <spdlog/spdlog.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include "base/checked_math.h"
#include "base/file.h"
#include "base/text.h"
#include "formats/common/dump.h"
#include "ir/seeded.h"
#include "passes/passes.h"

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

Status BindBatch(Graph& graph, int64_t batch) {
  if (batch < 0) return UsageError("--batch {}: the batch size cannot be negative", batch);
  std::map<std::string, int64_t> symbols;
  std::string seen;
  for (const Port& p : graph.inputs()) {
    const Type& type = p.value->type();
    seen += fmt::format("{}{} is {}", seen.empty() ? "" : ", ", Quote(p.name), type.ToString());
    if (!type.ranked() || type.rank() == 0) continue;
    if (const auto symbol = type.dim(0).symbol()) symbols.emplace(*symbol, batch);
  }
  if (symbols.empty())
    return UsageError("--batch {}: no input has a symbolic first dimension ({})", batch, seen);
  return BindSymbols(graph, symbols);
}

Status BindAll(Graph& graph, const ShapeOptions& options) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const std::string& text : options.input_shapes) {
    NN_ASSIGN(auto shape, ParseInputShape(text));
    if (!shapes.insert(std::move(shape)).second)
      return UsageError("--input-shape {}: the input already has a shape", Quote(text));
  }
  if (!shapes.empty()) NN_RETURN_IF_ERROR(BindInputShapes(graph, shapes));
  if (options.batch) NN_RETURN_IF_ERROR(BindBatch(graph, *options.batch));
  return {};
}

// The model was valid before, so the given shapes do not fit it.
Status AsUsage(const Status& status) {
  if (status || status.error().code() != ErrorCode::kModel) return status;
  return UsageError("the given shapes do not fit the model: {}", status.error().message());
}

void NameAll(const std::vector<Port>& ports, std::string_view prefix,
             const std::function<void(size_t, std::string)>& rename) {
  std::set<std::string> taken;
  for (const Port& p : ports) taken.insert(p.name);
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].name.empty()) continue;
    std::string name = fmt::format("{}_{}", prefix, i);
    while (!taken.insert(name).second) name += '_';
    rename(i, name);
  }
}

}  // namespace

std::optional<uint64_t> BytesOnDisk(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto bytes = fs::file_size(path, error);
    return error ? std::nullopt : std::optional<uint64_t>(bytes);
  }
  uint64_t total = 0;
  for (auto it = fs::recursive_directory_iterator(path, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error))
    if (it->is_regular_file(error)) total += it->file_size(error);
  return error ? std::nullopt : std::optional(total);
}

Status WriteDumpOf(const ReadModel& read, const std::string& path, const DumpOptions& options) {
  NN_ASSIGN(const std::string file, WriteDumpFiles(read, path, options));
  if (!file.empty() && PlainRelativePath(options.file) != file) SayOtherName(options.file, file);
  return {};
}

void SayOtherName(std::string_view wanted, std::string_view name) {
  spdlog::info("{} exists with different contents and is kept; the tensors are in {}",
               Quote(wanted), Quote(name));
}

void NamePorts(Graph& graph) {
  NameAll(graph.inputs(), "in",
          [&](size_t i, std::string name) { graph.RenameInput(i, std::move(name)); });
  NameAll(graph.outputs(), "out",
          [&](size_t i, std::string name) { graph.RenameOutput(i, std::move(name)); });
}

Status BindShapes(Graph& graph, const ShapeOptions& options) {
  return AsUsage(BindAll(graph, options));
}

Status BindInputs(Graph& graph, const std::map<std::string, std::vector<int64_t>>& shapes) {
  return AsUsage(BindInputShapes(graph, shapes));
}

Status BindOpenBatch(Graph& graph) {
  std::map<std::string, int64_t> symbols;
  std::string names;
  for (const Port& p : graph.inputs()) {
    const Type& type = p.value->type();
    if (!type.ranked() || type.rank() == 0) continue;
    const auto symbol = type.dim(0).symbol();
    if (!symbol || !symbols.emplace(*symbol, 1).second) continue;
    names += (names.empty() ? "" : ", ") + Quote(*symbol);
  }
  if (symbols.empty()) return {};
  spdlog::info("{} is set to 1; use --batch to change it", names);
  return BindSymbols(graph, symbols);
}

std::set<std::string> InputSymbols(const Graph& graph) {
  std::set<std::string> symbols;
  for (const Port& p : graph.inputs())
    if (p.value->type().ranked())
      for (const Dim& d : *p.value->type().dims) d.CollectSymbols(symbols);
  return symbols;
}

Status RequireShape(std::string_view name, const Type& type) {
  if (type.const_dims()) return {};
  return UsageError("input {} is {}: set its shape with --input-shape or --batch", Quote(name),
                    type.ToString());
}

Result<Tensor> SeededInput(std::string_view name, const Type& type, size_t i, uint64_t seed) {
  NN_RETURN_IF_ERROR(RequireShape(name, type));
  auto tensor = SeededTensor(type.dtype, *type.const_dims(), seed, i);
  if (!tensor) return tl::unexpected(tensor.error().In("input " + Quote(name)));
  return tensor;
}

Status FitTo(const Target& target, Graph& graph, InterfaceAxes& axes,
             std::vector<Obstacle>& obstacles) {
  NN_ASSIGN(std::vector<Obstacle> illegal, Legalize(graph, target, &axes));
  for (Obstacle& o : illegal)
    if (o.op != "opaque") obstacles.push_back(std::move(o));
  return {};
}

std::optional<uint64_t> MultiplyAddsOf(const Node& node) {
  if (node.Is("opaque")) return std::nullopt;
  std::optional<uint64_t> total = 0;
  if (node.op().multiply_adds != nullptr) {
    const auto n = node.op().multiply_adds(node);
    total = n && *n >= 0 ? std::optional(static_cast<uint64_t>(*n)) : std::nullopt;
  }
  for (const auto& region : node.regions())
    for (const Node& inner : region->nodes()) {
      const auto own = MultiplyAddsOf(inner);
      total = total && own ? CheckedAdd(*total, *own) : std::nullopt;
    }
  return total;
}

std::string NameList(const std::vector<Port>& ports) {
  std::string out;
  for (const Port& p : ports) out += (out.empty() ? "" : ", ") + Quote(p.name);
  return out.empty() ? "none" : out;
}

Result<Assignment> SplitAssignment(const std::string& text, const std::vector<Port>& ports) {
  for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1))
    for (size_t i = 0; i < ports.size(); ++i)
      if (ports[i].name == std::string_view(text).substr(0, at))
        return Assignment{i, text.substr(at + 1)};
  if (text.find('=') == std::string::npos)
    return UsageError("{}: expected NAME=VALUE", Quote(text));
  return UsageError("{}: unknown name; expected one of {}", Quote(text), NameList(ports));
}

}  // namespace nn::app
