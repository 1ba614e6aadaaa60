// Offsets of buffers that share memory if they are not alive at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nn {

struct ArenaBlock {
  size_t bytes = 0;  // a multiple of the alignment
  size_t first = 0;  // the first and last step in which it is alive
  size_t last = 0;
  size_t offset = 0;
};

// Sets the offsets and returns the total size. Blocks are placed largest first, those of equal size
// in the order given, each at the lowest offset that is free while it is alive. If too many blocks
// are alive at the same time for that, the rest is placed above them in order of time, each in the
// smallest gap that fits. O(n log n) steps; `examined` is increased by the number of pairs of
// blocks that were compared.
size_t PlaceBlocks(std::vector<ArenaBlock>& blocks, uint64_t* examined = nullptr);

}  // namespace nn
