#include "exec/runtime/planning/build_plan.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/checked_math.h"
#include "base/file/file.h"
#include "exec/runtime/alias.h"
#include "exec/steps/attention.h"
#include "exec/steps/copy_step.h"
#include "ir/eval.h"
#include "ops/math/elementwise/elementwise.h"
#include "passes/core/passes.h"

namespace nn {
namespace {

// Copies a value between memory with rows `from_row` and `to_row` elements apart.
void CopyRows(const Value* v, const std::byte* from, size_t from_row, std::byte* to,
              size_t to_row) {
  const auto shape = ShapeOf(v);
  const auto bytes = ByteSize(v->dtype(), *CheckedElements(shape));
  if (bytes == 0) return;  // the memory may be null
  const auto row = shape.empty() ? size_t{1} : static_cast<size_t>(shape.back());
  if (from_row == row && to_row == row) {
    std::memcpy(to, from, bytes);
    return;
  }
  const size_t element = static_cast<size_t>(DTypeBits(v->dtype())) / 8;
  for (size_t r = 0; row > 0 && r < bytes / element / row; ++r)
    std::memcpy(to + r * to_row * element, from + r * from_row * element, row * element);
}

// The row stride of a dense value, in elements.
size_t RowOf(const Value* v) {
  const auto shape = ShapeOf(v);
  return shape.empty() ? 1 : static_cast<size_t>(shape.back());
}

// The scalar reference evaluation of one node as a step.
class ReferenceStep : public Step {
 public:
  const Node* node = nullptr;
  std::vector<std::optional<MemoryView>> inputs;
  std::vector<MemoryView> outputs;
  EvalBudget budget;  // of each run

  size_t grid() const override { return 1; }
  void Run(const Memory& memory, size_t) const override {
    std::vector<Tensor> tensors;
    tensors.reserve(inputs.size());
    std::vector<const Tensor*> pointers;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]) {
        pointers.push_back(nullptr);
        continue;
      }
      const Value* v = node->input(i);
      const auto shape = ShapeOf(v);
      const size_t size = ByteSize(v->dtype(), *CheckedElements(shape));
      const std::byte* data = inputs[i]->As<const std::byte>(memory);
      Blob blob({data, size}, nullptr);
      if (inputs[i]->row_stride != RowOf(v)) {
        Buffer dense(size);
        CopyRows(v, data, inputs[i]->row_stride, dense.data(), RowOf(v));
        blob = Blob(std::move(dense));
      }
      tensors.emplace_back(v->dtype(), shape, std::move(blob));
      pointers.push_back(&tensors.back());
    }
    const auto results =
        node->regions().empty() ? Evaluate(pointers) : RunWithRegions(pointers, memory);
    if (!results) {
      memory.error().Report(0, [&] { return results.error(); });
      return;
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      CopyRows(node->output(i), (*results)[i].blob().data(), RowOf(node->output(i)),
               outputs[i].As<std::byte>(memory), outputs[i].row_stride);
  }

 private:
  Result<std::vector<Tensor>> Evaluate(const std::vector<const Tensor*>& operands) const {
    EvalBudget left = budget;
    return EvalNode(*node, operands, &left);
  }
  Result<std::vector<Tensor>> RunWithRegions(const std::vector<const Tensor*>& operands,
                                             const Memory& memory) const {
    EvalBudget left = memory.budget() != nullptr ? *memory.budget() : budget;
    left.runner = memory.runner();
    std::optional<Result<std::vector<Tensor>>> results;
    if (left.runner != nullptr) results = left.runner->RunNode(*node, operands, left);
    if (!results) results = EvalNode(*node, operands, &left);
    if (memory.budget() != nullptr) memory.budget()->Spend(left);
    return *std::move(results);
  }
};

size_t ByteSizeOf(const Value* v) {
  return ByteSize(v->dtype(), *CheckedElements(ShapeOf(v)));
}

// Whether the node, which takes the result of the group, converts it to float32 as the kernel does.
bool IsConversion(const Group& g, const Node& node) {
  const KernelInfo* kernel = FindKernel(g.node->op_name());
  return g.post_ops.empty() && kernel != nullptr && kernel->takes_conversion &&
         node.Is<CastAttrs>() && node.output()->dtype() == DType::kF32 &&
         !node.output()->type().quantized();
}

