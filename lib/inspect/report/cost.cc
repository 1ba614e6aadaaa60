#include "inspect/report/cost.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/checked_math.h"
#include "inspect/report/shape_text.h"
#include "ir/op_def.h"
#include "ir/run_cost.h"
#include "ir/value_table.h"

namespace nn::inspect {
namespace {

using Bytes = std::optional<uint64_t>;

uint64_t Saturating(uint64_t a, uint64_t b) {
  return CheckedAdd(a, b).value_or(UINT64_MAX);
}

Bytes Sum(Bytes a, Bytes b) {
  return a && b ? CheckedAdd(*a, *b) : std::nullopt;
}

Bytes SizeOf(const Value& v) {
  const auto dims = v.type().const_dims();
  const auto elements = dims ? CheckedElements(*dims) : std::nullopt;
  const auto bits = static_cast<uint64_t>(DTypeBits(v.dtype()));
  if (!elements || bits == 0) return std::nullopt;
  const auto total = CheckedMul(static_cast<uint64_t>(*elements), bits);
  return total ? Bytes(*total / 8 + (*total % 8 != 0)) : std::nullopt;
}

// The nodes imported from one operator of the file.
struct Step {
  std::vector<const Node*> nodes;
  std::vector<const Value*> reads;   // from outside, each once
  std::vector<const Value*> writes;  // read by others or graph outputs; at least the last output
};

std::vector<Step> StepsOf(const Graph& graph) {
  std::vector<Step> steps;
  std::unordered_map<const Node*, size_t> step_of;
  step_of.reserve(graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    const int64_t index = node.source().index;
    if (steps.empty() || index < 0 || steps.back().nodes.back()->source().index != index)
      steps.emplace_back();
    steps.back().nodes.push_back(&node);
    step_of[&node] = steps.size() - 1;
  }
  ValueTable<size_t> reader(graph, steps.size());  // the last step that reads a value
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const Node* node : steps[i].nodes) {
      for (const Value* v : node->inputs())
        if (v != nullptr && (v->def() == nullptr || step_of[v->def()] != i) &&
            std::exchange(reader[v], i) != i)
          steps[i].reads.push_back(v);
      for (const Value* v : node->outputs()) {
        const auto uses = v->uses();
        const bool inside = !uses.empty() && !graph.IsOutput(v) &&
                            std::all_of(uses.begin(), uses.end(),
                                        [&](const Use& u) { return step_of[u.node] == i; });
        if (!inside) steps[i].writes.push_back(v);
      }
    }
  }
  return steps;
}

std::string OutputText(const Step& step) {
  if (step.writes.empty()) return {};
  const Type& type = step.writes.front()->type();
  return fmt::format("{}{}", type.dtype == DType::kUnknown ? "" : DTypeName(type.dtype),
                     ShapeText(type));
}

uint64_t Parameters(const Graph& graph) {
  uint64_t total = 0;
  for (const Value& v : graph.values())
    if (v.is_constant() && !v.uses().empty())
      total = Saturating(total, static_cast<uint64_t>(v.constant().elements()));
  for (const Node& node : graph.nodes())
    for (const auto& region : node.regions()) total = Saturating(total, Parameters(*region));
  return total;
}

OperatorCost RowOf(const Graph& graph, const Step& step) {
  const Node& first = *step.nodes.front();
  OperatorCost row;
  row.index = first.source().index;
  row.op = first.source_op();
  row.name = first.name();
  row.output = OutputText(step);
  row.multiply_adds = MultiplyAddsOf(graph, step.nodes);
  for (const Node* node : step.nodes) {
    if (!MultiplyAddsOf(*node) && row.unknown.empty())
      row.unknown = node->op().is_opaque ? "not supported" : "its shapes are unknown";
    for (const auto& region : node->regions())
      row.parameters = Saturating(row.parameters, Parameters(*region));
  }
  row.bytes_read = row.bytes_written = 0;
  for (const Value* v : step.reads) {
    row.bytes_read = Sum(row.bytes_read, SizeOf(*v));
    if (v->is_constant())
      row.parameters = Saturating(row.parameters, static_cast<uint64_t>(v->constant().elements()));
  }
  for (const Value* v : step.writes) row.bytes_written = Sum(row.bytes_written, SizeOf(*v));
  return row;
}

// Inputs are alive from the start to their last read; graph outputs, to the end.
void FindPeak(const Graph& graph, const std::vector<Step>& steps, ModelCost& out) {
  constexpr size_t kNever = SIZE_MAX;
  ValueTable<size_t> last(graph, kNever);
  for (size_t i = 0; i < steps.size(); ++i)
    for (const Value* v : steps[i].reads) last[v] = i;
  for (const Port& p : graph.outputs()) last[p.value] = steps.size();
  Bytes alive = 0;
  for (const Port& p : graph.inputs())
    if (!p.value->is_constant()) alive = Sum(alive, SizeOf(*p.value));
  uint64_t peak = 0;
  for (size_t i = 0; i < steps.size() && alive; ++i) {
    for (const Value* v : steps[i].writes) alive = Sum(alive, SizeOf(*v));
    if (!alive) break;
    if (*alive > peak) {
      peak = *alive;
      out.peak_operator = i;
    }
    const auto release = [&](const Value* v, size_t at) {
      if (!v->is_constant() && at == i) *alive -= *SizeOf(*v);
    };
    for (const Value* v : steps[i].reads) release(v, last[v]);
    for (const Value* v : steps[i].writes)
      if (last[v] == kNever) release(v, i);
  }
  if (alive) out.peak_bytes = std::max(peak, *alive);
}

}  // namespace

Result<ModelCost> CostOf(const LoadedModel& model) {
  NN_ASSIGN(const Graph* const graph, GraphOf(model));
  const std::vector<Step> steps = StepsOf(*graph);
  ModelCost out;
  out.operators.reserve(steps.size());
  for (const Step& step : steps) {
    OperatorCost row = RowOf(*graph, step);
    out.unknown += !row.multiply_adds;
    out.unsized += !row.bytes_read || !row.bytes_written;
    out.multiply_adds = Saturating(out.multiply_adds, row.multiply_adds.value_or(0));
    out.bytes_read = Saturating(out.bytes_read, row.bytes_read.value_or(0));
    out.bytes_written = Saturating(out.bytes_written, row.bytes_written.value_or(0));
    out.operators.push_back(std::move(row));
  }
  // Rows that depend on the same condition do not add up.
  if (const auto run = MultiplyAddsOf(*graph)) out.multiply_adds = *run;
  out.parameters = Parameters(*graph);
  FindPeak(*graph, steps, out);
  return out;
}

}  // namespace nn::inspect
