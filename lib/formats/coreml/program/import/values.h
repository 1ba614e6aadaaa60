// Values in ML Programs as tensors.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "coreml_mil.pb.h"
#include "formats/coreml/describe/program.h"
#include "ir/tensor.h"
#include "ir/types/dtype.h"
#include "ir/types/type.h"

namespace nn::coreml::program {

namespace mil = pb::mil;

// kUnknown if graphs do not have the type. Integers of 1, 3 and 6 bits are u8, one in each byte.
DType DTypeOf(mil::DataType type);

// The element type that a string of a program names: "fp16". kModel if it names none, kUnsupported
// if graphs do not have it.
Result<DType> DTypeNamed(std::string_view name);

// The type of a tensor. A size that is not constant is a symbol, which begins with `name`.
// kUnsupported for other types.
Result<Type> TypeOf(const mil::ValueType& type, std::string_view name);

// Elements of `bits` bits each, from the lowest bits of a byte up, as bytes.
Result<Tensor> Unpack(const Blob& packed, int bits, std::vector<int64_t> dims);

// A tensor with this number in all elements. kUnsupported for too many.
Result<Tensor> UniformTensor(DType dtype, std::vector<int64_t> dims, double number);

// Reads constants: those in the program, and those in its weight files, which stay mapped.
class ValueReader {
 public:
  // Must outlive this object.
  explicit ValueReader(const Model& model) : model_(model), weights_(model.folder) {}

  // A tensor, or a list of scalars as a tensor of one axis. kModel if the contents do not have the
  // declared type.
  Result<Tensor> Read(const mil::Value& value);

 private:
  Result<Tensor> ReadImmediate(const mil::TensorValue& value, DType dtype,
                               std::vector<int64_t> dims) const;
  Result<Tensor> ReadList(const mil::ListValue& list);

  const Model& model_;
  ProgramWeights weights_;
};

}  // namespace nn::coreml::program
