#include "formats/onnx/file/tensor_file.h"

#include "formats/onnx/file/tensor.h"
#include "onnx_data.pb.h"

namespace nn::onnx {

namespace {

// Parses a file with one message; `holder` gets its payloads and folder.
Status Parse(const Blob& file, const std::string& path, google::protobuf::Message* proto,
             Model& holder) {
  holder.files = SideFiles(std::filesystem::path(path).parent_path(), kMaxFileBytes, file.size());
  return ParseWithPayloads(file, proto, holder.payloads);
}

Result<TensorList> ReadSequence(const pb::SequenceProto& proto, const Model& holder) {
  if (proto.sparse_tensor_values_size() + proto.sequence_values_size() + proto.map_values_size() +
          proto.optional_values_size() >
      0)
    return UnsupportedError("the elements of the sequence are not tensors");
  TensorList list;
  for (const pb::TensorProto& t : proto.tensor_values()) {
    NN_ASSIGN(Tensor tensor, ReadTensor(t, holder));
    list.tensors.push_back(std::move(tensor));
  }
  return list;
}

}  // namespace

Result<TensorList> ReadSequenceProto(const Blob& file, const std::string& path) {
  Model holder;
  pb::SequenceProto proto;
  NN_RETURN_IF_ERROR(Parse(file, path, &proto, holder));
  return ReadSequence(proto, holder);
}

Result<TensorList> ReadOptionalProto(const Blob& file, const std::string& path) {
  Model holder;
  pb::OptionalProto proto;
  NN_RETURN_IF_ERROR(Parse(file, path, &proto, holder));
  if (proto.has_sequence_value()) return ReadSequence(proto.sequence_value(), holder);
  TensorList list;
  if (proto.has_tensor_value()) {
    NN_ASSIGN(Tensor tensor, ReadTensor(proto.tensor_value(), holder));
    list.tensors.push_back(std::move(tensor));
    return list;
  }
  if (proto.has_sparse_tensor_value() || proto.has_map_value() || proto.has_optional_value())
    return UnsupportedError("the value of the optional is neither a tensor nor a sequence");
  // Without a value, the kind of the value is undefined; an empty sequence may be left out.
  list.absent = proto.elem_type() != pb::OptionalProto::SEQUENCE;
  return list;
}

Result<Tensor> ReadTensorProto(const Blob& file, const std::string& path) {
  Model holder;
  pb::TensorProto proto;
  NN_RETURN_IF_ERROR(Parse(file, path, &proto, holder));
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
