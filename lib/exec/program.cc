#include "exec/program.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <unordered_set>

#include "base/checked_math.h"
#include "base/file.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "exec/alias.h"
#include "exec/half.h"
#include "exec/kernels/elementwise.h"
#include "exec/plan.h"
#include "exec/plan_info.h"
#include "exec/target.h"
#include "exec/trace.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/shape.h"
#include "passes/passes.h"
#include "passes/qdq.h"

namespace nn {
namespace {

void CanonicalizeNan(TensorBuilder& tensor) {
  if (tensor.dtype() != DType::kF32) return;
  SetOneNanF32(reinterpret_cast<float*>(tensor.data()), static_cast<size_t>(tensor.elements()));
}

// Copies a value's rows between memory where they are `from_row` and `to_row` elements apart.
void CopyRows(const Value* v, const std::byte* from, size_t from_row, std::byte* to,
              size_t to_row) {
  const auto shape = ShapeOf(v);
  const auto bytes = ByteSize(v->dtype(), *CheckedElements(shape));
  const auto row = shape.empty() ? size_t{1} : static_cast<size_t>(shape.back());
  if (from_row == row && to_row == row) {
    std::memcpy(to, from, bytes);
    return;
  }
  const size_t element = static_cast<size_t>(DTypeBits(v->dtype())) / 8;
  for (size_t r = 0; row > 0 && r < bytes / element / row; ++r)
    std::memcpy(to + r * to_row * element, from + r * from_row * element, row * element);
}

// The elements between rows of a dense value.
size_t RowOf(const Value* v) {
  const auto shape = ShapeOf(v);
  return shape.empty() ? 1 : static_cast<size_t>(shape.back());
}

// The scalar reference evaluation of one node as a step.
class ReferenceStep : public Step {
 public:
  const Node* node = nullptr;
  std::vector<std::optional<Place>> inputs;
  std::vector<Place> outputs;

  size_t grid() const override { return 1; }
  void Run(const Memory& memory, size_t) const override {
    error.reset();
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
      const size_t bytes = ByteSize(v->dtype(), *CheckedElements(shape));
      const std::byte* data = inputs[i]->As<const std::byte>(memory);
      Blob blob({data, bytes}, nullptr);
      if (inputs[i]->row_stride != RowOf(v)) {
        Buffer dense(bytes);
        CopyRows(v, data, inputs[i]->row_stride, dense.data(), RowOf(v));
        blob = Blob(std::move(dense));
      }
      tensors.emplace_back(v->dtype(), shape, std::move(blob));
      pointers.push_back(&tensors.back());
    }
    const auto results = EvalNode(*node, pointers);
    if (!results) {
      error = results.error();
      return;
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      CopyRows(node->output(i), (*results)[i].blob().data(), RowOf(node->output(i)),
               outputs[i].As<std::byte>(memory), outputs[i].row_stride);
  }
  std::optional<Error> TakeError() const override { return std::exchange(error, std::nullopt); }

  mutable std::optional<Error> error;
};

// Copies bytes: for an output that is an input, or that lies where something else does.
class CopyStep : public Step {
 public:
  Place in, out;
  size_t size = 0;
  size_t grid() const override { return 1; }
  void Run(const Memory& memory, size_t) const override {
    std::memcpy(out.As<std::byte>(memory), in.As<const std::byte>(memory), size);
  }
};

// Whether a step takes no longer than handing it to other threads.
bool IsShort(const Step& step) {
  constexpr uint64_t kBytes = 32768;
  constexpr int64_t kMultiplyAdds = 65536;
  return step.bytes < kBytes && step.multiply_adds < kMultiplyAdds;
}

size_t ByteSizeOf(const Value* v) {
  return ByteSize(v->dtype(), *CheckedElements(ShapeOf(v)));
}

}  // namespace

struct Program::Impl {
  Graph graph;
  ProgramOptions options;
  Plan plan;
  std::unordered_map<const Value*, Place> places;
  std::unique_ptr<ThreadPool> pool;
  Buffer arena;
  std::vector<Type> input_types;
  std::vector<StepInfo> infos;
  std::vector<double> milliseconds;
  bool profiling = false;
  std::unique_ptr<Tracer> tracer;  // null: off

