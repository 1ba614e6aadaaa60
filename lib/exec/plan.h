// Turns a graph into steps. Internal to exec/: kernels are listed in
// kernel_table.cc.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/blob.h"
#include "base/status.h"
#include "exec/step.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn {

// A node together with the elementwise nodes that are computed on its results before they leave the
// cache: each is the only user of the one before.
struct Group {
  Node* node = nullptr;
  std::vector<Node*> tail;

  // The value that the whole group produces (first output of the last node).
  Value* result() const { return tail.empty() ? node->output(0) : tail.back()->output(0); }
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
  bool packed = false;  // a constant that was made at planning time
  size_t arena_offset = 0;
  const Value* value =
      nullptr;  // whose memory it is; null for temporary memory and packed constants
};

// The steps in which a buffer is needed; none if first > last.
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
  // By buffer.
  std::vector<Lifetime> Lifetimes() const;
};

// What a kernel sees when it plans a group.
class PlanContext {
 public:
  PlanContext(Plan& plan, std::unordered_map<const Value*, Place>& places)
      : plan_(plan), places_(places) {}

  const Group& group() const { return *group_; }
  const Node& node() const { return *group_->node; }
  void set_group(const Group* group) { group_ = group; }

  // Where a value lies. Outputs of the group get dense memory when they have none yet; a constant
  // gets a buffer of its own.
  Place PlaceOf(const Value* value);
  bool HasPlace(const Value* value) const { return places_.contains(value); }
  // Makes the value lie in memory of another. Requires that it has no place yet.
  void SetPlace(const Value* value, const Place& place) { places_[value] = place; }
  // Temporary memory that lives during the steps that name it.
  BufferId AddScratch(size_t bytes);
  // Constant data made at planning time, such as packed weights.
  BufferId AddConstant(Blob blob);
  // The step is labelled after the group and is for its nodes. Buffers named here stay alive for
  // it.
  void AddStep(std::unique_ptr<Step> step, std::vector<BufferId> reads,
               std::vector<BufferId> writes);

 private:
  BufferId AddFixed(Blob blob);

  Plan& plan_;
  std::unordered_map<const Value*, Place>& places_;
  const Group* group_ = nullptr;
};

// Whether the rows of a value of this shape follow one another.
inline bool IsDense(const Place& place, const std::vector<int64_t>& shape) {
  return shape.empty() || place.row_stride == static_cast<size_t>(shape.back());
}

// Known shape of a value; every value has one when planning begins.
std::vector<int64_t> ShapeOf(const Value* value);
// The same, where a scalar is a row of one element.
std::vector<int64_t> RowShape(const Value* value);
// Bytes of an element, of types of whole bytes.
size_t ElementSize(const Value* value);
// The number of elements of axes `begin` to `end` - 1.
size_t ElementsOf(const std::vector<int64_t>& shape, size_t begin, size_t end);

// A kernel's planning function. False: not for this node (type, shape or attribute); the scalar
// reference evaluation takes it then.
using PlanFn = Result<bool> (*)(PlanContext&);

// What a kernel can do with the nodes around its own.
struct KernelInfo {
  std::string_view op;
  PlanFn plan = nullptr;
  // Whether it takes tails of elementwise nodes.
  bool takes_tail = false;
  // Whether it can be part of one.
  bool elementwise = false;
  // Whether its first input, or its output, may have rows further apart than they are long.
  bool strided_input = false;
  bool strided_output = false;
  // Whether it changes some elements of its first input, which may lie where the result does.
  bool changes_input = false;
};

// The kernels of an operator; null if there is none.
const KernelInfo* FindKernel(std::string_view op);

}  // namespace nn
