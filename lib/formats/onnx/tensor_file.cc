#include "formats/onnx/tensor_file.h"

#include "formats/onnx/tensor.h"

namespace nn::onnx {

Result<Tensor> ReadTensorProto(const Blob& file, const std::string& path) {
  Model holder;  // of payloads and folder
  holder.files = SideFiles(std::filesystem::path(path).parent_path(), kMaxFileBytes, file.size());
  pb::TensorProto proto;
  NN_RETURN_IF_ERROR(ParseWithPayloads(file, &proto, holder.payloads));
  // SequenceProto and OptionalProto store their kind (1 to 6) in the field of a tensor's element
  // type, and their first value in that of its segment; no writer uses segments.
  if (proto.has_segment())
    return UnsupportedError("contains a sequence or an optional; only tensors are supported");
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
