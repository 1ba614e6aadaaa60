// Shared by the operators on strings.
// Design: docs/design/016-strings.md.
#pragma once

#include "base/status.h"
#include "ir/op_def.h"

namespace nn {

// kModel if the elements of the input are known not to be strings.
Status RequireStrings(const InferContext& ctx, size_t input);

// kLimit if `strings` strings with `bytes` bytes of text, the results of a node, exceed the memory
// that the evaluation may use. Only the evaluation knows how long strings become.
Status CheckTextMemory(EvalContext& ctx, uint64_t strings, uint64_t bytes);

}  // namespace nn