// The next elementwise node of a group: the first user of its result, if its operands exist before
// the group runs or come from the group itself.
Node* NextOfGroup(const Group& g, const std::unordered_map<const Node*, size_t>& position) {
  const Value* v = g.result();
  if (v->uses().empty()) return nullptr;
  const auto first = std::min_element(
      v->uses().begin(), v->uses().end(),
      [&](const Use& a, const Use& b) { return position.at(a.node) < position.at(b.node); });
  Node* next = first->node;
  const KernelInfo* kernel = FindKernel(next->op_name());
  const bool joins = IsConversion(g, *next) || (kernel != nullptr && kernel->elementwise &&
                                                next->output()->dtype() == v->dtype());
  if (!joins || ShapeOf(next->output()) != ShapeOf(v) || IsChecked(*next)) return nullptr;
  const auto is_ready = [&](const Value* o) {
    if (o == nullptr || o->def() == nullptr) return true;
    const bool own =
        o == g.node->output(0) || std::any_of(g.post_ops.begin(), g.post_ops.end(),
                                              [&](const Node* n) { return n->output() == o; });
    return own || position.at(o->def()) < position.at(g.node);
  };
  return std::all_of(next->inputs().begin(), next->inputs().end(), is_ready) ? next : nullptr;
}

// Whether a value inside the group is also used outside it.
bool IsSeen(const Graph& graph, const Group& g, size_t length, const Value* v) {
  const auto end = g.post_ops.begin() + static_cast<std::ptrdiff_t>(length);
  return graph.IsOutput(v) || std::any_of(v->uses().begin(), v->uses().end(), [&](const Use& use) {
           return std::find(g.post_ops.begin(), end, use.node) == end;
         });
}

std::vector<Group> MakeGroups(Graph& graph, bool fuse) {
  constexpr size_t kLongest = 16;  // the maximum number of post-ops
  std::unordered_map<const Node*, size_t> position;
  position.reserve(graph.nodes().size());
  size_t at = 0;
  for (const Node& n : graph.nodes()) position[&n] = at++;
  std::unordered_set<const Node*> taken;
  std::vector<Group> groups;
  for (Node& n : graph.nodes()) {
    if (taken.contains(&n)) continue;
    Group g;
    g.node = &n;
    const KernelInfo* kernel = FindKernel(n.op_name());
    if (fuse && kernel != nullptr && kernel->takes_post_ops && !IsChecked(n)) {
      while (g.post_ops.size() < kLongest) {
        Node* next = NextOfGroup(g, position);
        if (next == nullptr || taken.contains(next)) break;
        g.post_ops.push_back(next);
      }
      // The longest chain of post-ops whose inner values have no other use.
      const auto is_closed = [&](size_t length) {
        bool closed = length == 0 || !IsSeen(graph, g, length, n.output(0));
        for (size_t i = 0; i + 1 < length; ++i)
          closed &= !IsSeen(graph, g, length, g.post_ops[i]->output());
        return closed;
      };
      while (!is_closed(g.post_ops.size())) g.post_ops.pop_back();
      taken.insert(g.post_ops.begin(), g.post_ops.end());
    }
    groups.push_back(std::move(g));
  }
  return groups;
}

// Adds the steps of one group. A node whose result has a declared shape that only the run can
// confirm uses the reference evaluation, which compares before it writes.
Status PlanGroup(PlanContext& ctx, const Group& group, const EvalBudget& budget) {
  ctx.set_group(&group);
  const Node& node = *group.node;
  // A view shares its input's memory.
  if (IsView(node) && !ctx.HasView(node.output())) {
    MemoryView view = ctx.ViewOf(node.input(0));
    if (view.row_stride == RowOf(node.input(0))) {
      view.row_stride = RowOf(node.output());
      ctx.SetView(node.output(), view);
      return {};
    }
  }
  const KernelInfo* kernel = IsChecked(node) ? nullptr : FindKernel(node.op_name());
  bool planned = false;
  if (kernel != nullptr) {
    NN_ASSIGN(planned, kernel->plan(ctx));
  }
  if (planned) {
    // The source of packed weights is not read again.
    for (const Value* v : node.inputs())
      if (v != nullptr && v->is_constant()) DropResidentPages(v->constant().blob());
    return {};
  }
  // Node by node, by a kernel without post-ops or by the reference evaluation.
  std::vector<Node*> rest = {group.node};
  rest.insert(rest.end(), group.post_ops.begin(), group.post_ops.end());
  for (Node* n : rest) {
    const Group single{n, {}};
    ctx.set_group(&single);
    kernel = FindKernel(n->op_name());
    if (kernel != nullptr && rest.size() > 1) {
      NN_ASSIGN(const bool done, kernel->plan(ctx));
      if (done) continue;
    }
    auto step = std::make_unique<ReferenceStep>();
    step->node = n;
    step->reference = true;
    step->budget = budget;
    std::vector<BufferId> reads, writes;
    for (const Value* v : n->inputs()) {
      if (v == nullptr) {
        step->inputs.emplace_back();
        continue;
      }
      step->inputs.push_back(ctx.ViewOf(v));
      reads.push_back(step->inputs.back()->buffer);
    }
    for (const Value* v : n->outputs()) {
      step->outputs.push_back(ctx.ViewOf(v));
      writes.push_back(step->outputs.back().buffer);
    }
    ctx.AddStep(std::move(step), std::move(reads), std::move(writes));
  }
  return {};
}

}  // namespace

