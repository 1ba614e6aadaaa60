#include "formats/common/describe/dump.h"

#include "formats/common/protobuf/pb_json.h"
#include "formats/onnx/file/external.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/roles.h"

namespace nn::onnx {
namespace {

constexpr std::string_view kTextFields[] = {"nn.onnx.pb.AttributeProto.s",
                                            "nn.onnx.pb.AttributeProto.strings",
                                            "nn.onnx.pb.TensorProto.string_data"};

}  // namespace

Status OnnxDescriber::Dump(const NativeModel& model, DumpWriter& out) const {
  const auto& m = ModelOf(model);
  const auto info = [](const google::protobuf::Message& message,
                       const google::protobuf::FieldDescriptor&) -> DataInfo {
    const auto* tensor = google::protobuf::DynamicCastToGenerated<pb::TensorProto>(&message);
    if (tensor == nullptr) return {};
    return {DTypeOf(tensor->data_type()),
            tensor->name(),
            {tensor->dims().begin(), tensor->dims().end()}};
  };
  return DumpMessage(m.proto, m.payloads, kTextFields, info, out);
}

Result<std::unique_ptr<NativeModel>> OnnxReader::Restore(const DumpNode& dump,
                                                         const std::string& path,
                                                         const ReadLimits& limits) const {
  auto model = std::make_unique<Model>();
  model->directory = std::filesystem::path(path).parent_path();
  model->files = SideFiles(model->directory, limits.max_file_bytes, 0);
  NN_RETURN_IF_ERROR(
      RestoreMessage(dump, kTextFields, limits.max_depth, &model->proto, model->payloads));
  return std::unique_ptr<NativeModel>(std::move(model));
}

Result<FileImage> OnnxWriter::Save(const NativeModel& model, const ExportOptions& options) const {
  const auto& m = ModelOf(model);
  return Assemble(m.proto, m.payloads, m.files, options);
}

}  // namespace nn::onnx
