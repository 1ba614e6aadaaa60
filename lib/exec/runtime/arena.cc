#include "exec/runtime/arena.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

namespace nn {
namespace {

// The placed blocks, indexed by the steps in which they are alive.
class PlacedBlocks {
 public:
  explicit PlacedBlocks(size_t steps) {
    while (leaves_ < steps) leaves_ *= 2;
    covering_.resize(2 * leaves_);
  }

  void Add(const ArenaBlock& block) {
    by_first_.emplace(block.first, &block);
    // The nodes of the tree of steps that together cover [first, last].
    for (size_t a = block.first + leaves_, b = block.last + leaves_ + 1; a < b; a /= 2, b /= 2) {
      if (a % 2 == 1) covering_[a++].push_back(&block);
      if (b % 2 == 1) covering_[--b].push_back(&block);
    }
  }

  // The memory in use during the steps of `block`.
  std::vector<std::pair<size_t, size_t>> TakenDuring(const ArenaBlock& block) const {
    std::vector<std::pair<size_t, size_t>> taken;
    const auto add = [&](const ArenaBlock* b) {
      taken.emplace_back(b->offset, b->offset + b->bytes);
    };
    for (size_t node = block.first + leaves_; node > 0; node /= 2)
      for (const ArenaBlock* b : covering_[node]) add(b);
    for (auto it = by_first_.upper_bound(block.first);
         it != by_first_.end() && it->first <= block.last; ++it)
      add(it->second);
    return taken;
  }

 private:
  size_t leaves_ = 1;
  std::vector<std::vector<const ArenaBlock*>> covering_;
  std::multimap<size_t, const ArenaBlock*> by_first_;
};

size_t LowestGap(std::vector<std::pair<size_t, size_t>> taken, size_t size) {
  std::sort(taken.begin(), taken.end());
  size_t offset = 0;
  for (const auto& [begin, end] : taken) {
    if (offset + size <= begin) break;
    offset = std::max(offset, end);
  }
  return offset;
}

// Free memory as gaps between the ranges in use.
class Gaps {
 public:
  explicit Gaps(size_t end) : end_(end) {}

  size_t Take(size_t size) {
    const auto it = by_size_.lower_bound({size, 0});
    if (it == by_size_.end()) return std::exchange(end_, end_ + size);
    const auto [gap, offset] = *it;
    Remove(offset, gap);
    if (gap > size) Insert(offset + size, gap - size);
    return offset;
  }

  void Free(size_t offset, size_t size) {
    const auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin()) {
      const auto [before, before_size] = *std::prev(next);
      if (before + before_size == offset) {
        Remove(before, before_size);
        offset = before;
        size += before_size;
      }
    }
    if (const auto it = by_offset_.find(offset + size); it != by_offset_.end()) {
      const size_t after_size = it->second;
      Remove(offset + size, after_size);
      size += after_size;
    }
    Insert(offset, size);
  }

  size_t end() const { return end_; }

 private:
  void Insert(size_t offset, size_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void Remove(size_t offset, size_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }

  size_t end_;
  std::map<size_t, size_t> by_offset_;
  std::set<std::pair<size_t, size_t>> by_size_;
};

// Places blocks above `begin` in order of time and returns the end.
size_t PlaceInOrder(std::vector<ArenaBlock*> blocks, size_t begin) {
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const ArenaBlock* a, const ArenaBlock* b) { return a->first < b->first; });
  const auto later = [](const ArenaBlock* a, const ArenaBlock* b) {
    return std::pair(a->last, a->offset) > std::pair(b->last, b->offset);
  };
  std::priority_queue<ArenaBlock*, std::vector<ArenaBlock*>, decltype(later)> alive(later);
  Gaps gaps(begin);
  for (ArenaBlock* block : blocks) {
    while (!alive.empty() && alive.top()->last < block->first) {
      if (alive.top()->bytes > 0) gaps.Free(alive.top()->offset, alive.top()->bytes);
      alive.pop();
    }
    block->offset = block->bytes > 0 ? gaps.Take(block->bytes) : begin;
    alive.push(block);
  }
  return gaps.end();
}

}  // namespace

size_t PlaceBlocks(std::vector<ArenaBlock>& blocks, uint64_t* examined) {
  std::vector<ArenaBlock*> order;
  size_t steps = 0;
  for (ArenaBlock& b : blocks) {
    order.push_back(&b);
    steps = std::max(steps, b.last + 1);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const ArenaBlock* a, const ArenaBlock* b) { return a->bytes > b->bytes; });
  // Only adversarial models come near this limit.
  uint64_t left = uint64_t{64} * blocks.size() + (uint64_t{1} << 22);
  PlacedBlocks placed(steps);
  size_t end = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    auto taken = placed.TakenDuring(*order[i]);
    if (examined != nullptr) *examined += taken.size();
    if (taken.size() > left)
      return PlaceInOrder({order.begin() + static_cast<std::ptrdiff_t>(i), order.end()}, end);
    left -= taken.size();
    order[i]->offset = LowestGap(std::move(taken), order[i]->bytes);
    end = std::max(end, order[i]->offset + order[i]->bytes);
    placed.Add(*order[i]);
  }
  return end;
}

}  // namespace nn
