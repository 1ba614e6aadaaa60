// Lists that a format pads to a fixed length, and the graph does not.
#pragma once

#include "base/status.h"
#include "ir/graph.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/support/types.h"

namespace nn {

// The list [n], padded at its end with `filler`, a scalar of its type, to [count]. `count` is a
// list of one number, n or more. `Context` is the ImportContext of a format.
template <typename Context>
Result<Value*> PaddedList(Context& ctx, Value* list, Value* filler, Value* count) {
  NN_ASSIGN(Value* const rest, ctx.Add("expand", {filler, count}, ExpandAttrs{}));
  NN_ASSIGN(Value* const longer, ctx.Add("concat", {list, rest}, ConcatAttrs{0}));
  Value* const begin = ctx.Constant(Tensor::Ints({0}));
  NN_ASSIGN(Value* const y, ctx.Add("slice", {longer, begin, count}, SliceAttrs{}));
  if (!rest->type().ranked() || !KnownBeforeRun(*rest->type().dims)) return y;
  return ctx.Add("reshape", {y}, ReshapeAttrs{*rest->type().dims, false});
}

}  // namespace nn
