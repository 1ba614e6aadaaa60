// Permutations of many axes as permutations of fewer.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/types/dim.h"

namespace nn {

// Sizes of axes, and their permutation as in TransposeAttrs.
struct AxisPermutation {
  Dims dims;
  std::vector<int64_t> perm;
  bool operator==(const AxisPermutation&) const = default;
};

// The permutation with the fewest axes that moves the elements in the same way: axes of size 1 are
// dropped, and axes that stay neighbors are joined. Two transposes of as many elements move them in
// the same way if this form is the same.
AxisPermutation JoinedPermutation(const Dims& dims, const std::vector<int64_t>& perm);

// Replaces a transpose between reshapes with its JoinedPermutation() of lower rank. If more than
// five axes are left, axes move one by one, in transposes of rank 4 or less. False if the transpose
// has other neighbors, or no lower rank.
Result<bool> JoinTransposedAxes(Graph& graph, Node& node);

}  // namespace nn
