// The ONNX entry of the format table. Free of generated code.
#pragma once

#include "formats/common/symbol_sizes.h"
#include "formats/format.h"

namespace nn::onnx {

const Format& OnnxFormat();

// Format::import for these sizes of symbols.
Result<ImportedModel> ImportWithSizes(const NativeModel& model, const SymbolSizes& sizes);

}  // namespace nn::onnx
