// The Core ML entry of the format table. Free of generated code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/format.h"

namespace nn::coreml {

const Format& CoremlFormat();

// The options that write an ML Program as one file.
ExportOptions OptionsOfProgram();

// Whether the path is, or is inside, a compiled model (.mlmodelc), or has the name of a file of
// one.
bool IsCompiledModel(std::string_view path);

// The ML Program of a model as text (program/text/print.h).
Result<std::string> ProgramText(const NativeModel& model);

}  // namespace nn::coreml
