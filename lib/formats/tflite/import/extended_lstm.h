// The forms of TensorFlow Lite's LSTM operators that the graph's lstm does not have
// (ops/extended_lstm.cc), for their import (ops/lstm.cc).
#pragma once

#include <cstddef>

#include "formats/tflite/import/import.h"
#include "formats/tflite/import/recurrent_operands.h"
#include "ops/recurrent/recurrent.h"

namespace nn::tflite {

// Where the operands of one direction are: the first of each kind. Absent parts are beyond all
// inputs. The gates are i, f, c, o.
struct LstmInputs {
  size_t w = 1, r = 5, peepholes = 9, bias = 12, projection = 16;
  size_t h = 18, c = 19;
  size_t norm = 20;
  size_t aux = kNoInput;  // weights of the auxiliary input
};

struct LstmOptions {
  fb::ActivationFunctionType activation{};
  float cell_clip = 0;
  float projection_clip = 0;
  bool asymmetric_inputs = false;  // of a hybrid kernel
};

// Whether a direction has a projection, normalized gates, a hybrid kernel, or an integer arithmetic
// with coupled gates or a hidden state of another type than the output state. kUnsupported for an
// integer kernel that is not imported.
Result<bool> IsExtendedLstm(const ImportContext& ctx, const LstmInputs& in);

// One direction; y [T, B, n] or, with batch_first, [B, T, n].
Result<Value*> AddExtendedLstm(ImportContext& ctx, const LstmInputs& in, const LstmOptions& options,
                               Sequence x, Value* aux, RecurrentDirection direction);

}  // namespace nn::tflite
