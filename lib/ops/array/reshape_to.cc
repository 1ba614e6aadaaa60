#include "ops/array/reshape_to.h"

#include <cstddef>

#include "ops/support/types.h"

namespace nn {

ReshapeAttrs ReshapeTo(const Dims& from, const Dims& to) {
  if (KnownBeforeRun(to)) return {to, false};
  ReshapeAttrs out{to, false};
  Dim* rest = nullptr;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0) return {to, false};  // would copy a size
    if (KnownBeforeRun({to[i]})) continue;
    if (i < from.size() && from[i] == to[i]) {
      out.dims[i] = Dim(0);
      out.zero_copies = true;
    } else if (rest == nullptr) {
      rest = &out.dims[i];
    } else {
      return {to, false};
    }
  }
  if (rest != nullptr) *rest = Dim(-1);
  return out;
}

}  // namespace nn
