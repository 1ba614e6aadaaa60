// Loops and branches that a run decides about. Those that no run changes are unrolled and inlined
// by the importers (formats/common/control_flow.h).
// Design: docs/design/020-regions.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ir/attrs.h"

namespace nn {

// loop(trips?, condition?, carried..., captured...) -> carried..., stacked...
//   for (i = 0; i < trips && condition; ++i)
//     condition, carried..., element... = region(i, carried..., captured...)
// trips: i64[], no limit if absent. condition: bool[], true if absent, also after each iteration.
// Each stacked result has the elements of all iterations along a new first axis. Here and in a
// branch, vectors of one element may take the place of the scalars i64[] and bool[]. The number of
// the iteration is one if the region's input is.
struct LoopAttrs {
  int64_t carried = 0;
  std::string why;  // a run decides: "the trip count is computed ...", for messages
  static std::span<const AttrField> Fields();
};

// branch(condition, captured...) -> results...: those of the first region if the condition, bool[],
// is true, otherwise those of the second one. Both have the captured values as inputs.
struct BranchAttrs {
  std::string why;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
