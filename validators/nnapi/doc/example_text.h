// Models with one operation, written on one line.
#pragma once

#include <string>

namespace nn::nnapi {

// The JSON form of "TYPE INPUT... -> OUTPUT...", where an operand is one of
//   f[2,3] t[2,3]      a tensor of floats or integers, an input or output of the model
//   q[2]*0.5+3         a quantized tensor with scale and zeroPoint; t[2]*0.5 has a scale, too
//   t[2]={1,2} f[2]=0  constants; the second one has all elements equal
//   i=1 r=0.5          constant scalars
//   -                  no value
// Text that begins with '{' is JSON already.
std::string OperationModel(const std::string& text);

}  // namespace nn::nnapi
