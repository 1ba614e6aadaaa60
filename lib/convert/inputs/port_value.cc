#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/text/text.h"
#include "convert/inputs/image_input.h"
#include "convert/inputs/port_arrays.h"
#include "formats/tensor_file.h"
#include "tensorio/literal.h"

namespace nn {
namespace {

// The types as which a literal for `type` may be read.
std::vector<DType> LiteralTypes(const Type& type) {
  if (IsFloat(type.dtype)) return {type.dtype, DType::kBool};
  if (IsInteger(type.dtype) && !type.quantized()) return {type.dtype, DType::kBool, DType::kF64};
  if (type.dtype == DType::kBool) return {type.dtype, DType::kF64};
  return {type.dtype};
}

// Values and shapes that the type does not have are read as those of a file are.
Result<Tensor> ReadLiteral(const std::string& text, const Type& type) {
  auto tensor = ParseLiteral(text, type);
  if (tensor) return tensor;
  for (const TypeDims& dims : {type.dims, TypeDims()})
    for (const DType dtype : LiteralTypes(type)) {
      Type other(dtype, {}, dtype == type.dtype ? type.quant : nullptr);
      other.dims = dims;
      if (auto array = ParseLiteral(text, other)) return array;
    }
  return tensor;
}

Result<Tensor> ReadValue(const std::string& value, const PortType& port,
                         const ImageOptions& images) {
  if (LooksLikeLiteral(value)) return ReadLiteral(value, port.type);
  if (!IsTensorPath(value)) {
    NN_ASSIGN(const Blob file, ReadFile(value));
    if (IsImageFile(file)) {
      auto image = ReadImage(file, port, images);
      if (!image) return tl::unexpected(image.error().In(value));
      return image;
    }
  }
  return ReadTensorFile(value, port.type);
}

}  // namespace

Status ReadPortValue(const std::string& text, const std::vector<PortType>& ports,
                     const PortFinder& finder, PortArrays& arrays, const ImageOptions& images) {
  NN_ASSIGN(const Assignment a, finder.Split(text));
  const std::string& name = ports[a.port].name;
  if (arrays[a.port]) return UsageError("input {} is given more than once", Quote(name));
  auto tensor = ReadValue(a.value, ports[a.port], images);
  if (!tensor) return tl::unexpected(tensor.error().In("input " + Quote(name)));
  arrays[a.port] = *std::move(tensor);
  return {};
}

}  // namespace nn
