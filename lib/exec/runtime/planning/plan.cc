#include "exec/runtime/planning/plan.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "exec/runtime/arena.h"

namespace nn {

std::vector<int64_t> ShapeOf(const Value* value) {
  return *value->type().const_dims();
}

std::vector<int64_t> RowShape(const Value* value) {
  auto shape = ShapeOf(value);
  if (shape.empty()) shape.push_back(1);
  return shape;
}

size_t ElementSize(const Value* value) {
  return static_cast<size_t>(DTypeBits(value->dtype())) / 8;
}

size_t ElementsOf(const std::vector<int64_t>& shape, size_t begin, size_t end) {
  size_t n = 1;
  for (size_t i = begin; i < end; ++i) n *= static_cast<size_t>(shape[i]);
  return n;
}

std::vector<Lifetime> Plan::Lifetimes() const {
  std::vector<Lifetime> lifetimes(buffers.size());
  for (size_t s = 0; s < steps.size(); ++s) {
    for (const auto* list : {&steps[s]->reads, &steps[s]->writes}) {
      for (const BufferId b : *list) {
        lifetimes[b].first = std::min(lifetimes[b].first, s);
        lifetimes[b].last = std::max(lifetimes[b].last, s);
      }
    }
  }
  return lifetimes;
}

void Plan::AssignArena() {
  const std::vector<Lifetime> alive = Lifetimes();
  std::vector<BufferId> ids;
  std::vector<ArenaBlock> blocks;
  for (BufferId b = 0; b < buffers.size(); ++b) {
    if (buffers[b].kind != BufferKind::kArena || alive[b].first > alive[b].last) continue;
    ids.push_back(b);
    blocks.push_back(
        {RoundUp(buffers[b].bytes, kBufferAlignment), alive[b].first, alive[b].last, 0});
  }
  arena_bytes = PlaceBlocks(blocks);
  for (size_t i = 0; i < ids.size(); ++i) buffers[ids[i]].arena_offset = blocks[i].offset;
}

MemoryView PlanContext::ViewOf(const Value* value) {
  const auto it = views_.find(value);
  if (it != views_.end()) return it->second;
  MemoryView view;
  const auto shape = ShapeOf(value);
  view.row_stride = shape.empty() ? 1 : static_cast<size_t>(shape.back());
  if (value->is_constant()) {
    view.buffer = AddFixed(value->constant().Aligned(kBufferAlignment).blob());
    plan_.buffers[view.buffer].value = value;
  } else {
    BufferInfo info;
    info.bytes = ByteSize(value->dtype(), *CheckedElements(shape));
    info.value = value;
    view.buffer = plan_.AddBuffer(std::move(info));
  }
  views_.emplace(value, view);
  return view;
}

BufferId PlanContext::AddScratch(size_t bytes) {
  BufferInfo info;
  info.bytes = bytes;
  return plan_.AddBuffer(std::move(info));
}

BufferId PlanContext::AddConstant(Blob blob) {
  plan_.packed_bytes += blob.size();
  const BufferId id = AddFixed(std::move(blob));
  plan_.buffers[id].packed = true;
  return id;
}

BufferId PlanContext::AddFixed(Blob blob) {
  BufferInfo info;
  info.kind = BufferKind::kConstant;
  info.bytes = blob.size();
  info.constant = std::move(blob);
  return plan_.AddBuffer(std::move(info));
}

void PlanContext::AddStep(std::unique_ptr<Step> step, std::vector<BufferId> reads,
                          std::vector<BufferId> writes) {
  step->reads = std::move(reads);
  step->writes = std::move(writes);
  plan_.packed_bytes += step->packed_bytes;
  step->bytes += step->packed_bytes;
  for (const BufferId b : step->reads)
    if (plan_.buffers[b].packed) step->packed_bytes += plan_.buffers[b].bytes;
  if (group_ != nullptr) {
    step->nodes.push_back(group_->node);
    step->nodes.insert(step->nodes.end(), group_->post_ops.begin(), group_->post_ops.end());
  }
  for (const auto* list : {&step->reads, &step->writes})
    for (const BufferId b : *list) step->bytes += plan_.buffers[b].bytes;
  if (step->label.empty() && group_ != nullptr) {
    step->label = std::string(group_->node->op_name());
    for (const Node* n : group_->post_ops) step->label += "+" + std::string(n->op_name());
    if (!group_->node->name().empty()) step->label.append(" ").append(group_->node->name());
  }
  plan_.steps.push_back(std::move(step));
}

}  // namespace nn
