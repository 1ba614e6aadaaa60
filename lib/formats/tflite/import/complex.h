// Complex numbers (c64, c128) in the graph, which computes with their parts: real numbers in a last
// axis of 2 elements.
// Design: docs/design/015-complex-numbers.md.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "formats/tflite/import/import.h"
#include "ir/term.h"

namespace nn::tflite {

// [..., 2]; kModel unless x is complex.
Result<Value*> PartsOf(ImportContext& ctx, Value* x);
// The real (0) or the imaginary (1) part of parts.
Term PartOf(Term parts, int64_t part);

// The product of two complex operands, which may be broadcast. Unlike in C, an
// infinite part times a NaN is NaN.
Result<Term> ComplexProduct(ImportContext& ctx, Value* a, Value* b);

}  // namespace nn::tflite
