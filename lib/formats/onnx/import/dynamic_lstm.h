// DynamicQuantizeLSTM of com.microsoft: a layer with 8-bit weights that quantizes its inputs, and
// in each step its states. quantize_dynamic of ONNX Runtime writes it for every LSTM.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "formats/onnx/import/import.h"

namespace nn::onnx {

inline constexpr std::string_view kDynamicLstm = "DynamicQuantizeLSTM";  // of kMicrosoft

// More steps stay a loop, whose weights a plan packs once.
inline constexpr int64_t kMaxUnrolledSteps = 16;

bool IsDynamicLstm(std::string_view domain, std::string_view op);

// The node as a function of operators of ai.onnx, with inputs and outputs at the same positions:
// products of integers, and a Scan over the steps in each direction. kModel for invalid attributes;
// kUnsupported if the number of units is not known.
Result<pb::FunctionProto> FunctionOfDynamicLstm(const ImportContext& ctx);

}  // namespace nn::onnx
