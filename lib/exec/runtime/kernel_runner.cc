#include "exec/runtime/kernel_runner.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "exec/runtime/limits.h"
#include "exec/runtime/loop_run.h"
#include "exec/target.h"
#include "ir/copy.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/control/loop.h"
#include "ops/control/region.h"
#include "passes/core/passes.h"

namespace nn {
namespace {

// The minimum number of elements in a node's inputs for which planning is worthwhile.
constexpr uint64_t kManyElements = 4096;
// Plans of one program, and their weights. Sizes that differ in every run would fill the memory.
constexpr size_t kMaxSlots = 4096;
constexpr uint64_t kMaxPackedBytes = uint64_t{256} << 20;
// The minimum number of operations per element of a constant for which planning is worthwhile in
// the first run.
constexpr uint64_t kManyUses = 16;
constexpr size_t kMaxInner = 64;                  // runners that are kept, of one run
constexpr uint64_t kMaxWork = uint64_t{1} << 48;  // of a node, so that sums do not overflow

Type TypeOf(const Tensor& t, const Type& declared) {
  return Type(t.dtype(), ToDims(t.dims()), declared.quant);
}

bool HasString(const Node& node) {
  const auto is_string = [](const Value* v) {
    return v != nullptr && v->dtype() == DType::kString;
  };
  return std::ranges::any_of(node.inputs(), is_string) ||
         std::ranges::any_of(node.outputs(), is_string);
}

// The node alone, with its constants, and an input for each other operand.
std::optional<Graph> GraphOf(const Node& node, std::span<const Tensor* const> inputs) {
  Graph graph;
  std::vector<Value*> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value* const v = node.input(i);
    if (v == nullptr)
      operands.push_back(nullptr);
    else if (v->is_constant())
      operands.push_back(graph.AddConstant(v->constant(), {}, v->type().quant));
    else
      operands.push_back(graph.AddInput("", TypeOf(*inputs[i], v->type())));
  }
  Node* const copy = AddOpenCopy(graph, node, std::move(operands));
  if (!InferNode(*copy)) return std::nullopt;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    if (!Compatible(node.output(i)->type(), copy->output(i)->type())) return std::nullopt;
    graph.AddOutput("", copy->output(i));
  }
  return graph;
}

// The region for inputs of these types.
std::optional<Graph> GraphOf(const Graph& region, std::span<const Tensor* const> inputs) {
  Graph graph = region.Clone();
  std::vector<Type> types;
  for (size_t i = 0; i < inputs.size(); ++i)
    types.push_back(TypeOf(*inputs[i], graph.inputs()[i].value->type()));
  if (!InferRegion(graph, types)) return std::nullopt;
  return graph;
}

bool UsesConstantsMuch(const Graph& graph) {
  uint64_t elements = 0, work = 0;
  for (const Value& v : graph.values())
    if (v.is_constant()) elements += static_cast<uint64_t>(v.constant().elements());
  for (const Node& node : graph.nodes()) work += std::min(WorkOf(node).value_or(0), kMaxWork);
  return work / kManyUses >= elements;
}

}  // namespace

KernelCache::Key KernelCache::KeyOf(const void* what, std::span<const Tensor* const> inputs) {
  Key key{what, {}};
  for (const Tensor* t : inputs) {
    if (t == nullptr) continue;
    key.second.push_back(t->rank());
    key.second.insert(key.second.end(), t->dims().begin(), t->dims().end());
  }
  return key;
}

template <typename Make>
KernelCache::Entry KernelCache::Find(Key key, bool again, const Make& make) {
  bool is_new = !again;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = slots_.find(key); it != slots_.end()) {
      if (it->second.is_final) return it->second.plan;
      is_new = false;
    }
  }
  std::optional<Graph> graph = make();
  Slot slot{nullptr, !graph || !is_new || UsesConstantsMuch(*graph)};
  if (graph && slot.is_final) slot.plan = Plan(*std::move(graph));
  const uint64_t packed = slot.plan == nullptr ? 0 : slot.plan->plan.packed_bytes;
  const std::lock_guard lock(mutex_);
  if (slots_.size() >= kMaxSlots || packed_bytes_ + packed > kMaxPackedBytes) {
    slots_.clear();
    packed_bytes_ = 0;
  }
  packed_bytes_ += packed;
  return slots_.insert_or_assign(std::move(key), std::move(slot)).first->second.plan;
}

KernelCache::Entry KernelCache::OfNode(const Node& node, std::span<const Tensor* const> inputs) {
  return Find(KeyOf(&node, inputs), false, [&] { return GraphOf(node, inputs); });
}

KernelCache::Entry KernelCache::OfRegion(const Graph& region,
                                         std::span<const Tensor* const> inputs) {
  return Find(KeyOf(&region, inputs), false, [&] { return GraphOf(region, inputs); });
}

KernelCache::Entry KernelCache::OfLoop(const Node& loop, std::span<const Tensor* const> inputs) {
  return Find(KeyOf(&loop, inputs), true, [&] {
    std::optional<Graph> graph = GraphOf(*loop.regions()[0], inputs);
    if (graph && !KeepsShapes(loop, *graph)) graph.reset();
    return graph;
  });
}

