#include "formats/tflite/file/native.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "base/file/file.h"
#include "base/text/text.h"
#include "formats/common/flatbuffers/fb_verify.h"
#include "formats/tflite/roles.h"

namespace nn::tflite {
namespace {

// Flatbuffer offsets are signed 32-bit numbers; data beyond them have 64-bit offsets.
constexpr uint64_t kMaxFlatbuffer = FLATBUFFERS_MAX_BUFFER_SIZE - 1;

// `offset` 0 and 1 mean no data.
Result<Blob> Appended(const Model& model, uint64_t offset, uint64_t size, std::string_view what) {
  if (!InRange(offset, size, model.flatbuffer.size()))
    return ModelError("{}: {} bytes at {} are outside the file of {} bytes", what, size, offset,
                      model.flatbuffer.size());
  return model.flatbuffer.Slice(offset, size);
}

// The data of buffers, in the flatbuffer and after it.
std::vector<ByteRange> Payloads(std::span<const std::byte> bytes) {
  constexpr size_t kMax = 100'000;  // the rest is copied
  std::vector<ByteRange> payloads;
  const FlatbufferPeek peek(bytes);
  for (const uint64_t buffer : peek.Tables(peek.Root(), fb::Model::VT_BUFFERS)) {
    if (payloads.size() >= kMax) break;
    if (const auto data = peek.Bytes(buffer, fb::Buffer::VT_DATA)) payloads.push_back(*data);
    if (const auto data = peek.Outside(buffer, fb::Buffer::VT_OFFSET, fb::Buffer::VT_SIZE))
      payloads.push_back(*data);
  }
  return payloads;
}

// With the identifier or without it.
bool VerifyModel(flatbuffers::Verifier& verifier) {
  return verifier.VerifyBuffer<fb::Model>(nullptr);
}

}  // namespace

bool HasIdentifier(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, fb::ModelIdentifier(), 4) == 0;
}

Likeness TfliteReader::LikenessOf(std::span<const std::byte> bytes) const {
  if (HasIdentifier(bytes)) return Likeness::kSure;
  // Some tools omit the identifier.
  constexpr uint32_t kSchemaVersion = 3;
  const FlatbufferPeek peek(bytes);
  const auto root = peek.Root();
  const bool is_model = root && peek.Number(*root, fb::Model::VT_VERSION) == kSchemaVersion &&
                        !peek.Tables(root, fb::Model::VT_SUBGRAPHS).empty() &&
                        !peek.Tables(root, fb::Model::VT_BUFFERS).empty();
  return is_model ? Likeness::kLikely : Likeness::kNone;
}

Result<std::unique_ptr<NativeModel>> TfliteReader::Read(const Blob& file, const std::string& path,
                                                        const ReadLimits& limits) const {
  const Blob aligned = file.IsAligned(kBufferAlignment) ? file : Blob::Copy(file.bytes());
  NN_ASSIGN(StableFlatbuffer flatbuffer,
            StableFlatbuffer::Make(aligned, Payloads(aligned.bytes())));
  return Verified(
      std::move(flatbuffer),
      SideFiles(std::filesystem::path(path).parent_path(), limits.max_file_bytes, file.size()),
      limits);
}

Result<std::unique_ptr<Model>> Verified(StableFlatbuffer flatbuffer, const SideFiles& files,
                                        const ReadLimits& limits) {
  auto model = std::make_unique<Model>();
  model->flatbuffer = std::move(flatbuffer);
  model->files = files;
  const auto bytes = model->flatbuffer.structure().bytes();
  NN_RETURN_IF_ERROR(VerifyFlatbuffer(bytes.first(std::min<size_t>(bytes.size(), kMaxFlatbuffer)),
                                      "tflite.fbs", VerifyModel, limits));
  model->root = fb::GetModel(bytes.data());
  return model;
}

std::string_view Text(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

std::string NameOfTensor(const fb::Tensor& tensor, int64_t index) {
  const auto name = Text(tensor.name());
  return name.empty() ? fmt::format("tensor_{}", index) : std::string(name);
}

std::string PortName(const fb::Tensor& tensor, int64_t index, std::set<std::string>& used) {
  const std::string name = NameOfTensor(tensor, index);
  std::string unique = name;
  for (int k = 1; !used.insert(unique).second; ++k) unique = fmt::format("{}_{}", name, k);
  return unique;
}

fb::BuiltinOperator OperatorOf(const fb::OperatorCode& code) {
  return std::max(static_cast<fb::BuiltinOperator>(code.deprecated_builtin_code()),
                  code.builtin_code());
}

std::string OperatorName(const fb::OperatorCode* code) {
  if (code == nullptr) return "operator without a code";
  const fb::BuiltinOperator op = OperatorOf(*code);
  if (op == fb::BuiltinOperator::CUSTOM)
    return fmt::format("CUSTOM {}", Escape(Text(code->custom_code())));
  if (op < fb::BuiltinOperator::MIN || op > fb::BuiltinOperator::MAX)
    return fmt::format("operator {}", static_cast<int>(op));
  return fb::EnumNameBuiltinOperator(op);
}

Result<Blob> BufferBytes(const Model& model, uint32_t index) {
  const fb::Buffer* buffer = At(model.root->buffers(), index);
  if (buffer == nullptr)
    return ModelError("buffer {} does not exist; the model has {}", index,
                      SizeOf(model.root->buffers()));
  if (buffer->offset() > 1)
    return Appended(model, buffer->offset(), buffer->size(), fmt::format("buffer {}", index));
  if (buffer->data() == nullptr) return Blob();
  return model.flatbuffer.View(*buffer->data());
}

Result<Blob> ExternalBytes(const Model& model, uint32_t id) {
  for (int64_t i = 0; i < SizeOf(model.root->external_buffers()); ++i) {
    const fb::ExternalBuffer* buffer = At(model.root->external_buffers(), i);
    if (buffer == nullptr || buffer->id() != id) continue;
    const auto* group = At(model.root->external_buffer_groups(), buffer->group());
    if (group == nullptr)
      return ModelError("external buffer {}: group {} does not exist", id, buffer->group());
    if (!Text(buffer->packing()).empty())
      return UnsupportedError("external buffer {} has unsupported packing {}", id,
                              Quote(Text(buffer->packing())));
    NN_ASSIGN(const Blob file, model.files.Read(Text(group->name())));
    if (!InRange(buffer->offset(), buffer->length(), file.size()))
      return ModelError("external buffer {}: {} bytes at {} are outside {} ({} bytes)", id,
                        buffer->length(), buffer->offset(), Quote(Text(group->name())),
                        file.size());
    return file.Slice(buffer->offset(), buffer->length());
  }
  return ModelError("external buffer {} does not exist", id);
}

Result<Blob> CustomOptions(const Model& model, const fb::Operator& op) {
  if (op.large_custom_options_offset() > 1)
    return Appended(model, op.large_custom_options_offset(), op.large_custom_options_size(),
                    "custom options");
  if (op.custom_options() == nullptr) return Blob();
  return model.flatbuffer.View(*op.custom_options());
}

}  // namespace nn::tflite
