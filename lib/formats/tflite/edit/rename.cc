// Other names for inputs and outputs. The file is not laid out anew: new strings are inserted after
// the flatbuffer, the fields that refer to the old ones are changed in place, and everything else,
// even what the schema does not know, stays. The alternative was to build the flatbuffer again
// through its schema, as dumps do: it copies the weights and loses unknown fields.
#include "formats/common/edit/rename.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "base/checked_math.h"
#include "formats/tflite/edit/edit_data.h"
#include "formats/tflite/file/archive.h"
#include "formats/tflite/file/native.h"
#include "formats/tflite/roles.h"

namespace nn::tflite {
namespace {

using flatbuffers::uoffset_t;

// Strings are aligned to their length field.
constexpr uint64_t kStringAlignment = sizeof(uoffset_t);
// Data after the flatbuffer have at least this alignment.
constexpr uint64_t kMinAlignment = 16;

const uint8_t* FieldOf(const void* table, flatbuffers::voffset_t field) {
  return static_cast<const flatbuffers::Table*>(table)->GetAddressOf(field);
}

tl::unexpected<Error> PartsOverlap() {
  return UnsupportedError(
      "the names cannot be changed in place, because parts of the file overlap; --rewrite imports "
      "the model and writes it again");
}

class Patcher {
 public:
  explicit Patcher(const Model& model)
      : model_(model), bytes_(model.flatbuffer.structure().bytes()) {}

  // Makes a string field refer to another text. False if the table has no such field.
  bool SetText(const void* table, flatbuffers::voffset_t field, const std::string& text) {
    const uint8_t* at = FieldOf(table, field);
    if (at == nullptr) return false;
    const auto [it, added] = texts_.try_emplace(text, strings_.size());
    if (added) AppendString(text);
    const auto reference = references_.try_emplace(PositionOf(at), it->second).first;
    shares_ = shares_ || reference->second != it->second;
    return true;
  }

  // Lays out the strings. No text can be set afterwards.
  Status Finish() {
    if (shares_) return PartsOverlap();
    NN_ASSIGN(place_, FindPlace());
    const uint64_t padding = RoundUp(place_, kStringAlignment) - place_;
    uint64_t added = padding + strings_.size();
    FindMoved(place_);
    if (!moved_.empty()) added = RoundUp(added, AlignmentOfMoved());
    for (const auto& [position, offset] : moved_) Put<uint64_t>(position, offset + added);
    if (archive_) {
      NN_ASSIGN(const auto fields, archive_->Moved(static_cast<int64_t>(added)));
      for (const auto& [position, value] : fields) Put<uint32_t>(position, value);
    }
    for (const auto& [position, string] : references_) {
      if (position >= place_) return PartsOverlap();
      Put<uoffset_t>(position, static_cast<uoffset_t>(place_ + padding + string - position));
    }
    Buffer inserted(added);
    inserted.Clear();
    std::copy_n(reinterpret_cast<const std::byte*>(strings_.data()), strings_.size(),
                inserted.data() + padding);
    inserted_ = Blob(std::move(inserted));
    return {};
  }

  // The file, or only its structure, with the changed fields and the strings.
  Result<std::vector<Blob>> Join(bool only_structure) const {
    const StableFlatbuffer& file = model_.flatbuffer;
    std::vector<Blob> parts;
    uint64_t at = 0;
    const auto copy_to = [&](uint64_t end) {
      if (end > at && only_structure) parts.push_back(file.structure().Slice(at, end - at));
      if (end > at && !only_structure)
        std::ranges::move(file.Pieces(at, end - at), std::back_inserter(parts));
      at = end;
    };
    const auto insert = [&] {
      copy_to(place_);
      parts.push_back(inserted_);
    };
    bool is_inserted = false;
    for (const auto& [position, bytes] : patches_) {
      const uint64_t end = position + bytes.size();
      if (position < at || (position < place_ && end > place_)) return PartsOverlap();
      if (position >= place_ && !is_inserted) {
        insert();
        is_inserted = true;
      }
      copy_to(position);
      parts.push_back(bytes);
      at = end;
    }
    if (!is_inserted) insert();
    copy_to(bytes_.size());
    return parts;
  }

 private:
  uint64_t PositionOf(const void* p) const {
    return static_cast<uint64_t>(static_cast<const std::byte*>(p) - bytes_.data());
  }

