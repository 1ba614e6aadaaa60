#include "apps/nninspect/inspection.h"

#include <algorithm>
#include <charconv>

#include "apps/nninspect/hash.h"
#include "base/checked_math.h"
#include "base/text.h"
#include "ir/op_def.h"
#include "passes/ports.h"

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

// The sum over all nodes, subgraphs included; nullopt if one is unknown.
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

void CountMultiplyAdds(Inspection& out) {
  if (!out.model.graph && !out.model.import_error) return;
  if (!out.model.graph) {
    out.notes.push_back("unknown, because the model cannot be imported: " +
                        out.model.import_error->message());
    return;
  }
  const Graph& graph = *out.model.graph;
  out.multiply_adds = MultiplyAdds(graph);
  if (!out.multiply_adds)
    out.notes.push_back(InputSymbols(graph).empty()
                            ? "unknown, because shapes inside the model are"
                            : "unknown: set input shapes with --input-shape or --batch");
  const auto left_out = static_cast<uint64_t>(std::count_if(
      graph.nodes().begin(), graph.nodes().end(), [](const Node& n) { return n.Is("opaque"); }));
  out.complete = out.multiply_adds && left_out == 0;
  if (left_out != 0)
    out.notes.push_back(fmt::format(
        "without {} operators that are unsupported or depend on an unsupported one", left_out));
}

// The operators to list.
Result<std::vector<size_t>> TableOf(const ModelSummary& summary, const InspectOptions& options) {
  std::vector<size_t> table;
  if (!options.table()) return table;
  for (size_t i = 0; i < summary.operators.size(); ++i)
    if (options.op.empty() || summary.operators[i].op == options.op) table.push_back(i);
  if (table.empty() && !options.op.empty())
    return UsageError("--op {}: the model has no operator of this type", Quote(options.op));
  return table;
}

Status AddParts(const InspectOptions& options, Inspection& out) {
  NN_ASSIGN(out.table, TableOf(out.model.summary, options));
  if (!options.node.empty()) {
    NN_ASSIGN(out.node, DescribeNodes(out.model, options.node));
  }
  if (options.tensors) {
    NN_ASSIGN(out.tensors, ListTensors(out.model, options.stats));
  }
  if (options.tree) {
    NN_ASSIGN(out.tree, TreeOf(out.model));
  }
  if (options.cost) {
    NN_ASSIGN(out.cost, CostOf(out.model));
  }
  if (options.hash) {
    NN_ASSIGN(out.digests, DigestsOf(out.model));
  }
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
  const bool of_graph = !options.node.empty() || options.hash || options.cost;
  const bool summary = !options.parts() || options.nodes || options.format == "json";
  NN_ASSIGN(LoadedModel model, Load(options.model, options.shapes,
                                    {.limits = options.limits,
                                     .in_full = !options.node.empty() || options.hash,
                                     .graph = of_graph || summary}));
  Inspection out;
  out.model = std::move(model);
  out.histogram = HistogramOf(out.model.summary);
  GroupObstacles(out.model.obstacles, out);
  CountMultiplyAdds(out);
  AddDynamic(out.model.summary.inputs, false, out);
  AddDynamic(out.model.summary.outputs, true, out);
  NN_RETURN_IF_ERROR(AddParts(options, out));
  return out;
}

}  // namespace nn::app
