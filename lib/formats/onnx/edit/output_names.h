// The names of a model's outputs.
#pragma once

#include <string>
#include <vector>

#include "onnx.pb.h"

namespace nn::onnx {

// The names of the graph's outputs, all different. A file may list a value more than once, as
// PyTorch's exporter does for a network that returns it twice; all but the first get a number.
std::vector<std::string> OutputNames(const pb::GraphProto& g);

}  // namespace nn::onnx
