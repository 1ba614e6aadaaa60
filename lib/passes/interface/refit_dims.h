// Reshapes to sizes that change. Part of the edits of sizes (passes/interface/open_sizes.h).
#pragma once

#include <optional>
#include <vector>

#include "ir/types/axis_map.h"
#include "ir/types/dim.h"

namespace nn {

// The shape to which a reshape from `old_in` to `old_out` reshapes `in`, which has other sizes:
// axes that it keeps, merges or splits do so as before. nullopt if that cannot be told. `inner` are
// sizes of merged axes whose last factor is new, such as 197 N; others have it first. Adds those
// that the reshape makes.
std::optional<Dims> RefitDims(const Dims& old_in, const Dims& old_out, const Dims& in,
                              std::vector<Dim>& inner);

// The permutation that a reshape of these sizes stands for, if it moves the only opened axis, which
// had size 1, and keeps all others in order.
std::optional<AxisMap> UnitMove(const Dims& old_in, const Dims& old_out, const Dims& in);

}  // namespace nn
