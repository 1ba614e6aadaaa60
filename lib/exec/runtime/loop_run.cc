#include "exec/runtime/loop_run.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "base/text/text.h"
#include "exec/runtime/limits.h"
#include "exec/runtime/planning/build_plan.h"
#include "ir/op_def.h"
#include "ops/control/loop.h"

namespace nn {
namespace {

// Inputs of a loop before the carried ones: trips and condition.
constexpr size_t kFirstInput = 2;
// Results of a region before the carried ones: the condition.
constexpr size_t kFirstResult = 1;
// Elements for which a stack of unknown length has room at first.
constexpr int64_t kFirstRoom = 16;

size_t CarriedOf(const Node& loop) {
  return static_cast<size_t>(loop.attrs<LoopAttrs>().carried);
}

// One stacked result.
struct Stack {
  TensorBuilder elements;     // along the first axis, with room for more
  std::vector<int64_t> dims;  // of an element
  size_t count = 0;           // elements of an element
  size_t element_bytes = 0;
  BufferId buffer = 0;  // where the region writes an element
};

class LoopRun {
 public:
  LoopRun(const Node& loop, std::span<const Tensor* const> inputs, const LoopBody& body,
          EvalBudget& budget)
      : loop_(loop), inputs_(inputs), body_(body), budget_(budget), carried_(CarriedOf(loop)) {}

  Result<std::vector<Tensor>> Run();

 private:
  Status Allocate();
  Status TakeMemory(uint64_t bytes);
  Result<TensorBuilder> Create(DType dtype, std::vector<int64_t> dims);
  Status AddStacks();
  void AddMemories();
  Status MakeRoom(Stack& stack);
  Status RunIteration(const Memory& memory);
  Result<std::vector<Tensor>> Results();

  const Value* RegionResult(size_t i) const { return body_.region.graph.outputs()[i].value; }