// What cannot be planned is left to the reference evaluation, which also says what is wrong.
KernelCache::Entry KernelCache::Plan(Graph graph) const {
  auto planned = std::make_shared<Planned>();
  planned->graph = std::move(graph);
  if (!ShapesAreKnown(planned->graph) || !RunPass("fold", planned->graph, FoldConstants))
    return nullptr;
  // The program is legalized, but for what depends on the shapes.
  if (!IsLegal(planned->graph, ExecTarget()) && !Legalize(planned->graph, ExecTarget()))
    return nullptr;
  AdoptCheckedShapes(planned->graph);
  if (!ShapesAreKnown(planned->graph)) return nullptr;
  const auto built = planned->Build(options_.fuse, options_.limits);
  if (!built || !*built) return nullptr;
  const auto& steps = planned->plan.steps;
  // Copies to outputs compute no node.
  const auto has_kernel = [](const auto& step) { return !step->reference && !step->nodes.empty(); };
  if (std::ranges::none_of(steps, has_kernel)) return nullptr;
  if (IsDecidedByRuns(planned->graph)) planned->inner = std::make_unique<KernelCache>(options_);
  return planned;
}

std::optional<Result<std::vector<Tensor>>> KernelRunner::RunNode(
    const Node& node, std::span<const Tensor* const> inputs, EvalBudget& budget) {
  if (node.Is<LoopAttrs>()) return RunLoopNode(node, inputs, budget);
  if (!node.regions().empty() || HasString(node)) return std::nullopt;
  uint64_t elements = 0;
  for (const Tensor* t : inputs)
    if (t != nullptr) elements += static_cast<uint64_t>(t->elements());
  if (elements < kManyElements) return std::nullopt;
  const KernelCache::Entry planned = cache_.OfNode(node, inputs);
  if (planned == nullptr) return std::nullopt;
  std::vector<const Tensor*> given;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] != nullptr && !node.input(i)->is_constant()) given.push_back(inputs[i]);
  return Run(planned, given, budget);
}

std::optional<Result<std::vector<Tensor>>> KernelRunner::RunRegion(
    const Graph& region, std::span<const Tensor* const> inputs, EvalBudget& budget) {
  // Most often the next iteration of a loop.
  const auto same_dims = [&](const std::vector<int64_t>& dims, const Tensor* t) {
    return dims == t->dims();
  };
  if (&region != region_ || !std::ranges::equal(region_dims_, inputs, same_dims)) {
    planned_region_ = cache_.OfRegion(region, inputs);
    region_ = &region;
    region_dims_.clear();
    for (const Tensor* t : inputs) region_dims_.push_back(t->dims());
  }
  if (planned_region_ == nullptr) return std::nullopt;
  return Run(planned_region_, inputs, budget);
}

std::optional<Result<std::vector<Tensor>>> KernelRunner::RunLoopNode(
    const Node& loop, std::span<const Tensor* const> inputs, EvalBudget& budget) {
  const Tensor number = Tensor::Scalar<int64_t>(0);
  std::vector<const Tensor*> of_region = {&number};
  // Without values, the condition may be omitted.
  std::vector<const Tensor*> operands(inputs.begin(), inputs.end());
  operands.resize(std::max<size_t>(operands.size(), 2), nullptr);
  of_region.insert(of_region.end(), operands.begin() + 2, operands.end());
  const KernelCache::Entry planned = cache_.OfLoop(loop, of_region);
  if (planned == nullptr) return std::nullopt;
  const LoopBody body{*planned, ArenaFor(*planned), error_, pool_, InnerOf(planned)};
  return RunLoop(loop, operands, body, budget);
}

std::byte* KernelRunner::ArenaFor(const PlannedGraph& planned) {
  if (arena_.size() < planned.plan.arena_bytes) arena_ = Buffer(planned.plan.arena_bytes);
  return arena_.data();
}

NodeRunner* KernelRunner::InnerOf(const KernelCache::Entry& planned) {
  if (planned->inner == nullptr) return nullptr;
  const auto it = std::ranges::find(inner_, planned, [](const auto& entry) { return entry.first; });
  if (it != inner_.end()) return it->second.get();
  if (inner_.size() >= kMaxInner) inner_.clear();
  inner_.emplace_back(planned, std::make_unique<KernelRunner>(*planned->inner, pool_));
  return inner_.back().second.get();
}

std::optional<Result<std::vector<Tensor>>> KernelRunner::Run(const KernelCache::Entry& entry,
                                                             std::span<const Tensor* const> inputs,
                                                             EvalBudget& budget) {
  const PlannedGraph& planned = *entry;
  if (PlannedBytes(planned.graph, planned.plan) > budget.bytes) return std::nullopt;
  if (budget.work != std::numeric_limits<uint64_t>::max()) {
    const uint64_t work = PlannedWork(planned.plan) / RunLimits::kReferenceWork;
    if (work > budget.work) return std::nullopt;
    budget.work -= work;
  }
  std::vector<Tensor> given;
  given.reserve(inputs.size());
  for (const Tensor* t : inputs) given.push_back(*t);
  return planned.Run(given, ArenaFor(planned), error_, pool_, InnerOf(entry), &budget, {});
}

}  // namespace nn