  Status Build();
  Status BuildPlan();
  std::vector<Group> MakeGroups();
  Result<std::vector<Tensor>> RunPlan(std::span<const Tensor> inputs);
  Result<std::vector<Tensor>> RunReference(std::span<const Tensor> inputs);
};

Status Program::Impl::Build() {
  for (const Port& p : graph.inputs()) {
    if (!p.value->type().const_dims())
      return UsageError("input {} is {}: its shape must be given", Quote(p.name),
                        p.value->type().ToString());
    input_types.push_back(p.value->type());
  }
  for (const Node& n : graph.nodes())
    if (n.Is("opaque") || n.op().eval == nullptr)
      return UnsupportedError("{} cannot be executed", n.Describe());
  const size_t nodes = graph.nodes().size();
  NN_RETURN_IF_ERROR(RunPass("dequantize constants", graph, DequantizeConstants));
  NN_RETURN_IF_ERROR(RunPass("fold", graph, FoldConstants));
  plan.folded_nodes = nodes - std::min(nodes, graph.nodes().size());
  if (options.backend == Backend::kReference) return {};
  NN_RETURN_IF_ERROR(Legalise(graph, ExecTarget()));
  for (const Value& v : graph.values())
    if (!v.type().const_dims() || v.dtype() == DType::kString) {
      // Shapes that only a run can tell: node by node.
      options.backend = Backend::kReference;
      return {};
    }
  NN_RETURN_IF_ERROR(BuildPlan());
  // What has no kernel for types of 16 bits has one for float32.
  std::unordered_set<const Node*> without_kernel;
  for (const auto& step : plan.steps)
    if (step->reference) without_kernel.insert(static_cast<const ReferenceStep&>(*step).node);
  if (without_kernel.empty()) return {};
  NN_ASSIGN(const bool changed, ComputeHalfInFloat(graph, without_kernel));
  if (!changed) return {};
  NN_RETURN_IF_ERROR(RunPass("fold", graph, FoldConstants));
  Plan again;
  again.folded_nodes = plan.folded_nodes;
  plan = std::move(again);
  places.clear();
  infos.clear();
  return BuildPlan();
}

namespace {

// The elementwise node that comes next in a group: the first user of its result, if it takes values
// that are there before the group runs or come from the group itself.
Node* NextOfGroup(const Group& g, const std::unordered_map<const Node*, size_t>& position) {
  const Value* v = g.result();
  if (v->uses().empty()) return nullptr;
  const auto first = std::min_element(
      v->uses().begin(), v->uses().end(),
      [&](const Use& a, const Use& b) { return position.at(a.node) < position.at(b.node); });
  Node* next = first->node;
  const KernelInfo* kernel = FindKernel(next->op_name());
  if (kernel == nullptr || !kernel->elementwise || next->output()->dtype() != v->dtype() ||
      ShapeOf(next->output()) != ShapeOf(v))
    return nullptr;
  const auto is_ready = [&](const Value* o) {
    if (o == nullptr || o->def() == nullptr) return true;
    const bool own =
        o == g.node->output(0) ||
        std::any_of(g.tail.begin(), g.tail.end(), [&](const Node* n) { return n->output() == o; });
    return own || position.at(o->def()) < position.at(g.node);
  };
  return std::all_of(next->inputs().begin(), next->inputs().end(), is_ready) ? next : nullptr;
}

// Whether a value of the group's inside is wanted by others.
bool IsSeen(const Graph& graph, const Group& g, size_t length, const Value* v) {
  const auto end = g.tail.begin() + static_cast<std::ptrdiff_t>(length);
  return graph.IsOutput(v) || std::any_of(v->uses().begin(), v->uses().end(), [&](const Use& use) {
           return std::find(g.tail.begin(), end, use.node) == end;
         });
}

}  // namespace

std::vector<Group> Program::Impl::MakeGroups() {
  constexpr size_t kLongest = 16;  // tail
  std::unordered_map<const Node*, size_t> position;
  size_t at = 0;
  for (const Node& n : graph.nodes()) position[&n] = at++;
  std::unordered_set<const Node*> taken;
  std::vector<Group> groups;
  for (Node& n : graph.nodes()) {
    if (taken.contains(&n)) continue;
    Group g;
    g.node = &n;
    const KernelInfo* kernel = FindKernel(n.op_name());
    if (options.fuse && kernel != nullptr && kernel->takes_tail) {
      while (g.tail.size() < kLongest) {
        Node* next = NextOfGroup(g, position);
        if (next == nullptr || taken.contains(next)) break;
        g.tail.push_back(next);
      }
      // The longest tail whose inner values nobody else wants.
      const auto is_closed = [&](size_t length) {
        bool closed = length == 0 || !IsSeen(graph, g, length, n.output(0));
        for (size_t i = 0; i + 1 < length; ++i)
          closed &= !IsSeen(graph, g, length, g.tail[i]->output());
        return closed;
      };
      while (!is_closed(g.tail.size())) g.tail.pop_back();
      taken.insert(g.tail.begin(), g.tail.end());
    }
    groups.push_back(std::move(g));
  }
  return groups;
}

Status Program::Impl::BuildPlan() {
  PlanContext ctx(plan, places);
  const auto dense = [](const Value* v, BufferId buffer) { return Place{buffer, 0, RowOf(v)}; };
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value* v = graph.inputs()[i].value;
    BufferInfo info;
    info.kind = BufferKind::kInput;
    info.bytes = ByteSizeOf(v);
    info.value = v;
    info.index = i;
    places[v] = dense(v, plan.AddBuffer(std::move(info)));
  }
  std::vector<Place> output_places;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Value* v = graph.outputs()[i].value;
    BufferInfo info;
    info.kind = BufferKind::kOutput;
    info.bytes = ByteSizeOf(v);
    info.value = v;
    info.index = i;
    const Place place = dense(v, plan.AddBuffer(std::move(info)));
    output_places.push_back(place);
    if (v->def() != nullptr) places.emplace(v, place);
  }
  const std::vector<Group> groups = MakeGroups();
  PlaceParts(graph, groups, ctx);
  for (const Group& group : groups) {
    ctx.set_group(&group);
    const Node& node = *group.node;
    // A view shares its input's memory.
    if (IsView(node) && !places.contains(node.output())) {
      Place place = ctx.PlaceOf(node.input(0));
      if (place.row_stride == RowOf(node.input(0))) {
        place.row_stride = RowOf(node.output());
        places[node.output()] = place;
        continue;
      }
    }
    const KernelInfo* kernel = FindKernel(node.op_name());
    bool planned = false;
    if (kernel != nullptr) {
      NN_ASSIGN(planned, kernel->plan(ctx));
    }
    if (planned) {
      // What was packed is not read again.
      for (const Value* v : node.inputs())
        if (v != nullptr && v->is_constant()) DropResidentPages(v->constant().blob());
      continue;
    }
    // Node by node, by a kernel that takes it without a tail or by the reference evaluation.
    std::vector<Node*> rest = {group.node};
    rest.insert(rest.end(), group.tail.begin(), group.tail.end());
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
      std::vector<BufferId> reads, writes;
      for (const Value* v : n->inputs()) {
        if (v == nullptr) {
          step->inputs.emplace_back();
          continue;
        }
        step->inputs.push_back(ctx.PlaceOf(v));
        reads.push_back(step->inputs.back()->buffer);
      }
      for (const Value* v : n->outputs()) {
        step->outputs.push_back(ctx.PlaceOf(v));
        writes.push_back(step->outputs.back().buffer);
      }
      ctx.AddStep(std::move(step), std::move(reads), std::move(writes));
    }
    ctx.set_group(nullptr);
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Value* v = graph.outputs()[i].value;
    const Place place = ctx.PlaceOf(v);
    if (place.buffer == output_places[i].buffer) continue;
    auto step = std::make_unique<CopyStep>();
    step->label = "copy to output";
    step->in = place;
    step->out = output_places[i];
    step->size = ByteSizeOf(v);
    ctx.AddStep(std::move(step), {place.buffer}, {output_places[i].buffer});
  }
  plan.AssignArena();
  if (plan.arena_bytes > options.max_memory)
    return LimitError("intermediate values need {}, the limit is {}", HumanBytes(plan.arena_bytes),
                      HumanBytes(options.max_memory));
  arena = Buffer(plan.arena_bytes);
  for (const auto& step : plan.steps) infos.push_back(DescribeStep(*step));
  milliseconds.assign(plan.steps.size(), 0.0);
  pool = std::make_unique<ThreadPool>(options.threads);
  return {};
}

