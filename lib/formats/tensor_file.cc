#include "formats/tensor_file.h"

#include <string_view>

#include "base/file/file.h"
#include "formats/onnx/file/tensor_file.h"
#include "tensorio/npy.h"

namespace nn {
namespace {

bool IsNpy(const Blob& file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  return std::string_view(reinterpret_cast<const char*>(file.data()), file.size())
      .starts_with(kMagic);
}

Result<Tensor> ReadRaw(const Blob& file, const Type& type) {
  const auto dims = type.const_dims();
  if (!dims)
    return UsageError(
        "a file of raw bytes needs a known shape, but the type is {}: set it with --input-shape",
        type.ToString());
  if (type.dtype == DType::kString)
    return UnsupportedError("a file of raw bytes cannot hold strings");
  return Tensor::Make(type.dtype, *dims, file);
}

Result<Tensor> ReadAny(const Blob& file, const std::string& path, const Type& type) {
  if (IsNpy(file)) return ReadNpy(file);
  if (path.ends_with(".npy")) return ReadNpy(file);  // for its error
  if (path.ends_with(".pb")) return onnx::ReadTensorProto(file, path);
  if (path.ends_with(".bin") || path.ends_with(".raw")) return ReadRaw(file, type);
  return UsageError("not a tensor file; expected .npy, .pb, .bin or .raw");
}

using ListReader = Result<TensorList> (*)(const Blob& file, const std::string& path);

Result<TensorList> ReadListFile(const std::string& path, ListReader read) {
  NN_ASSIGN(const Blob file, ReadFile(path));
  auto list = read(file, path);
  if (!list) return tl::unexpected(list.error().In(path));
  return list;
}

}  // namespace

bool IsTypedTensorPath(std::string_view path) {
  return path.ends_with(".npy") || path.ends_with(".pb");
}

bool IsTensorPath(std::string_view path) {
  return IsTypedTensorPath(path) || path.ends_with(".bin") || path.ends_with(".raw");
}

Result<TensorList> ReadSequenceFile(const std::string& path) {
  return ReadListFile(path, onnx::ReadSequenceProto);
}

Result<TensorList> ReadOptionalFile(const std::string& path) {
  return ReadListFile(path, onnx::ReadOptionalProto);
}

Result<Tensor> ReadTensorFile(const std::string& path, const Type& type) {
  NN_ASSIGN(const Blob file, ReadFile(path));
  const auto tensor = ReadAny(file, path, type);
  if (!tensor) return tl::unexpected(tensor.error().In(path));
  return DecodeStored(*tensor, type.dtype);
}

Status WriteTensorFile(const std::string& path, const NamedTensor& tensor) {
  NN_ASSIGN(const std::vector<Blob> image, path.ends_with(".pb")
                                               ? onnx::TensorProtoImage(tensor.tensor, tensor.name)
                                               : NpyImage(tensor.tensor));
  return WriteFile(path, image);
}

}  // namespace nn
