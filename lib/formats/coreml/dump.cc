#include "formats/common/dump.h"

#include "formats/common/pb_json.h"
#include "formats/coreml/native.h"

namespace nn::coreml {

Status Dump(const NativeModel& model, DumpWriter& out) {
  const auto& m = static_cast<const Model&>(model);
  const auto data_type = [](const Message&, const google::protobuf::FieldDescriptor& field) {
    return field.name() == "float16Value" ? DType::kF16 : DType::kUnknown;
  };
  return DumpMessage(m.message(), m.payloads, {}, data_type, out);
}

Result<std::unique_ptr<NativeModel>> Restore(const DumpNode& dump, const std::string&,
                                             const ReadLimits& limits) {
  auto model = std::make_unique<Model>();
  NN_RETURN_IF_ERROR(
      RestoreMessage(dump, {}, limits.max_depth, model->mutable_message(), model->payloads));
  return std::unique_ptr<NativeModel>(std::move(model));
}

Result<FileImage> Save(const NativeModel& model, const ExportOptions&) {
  const auto& m = static_cast<const Model&>(model);
  FileImage image;
  NN_ASSIGN(image.parts, SerializeWithPayloads(m.message(), m.payloads));
  return image;
}

}  // namespace nn::coreml
