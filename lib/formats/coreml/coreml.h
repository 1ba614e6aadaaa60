// The Core ML entry of the format table. Free of generated code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/format.h"

namespace nn::coreml {

const Format& CoremlFormat();

// Format::import for inputs of these shapes, by name: an array [C] or [C, H, W] of a network with
// the mapping RANK5_ARRAY_MAPPING may be given as [S, B, C, H, W].
Result<ImportedModel> ImportWithShapes(const NativeModel& model,
                                       const std::map<std::string, std::vector<int64_t>>& shapes);

// Whether the path is, or is inside, a compiled model (.mlmodelc), or has the name of a file of
// one.
bool IsCompiledModel(std::string_view path);

}  // namespace nn::coreml
