#include "exec/runtime/planning/plan_info.h"

#include <algorithm>

#include "base/checked_math.h"

namespace nn {
namespace {

using Places = std::unordered_map<const Value*, MemoryView>;

Storage LocationOf(const BufferInfo& buffer) {
  switch (buffer.kind) {
    case BufferKind::kInput:
      return Storage::kInput;
    case BufferKind::kOutput:
      return Storage::kOutput;
    case BufferKind::kConstant:
      return buffer.packed ? Storage::kPacked : Storage::kConstant;
    case BufferKind::kArena:
      break;
  }
  return buffer.value == nullptr ? Storage::kScratch : Storage::kArena;
}

uint64_t Aligned(uint64_t bytes) {
  return RoundUp(bytes, kBufferAlignment);
}

// The row stride of a dense value, in elements.
size_t TableRowOf(const Value* v) {
  const auto shape = ShapeOf(v);
  return shape.empty() ? 1 : static_cast<size_t>(shape.back());
}

class Describer {
 public:
  Describer(const Graph& graph, const Plan& plan, const Places& views)
      : graph_(graph), plan_(plan), views_(views), lifetimes_(plan.Lifetimes()) {
    for (const Port& p : graph.inputs()) names_[p.value] = p.name;
    for (const Port& p : graph.outputs()) names_.emplace(p.value, p.name);
    for (size_t s = 0; s < plan.steps.size(); ++s)
      for (const Node* n : plan.steps[s]->nodes) last_step_[n] = s;
  }

  PlanInfo Run() {
    PlanInfo info;
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      info.steps.push_back(StepNumber(s));
      const PlannedStep& step = info.steps.back();
      if (!step.operators.empty() && last_step_[plan_.steps[s]->nodes.front()] == s)
        info.fused_nodes += step.operators.size() - 1;
      info.packed_steps += step.info.packed_bytes > 0 ? 1 : 0;
      if (step.alive_bytes <= info.peak_bytes) continue;
      info.peak_bytes = step.alive_bytes;
      info.peak_step = s;
    }
    info.arena_bytes = plan_.arena_bytes;
    info.unshared_bytes = UnsharedBytes();
    info.packed_bytes = plan_.packed_bytes;
    info.folded_nodes = plan_.folded_nodes;
    info.planned_nodes = graph_.nodes().size();
    for (const Node& n : graph_.nodes()) info.stepless_nodes += last_step_.contains(&n) ? 0 : 1;
    return info;
  }

 private:
  std::string NameOf(const Value* v) const {
    const auto port = names_.find(v);
    if (port != names_.end() && !port->second.empty()) return port->second;
    return v->name().empty() ? "%" + std::to_string(v->id()) : std::string(v->name());
  }

  OperandInfo ValueAt(const Value* v, const MemoryView& view) const {
    const BufferInfo& buffer = plan_.buffers[view.buffer];
    OperandInfo o;
    o.name = NameOf(v);
    o.dtype = v->dtype();
    o.shape = ShapeOf(v);
    const int64_t elements = *CheckedElements(o.shape);
    o.bytes = ByteSize(o.dtype, elements);
    o.storage = LocationOf(buffer);
    o.offset = view.offset + buffer.arena_offset;
    if (buffer.value != v && buffer.value != nullptr) o.within = NameOf(buffer.value);
    const size_t row = TableRowOf(v);
    if (view.row_stride != row && elements > static_cast<int64_t>(row))
      o.row_stride = view.row_stride;
    return o;
  }

  OperandInfo BufferNumber(BufferId b) const {
    const BufferInfo& buffer = plan_.buffers[b];
    if (buffer.value != nullptr) return ValueAt(buffer.value, {b, 0, TableRowOf(buffer.value)});
    OperandInfo o;
    o.bytes = buffer.bytes;
    o.storage = LocationOf(buffer);
    o.offset = buffer.arena_offset;
    return o;
  }

