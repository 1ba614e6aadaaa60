// Tensors from files of any kind.
#pragma once

#include <string>

#include "base/status.h"
#include "ir/tensor.h"
#include "ir/type.h"

namespace nn {

// The tensor in a file: .npy (told by its first bytes), an ONNX TensorProto (.pb), or the bare
// bytes of the elements as Tensor has them (.bin, .raw), which take their shape from `type`. Arrays
// of integers that stand for another element type become that of `type`, see npy.h. Shape and type
// are otherwise those of the file, whatever `type` says.
Result<Tensor> ReadTensorFile(const std::string& path, const Type& type);

}  // namespace nn
