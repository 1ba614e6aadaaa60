// The lowest operator version that supports the features in use.
#pragma once

#include <span>

#include "formats/tflite/file/native.h"
#include "ir/types/type.h"

namespace nn::tflite {

// The options that determine an operator's version.
struct VersionTraits {
  bool dilated = false;            // DEPTHWISE_CONV_2D
  bool grouped = false;            // CONV_2D
  bool keep_num_dims = false;      // FULLY_CONNECTED
  bool asymmetric_inputs = false;  // of hybrid kernels: FULLY_CONNECTED, BATCH_MATMUL
  bool half_pixel = false;         // RESIZE_*
  bool align_corners = false;
  bool batch_dims = false;   // GATHER
  bool activation = false;   // TRANSPOSE_CONV
  bool batch_first = false;  // BIDIRECTIONAL_SEQUENCE_LSTM
};

// `inputs` in the operator's order; absent ones have type kUnknown.
//
// Source: tflite/converter/tools/versioning/op_version.cc.
int32_t VersionOf(fb::BuiltinOperator op, std::span<const Type> inputs,
                  std::span<const Type> outputs, const VersionTraits& traits);

}  // namespace nn::tflite
