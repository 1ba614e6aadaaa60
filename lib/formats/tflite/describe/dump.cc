#include "formats/common/describe/dump.h"

#include <set>
#include <unordered_map>

#include "base/checked_math.h"
#include "base/file/file.h"
#include "formats/common/flatbuffers/fb_json.h"
#include "formats/tflite/export/export.h"
#include "formats/tflite/file/archive.h"
#include "formats/tflite/file/native.h"
#include "formats/tflite/file/options.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/roles.h"
#include "tflite/tflite_bfbs_generated.h"

namespace nn::tflite {
namespace {

// The range of a table's data after the flatbuffer; offsets 0 and 1 mean none.
struct OuterFields {
  std::string_view table;
  flatbuffers::voffset_t offset;
  flatbuffers::voffset_t size;
};
constexpr OuterFields kOuterFields[] = {
    {"Buffer", fb::Buffer::VT_OFFSET, fb::Buffer::VT_SIZE},
    {"Operator", fb::Operator::VT_LARGE_CUSTOM_OPTIONS_OFFSET,
     fb::Operator::VT_LARGE_CUSTOM_OPTIONS_SIZE},
};

const OuterFields* FindOuterFields(std::string_view table) {
  for (const OuterFields& f : kOuterFields)
    if (f.table == table) return &f;
  return nullptr;
}

// The root, whose data are the archive of associated files, as it is where it begins at 0.
constexpr std::string_view kArchiveTable = "Model";

// Empty for data outside the file.
std::optional<Blob> OuterData(const Model& model, const flatbuffers::Table& table,
                              std::string_view type) {
  const OuterFields* fields = FindOuterFields(type);
  if (fields == nullptr) return std::nullopt;
  const auto offset = table.GetField<uint64_t>(fields->offset, 0);
  const auto size = table.GetField<uint64_t>(fields->size, 0);
  if (offset <= 1 || !InRange(offset, size, model.flatbuffer.size())) return std::nullopt;
  return model.flatbuffer.Slice(offset, size);
}

// The name and type of a buffer, from the first tensor that uses it, if all agree on the type.
std::unordered_map<const flatbuffers::Table*, DataInfo> BufferInfo(const Model& model) {
  std::unordered_map<const flatbuffers::Table*, DataInfo> info;
  const auto* subgraphs = model.root->subgraphs();
  for (int64_t g = 0; g < SizeOf(subgraphs); ++g) {
    const auto* graph = At(subgraphs, g);
    for (int64_t i = 0; graph != nullptr && i < SizeOf(graph->tensors()); ++i) {
      const fb::Tensor* tensor = At(graph->tensors(), i);
      if (tensor == nullptr) continue;
      const auto* buffer = At(model.root->buffers(), tensor->buffer());
      if (buffer == nullptr) continue;
      const DType type = DTypeOf(tensor->type());
      const auto [it, added] = info.try_emplace(
          reinterpret_cast<const flatbuffers::Table*>(buffer),
          DataInfo{type, std::string(Text(tensor->name())), ListOf<int64_t>(tensor->shape())});
      if (!added && it->second.type != type) it->second.type = DType::kUnknown;
    }
  }
  return info;
}

// The flatbuffer with the data after it, then the archive.
Result<Blob> Join(const DumpNode& dump, RestoredFlatbuffer& restored) {
  const auto place = [&](const RestoredFlatbuffer::OuterData&, uint64_t at) {
    return RoundUp(at, ExportContext::kDataAlignment);
  };
  uint64_t total = restored.file.size();
  std::optional<Blob> archive;
  for (const auto& data : restored.outer_data) {
    if (data.type == kArchiveTable)
      archive = data.bytes;
    else
      total = place(data, total) + data.bytes.size();
  }
  if (archive) {
    NN_ASSIGN(archive, ArchiveAt(archive->bytes(), total));
    if (!archive) return dump.Bad("\"$data\" of the model is no ZIP archive");
    total += archive->size();
  }
  Buffer out(total);
  out.Clear();
  std::memcpy(out.data(), restored.file.data(), restored.file.size());
  uint64_t at = restored.file.size();
  for (const auto& data : restored.outer_data) {
    if (data.type == kArchiveTable) continue;
    at = place(data, at);
    const OuterFields* fields = FindOuterFields(data.type);
    auto* table = reinterpret_cast<flatbuffers::Table*>(out.data() + data.table);
    if (fields == nullptr || !table->SetField<uint64_t>(fields->offset, at) ||
        !table->SetField<uint64_t>(fields->size, data.bytes.size()))
      return dump.Bad("a {} with \"$data\" must have fields for offset and size", data.type);
    std::memcpy(out.data() + at, data.bytes.data(), data.bytes.size());
    at += data.bytes.size();
  }
  if (archive) std::memcpy(out.data() + at, archive->data(), archive->size());
  return Blob(std::move(out));
}

}  // namespace

Status TfliteDescriber::Dump(const NativeModel& model, DumpWriter& out) const {
  const auto& m = ModelOf(model);
  const auto info = BufferInfo(m);
  NN_ASSIGN(const auto archive, ArchiveAt(m.flatbuffer.structure().bytes(), 0));
  return DumpFlatbuffer(
      m.flatbuffer, Schema(),
      [&](const flatbuffers::Table& table, std::string_view type) {
        return type == kArchiveTable ? archive : OuterData(m, table, type);
      },
      [&](const flatbuffers::Table& table, std::string_view) {
        const auto it = info.find(&table);
        return it == info.end() ? DataInfo() : it->second;
      },
      out);
}

Result<std::unique_ptr<NativeModel>> TfliteReader::Restore(const DumpNode& dump,
                                                           const std::string& path,
                                                           const ReadLimits& limits) const {
  NN_ASSIGN(RestoredFlatbuffer restored, RestoreFlatbuffer(dump, Schema(), limits.max_depth));
  NN_ASSIGN(const Blob file, Join(dump, restored));
  return Read(file, path, limits);
}

Result<FileImage> TfliteWriter::Save(const NativeModel& model, const ExportOptions&) const {
  const auto& m = ModelOf(model);
  FileImage image;
  image.parts = m.flatbuffer.parts();
  std::set<std::string_view> seen;
  const auto* groups = m.root->external_buffer_groups();
  for (int64_t i = 0; i < SizeOf(groups); ++i) {
    const auto* group = At(groups, i);
    if (group == nullptr || !seen.insert(Text(group->name())).second) continue;
    NN_ASSIGN(Blob file, m.files.Read(Text(group->name())));
    image.side_files.push_back({std::string(Text(group->name())), {std::move(file)}, true});
  }
  return image;
}

}  // namespace nn::tflite
