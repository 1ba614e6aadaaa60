#include "exec/runtime/arena.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "support/hang.h"

namespace nn::test::arena_test {
namespace {

bool AliveTogether(const ArenaBlock& a, const ArenaBlock& b) {
  return a.first <= b.last && b.first <= a.last;
}

// No two blocks that are alive at the same time have a byte in common, and all lie in the arena.
bool IsSound(const std::vector<ArenaBlock>& blocks, size_t size) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].offset + blocks[i].bytes > size) return false;
    for (size_t k = 0; k < i; ++k)
      if (AliveTogether(blocks[i], blocks[k]) &&
          blocks[i].offset < blocks[k].offset + blocks[k].bytes &&
          blocks[k].offset < blocks[i].offset + blocks[i].bytes)
        return false;
  }
  return true;
}

// The rule itself, by comparing all blocks.
size_t PlaceSlowly(std::vector<ArenaBlock>& blocks) {
  std::vector<ArenaBlock*> order;
  for (ArenaBlock& b : blocks) order.push_back(&b);
  std::stable_sort(order.begin(), order.end(),
                   [](const ArenaBlock* a, const ArenaBlock* b) { return a->bytes > b->bytes; });
  size_t end = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    std::vector<std::pair<size_t, size_t>> taken;
    for (size_t k = 0; k < i; ++k)
      if (AliveTogether(*order[i], *order[k]))
        taken.emplace_back(order[k]->offset, order[k]->offset + order[k]->bytes);
    std::sort(taken.begin(), taken.end());
    size_t offset = 0;
    for (const auto& [begin, stop] : taken) {
      if (offset + order[i]->bytes <= begin) break;
      offset = std::max(offset, stop);
    }
    order[i]->offset = offset;
    end = std::max(end, offset + order[i]->bytes);
  }
  return end;
}

TEST_CASE("arena: blocks lie where comparing all of them puts them") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<ArenaBlock> blocks(1 + random() % 60);
    for (ArenaBlock& b : blocks) {
      b.bytes = random() % 8 * 64;
      b.first = random() % 40;
      b.last = b.first + random() % (round % 2 == 0 ? 3 : 30);
    }
    std::vector<ArenaBlock> expected = blocks;
    const size_t size = PlaceSlowly(expected);
    CHECK(PlaceBlocks(blocks) == size);
    for (size_t i = 0; i < blocks.size(); ++i) CHECK(blocks[i].offset == expected[i].offset);
  }
  std::vector<ArenaBlock> none;
  CHECK(PlaceBlocks(none) == 0);
}

TEST_CASE("arena: a chain takes work in proportion to its length") {
  const auto examined = [](size_t n) {
    std::vector<ArenaBlock> blocks;
    for (size_t i = 0; i < n; ++i) blocks.push_back({64, i, i + 1, 0});
    uint64_t count = 0;
    CHECK(PlaceBlocks(blocks, &count) == 128);
    return count;
  };
  CHECK(examined(20'000) < 3 * 20'000);
  CHECK(examined(40'000) < 3 * 40'000);
}

TEST_CASE("arena: many blocks that are alive at the same time are placed in bounded time") {
  CheckEnds([] {
    constexpr size_t kBlocks = 200'000;
    std::vector<ArenaBlock> blocks;
    for (size_t i = 0; i < kBlocks; ++i)
      blocks.push_back({64 * (1 + i % 7), i, 2 * kBlocks - i, 0});
    uint64_t examined = 0;
    const size_t size = PlaceBlocks(blocks, &examined);
    CHECK(examined < 100 * kBlocks);
    size_t all = 0;
    for (const ArenaBlock& b : blocks) all += b.bytes;
    CHECK(size == all);
    // A part of them, compared pair by pair.
    std::vector<ArenaBlock> part;
    for (size_t i = 0; i < kBlocks; i += 100) part.push_back(blocks[i]);
    CHECK(IsSound(part, size));
  });
}

TEST_CASE("arena: what is placed in order of time shares memory, too") {
  std::mt19937 random(2);
  constexpr size_t kBlocks = 20'000;
  std::vector<ArenaBlock> blocks(kBlocks);
  for (ArenaBlock& b : blocks) {
    b.bytes = 64 * (1 + random() % 9);
    b.first = random() % kBlocks;
    b.last = std::min<size_t>(b.first + random() % 8'000, kBlocks);
  }
  size_t all = 0;
  for (const ArenaBlock& b : blocks) all += b.bytes;
  const size_t size = PlaceBlocks(blocks);
  CHECK(size < all / 2);
  std::vector<ArenaBlock> part;
  for (size_t i = 0; i < kBlocks; i += 9) part.push_back(blocks[i]);
  CHECK(IsSound(part, size));
}

}  // namespace
}  // namespace nn::test::arena_test
