// Identifies files by their contents.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "formats/format.h"

namespace nn {

// The type of a file that is not a model, with a remedy: "a gzip archive; unpack it first". Empty
// if nothing is recognized.
std::string_view KnownNonModel(std::span<const std::byte> bytes);

// The same for a folder. Reads only file names.
std::string_view KnownNonModelFolder(const std::string& path);

// The format of a file's contents. The greatest likeness wins, regardless of the file name. The
// extension of `path` decides between formats of equal likeness and for contents that no format
// recognizes. kParse if neither determines the format, or if the contents are known to be something
// else.
Result<const Format*> RecognizeFormat(std::span<const std::byte> bytes, const std::string& path);

}  // namespace nn
