// Writing elements to the positions of a slice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/attrs.h"
#include "ir/op_def.h"
#include "ops/support/domain.h"

namespace nn {

// slice_update(x, starts, update): x with those of update in place of the elements that begin at
// starts[i] along axis axes[i] and are steps[i] apart (empty: 1). Along other axes, update has the
// sizes of x. A negative start counts from the end of the axis; an element outside of x is a
// run-time error (kModel).
struct SliceUpdateAttrs {
  std::vector<int64_t> axes;
  std::vector<int64_t> steps;
  static std::span<const AttrField> Fields();
};

// Of the family of scatters.
void RegisterSliceUpdateOp(OpRegistry& ops);
void AddSliceUpdateDomain(DomainTable& domains);

}  // namespace nn
