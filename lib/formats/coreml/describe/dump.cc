#include "formats/common/describe/dump.h"

#include <set>

#include "base/file/file.h"
#include "formats/common/protobuf/pb_json.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/roles.h"

// The dump of a model with side files is {"$files": [{"name": ..., "bytes": ...}], "$model":
// Model}; without them, it is the Model. A package's manifest is one of its files.
namespace nn::coreml {
namespace {

constexpr std::string_view kFilesKey = "$files";
constexpr std::string_view kModelKey = "$model";

void DumpFiles(const ModelFolder& folder, DumpWriter& out) {
  out.Key(kFilesKey);
  out.BeginArray();
  for (const auto& [name, bytes] : folder.files) {
    out.BeginObject();
    out.Key("name");
    out.Text(name);
    out.Key("bytes");
    out.Data(bytes, {});
    DropResidentPages(bytes);
    out.EndObject();
  }
  out.EndArray();
}

Status RestoreFile(const DumpNode& file, ModelFolder& folder) {
  const auto name_node = file.Find("name"), bytes_node = file.Find("bytes");
  if (!name_node || !bytes_node || file.size() != 2)
    return file.Bad("expected {{\"name\": ..., \"bytes\": ...}}");
  NN_ASSIGN(std::string name, name_node->Text());
  const bool is_folder = name.ends_with('/');
  if (!IsPlainRelativePath(is_folder ? std::string_view(name).substr(0, name.size() - 1) : name))
    return name_node->Bad("{} is not a path below the folder", Quote(name));
  NN_ASSIGN(Blob bytes, bytes_node->Bytes());
  if (is_folder && !bytes.empty()) return bytes_node->Bad("a folder cannot have bytes");
  if (!folder.files.emplace(std::move(name), std::move(bytes)).second)
    return name_node->Bad("another file has this name");
  return {};
}

// A name cannot be both a file and a folder.
Status CheckNames(const DumpNode& files, const std::set<std::string>& names) {
  for (const std::string& name : names)
    for (size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1))
      if (names.contains(name.substr(0, at)))
        return files.Bad("{} is both a file and a folder", Quote(name.substr(0, at)));
  return {};
}

Status RestoreFolder(const DumpNode& files, ModelFolder& folder) {
  NN_RETURN_IF_ERROR(
      files.ForEachElement([&](const DumpNode& file) { return RestoreFile(file, folder); }));
  std::set<std::string> names;
  for (const auto& [name, bytes] : folder.files) names.insert(name);
  if (const auto text = folder.files.find(kManifestName); text != folder.files.end()) {
    NN_ASSIGN(folder.manifest, ParseManifest(text->second));
    const std::string& root = folder.manifest->root;
    if (!IsPlainRelativePath(root) || !names.insert(root).second)
      return files.Bad("{} must name a file for the model, but its path is {}", kManifestName,
                       Quote(root));
  }
  return CheckNames(files, names);
}

}  // namespace

Status CoremlDescriber::Dump(const NativeModel& model, DumpWriter& out) const {
  const auto& m = ModelOf(model);
  const auto info = [](const Message&, const google::protobuf::FieldDescriptor& field) {
    return DataInfo{field.name() == "float16Value" ? DType::kF16 : DType::kUnknown};
  };
  if (m.folder.files.empty()) return DumpMessage(m.message(), m.payloads, {}, info, out);
  out.BeginObject();
  DumpFiles(m.folder, out);
  out.Key(kModelKey);
  NN_RETURN_IF_ERROR(DumpMessage(m.message(), m.payloads, {}, info, out));
  out.EndObject();
  return {};
}

Result<std::unique_ptr<NativeModel>> CoremlReader::Restore(const DumpNode& dump, const std::string&,
                                                           const ReadLimits& limits) const {
  auto model = std::make_unique<Model>();
  const auto files = dump.Find(std::string(kFilesKey));
  const auto inner = dump.Find(std::string(kModelKey));
  if (files && (!inner || dump.size() != 2))
    return dump.Bad("{} and {} must both be present, without other members", kFilesKey, kModelKey);
  if (files) NN_RETURN_IF_ERROR(RestoreFolder(*files, model->folder));
  NN_RETURN_IF_ERROR(RestoreMessage(files ? *inner : dump, {}, limits.max_depth,
                                    model->mutable_message(), model->payloads));
  if (!files && model->message().ByteSizeLong() == 0)
    return dump.Bad("no field is set: the model's file would be empty");
  return std::unique_ptr<NativeModel>(std::move(model));
}

Result<FileImage> CoremlWriter::Save(const NativeModel& model, const ExportOptions& options) const {
  const auto& m = ModelOf(model);
  NN_ASSIGN(auto parts, Serialize(m));
  if (IsPackagePath(options.path)) return PackageImage(m.folder, std::move(parts));
  if (const auto file = WeightFileOf(m); !file.empty())
    return UnsupportedError(
        "the model's weights are in a file of its package, {}; write an .mlpackage, which can "
        "contain both",
        Quote(file));
  FileImage image;
  image.parts = std::move(parts);
  return image;
}

}  // namespace nn::coreml