  template <typename T>
  void Put(uint64_t position, T value) {
    patches_[position] = Blob::CopyOf(std::span<const T>(&value, 1));
  }

  void AppendString(const std::string& text) {
    const auto size = static_cast<uoffset_t>(text.size());
    strings_.append(reinterpret_cast<const char*>(&size), sizeof(size));
    strings_ += text;
    strings_.resize(RoundUp(strings_.size() + 1, kStringAlignment), '\0');
  }

  // Calls fn(position of the field, offset) for data after the flatbuffer.
  template <typename Fn>
  void EachOuter(const Fn& fn) const {
    const auto visit = [&](const void* table, flatbuffers::voffset_t field) {
      const uint8_t* at = FieldOf(table, field);
      if (at == nullptr) return;
      const auto offset = flatbuffers::ReadScalar<uint64_t>(at);
      if (offset > 1 && offset < bytes_.size()) fn(PositionOf(at), offset);
    };
    for (int64_t i = 0; i < SizeOf(model_.root->buffers()); ++i)
      if (const auto* buffer = At(model_.root->buffers(), i)) visit(buffer, fb::Buffer::VT_OFFSET);
    for (int64_t g = 0; g < SizeOf(model_.root->subgraphs()); ++g) {
      const auto* graph = At(model_.root->subgraphs(), g);
      for (int64_t i = 0; graph != nullptr && i < SizeOf(graph->operators()); ++i)
        if (const auto* op = At(graph->operators(), i))
          visit(op, fb::Operator::VT_LARGE_CUSTOM_OPTIONS_OFFSET);
    }
  }

  // The end of the file, where nothing moves; but before an archive, which must be last, and before
  // data beyond the range of a flatbuffer's offsets.
  Result<uint64_t> FindPlace() {
    NN_ASSIGN(archive_, FindArchive(bytes_));
    uint64_t place = archive_ ? archive_->begin() : bytes_.size();
    const uint64_t most = FLATBUFFERS_MAX_BUFFER_SIZE - strings_.size() - kMaxAlignment;
    if (place > most)
      EachOuter([&](uint64_t, uint64_t offset) { place = std::min(place, offset); });
    if (place > most)
      return LimitError("there is no place for names in the first 2 GiB of the file");
    if (place == bytes_.size()) archive_.reset();
    return place;
  }

  void FindMoved(uint64_t place) {
    EachOuter([&](uint64_t position, uint64_t offset) {
      if (offset >= place) moved_[position] = offset;
    });
  }

  uint64_t AlignmentOfMoved() const {
    uint64_t all = kMaxAlignment;
    for (const auto& [position, offset] : moved_) all |= offset;
    return std::max(kMinAlignment, all & (~all + 1));
  }

