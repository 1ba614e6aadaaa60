// Offsets of buffers that share memory when they are not alive at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nn {

struct ArenaBlock {
  size_t bytes = 0;  // a multiple of the alignment
  size_t first = 0;  // the steps in which it is alive
  size_t last = 0;
  size_t offset = 0;
};

// Sets the offsets and returns the size of the whole. Blocks are placed largest first, those of one
// size in the order given, each at the lowest offset that is free while it is alive. Where too many
// blocks are alive at the same time for that, the rest goes above them in order of time, each into
// the smallest gap that takes it. O(n log n) steps; `examined` is increased by the number of pairs
// of blocks that were compared.
size_t PlaceBlocks(std::vector<ArenaBlock>& blocks, uint64_t* examined = nullptr);

}  // namespace nn
