#include "formats/common/describe/dump.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/file/file.h"
#include "base/file/side_file_placer.h"
#include "base/json/base64.h"
#include "base/json/json_parse.h"
#include "formats/common/describe/dump_writer.h"
#include "ir/types/dtype.h"
#include "ir/types/type.h"
#include "tensorio/npy.h"
#include "tensorio/tensor_archive.h"

namespace nn {
namespace {

using nlohmann::json;

constexpr uint32_t kDumpVersion = 1;
constexpr std::string_view kVersionKey = "nn_dump";
constexpr const char* kWeightsKey = "weights";

// Strings of this length or more are decoded as Base64 during parsing, if possible.
constexpr size_t kLongString = 1024;

template <typename T>
std::optional<T> FullNumber(std::string_view text, int base) {
  T value{};
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string Shortened(std::string_view text) {
  constexpr size_t kShown = 60;
  return text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "...";
}

}  // namespace

// ---- Values -------------------------------------------------------------------------------------

std::string DumpNode::Place() const {
  if (parent_ == nullptr) return "/";
  std::string out = parent_->Place();
  if (parent_->parent_ != nullptr) out += '/';
  return out + JsonPointerToken(EscapeControls(key_));
}

std::string DumpNode::Describe() const {
  if (value_->is_string())
    return "the string " + Quote(Shortened(value_->get_ref<const std::string&>()));
  if (value_->is_number() || value_->is_boolean()) return value_->dump();
  if (value_->is_binary()) return "a Base64 string";
  return std::string(value_->is_null() ? "null" : value_->is_object() ? "an object" : "an array");
}

bool DumpNode::IsBytesObject() const {
  return IsStored() || (value_->is_object() && value_->size() == 1 && value_->contains("base64"));
}

bool DumpNode::IsStored() const {
  return value_->is_object() && value_->contains(kDumpStoredKey);
}

bool DumpNode::IsOmitted() const {
  return value_->is_object() && value_->contains(kDumpOmittedKey);
}

tl::unexpected<Error> DumpNode::Omitted() const {
  return Bad("the data were omitted from the dump (--weights), so it cannot be restored");
}

Status DumpNode::ForEachMember(
    const std::function<Status(const std::string& name, const DumpNode& member)>& fn) const {
  if (!value_->is_object()) return Bad("expected an object, not {}", Describe());
  for (auto it = value_->begin(); it != value_->end(); ++it)
    NN_RETURN_IF_ERROR(fn(it.key(), DumpNode(*document_, *it, this, it.key())));
  return {};
}

Status DumpNode::ForEachElement(const std::function<Status(const DumpNode& element)>& fn) const {
  if (IsOmitted()) return Omitted();
  if (!value_->is_array()) return Bad("expected an array, not {}", Describe());
  for (size_t i = 0; i < value_->size(); ++i)
    NN_RETURN_IF_ERROR(fn(DumpNode(*document_, (*value_)[i], this, std::to_string(i))));
  return {};
}

std::optional<DumpNode> DumpNode::Find(const std::string& name) const {
  if (!value_->is_object()) return std::nullopt;
  const auto it = value_->find(name);
  if (it == value_->end()) return std::nullopt;
  return DumpNode(*document_, *it, this, name);
}

Result<int64_t> DumpNode::Signed() const {
  std::optional<int64_t> v;
  if (value_->is_number_unsigned()) {
    if (const auto u = value_->get<uint64_t>(); u <= static_cast<uint64_t>(INT64_MAX))
      v = static_cast<int64_t>(u);
  } else if (value_->is_number_integer()) {
    v = value_->get<int64_t>();
  } else if (value_->is_string()) {
    v = FullNumber<int64_t>(value_->get_ref<const std::string&>(), 10);
  }
  if (!v) return Bad("expected an integer, not {}", Describe());
  return *v;
}

Result<uint64_t> DumpNode::Unsigned() const {
  std::optional<uint64_t> v;
  if (value_->is_number_unsigned())
    v = value_->get<uint64_t>();
  else if (value_->is_string())
    v = FullNumber<uint64_t>(value_->get_ref<const std::string&>(), 10);
  if (!v) return Bad("expected a non-negative integer, not {}", Describe());
  return *v;
}

template <typename T>
Result<T> DumpNode::Real() const {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  if (value_->is_number()) {
    const auto wide = value_->get<double>();
    const auto v = static_cast<T>(wide);
    if (std::isinf(v)) return Bad("{} is out of range", value_->dump());
    return v;
  }
  if (value_->is_string()) {
    const auto& text = value_->get_ref<const std::string&>();
    if (text == "NaN") return std::numeric_limits<T>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<T>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<T>::infinity();
    if (text.starts_with("0x") && text.size() == 2 + 2 * sizeof(T))
      if (const auto bits = FullNumber<Bits>(std::string_view(text).substr(2), 16))
        return std::bit_cast<T>(*bits);
  }
  return Bad("expected a number, not {}", Describe());
}

Result<float> DumpNode::Float() const {
  return Real<float>();
}

Result<double> DumpNode::Double() const {
  return Real<double>();
}

Result<bool> DumpNode::Bool() const {
  if (!value_->is_boolean()) return Bad("expected true or false, not {}", Describe());
  return value_->get<bool>();
}

Result<std::string> DumpNode::String() const {
  if (value_->is_binary()) {
    NN_ASSIGN(const Blob bytes, Bytes());
    return Base64(bytes.bytes());
  }
  if (!value_->is_string()) return Bad("expected a string, not {}", Describe());
  return value_->get<std::string>();
}

Result<std::string> DumpNode::Text() const {
  if (!IsBytesObject()) return String();
  NN_ASSIGN(const Blob bytes, ArrayBytes(1));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<Blob> DumpNode::Bytes() const {
  if (value_->is_binary()) {
    size_t index = 0;
    std::memcpy(&index, value_->get_binary().data(), sizeof(index));
    return document_->blobs_[index];
  }
  if (IsOmitted()) return Omitted();
  if (IsStored()) return StoredBytes();
  if (value_->is_object()) return NumberBytes();
  if (!value_->is_string()) return Bad("expected a Base64 string, not {}", Describe());
  auto bytes = FromBase64(value_->get_ref<const std::string&>());
  if (!bytes) return Bad("invalid Base64 (RFC 4648, padded): {}", Describe());
  return *std::move(bytes);
}

Result<Blob> DumpNode::NumberBytes() const {
  std::optional<DType> type;
  if (value_->size() == 1) type = ParseDType(value_->begin().key());
  if (!type) return Bad("expected Base64, or an array named by its type (\"f32\")");
  const DumpNode list = *Find(value_->begin().key());
  std::vector<std::byte> bytes;
  bytes.reserve(list.size() * sizeof(double));
  Status ok;
  const bool known = WithPlainNumber(*type, [&](auto zero) {
    using T = decltype(zero);
    ok = list.ForEachElement([&](const DumpNode& element) -> Status {
      NN_ASSIGN(const T value, element.Number<T>());
      const auto* at = reinterpret_cast<const std::byte*>(&value);
      bytes.insert(bytes.end(), at, at + sizeof(T));
      return {};
    });
  });
  if (!known) return Bad("numbers of type {} must be Base64", DTypeName(*type));
  NN_RETURN_IF_ERROR(ok);
  return Blob::CopyOf(bytes);
}

// The tensor must match the dump except for the values of its elements.
Result<Blob> DumpNode::StoredBytes() const {
  const auto name_node = Find(kDumpStoredKey), type_node = Find("type"), shape_node = Find("shape");
  if (!type_node || !shape_node || size() != 3)
    return Bad("expected {{\"{}\": NAME, \"type\": \"f32\", \"shape\": [...]}}", kDumpStoredKey);
  NN_ASSIGN(const std::string name, name_node->String());
  NN_ASSIGN(const std::string type_name, type_node->String());
  const auto type = ParseDType(type_name);
  if (!type) return type_node->Bad("unknown element type {}", Quote(type_name));
  std::vector<int64_t> shape;
  NN_RETURN_IF_ERROR(shape_node->ForEachElement([&](const DumpNode& element) -> Status {
    NN_ASSIGN(const auto size, element.Integer<int64_t>());
    shape.push_back(size);
    return {};
  }));
  const auto it = document_->stored_.find(name);
  if (it == document_->stored_.end())
    return Bad("the file that \"{}\" names has no tensor {}", kWeightsKey, Quote(name));
  const Tensor& tensor = it->second;
  if ((tensor.dtype() != *type && tensor.dtype() != StoredType(*type)) || tensor.dims() != shape)
    return Bad("{} is {} in the file that \"{}\" names, not {}", Quote(name),
               Type(tensor.dtype(), ToDims(tensor.dims())).ToString(), kWeightsKey,
               Type(*type, ToDims(shape)).ToString());
  return tensor.blob();
}

Result<Blob> DumpNode::ArrayBytes(size_t element_size) const {
  NN_ASSIGN(Blob bytes, IsStored() ? StoredBytes() : Find("base64")->Bytes());
  if (bytes.size() % element_size != 0)
    return Bad("{} bytes is not a multiple of the element size, {} bytes", bytes.size(),
               element_size);
  return bytes;
}

// ---- Parsing ------------------------------------------------------------------------------------

// Replaces long Base64 strings by binary values with an index into `blobs`.
class DumpDocument::Builder {
 public:
  Builder(DumpDocument& document, const ReadLimits& limits)
      : document_(document), limits_(limits) {}

  Result<json> Parse(std::string_view text) {
    JsonHooks hooks;
    hooks.open = [this](int depth) -> Status {
      // A message takes two levels: its object and the array around it.
      const int limit = 2 * limits_.max_depth + 2;
      if (depth > limit)
        return LimitError("JSON values are nested deeper than {} (max-depth)", limit);
      return Count();
    };
    hooks.value = [this](json& value) {
      if (value.is_string()) Decode(value);
      return Count();
    };
    return ParseJson(text, hooks);
  }

 private:
  Status Count() {
    // Values of weights are items too; they count for a sixteenth.
    if (++items_ / 16 > limits_.max_items) return LimitError("too many JSON values (max-items)");
    return {};
  }

  void Decode(json& parsed) {
    const auto& text = parsed.get_ref<const std::string&>();
    if (text.size() < kLongString) return;
    auto bytes = FromBase64(text);
    if (!bytes) return;
    const size_t index = document_.blobs_.size();
    document_.blobs_.push_back(*std::move(bytes));
    json::binary_t reference;
    reference.resize(sizeof(index));
    std::memcpy(reference.data(), &index, sizeof(index));
    parsed = json::binary(std::move(reference));
  }

  DumpDocument& document_;
  const ReadLimits& limits_;
  uint64_t items_ = 0;
};

Result<DumpDocument> DumpDocument::Parse(std::string_view text, const ReadLimits& limits) {
  DumpDocument document;
  try {
    NN_ASSIGN(document.json_, Builder(document, limits).Parse(text));
  } catch (const std::bad_alloc&) {
    return LimitError("not enough memory for {} of JSON", HumanBytes(text.size()));
  }
  return document;
}

void DumpDocument::set_stored(std::vector<NamedTensor> tensors) {
  for (NamedTensor& t : tensors) stored_.insert_or_assign(std::move(t.name), std::move(t.tensor));
}

// ---- The envelope -------------------------------------------------------------------------------

bool IsDump(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto skip = [&](std::string_view token) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with(token)) return false;
    text.remove_prefix(token.size());
    return true;
  };
  return skip("{") && skip(fmt::format("\"{}\"", kVersionKey));
}

bool IsDumpPath(std::string_view path) {
  return path.ends_with(".json") && FormatOfPath(path) == nullptr;
}

Status WriteDump(const ReadModel& model, DumpWriter& out) {
  out.BeginObject();
  out.Key(kVersionKey);
  out.Uint(kDumpVersion);
  out.Key("format");
  out.String(model.format->name);
  if (!out.file().empty()) {
    out.Key(kWeightsKey);
    out.String(out.file());
  }
  out.Key("model");
  if (auto s = model.format->describer.Dump(*model.model, out); !s)
    return tl::unexpected(s.error().In("the model cannot be written as JSON"));
  out.EndObject();
  out.Finish();
  return {};
}

namespace {

// Writes a dump after the file of its tensors; only the dump may replace a file. The dump begins
// with the name of the file, which may be derived from its contents, so the tensors are collected
// first.
Result<std::string> WriteWithTensors(const ReadModel& model, const std::string& path,
                                     DumpOptions options) {
  DumpWriter collector([](std::string_view) {}, options);
  NN_RETURN_IF_ERROR(WriteDump(model, collector));
  const std::string directory = ParentFolder(path);
  auto folder = StagingFolder::Create(directory);
  if (!folder) return IoError("{}: {}", path, ErrnoText(folder.error()));
  const std::string staged =
      folder->path() + "/tensors" + std::filesystem::path(options.file).extension().string();
  const std::string shown = (std::filesystem::path(directory) / options.file).string();
  NN_RETURN_IF_ERROR(WriteTensorArchive(staged, collector.stored(), shown));
  SideFilePlacer placer(directory);
  NN_ASSIGN(bool added, placer.Add(staged, options.file));
  if (!added) {
    NN_ASSIGN(const Blob contents, ReadFile(staged));
    const std::span<const Blob> parts(&contents, 1);
    options.file = NameByContents(options.file, std::span(&parts, 1));
    NN_ASSIGN(added, placer.Add(staged, options.file));
  }
  if (!added)
    return UsageError("{}: a different file of this name exists; choose another with --weights",
                      Quote(options.file));
  NN_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  DumpWriter out([&](std::string_view text) { file.Write(text); }, options);
  NN_RETURN_IF_ERROR(WriteDump(model, out));
  NN_RETURN_IF_ERROR(file.Commit());
  placer.Keep();
  return options.file;
}

}  // namespace

Result<std::string> WriteDumpFiles(const ReadModel& model, const std::string& path,
                                   const DumpOptions& options) {
  if (options.weights == DumpWeights::kFile) {
    const auto name = PlainRelativePath(options.file);
    if (!name || !IsTensorArchivePath(*name))
      return UsageError("{}: expected a path below the dump's folder, .npz or .safetensors",
                        Quote(options.file));
    return WriteWithTensors(model, path, {options.weights, *name});
  }
  NN_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  DumpWriter out([&](std::string_view text) { file.Write(text); }, options);
  NN_RETURN_IF_ERROR(WriteDump(model, out));
  NN_RETURN_IF_ERROR(file.Commit());
  return std::string();
}

Status WriteDump(const ReadModel& model, const std::string& path, const DumpOptions& options) {
  NN_RETURN_IF_ERROR(WriteDumpFiles(model, path, options));
  return {};
}

namespace {

// A file that was read.
struct ReadSideFile {
  std::string name;
  uint64_t bytes;
};

// Reads the tensors of the file that the dump names, if any.
Result<std::optional<ReadSideFile>> ReadStored(const DumpNode& root, const std::string& path,
                                               const ReadLimits& limits, DumpDocument& document) {
  const auto node = root.Find(kWeightsKey);
  if (!node) return std::nullopt;
  NN_ASSIGN(const std::string name, node->String());
  auto file =
      ReadFileBeneath(std::filesystem::path(path).parent_path(), name, limits.max_file_bytes);
  if (!file) return tl::unexpected(file.error().In(node->Place()));
  auto tensors = ReadTensorArchive(*file, {limits.max_unpacked_bytes, limits.max_items});
  if (!tensors) return tl::unexpected(tensors.error().In(name));
  document.set_stored(*std::move(tensors));
  return ReadSideFile{name, file->size()};
}

}  // namespace

Result<ReadModel> RestoreDump(const DumpDocument& document, const std::string& path,
                              const ReadLimits& limits) {
  const DumpNode root = document.root();
  const auto version_node = root.Find(std::string(kVersionKey));
  if (!version_node) return root.Bad("the member \"{}\" is missing", kVersionKey);
  NN_ASSIGN(const auto version, version_node->Integer<uint32_t>());
  if (version == 0 || version > kDumpVersion)
    return UnsupportedError("/{}: dump version {} is unsupported; this program supports version {}",
                            kVersionKey, version, kDumpVersion);
  std::string known;
  for (const Format& f : Formats()) known += fmt::format("{}{}", known.empty() ? "" : ", ", f.name);
  const auto format_node = root.Find("format");
  if (!format_node) return root.Bad("the member \"format\" is missing; expected one of {}", known);
  NN_ASSIGN(const std::string name, format_node->String());
  const Format* format = FindFormat(name);
  if (format == nullptr)
    return format_node->Bad("unknown format {}; expected one of {}", Quote(name), known);
  const auto model_node = root.Find("model");
  if (!model_node) return root.Bad("the member \"model\" is missing");
  NN_RETURN_IF_ERROR(root.ForEachMember([&](const std::string& key, const DumpNode& member) {
    const bool ours = key == kVersionKey || key == "format" || key == "model" || key == kWeightsKey;
    return ours ? Status() : Status(member.Bad("unknown member"));
  }));
  NN_ASSIGN(auto model, format->reader.Restore(*model_node, path, limits));
  return ReadModel{format, std::move(model), true};
}

Result<ReadModel> ReadDump(const Blob& text, const std::string& path, const ReadLimits& limits) {
  NN_ASSIGN(DumpDocument document,
            DumpDocument::Parse({reinterpret_cast<const char*>(text.data()), text.size()}, limits));
  NN_ASSIGN(const auto stored, ReadStored(document.root(), path, limits, document));
  NN_ASSIGN(ReadModel read, RestoreDump(document, path, limits));
  if (stored) read.model->files.Count(stored->name, stored->bytes);
  return read;
}

}  // namespace nn