Result<std::vector<Tensor>> Program::Impl::RunPlan(std::span<const Tensor> inputs) {
  std::vector<Tensor> aligned;
  for (const Tensor& t : inputs) aligned.push_back(t.Aligned());
  std::vector<TensorBuilder> outputs;
  for (const Port& p : graph.outputs()) {
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(p.value->dtype(), ShapeOf(p.value)));
    outputs.push_back(std::move(b));
  }
  std::vector<std::byte*> buffers;
  for (const BufferInfo& info : plan.buffers) {
    switch (info.kind) {
      case BufferKind::kArena:
        buffers.push_back(arena.data() + info.arena_offset);
        break;
      // Steps do not write to inputs and constants.
      case BufferKind::kInput:
        buffers.push_back(const_cast<std::byte*>(aligned[info.index].blob().data()));
        break;
      case BufferKind::kOutput:
        buffers.push_back(outputs[info.index].data());
        break;
      case BufferKind::kConstant:
        buffers.push_back(const_cast<std::byte*>(info.constant.data()));
        break;
    }
  }
  const Memory memory(std::move(buffers));
  if (tracer != nullptr) tracer->BeginRun();
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = *plan.steps[s];
    const auto begin =
        profiling ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    const size_t grid = step.grid();
    const auto run = [&](auto&& item) {
      if (IsShort(step)) {
        for (size_t i = 0; i < grid; ++i) item(i);
      } else {
        pool->ParallelFor(grid, item);
      }
    };
    if (tracer == nullptr) {
      run([&](size_t i) { step.Run(memory, i); });
    } else {
      tracer->BeginStep(step);
      run([&](size_t i) { tracer->RunItem(step, memory, i); });
      tracer->EndStep();
    }
    if (profiling)
      milliseconds[s] =
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
              .count();
  }
  std::optional<Error> error;
  for (const auto& step : plan.steps) {
    std::optional<Error> own = step->TakeError();
    if (own && !error) error = std::move(own);
  }
  if (error) return tl::unexpected(*std::move(error));
  std::vector<Tensor> results;
  for (TensorBuilder& b : outputs) {
    CanonicalizeNan(b);
    results.push_back(b.Finish());
  }
  return results;
}

