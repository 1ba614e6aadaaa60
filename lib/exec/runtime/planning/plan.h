// Turns a graph into steps. Internal to exec/: kernel_table.cc lists the kernels.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "exec/runtime/step.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn {

// A node with its post-ops: elementwise nodes that are computed on its results
// before they leave the cache. Each is the only user of the one before.
struct Group {
  Node* node = nullptr;
  std::vector<Node*> post_ops;

  // The result of the group (first output of the last node).
  Value* result() const { return post_ops.empty() ? node->output(0) : post_ops.back()->output(0); }
};

enum class BufferKind : uint8_t {
  kArena,     // an intermediate value; shares memory with others that are not alive
  kInput,     // graph input, set for each run
  kOutput,    // graph output, set for each run
  kConstant,  // fixed
};

struct BufferInfo {
  BufferKind kind = BufferKind::kArena;
  size_t bytes = 0;
  size_t index = 0;  // graph input or output
  Blob constant;
  bool packed = false;  // a constant made at planning time
  size_t arena_offset = 0;
  const Value* value = nullptr;  // the owner; null for temporary memory and packed constants
};

// The steps that use a buffer; none if first > last.
struct Lifetime {
  size_t first = ~size_t{0};
  size_t last = 0;
};

class Plan {
 public:
  std::vector<BufferInfo> buffers;
  std::vector<std::unique_ptr<Step>> steps;
  size_t arena_bytes = 0;
  size_t packed_bytes = 0;
  size_t folded_nodes = 0;  // see PlanInfo

  BufferId AddBuffer(BufferInfo info) {
    buffers.push_back(std::move(info));
    return static_cast<BufferId>(buffers.size() - 1);
  }
  // Gives every arena buffer an offset, by size and lifetime.
  void AssignArena();
  // Indexed by BufferId.
  std::vector<Lifetime> Lifetimes() const;
};

// The interface of the planner to a kernel that plans a group.
class PlanContext {
 public:
  PlanContext(Plan& plan, std::unordered_map<const Value*, MemoryView>& views)
      : plan_(plan), views_(views) {}

  const Group& group() const { return *group_; }
  const Node& node() const { return *group_->node; }
  void set_group(const Group* group) { group_ = group; }

  // The view of a value. Outputs of the group get dense memory if they have no view yet; a
  // constant gets its own buffer.
  MemoryView ViewOf(const Value* value);
  bool HasView(const Value* value) const { return views_.contains(value); }
  // Places the value in the memory of another. It must not have a view yet.
  void SetView(const Value* value, const MemoryView& view) { views_[value] = view; }
  // Temporary memory, alive during the steps that name it.
  BufferId AddScratch(size_t bytes);
  // Constant data made at planning time, such as packed weights.
  BufferId AddConstant(Blob blob);
  // Adds a step, labeled after the group and attributed to its nodes. The buffers named here stay
  // alive for it.
  void AddStep(std::unique_ptr<Step> step, std::vector<BufferId> reads,
               std::vector<BufferId> writes);

 private:
  BufferId AddFixed(Blob blob);

  Plan& plan_;
  std::unordered_map<const Value*, MemoryView>& views_;
  const Group* group_ = nullptr;
};

// Whether the rows of a value of this shape are contiguous.
inline bool IsDense(const MemoryView& view, const std::vector<int64_t>& shape) {
  return shape.empty() || view.row_stride == static_cast<size_t>(shape.back());
}

// The shape of a value; all shapes must be known when planning begins.
std::vector<int64_t> ShapeOf(const Value* value);
// The same, but a scalar is a row of one element.
std::vector<int64_t> RowShape(const Value* value);
// The size of an element in bytes; the type must have whole bytes.
size_t ElementSize(const Value* value);
// The number of elements of axes `begin` to `end` - 1.
size_t ElementsOf(const std::vector<int64_t>& shape, size_t begin, size_t end);

// A kernel's planning function. False if the kernel does not support the node (type, shape or
// attribute); the scalar reference evaluation is used then.
using PlanFn = Result<bool> (*)(PlanContext&);

// How a kernel can be combined with adjacent nodes.
struct KernelInfo {
  std::string_view op;
  PlanFn plan = nullptr;
  // Whether it supports elementwise post-ops.
  bool takes_post_ops = false;
  // Whether it can be a post-op.
  bool elementwise = false;
  // Whether its first input, or its output, may have strided rows.
  bool strided_input = false;
  bool strided_output = false;
  // Whether the other inputs may too.
  bool strided_others = false;
  // Whether it updates some elements of its first input, which may share the memory of the result.
  bool changes_input = false;
  // Whether its first post-op may be a cast of the result to float32, in which the others are then.
  bool takes_conversion = false;
};

// The kernels of an operator; null if there is none.
const KernelInfo* FindKernel(std::string_view op);

}  // namespace nn
