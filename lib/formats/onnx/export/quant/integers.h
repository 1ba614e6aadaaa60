// Terms of 64-bit integers, in which the integer arithmetic of TensorFlow Lite
// (ops/quant/requant.h) has the same bits.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/term.h"
#include "ops/quant/requant.h"
#include "rewrite/expand.h"

// All operands are i64, and their magnitudes less than 2^62, unless a function says otherwise.
namespace nn::onnx::i64 {

Term Number(int64_t n);
// The stored integers of a quantized value, less the zero point.
Term Of(Value* x);

Term Plus(Term v, int64_t n);
Term Times(Term v, int64_t n);
// v / 2^bits, rounded down.
Term Floor(Term v, int bits);
// v / 2^bits, rounded to nearest, up in the middle.
Term Round(Term v, int bits);
Term Clamp(Term v, int64_t least, int64_t most);
// As a 32-bit integer wraps.
Term Wrap32(Term v);

// RoundingDoublingHighMul() and RoundingShiftRight().
Term HighMul(Term v, int32_t multiplier);
Term ShiftRight(Term v, int bits);
// Rescale() and Rescale64().
Term Rescale(Term v, FixedMultiplier m);
Term Rescale64(Term v, FixedMultiplier m);

// The saturated sum of the integers and the zero point, as a value of the quantized type.
Result<Value*> Stored(NodeInserter& inserter, const Term& v, const Type& type);
// Replaces the node of `e` by what its result, of this type, stores.
Result<bool> Replace(Expansion& e, const Term& v, const Type& type);

}  // namespace nn::onnx::i64