Result<std::vector<Tensor>> Program::Impl::RunReference(std::span<const Tensor> inputs) {
  std::unordered_map<const Value*, Tensor> tensors;
  std::unordered_map<const Value*, size_t> uses;
  for (size_t i = 0; i < inputs.size(); ++i) tensors[graph.inputs()[i].value] = inputs[i];
  for (const Value& v : graph.values()) uses[&v] = v.uses().size() + (graph.IsOutput(&v) ? 1 : 0);
  for (const Node& n : graph.nodes()) {
    std::vector<const Tensor*> operands;
    for (const Value* v : n.inputs())
      operands.push_back(v == nullptr       ? nullptr
                         : v->is_constant() ? &v->constant()
                                            : &tensors.at(v));
    NN_ASSIGN(std::vector<Tensor> results, EvalNode(n, operands));
    for (size_t i = 0; i < results.size(); ++i) tensors[n.output(i)] = std::move(results[i]);
    for (const Value* v : n.inputs())
      if (v != nullptr && --uses[v] == 0) tensors.erase(v);
  }
  std::vector<Tensor> outputs;
  for (const Port& p : graph.outputs()) {
    const Tensor& t = p.value->is_constant() ? p.value->constant() : tensors.at(p.value);
    if (t.dtype() != DType::kF32) {
      outputs.push_back(t);
      continue;
    }
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(t.dtype(), t.dims()));
    std::memcpy(b.data(), t.blob().data(), t.byte_size());
    CanonicalizeNan(b);
    outputs.push_back(b.Finish());
  }
  return outputs;
}

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Result<Program> Program::Compile(const Graph& graph, const ProgramOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->graph = graph.Clone();
  impl->options = options;
  NN_RETURN_IF_ERROR(impl->Build());
  return Program(std::move(impl));
}

Result<std::vector<Tensor>> Program::Run(std::span<const Tensor> inputs) {
  const auto& ports = impl_->graph.inputs();
  if (inputs.size() != ports.size())
    return UsageError("{} inputs given, the model has {}", inputs.size(), ports.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = impl_->input_types[i];
    if (inputs[i].dtype() != type.dtype || inputs[i].dims() != type.const_dims())
      return UsageError("input {} is {}{}, the model takes {}", Quote(ports[i].name),
                        DTypeName(inputs[i].dtype()), ToString(ToDims(inputs[i].dims())),
                        type.ToString());
  }
  return impl_->options.backend == Backend::kReference ? impl_->RunReference(inputs)
                                                       : impl_->RunPlan(inputs);
}

bool Program::planned() const {
  return impl_->options.backend == Backend::kSimd;
}
PlanInfo Program::Explain() const {
  if (!planned()) return {};
  return DescribePlan(impl_->graph, impl_->plan, impl_->places);
}
const std::vector<StepInfo>& Program::steps() const {
  return impl_->infos;
}
void Program::set_profiling(bool on) {
  impl_->profiling = on;
}
const std::vector<double>& Program::step_milliseconds() const {
  return impl_->milliseconds;
}
void Program::set_tracing(bool on) {
  impl_->tracer = on ? std::make_unique<Tracer>() : nullptr;
}
RunTrace Program::trace() const {
  return impl_->tracer == nullptr ? RunTrace() : impl_->tracer->Result();
}
uint64_t Program::arena_bytes() const {
  return impl_->plan.arena_bytes;
}
uint64_t Program::packed_bytes() const {
  return impl_->plan.packed_bytes;
}

}  // namespace nn
