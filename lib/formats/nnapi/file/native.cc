#include "formats/nnapi/file/native.h"

#include <cstring>
#include <filesystem>

#include "base/checked_math.h"
#include "formats/common/edit/side_files.h"
#include "formats/nnapi/roles.h"

namespace nn::nnapi {
namespace {

// A flatbuffer begins with the offset of its root; the identifier follows.
constexpr std::string_view kIdentifier = "NNA1";
constexpr size_t kIdentifierOffset = 4;

// The prefix of JSON text that is searched for a member typical of NNAPI models.
constexpr size_t kSniffedText = 4096;

bool IsFlatbuffer(std::span<const std::byte> bytes) {
  return bytes.size() >= kIdentifierOffset + kIdentifier.size() &&
         std::memcmp(bytes.data() + kIdentifierOffset, kIdentifier.data(), kIdentifier.size()) == 0;
}

bool LooksLikeJson(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), kSniffedText));
  const size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && text[start] == '{' &&
         text.find("\"operands\"") != std::string_view::npos;
}

}  // namespace

const Memory* MemoryOf(const Model& model, const Operand& operand) {
  const uint32_t pool = operand.location.pool_index;
  if (operand.lifetime == LifeTime::kConstantCopy) return &model.operand_values;
  const bool is_in_pool = operand.lifetime == LifeTime::kConstantReference;
  return is_in_pool && pool < model.pools.size() ? &model.pools[pool].bytes : nullptr;
}

std::optional<Blob> BytesOf(const Model& model, const Operand& operand) {
  const DataLocation& at = operand.location;
  const Memory* memory = MemoryOf(model, operand);
  if (memory == nullptr || !InRange(at.offset, at.length, memory->size())) return std::nullopt;
  return memory->Slice(at.offset, at.length);
}

Likeness NnapiReader::LikenessOf(std::span<const std::byte> bytes) const {
  if (IsFlatbuffer(bytes)) return Likeness::kSure;
  return LooksLikeJson(bytes) ? Likeness::kLikely : Likeness::kNone;
}

Result<std::unique_ptr<NativeModel>> NnapiReader::Read(const Blob& file, const std::string& path,
                                                       const ReadLimits& limits) const {
  auto model = IsFlatbuffer(file.bytes()) ? ReadFlatbuffer(file, limits) : ReadJson(file, limits);
  if (!model) return tl::unexpected(std::move(model).error());
  if ((*model)->version > kFormVersion)
    return UnsupportedError(
        "version {} of NNAPI files is unsupported; this program supports version {}",
        (*model)->version, kFormVersion);
  (*model)->files =
      SideFiles(std::filesystem::path(path).parent_path(), limits.max_file_bytes, file.size());
  for (Pool& pool : (*model)->pools)
    if (!pool.file.empty()) {
      NN_ASSIGN(pool.bytes, (*model)->files.Read(pool.file));
    }
  return std::unique_ptr<NativeModel>(*std::move(model));
}

}  // namespace nn::nnapi
