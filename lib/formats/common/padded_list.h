// Lists that a format pads to a fixed length, and the graph does not.
#pragma once

#include "base/status.h"
#include "ir/term.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn {

// The list [n], padded at its end with `filler`, a scalar of its type, to [count]. `count` is a
// list of one number, n or more.
inline Result<Term> PaddedList(NodeInserter& to, const Term& list, const Term& filler,
                               const Term& count) {
  NN_ASSIGN(Value* const rest, to.Add("expand", {filler, count}, ExpandAttrs{}));
  const Term y = Apply("slice", {Concat({list, rest}, 0), Vector({0}), count}, SliceAttrs{});
  if (!rest->type().ranked() || !KnownBeforeRun(*rest->type().dims)) return y;
  return Reshape(y, *rest->type().dims);
}

}  // namespace nn
