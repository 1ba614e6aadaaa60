// Operators that are defined by their decomposition (OpDef::eval).
// Design: docs/design/012-compositions.md.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ir/term.h"
#include "ops/support/insert_before.h"

namespace nn {

// Replaces a node by its decomposition. That of 16-bit floats computes in float32 and rounds once.
class Composition : public InsertBefore {
 public:
  using InsertBefore::InsertBefore;

  // Input i, widened; absent if it is.
  Term Operand(size_t i) const;
  // Replaces the only output of the node, whose type rounds y. True.
  Result<bool> Replace(const Term& y);
};

// kUnsupported unless an input is a tensor of f16, bf16, f32 or f64 that is not quantized.
Status RequireReal(const InferContext& ctx, size_t input);

}  // namespace nn
