#include "formats/onnx/file/native.h"

#include <algorithm>

#include "formats/common/protobuf/pb_match.h"
#include "formats/common/protobuf/pb_text.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/roles.h"

namespace nn::onnx {

namespace {

// Whether the beginning of a text form has a name used only by models.
bool LooksLikeText(std::span<const std::byte> bytes) {
  constexpr size_t kSniffed = 4096;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), kSniffed));
  for (const std::string_view name : {"ir_version", "irVersion", "opset_import", "opsetImport"})
    if (text.find(name) != std::string_view::npos) return true;
  return false;
}

}  // namespace

Likeness OnnxReader::LikenessOf(std::span<const std::byte> bytes) const {
  if (PbFormOf(bytes) != PbForm::kBinary)
    return LooksLikeText(bytes) ? Likeness::kLikely : Likeness::kNone;
  const PbMatch match = MatchPb(bytes, *pb::ModelProto::descriptor());
  if (!match.IsPlausible()) return Likeness::kNone;
  const bool has_parts = match.Has(pb::ModelProto::kGraphFieldNumber) ||
                         match.Has(pb::ModelProto::kOpsetImportFieldNumber);
  return has_parts ? Likeness::kLikely : Likeness::kPossible;
}

Result<std::unique_ptr<NativeModel>> OnnxReader::Read(const Blob& file, const std::string& path,
                                                      const ReadLimits& limits) const {
  auto model = std::make_unique<Model>();
  model->file = file;
  model->directory = std::filesystem::path(path).parent_path();
  model->files = SideFiles(model->directory, limits.max_file_bytes, file.size());
  if (const PbForm form = PbFormOf(file.bytes()); form != PbForm::kBinary) {
    NN_RETURN_IF_ERROR(ParsePbText(form, file, limits.max_depth, &model->proto, model->payloads));
    return std::unique_ptr<NativeModel>(std::move(model));
  }
  PayloadLimits payload_limits;
  payload_limits.max_depth = limits.max_depth;
  NN_RETURN_IF_ERROR(ParseWithPayloads(file, &model->proto, model->payloads, payload_limits));
  return std::unique_ptr<NativeModel>(std::move(model));
}

std::string_view NormalDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

int64_t OpsetVersion(const OperatorSets& sets, std::string_view domain) {
  int64_t version = 0;
  for (const auto& id : sets)
    if (NormalDomain(id.domain()) == NormalDomain(domain))
      version = std::max(version, id.version());
  return version;
}

int64_t OpsetVersion(const pb::ModelProto& model, std::string_view domain) {
  const int64_t version = OpsetVersion(model.opset_import(), domain);
  if (version == 0 && NormalDomain(domain).empty() && model.ir_version() < 3) return 1;
  return version;
}

}  // namespace nn::onnx
