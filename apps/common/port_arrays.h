// Arrays in files for the inputs or outputs of a graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/verify.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace nn::app {

// The arrays of an .npz or .safetensors file by port: under the port's name, or "<prefix>_K" for
// port K. kUsage for arrays that match no port.
Result<std::vector<std::optional<Tensor>>> ReadPortArrays(const std::string& path,
                                                          const std::vector<Port>& ports,
                                                          std::string_view prefix,
                                                          const ReadLimits& limits);

// Sets of inputs from files, in order. Each of `paths` is
//   an .npz or .safetensors file   one set; ReadPortArrays() with the prefix "in"
//   NAME=FILE                      one input; adjacent ones of different inputs are one set
//   a tensor file                  the same for a model with one input (ReadTensorFile)
//   a folder                       one set for each .npz and .safetensors file in it, one for all
//   of
//                                  its tensor files, named NAME, in_K or input_K and an extension,
//                                  and those of its subfolders, in order of their names. Tensor
//                                  files named output_K are ignored.
// kUsage for files that match no input, and if a folder has no set.
Result<std::vector<VerifyInputs>> ReadInputSets(const std::vector<std::string>& paths,
                                                const std::vector<Port>& ports,
                                                const ReadLimits& limits);

}  // namespace nn::app