  // Describes the values of `candidates` in the buffers, and the other contents of the buffers.
  std::vector<OperandInfo> Operands(const std::vector<BufferId>& buffers,
                                    const std::vector<const Value*>& candidates) const {
    std::vector<OperandInfo> out;
    std::vector<BufferId> done;
    for (const BufferId b : buffers) {
      if (std::find(done.begin(), done.end(), b) != done.end()) continue;
      done.push_back(b);
      bool found = false;
      for (const Value* v : candidates) {
        const auto view = views_.find(v);
        if (view == views_.end() || view->second.buffer != b) continue;
        out.push_back(ValueAt(v, view->second));
        found = true;
      }
      if (!found) out.push_back(BufferNumber(b));
    }
    return out;
  }

  PlannedStep StepNumber(size_t s) {
    const Step& step = *plan_.steps[s];
    PlannedStep out;
    out.info = DescribeStep(step);
    std::vector<const Value*> inputs, outputs, constants;
    const auto add = [](std::vector<const Value*>& to, const Value* v) {
      if (std::find(to.begin(), to.end(), v) == to.end()) to.push_back(v);
    };
    for (const Node* n : step.nodes) {
      out.operators.push_back({std::string(n->op_name()), std::string(n->name())});
      for (const Value* v : n->inputs()) {
        if (v == nullptr) continue;
        if (v->is_constant() && !views_.contains(v)) {
          if (last_step_[n] == s) add(constants, v);
        } else if (std::find(outputs.begin(), outputs.end(), v) == outputs.end()) {
          add(inputs, v);
        }
      }
      for (const Value* v : n->outputs()) add(outputs, v);
    }
    out.reads = Operands(step.reads, inputs);
    for (const Value* v : constants) {
      OperandInfo o;
      o.name = NameOf(v);
      o.dtype = v->dtype();
      o.shape = ShapeOf(v);
      o.bytes = v->constant().byte_size();
      o.storage = Storage::kPacked;
      out.reads.push_back(std::move(o));
    }
    out.writes = Operands(step.writes, outputs);
    for (BufferId b = 0; b < plan_.buffers.size(); ++b)
      if (plan_.buffers[b].kind == BufferKind::kArena && lifetimes_[b].first <= s &&
          s <= lifetimes_[b].last)
        out.alive_bytes += Aligned(plan_.buffers[b].bytes);
    return out;
  }

  uint64_t UnsharedBytes() const {
    uint64_t bytes = 0;
    for (const BufferInfo& b : plan_.buffers)
      if (LocationOf(b) == Storage::kScratch) bytes += Aligned(b.bytes);
    for (const auto& [v, view] : views_)
      if (v->def() != nullptr && !graph_.IsOutput(v))
        bytes += Aligned(ByteSize(v->dtype(), *CheckedElements(ShapeOf(v))));
    return bytes;
  }

  const Graph& graph_;
  const Plan& plan_;
  const Places& views_;
  const std::vector<Lifetime> lifetimes_;
  std::unordered_map<const Value*, std::string> names_;
  std::unordered_map<const Node*, size_t> last_step_;
};

}  // namespace

std::string_view StorageName(Storage storage) {
  static constexpr std::string_view kNames[] = {"input",    "output", "arena",
                                                "constant", "packed", "scratch"};
  return kNames[static_cast<size_t>(storage)];
}

StepInfo DescribeStep(const Step& step) {
  StepInfo info;
  info.label = step.label;
  for (const Node* node : step.nodes) {
    info.kind.append(info.kind.empty() ? "" : "+").append(node->op_name());
    const int64_t source = node->source().index;
    if (source >= 0 && std::count(info.sources.begin(), info.sources.end(), source) == 0)
      info.sources.push_back(source);
  }
  if (info.kind.empty()) info.kind = step.label;
  info.multiply_adds = step.multiply_adds;
  info.bytes = step.bytes;
  info.reference = step.reference;
  info.grid = step.grid();
  info.packed_bytes = step.packed_bytes;
  return info;
}

PlanInfo DescribePlan(const Graph& graph, const Plan& plan, const Places& views) {
  return Describer(graph, plan, views).Run();
}

}  // namespace nn
