// Models as C source, for programs without a file system.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "formats/format.h"

namespace nn::app {

struct CSourceOptions {
  std::string name;     // prefix of the identifiers; "": from the name of the file
  std::string section;  // of the array; "": the default one
  uint64_t alignment = 16;
};

// Whether the path is that of a C or C++ file.
bool IsCSourcePath(std::string_view path);

// kUsage unless the options are valid, and the file's name can stand in C source.
Status CheckCSource(const CSourceOptions& options, const std::string& path);

// Writes the model of one file as an array to `path`, a C or C++ file, and its declaration to a
// header beside it, with the extension .h: the array, its size, and what TensorFlow Lite for
// Microcontrollers needs (ModelDescriber::MicroModelOf). Returns the header's name.
Result<std::string> WriteCSource(const ReadModel& model, const Blob& file, const std::string& path,
                                 const CSourceOptions& options);

}  // namespace nn::app
