#include "apps/nninspect/inspection.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "base/checked_math.h"
#include "base/text.h"
#include "ir/op_def.h"

namespace nn::app {
namespace {

std::vector<std::pair<std::string, uint64_t>> HistogramOf(const ModelSummary& summary) {
  std::map<std::string, uint64_t> counts;
  for (const OperatorSummary& op : summary.operators) ++counts[op.op];
  std::vector<std::pair<std::string, uint64_t>> out(counts.begin(), counts.end());
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

void AddDynamic(const std::vector<TensorSummary>& tensors, bool is_output, Inspection& out) {
  for (const TensorSummary& t : tensors) {
    if (!t.shape) continue;
    for (size_t i = 0; i < t.shape->size(); ++i) {
      const std::string& size = (*t.shape)[i];
      if (!FixedSize(size)) out.dynamic[size == "?" ? "" : size].push_back({is_output, t.name, i});
    }
  }
}

// The sum over all nodes, sub-graphs included; nullopt if one is not known.
std::optional<uint64_t> MultiplyAdds(const Graph& graph) {
  uint64_t total = 0;
  for (const Node& node : graph.nodes()) {
    std::optional<uint64_t> own = 0;
    if (node.op().multiply_adds != nullptr) {
      const auto n = node.op().multiply_adds(node);
      own = n && *n >= 0 ? std::optional(static_cast<uint64_t>(*n)) : std::nullopt;
    }
    for (const auto& region : node.regions()) {
      const auto inner = MultiplyAdds(*region);
      own = own && inner ? CheckedAdd(*own, *inner) : std::nullopt;
    }
    const auto sum = own ? CheckedAdd(total, *own) : std::nullopt;
    if (!sum) return std::nullopt;
    total = *sum;
  }
  return total;
}

void GroupObstacles(const std::vector<Obstacle>& obstacles, Inspection& out) {
  for (const Obstacle& o : obstacles) {
    auto it = std::find_if(out.unsupported.begin(), out.unsupported.end(),
                           [&](const auto& u) { return u.op == o.source && u.reason == o.reason; });
    if (it == out.unsupported.end())
      it = out.unsupported.insert(it, Unsupported{o.source, o.reason, 0});
    ++it->count;
  }
}

// The summary's shapes, as the bound graph has them.
void TakeShapes(const std::vector<Port>& ports, std::vector<TensorSummary>& tensors) {
  for (size_t i = 0; i < ports.size() && i < tensors.size(); ++i) {
    const Type& type = ports[i].value->type();
    if (!type.ranked()) continue;
    tensors[i].shape.emplace();
    for (const Dim& d : *type.dims) {
      const bool unnamed = d.symbol() && d.symbol()->starts_with('?');
      tensors[i].shape->push_back(unnamed ? "?" : d.ToString());
    }
  }
}

Status InspectGraph(const ReadModel& read, const ShapeOptions& shapes, Inspection& out) {
  auto imported = read.format->import(*read.model);
  if (!imported) {
    if (!shapes.empty()) return tl::unexpected(imported.error());
    out.notes.push_back("unknown, because the model cannot be imported: " +
                        imported.error().message());
    return {};
  }
  Graph& graph = imported->graph;
  if (!shapes.empty()) {
    Graph named = graph.Clone();
    NamePorts(named);
    NN_RETURN_IF_ERROR(BindShapes(named, shapes));
    graph = std::move(named);
    TakeShapes(graph.inputs(), out.summary.inputs);
    TakeShapes(graph.outputs(), out.summary.outputs);
  }
  GroupObstacles(imported->obstacles, out);
  out.multiply_adds = MultiplyAdds(graph);
  const auto symbols = InputSymbols(graph);
  if (!out.multiply_adds)
    out.notes.push_back(symbols.empty()
                            ? "unknown, because shapes inside the model are"
                            : "unknown until shapes are given: --input-shape or --batch");
  const auto left_out = static_cast<uint64_t>(std::count_if(
      graph.nodes().begin(), graph.nodes().end(), [](const Node& n) { return n.Is("opaque"); }));
  out.complete = out.multiply_adds && left_out == 0;
  if (left_out != 0)
    out.notes.push_back(fmt::format(
        "without {} operators that are not supported or follow one that is not", left_out));
  return {};
}

}  // namespace

std::optional<int64_t> FixedSize(const std::string& size) {
  int64_t value = 0;
  const auto r = std::from_chars(size.data(), size.data() + size.size(), value);
  const bool number = r.ec == std::errc() && r.ptr == size.data() + size.size() && value >= 0;
  return number ? std::optional(value) : std::nullopt;
}

Result<Inspection> Inspect(const InspectOptions& options) {
  NN_ASSIGN(const ReadModel read, ReadModelFile(options.model, options.limits));
  if (read.format->summarize == nullptr)
    return UnsupportedError("{}: {} models cannot be inspected", options.model, read.format->label);
  Inspection out;
  out.path = options.model;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(options.model, error);
  if (!error) out.file_bytes = bytes;
  auto summary = read.format->summarize(*read.model);
  if (!summary) return tl::unexpected(summary.error().In(options.model));
  out.summary = *std::move(summary);
  out.histogram = HistogramOf(out.summary);
  if (auto s = InspectGraph(read, options.shapes, out); !s)
    return tl::unexpected(s.error().In(options.model));
  AddDynamic(out.summary.inputs, false, out);
  AddDynamic(out.summary.outputs, true, out);
  return out;
}

}  // namespace nn::app
