// Abbreviations in the models of the examples.
#pragma once

#include <string>

namespace nn::onnx {

// Expands $T to the type of a float vector of two elements, $D to the data of one, and $Calls<n> to
// n functions of which each calls the next.
std::string ExpandModel(const std::string& text);

}  // namespace nn::onnx
