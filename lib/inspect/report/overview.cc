#include "inspect/report/overview.h"

#include <algorithm>
#include <charconv>

#include "ir/op_def.h"
#include "ir/run_cost.h"

namespace nn::inspect {
namespace {

std::vector<std::pair<std::string, uint64_t>> HistogramOf(const ModelSummary& summary) {
  std::map<std::string, uint64_t> counts;
  for (const OperatorSummary& op : summary.operators) ++counts[op.op];
  std::vector<std::pair<std::string, uint64_t>> out(counts.begin(), counts.end());
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

void AddDynamic(const std::vector<TensorSummary>& tensors, bool is_output, Overview& out) {
  for (const TensorSummary& t : tensors) {
    if (!t.shape) continue;
    for (size_t i = 0; i < t.shape->size(); ++i) {
      const std::string& size = (*t.shape)[i];
      if (!FixedSize(size)) out.dynamic[size == "?" ? "" : size].push_back({is_output, t.name, i});
    }
  }
}

void GroupUnsupported(const std::vector<UnsupportedNode>& unsupported, Overview& out) {
  for (const UnsupportedNode& o : unsupported) {
    auto it = std::find_if(out.unsupported.begin(), out.unsupported.end(),
                           [&](const auto& u) { return u.op == o.source && u.reason == o.reason; });
    if (it == out.unsupported.end())
      it = out.unsupported.insert(it, Unsupported{o.source, o.reason, 0});
    ++it->count;
  }
}

}  // namespace

Overview OverviewOf(const LoadedModel& model) {
  Overview out;
  out.histogram = HistogramOf(model.summary);
  AddDynamic(model.summary.inputs, false, out);
  AddDynamic(model.summary.outputs, true, out);
  GroupUnsupported(model.unsupported, out);
  if (!model.graph) return out;
  const auto& nodes = model.graph->nodes();
  out.multiply_adds = MultiplyAddsOf(*model.graph, false);
  out.uncounted = static_cast<uint64_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const Node& n) { return n.op().is_opaque; }));
  return out;
}

std::optional<int64_t> FixedSize(const std::string& size) {
  int64_t value = 0;
  const auto r = std::from_chars(size.data(), size.data() + size.size(), value);
  const bool number = r.ec == std::errc() && r.ptr == size.data() + size.size() && value >= 0;
  return number ? std::optional(value) : std::nullopt;
}

}  // namespace nn::inspect
