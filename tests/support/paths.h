// Where the sources, the programs and the libraries of this build are. Tests ask here and not for
// definitions of the compiler, so that their objects are the same in each folder, for a compiler
// cache.
#pragma once

#include <string>
#include <string_view>

namespace nn::test {

// `path` below the folder of the sources: "golden/cnn.onnx"; the folder itself for "".
std::string SourcePath(std::string_view path);

// The folder of the programs.
std::string BinDir();

// The file of the public library; "" in a build without it.
std::string LibraryFile();

// The fault injection library that programs preload; "" in a build without it.
std::string FaultsFile();

}  // namespace nn::test
