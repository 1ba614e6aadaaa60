// Dumps have the .nnapi form of a model, also for .nnapi.json.
#include "formats/common/describe/dump.h"

#include "formats/common/flatbuffers/fb_json.h"
#include "formats/nnapi/file/native.h"
#include "formats/nnapi/roles.h"
#include "nnapi/nnapi_bfbs_generated.h"

namespace nn::nnapi {
namespace {

const reflection::Schema& Schema() {
  return *reflection::GetSchema(fb::ModelBinarySchema::data());
}

}  // namespace

Status NnapiDescriber::Dump(const NativeModel& model, DumpWriter& out) const {
  NN_ASSIGN(const auto parts, WriteFlatbuffer(ModelOf(model)));
  const Blob bytes = Memory(parts).Joined();
  NN_ASSIGN(const StableFlatbuffer file, StableFlatbuffer::Make(bytes, {}));
  const auto no_outer_data = [](const flatbuffers::Table&, std::string_view) {
    return std::optional<Blob>();
  };
  // Operands of several types share their bytes.
  const auto no_info = [](const flatbuffers::Table&, std::string_view) { return DataInfo(); };
  return DumpFlatbuffer(file, Schema(), no_outer_data, no_info, out);
}

Result<std::unique_ptr<NativeModel>> NnapiReader::Restore(const DumpNode& dump,
                                                          const std::string& path,
                                                          const ReadLimits& limits) const {
  NN_ASSIGN(RestoredFlatbuffer restored, RestoreFlatbuffer(dump, Schema(), limits.max_depth));
  if (!restored.outer_data.empty())
    return dump.Bad("a {} has no \"$data\"", restored.outer_data[0].type);
  auto bytes = std::make_shared<flatbuffers::DetachedBuffer>(std::move(restored.file));
  const Blob file({reinterpret_cast<const std::byte*>(bytes->data()), bytes->size()}, bytes);
  return Read(file, path, limits);
}

Result<FileImage> NnapiWriter::Save(const NativeModel& model, const ExportOptions& options) const {
  return Assemble(ModelOf(model), options);
}

}  // namespace nn::nnapi