Status BuildPlan(Graph& graph, bool fuse, const EvalBudget& budget, Plan& plan,
                 std::unordered_map<const Value*, MemoryView>& views) {
  PlanContext ctx(plan, views);
  const auto add_port = [&](const Value* v, BufferKind kind, size_t index) {
    BufferInfo info;
    info.kind = kind;
    info.bytes = ByteSizeOf(v);
    info.value = v;
    info.index = index;
    return MemoryView{plan.AddBuffer(std::move(info)), 0, RowOf(v)};
  };
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value* v = graph.inputs()[i].value;
    views[v] = add_port(v, BufferKind::kInput, i);
  }
  std::vector<MemoryView> output_views;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Value* v = graph.outputs()[i].value;
    output_views.push_back(add_port(v, BufferKind::kOutput, i));
    if (v->def() != nullptr) views.emplace(v, output_views.back());
  }
  const std::vector<Group> groups = MakeGroups(graph, fuse);
  PlaceParts(graph, groups, ctx);
  // The groups of an attention are planned together at the last of them.
  const AttentionGroups attention(graph, fuse ? std::span(groups) : std::span<const Group>());
  for (size_t i = 0; i < groups.size(); ++i) {
    if (attention.IsDeferred(i)) continue;
    if (const auto region = attention.EndingAt(i); !region.empty()) {
      NN_ASSIGN(const bool planned, PlanAttention(ctx, groups, region));
      for (const size_t part : region)
        if (!planned) NN_RETURN_IF_ERROR(PlanGroup(ctx, groups[part], budget));
    } else {
      NN_RETURN_IF_ERROR(PlanGroup(ctx, groups[i], budget));
    }
  }
  ctx.set_group(nullptr);
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Value* v = graph.outputs()[i].value;
    const MemoryView view = ctx.ViewOf(v);
    if (view.buffer == output_views[i].buffer) continue;
    // An output that is a graph input, or that shares the memory of another value.
    auto step = std::make_unique<CopyStep>();
    step->label = "copy to output";
    step->in = view;
    step->out = output_views[i];
    step->size = ByteSizeOf(v);
    ctx.AddStep(std::move(step), {view.buffer}, {output_views[i].buffer});
  }
  plan.AssignArena();
  return {};
}

Memory MemoryOf(const Plan& plan, std::span<std::byte* const> inputs,
                std::span<std::byte* const> outputs, std::byte* arena, StepError& error,
                NodeRunner* runner, EvalBudget* budget) {
  std::vector<std::byte*> buffers;
  buffers.reserve(plan.buffers.size());
  for (const BufferInfo& info : plan.buffers) {
    switch (info.kind) {
      case BufferKind::kArena:
        buffers.push_back(arena + info.arena_offset);
        break;
      case BufferKind::kInput:
        buffers.push_back(inputs[info.index]);
        break;
      case BufferKind::kOutput:
        buffers.push_back(outputs[info.index]);
        break;
      case BufferKind::kConstant:
        // Steps do not write to constants.
        buffers.push_back(const_cast<std::byte*>(info.constant.data()));
        break;
    }
  }
  return Memory(std::move(buffers), error, runner, budget);
}

}  // namespace nn
