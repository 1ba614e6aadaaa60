#include "formats/onnx/tensor_file.h"

#include "formats/onnx/tensor.h"

namespace nn::onnx {

Result<Tensor> ReadTensorProto(const Blob& file, const std::string& path) {
  Model holder;  // of payloads and folder
  holder.files = SideFiles(std::filesystem::path(path).parent_path(), kMaxFileBytes, file.size());
  pb::TensorProto proto;
  NN_RETURN_IF_ERROR(ParseWithPayloads(file, &proto, holder.payloads));
  // SequenceProto and OptionalProto have their kind (1 to 6) where a tensor has its element type,
  // and their first value where it has its segment; no writer makes tensors of segments.
  if (proto.has_segment())
    return UnsupportedError("holds a sequence or an optional value; only tensors are read");
  if (!proto.has_data_type()) return ParseError("not a TensorProto: it has no element type");
  return ReadTensor(proto, holder);
}

Result<std::vector<Blob>> TensorProtoImage(const Tensor& tensor, const std::string& name) {
  pb::TensorProto proto;
  PayloadTable payloads;
  WriteTensor(tensor, name, &proto, payloads);
  return SerializeWithPayloads(proto, payloads);
}

}  // namespace nn::onnx