  const Model& model_;
  const std::span<const std::byte> bytes_;
  std::string strings_;
  std::map<std::string, uint64_t> texts_;    // positions in strings_
  std::map<uint64_t, uint64_t> references_;  // positions in strings_ by those of fields
  bool shares_ = false;                      // two texts for one field
  std::optional<Archive> archive_;           // that moves
  std::map<uint64_t, uint64_t> moved_;       // fields with offsets of data that move
  std::map<uint64_t, Blob> patches_;         // new bytes by their position
  uint64_t place_ = 0;                       // of inserted_
  Blob inserted_;
};

using TensorNames = std::map<int64_t, std::string, std::less<>>;

// Signatures have names of their own for the same tensors.
Status RenameInSignature(const flatbuffers::Vector<flatbuffers::Offset<fb::TensorMap>>* list,
                         std::string_view place, const TensorNames& changes, Patcher& patcher) {
  std::set<std::string, std::less<>> kept;
  for (int64_t i = 0; i < SizeOf(list); ++i)
    if (const auto* entry = At(list, i);
        entry != nullptr && !changes.contains(entry->tensor_index()))
      kept.emplace(Text(entry->name()));
  for (int64_t i = 0; i < SizeOf(list); ++i) {
    const auto* entry = At(list, i);
    const auto it = entry == nullptr ? changes.end() : changes.find(entry->tensor_index());
    if (it == changes.end()) continue;
    if (kept.contains(it->second)) return NameIsTaken(it->second, place);
    patcher.SetText(entry, fb::TensorMap::VT_NAME, it->second);
  }
  return {};
}

Status RenameInSignatures(const Model& model, const TensorNames& changes, Patcher& patcher) {
  const auto* signatures = model.root->signature_defs();
  for (int64_t i = 0; i < SizeOf(signatures); ++i) {
    const fb::SignatureDef* s = At(signatures, i);
    if (s == nullptr || s->subgraph_index() != 0) continue;
    const std::string place = "signature " + Quote(Text(s->signature_key()));
    NN_RETURN_IF_ERROR(RenameInSignature(s->inputs(), place + ", inputs", changes, patcher));
    NN_RETURN_IF_ERROR(RenameInSignature(s->outputs(), place + ", outputs", changes, patcher));
  }
  return {};
}

// A damaged file may use the bytes of a reference for something else as well.
Status CheckRenamed(const Patcher& patcher, const PortNames& names) {
  NN_ASSIGN(const auto parts, patcher.Join(true));
  NN_ASSIGN(const Blob structure, JoinSparse(parts));
  ReadLimits limits;
  limits.max_items = std::numeric_limits<decltype(limits.max_items)>::max();
  limits.max_depth = std::numeric_limits<decltype(limits.max_depth)>::max();
  const auto renamed = TfliteReader().Read(structure, {}, limits);
  if (!renamed) return PartsOverlap();
  NN_ASSIGN(const PortNames present, TfliteDescriber().PortNamesOf(**renamed));
  if (present != names) return PartsOverlap();
  return {};
}

}  // namespace

Result<PortNames> TfliteDescriber::PortNamesOf(const NativeModel& native) const {
  const fb::SubGraph* main = At(ModelOf(native).root->subgraphs(), 0);
  if (main == nullptr) return ModelError("the model has no subgraph");
  PortNames names;
  const auto add = [&](const flatbuffers::Vector<int32_t>* tensors,
                       std::vector<std::string>& out) -> Status {
    std::set<std::string> used;
    for (const int64_t i : ListOf<int64_t>(tensors)) {
      const fb::Tensor* tensor = At(main->tensors(), i);
      if (tensor == nullptr)
        return ModelError("tensor {} does not exist; the subgraph has {}", i,
                          SizeOf(main->tensors()));
      out.push_back(PortName(*tensor, i, used));
    }
    return {};
  };
  NN_RETURN_IF_ERROR(add(main->inputs(), names.inputs));
  NN_RETURN_IF_ERROR(add(main->outputs(), names.outputs));
  return names;
}

Result<FileImage> TfliteEditor::Rename(const NativeModel& native, const PortNames& names,
                                       const ExportOptions& options) const {
  const auto& model = ModelOf(native);
  NN_ASSIGN(const PortNames present, TfliteDescriber().PortNamesOf(native));
  const fb::SubGraph& main = *At(model.root->subgraphs(), 0);
  NN_ASSIGN(const TensorNames changes, NewNames(ListOf<int64_t>(main.inputs()),
                                                ListOf<int64_t>(main.outputs()), present, names));
  NN_ASSIGN(FileImage copy, TfliteWriter().Save(native, options));
  if (changes.empty()) return copy;
  const auto targets = TargetsOf(changes);
  Patcher patcher(model);
  for (int64_t i = 0; i < SizeOf(main.tensors()); ++i) {
    const fb::Tensor* tensor = At(main.tensors(), i);
    if (tensor == nullptr) continue;
    if (const auto it = changes.find(i); it == changes.end()) {
      if (const auto name = Text(tensor->name()); targets.contains(name))
        return NameIsTaken(name, fmt::format("tensor {}", i));
    } else if (!patcher.SetText(tensor, fb::Tensor::VT_NAME, it->second)) {
      return UnsupportedError(
          "tensor {} has no name in the file, so its table has no place for one; --rewrite imports "
          "the model and writes it again",
          i);
    }
  }
  NN_RETURN_IF_ERROR(RenameInSignatures(model, changes, patcher));
  NN_RETURN_IF_ERROR(patcher.Finish());
  NN_RETURN_IF_ERROR(CheckRenamed(patcher, names));
  FileImage image;
  NN_ASSIGN(image.parts, patcher.Join(false));
  image.side_files = std::move(copy.side_files);
  return image;
}

}  // namespace nn::tflite