  const Node& loop_;
  std::span<const Tensor* const> inputs_;
  const LoopBody& body_;
  EvalBudget& budget_;
  EvalBudget left_;  // what an iteration may take
  size_t carried_;
  uint64_t work_ = 0;  // of an iteration
  int64_t trips_ = 0;
  int64_t done_ = 0;  // iterations
  int64_t number_ = 0;
  uint8_t condition_ = 1;
  std::vector<Tensor> given_;  // the inputs after the first ones, aligned
  // The carried values that an iteration reads and those that it writes, by turns.
  std::array<std::vector<TensorBuilder>, 2> buffers_;
  std::vector<Stack> stacks_;
  // Of the first iteration, which reads the inputs of the loop, and of the others, by turns.
  std::vector<Memory> memories_;
};

Status LoopRun::TakeMemory(uint64_t bytes) {
  if (bytes > left_.bytes)
    return LimitError("its values need {} more, but only {} of memory remain (see max-memory)",
                      HumanBytes(bytes), HumanBytes(left_.bytes));
  left_.bytes -= bytes;
  return {};
}

Result<TensorBuilder> LoopRun::Create(DType dtype, std::vector<int64_t> dims) {
  NN_RETURN_IF_ERROR(TakeMemory(BytesOf(Type(dtype, ToDims(dims)))));
  return TensorBuilder::Create(dtype, std::move(dims));
}

Status LoopRun::Allocate() {
  for (size_t i = kFirstInput; i < inputs_.size(); ++i)
    given_.push_back(inputs_[i]->Aligned(kBufferAlignment));
  work_ = PlannedWork(body_.region.plan) / RunLimits::kReferenceWork;
  NN_RETURN_IF_ERROR(TakeMemory(PlannedBytes(body_.region.graph, body_.region.plan)));
  for (auto& buffers : buffers_) {
    for (size_t k = 0; k < carried_; ++k) {
      const Value* const v = RegionResult(kFirstResult + k);
      NN_ASSIGN(TensorBuilder buffer, Create(v->dtype(), ShapeOf(v)));
      buffers.push_back(std::move(buffer));
    }
  }
  NN_RETURN_IF_ERROR(AddStacks());
  AddMemories();
  return {};
}

Status LoopRun::AddStacks() {
  const auto& buffers = body_.region.plan.buffers;
  // Without a condition, all iterations run.
  const bool is_counted = inputs_[0] != nullptr && inputs_[1] == nullptr;
  const int64_t room = is_counted ? trips_ : std::min(trips_, kFirstRoom);
  for (size_t i = kFirstResult + carried_; i < body_.region.graph.outputs().size(); ++i) {
    const Value* const v = RegionResult(i);
    Stack stack;
    stack.dims = ShapeOf(v);
    stack.count = ElementsOf(stack.dims, 0, stack.dims.size());
    stack.element_bytes = BytesOf(v->type());
    for (size_t b = 0; b < buffers.size(); ++b)
      if (buffers[b].kind == BufferKind::kOutput && buffers[b].index == i)
        stack.buffer = static_cast<BufferId>(b);
    std::vector<int64_t> dims = stack.dims;
    dims.insert(dims.begin(), room);
    NN_ASSIGN(stack.elements, Create(v->dtype(), std::move(dims)));
    stacks_.push_back(std::move(stack));
  }
  return {};
}

void LoopRun::AddMemories() {
  const auto add = [&](std::vector<TensorBuilder>* from, std::vector<TensorBuilder>& to) {
    // Steps do not write to inputs.
    std::vector<std::byte*> in = {reinterpret_cast<std::byte*>(&number_)};
    for (size_t k = 0; k < given_.size(); ++k)
      in.push_back(from != nullptr && k < carried_
                       ? (*from)[k].data()
                       : const_cast<std::byte*>(given_[k].blob().data()));
    std::vector<std::byte*> out = {reinterpret_cast<std::byte*>(&condition_)};
    for (TensorBuilder& b : to) out.push_back(b.data());
    for (Stack& s : stacks_) out.push_back(s.elements.data());
    memories_.push_back(
        MemoryOf(body_.region.plan, in, out, body_.arena, body_.error, body_.runner, &left_));
  };
  add(nullptr, buffers_[0]);
  add(&buffers_[0], buffers_[1]);
  add(&buffers_[1], buffers_[0]);
}

Status LoopRun::MakeRoom(Stack& stack) {
  const int64_t room = stack.elements.dims()[0];
  if (done_ < room) return {};
  std::vector<int64_t> dims = stack.elements.dims();
  dims[0] = std::min(trips_, room > std::numeric_limits<int64_t>::max() / 2 ? trips_ : 2 * room);
  NN_ASSIGN(TensorBuilder more, Create(stack.elements.dtype(), std::move(dims)));
  const size_t bytes = static_cast<size_t>(done_) * stack.element_bytes;
  if (bytes != 0) std::memcpy(more.data(), stack.elements.data(), bytes);
  stack.elements = std::move(more);
  left_.bytes += static_cast<uint64_t>(room) * stack.element_bytes;
  return {};
}

Status LoopRun::RunIteration(const Memory& memory) {
  NN_RETURN_IF_ERROR(left_.TakeIteration());
  if (left_.work != std::numeric_limits<uint64_t>::max()) {
    if (work_ > left_.work)
      return LimitError(
          "an iteration needs {:.3g} operations, but only {:.3g} remain (see max-work)",
          static_cast<double>(work_) * RunLimits::kReferenceWork,
          static_cast<double>(left_.work) * RunLimits::kReferenceWork);
    left_.work -= work_;
  }
  NN_RETURN_IF_ERROR(body_.region.RunSteps(memory, body_.pool, {}));
  for (TensorBuilder& b : buffers_[static_cast<size_t>(done_ % 2)])
    SetOneNanOf(b.dtype(), b.data(), static_cast<size_t>(b.elements()));
  for (const Stack& s : stacks_) SetOneNanOf(s.elements.dtype(), memory.data(s.buffer), s.count);
  return {};
}

Result<std::vector<Tensor>> LoopRun::Results() {
  std::vector<Tensor> results;
  for (size_t k = 0; k < carried_; ++k)
    results.push_back(done_ == 0 ? *inputs_[kFirstInput + k]
                                 : buffers_[static_cast<size_t>((done_ - 1) % 2)][k].Finish());
  for (Stack& s : stacks_) {
    std::vector<int64_t> dims = s.dims;
    dims.insert(dims.begin(), done_);
    const DType dtype = s.elements.dtype();
    const Blob all = s.elements.Finish().blob();
    results.emplace_back(dtype, std::move(dims),
                         all.Slice(0, static_cast<size_t>(done_) * s.element_bytes));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Type actual(results[i].dtype(), ToDims(results[i].dims()));
    if (const Type& declared = loop_.output(i)->type(); !Compatible(declared, actual))
      return ContradictionError(loop_, i, declared, actual);
  }
  return results;
}

Result<std::vector<Tensor>> LoopRun::Run() {
  left_ = budget_;
  trips_ = inputs_[0] != nullptr ? std::max<int64_t>(0, inputs_[0]->GetInt(0))
                                 : std::numeric_limits<int64_t>::max();
  const bool has_condition = inputs_[1] != nullptr;
  bool go_on = !has_condition || inputs_[1]->GetInt(0) != 0;
  NN_RETURN_IF_ERROR(Allocate());
  for (; go_on && done_ < trips_; ++done_) {
    Memory& memory = memories_[done_ == 0 ? 0 : static_cast<size_t>(2 - done_ % 2)];
    number_ = done_;
    for (Stack& s : stacks_) {
      NN_RETURN_IF_ERROR(MakeRoom(s));
      memory.set_data(s.buffer, s.elements.data() + static_cast<size_t>(done_) * s.element_bytes);
    }
    NN_RETURN_IF_ERROR(RunIteration(memory));
    if (has_condition) go_on = condition_ != 0;
  }
  budget_.Spend(left_);
  return Results();
}

}  // namespace

bool KeepsShapes(const Node& loop, const Graph& region) {
  const size_t carried = CarriedOf(loop);
  for (size_t i = kFirstResult; i < region.outputs().size(); ++i) {
    const Type& type = region.outputs()[i].value->type();
    const auto dims = type.const_dims();
    if (!dims) return false;
    if (i < kFirstResult + carried) {
      if (region.inputs()[i].value->type().const_dims() != dims) return false;
    } else if (DTypeBits(type.dtype) % 8 != 0) {
      return false;
    }
  }
  return true;
}

Result<std::vector<Tensor>> RunLoop(const Node& loop, std::span<const Tensor* const> inputs,
                                    const LoopBody& body, EvalBudget& budget) {
  auto results = LoopRun(loop, inputs, body, budget).Run();
  if (!results) return tl::unexpected(results.error().In(loop.Describe()));
  return results;
}

}  // namespace nn
