// Compiled models (.mlmodelc): folders that applications have in place of a package. That of an ML
// Program has the program as text (model.mil, program/text/parse.h), its weight files, and
// metadata.json, which describes the features. They become a model as if it had been read from a
// package. Other compiled models have no published form.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "formats/coreml/file/native.h"

namespace nn::coreml {

// Whether it is a folder with a program as text.
bool IsCompiledProgram(const std::string& path);

// kParse and kUnsupported name the file, and in the program line and column.
Result<std::unique_ptr<Model>> ReadCompiledProgram(const std::string& path,
                                                   const ReadLimits& limits);

}  // namespace nn::coreml
