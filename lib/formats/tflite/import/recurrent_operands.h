// Operands of the recurrent layers of TensorFlow Lite, which has one for each gate, as those of the
// graph (ops/recurrent/recurrent.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/tflite/import/import.h"
#include "ops/recurrent/recurrent.h"

namespace nn::tflite {

// Limit of TensorFlow Lite: rows and columns of the weights of a recurrent layer, and elements of a
// bias. Constants of these sizes are made that are not in the file.
inline constexpr int64_t kMaxUnits = int64_t{1} << 22;

// An operand that no operator has.
inline constexpr size_t kNoInput = 1000;

// kUnsupported unless it is a matrix of constant size, of which no dimension exceeds kMaxUnits.
Status RequireMatrix(const Value* v, std::string_view name);

// The operands of a layer that are alike, such as the weights of the gates, as one operand
// [1, ...] in the order given. Quantized ones get a scale for each row, unless all have the same.
Result<Value*> Stacked(ImportContext& ctx, const std::vector<Value*>& parts, std::string_view name);

void AddActivation(RecurrentAttrs& a, RecurrentActivation function, float alpha = 0);
// kUnsupported for a function that recurrent layers do not have.
Status AddActivation(RecurrentAttrs& a, fb::ActivationFunctionType type);

// The input of a layer, [T, B, I] or, with batch_first, [B, T, I].
struct Sequence {
  Value* x = nullptr;
  bool batch_first = false;
  Dim batch;
};

// x as a sequence; a matrix is one step. kModel unless the rank is 2 or 3.
Result<Sequence> SequenceOf(ImportContext& ctx, Value* x, bool time_major);

// The dimensions of its states in the graph, and which of them is the batch.
Dims StateDims(const Sequence& s, int64_t units);
size_t StateBatch(const Sequence& s);

// An initial state with the dimensions of the graph; zeros of the declared type if it has no value
// yet. Null if those are the default, which they are unless the type is quantized.
Result<Value*> InitialState(ImportContext& ctx, size_t input, const Dims& dims, size_t batch_axis);

// y [T, 1, B, H] or [B, T, 1, H] without the axis of the direction.
Result<Value*> WithoutDirection(ImportContext& ctx, Value* y, bool batch_first);

// Sets the results of both directions: one output each, or one for both.
Status SetDirections(ImportContext& ctx, Value* forward, Value* backward, bool merged);

}  // namespace nn::tflite
