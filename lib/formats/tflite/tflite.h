// The TensorFlow Lite entry of the format table. Free of generated code.
#pragma once

#include "formats/common/symbol_sizes.h"
#include "formats/format.h"

namespace nn::tflite {

const Format& TfliteFormat();

// Format::import, or Format::import_as_float, for these sizes of symbols.
Result<ImportedModel> ImportWithSizes(const NativeModel& model, const SymbolSizes& sizes,
                                      bool as_float);

}  // namespace nn::tflite
