#include "formats/coreml/file/package.h"

#include <nettle/sha2.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file/file.h"
#include "base/text/text.h"
#include "formats/common/edit/side_files.h"
#include "formats/coreml/file/compiled.h"
#include "formats/coreml/roles.h"

namespace nn::coreml {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;  // members in the order of their names, as other writers have them

constexpr std::string_view kExtension = ".mlpackage";
constexpr std::string_view kModelPath = "@model_path/";
constexpr std::string_view kDataFolder = "Data/";
constexpr std::string_view kAuthor = "com.apple.CoreML";  // also the folder of its items
constexpr std::string_view kModelName = "model.mlmodel";
constexpr std::string_view kWrittenVersion = "1.0.0";
constexpr int kNewestMajor = 1;
// Limit of Core ML: bytes of the manifest of a package.
constexpr uint64_t kMaxManifestBytes = uint64_t{16} << 20;
// Limit of Core ML: files of a package.
constexpr size_t kMaxFiles = 10000;
// Limit of Core ML: nested folders of a package.
constexpr int kMaxFolderDepth = 32;

std::string FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "" : path.substr(0, slash + 1));
}

// The string in a member; nullptr if there is none.
const std::string* Text(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() ? nullptr : it->get_ptr<const std::string*>();
}

Status CheckVersion(const std::string& version) {
  int major = 0;
  const auto r = std::from_chars(version.data(), version.data() + version.size(), major);
  if (r.ec != std::errc() || r.ptr == version.data() + version.size() || *r.ptr != '.')
    return ParseError("{}: fileFormatVersion {} must have the form 1.0.0", kManifestName,
                      Quote(version));
  if (major > kNewestMajor)
    return UnsupportedError(
        "{}: fileFormatVersion {} is unsupported; this program supports version {}", kManifestName,
        Quote(version), kNewestMajor);
  return {};
}

PackageItem ItemOf(const std::string& identifier, const Json& entry) {
  PackageItem item;
  item.identifier = identifier;
  if (const std::string* path = Text(entry, "path")) item.path = std::string(kDataFolder) + *path;
  for (const char* key : {"path", "name", "author", "description"})
    if (Text(entry, key) == nullptr) item.missing.emplace_back(key);
  return item;
}

// SideFiles::Read() of a file of the package.
Result<Blob> ReadPackageFile(const fs::path& directory, const std::string& name,
                             const SideFiles& reader) {
  auto bytes = reader.Read(name);
  std::error_code error;
  // Download caches consist of links.
  if (!bytes && bytes.error().code() == ErrorCode::kModel &&
      fs::is_symlink(directory / name, error))
    return ModelError("{}; use \"cp -RL\" to make a copy without links", bytes.error().message());
  return bytes;
}

// Adds all files below the folder but `skip`.
Status ReadFiles(const fs::path& directory, const SideFiles& reader, const std::string& skip,
                 std::map<std::string, Blob, std::less<>>& files) {
  std::error_code error;
  fs::recursive_directory_iterator it(directory, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it.depth() >= kMaxFolderDepth)
      return LimitError("folders in the package are nested deeper than {}", kMaxFolderDepth);
    std::error_code ignored;
    const std::string name = it->path().lexically_relative(directory).generic_string();
    if (name == skip) continue;
    if (files.size() >= kMaxFiles)
      return LimitError("the package has more than {} files", kMaxFiles);
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) {
      if (fs::is_empty(it->path(), ignored)) files.emplace(name + "/", Blob());
      continue;
    }
    auto bytes = ReadPackageFile(directory, name, reader);
    if (!bytes) return tl::unexpected(bytes.error());
    files.emplace(name, *std::move(bytes));
  }
  if (error) return IoError("the package's folder cannot be listed: {}", error.message());
  return {};
}

// An identifier in the form that other writers use, a UUID of version 8 (RFC 9562).
std::string Identifier(const uint8_t (&digest)[SHA256_DIGEST_SIZE]) {
  std::string out;
  for (int i = 0; i < 16; ++i) {
    int byte = digest[i];
    if (i == 6) byte = (byte & 0x0F) | 0x80;
    if (i == 8) byte = (byte & 0x3F) | 0x80;
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02X}", byte);
  }
  return out;
}

// An identifier that depends on the item's path and on the model.
std::string IdentifierOf(std::string_view path, const std::vector<Blob>& model) {
  sha256_ctx hash;
  sha256_init(&hash);
  const auto add = [&](const void* data, size_t size) {
    sha256_update(&hash, size, static_cast<const uint8_t*>(data));
  };
  add(path.data(), path.size() + 1);
  for (const Blob& b : model) add(b.data(), b.size());
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_digest(&hash, sizeof(digest), digest);
  return Identifier(digest);
}

// Items are the model and its siblings: files, and folders with their contents.
std::string NewManifest(const std::vector<SideFile>& files, const std::vector<Blob>& model) {
  std::set<std::string> names;
  for (const SideFile& file : files) names.insert(file.name.substr(0, file.name.find('/')));
  Json manifest = {{"fileFormatVersion", kWrittenVersion}};
  Json& items = manifest["itemInfoEntries"] = Json::object();
  const auto add = [&](const std::string& name, std::string_view description) {
    const std::string path = fmt::format("{}/{}", kAuthor, name);
    std::string identifier = IdentifierOf(path, model);
    items[identifier] = {
        {"author", kAuthor}, {"description", description}, {"name", name}, {"path", path}};
    return identifier;
  };
  const std::string root = add(std::string(kModelName), "CoreML Model Specification");
  for (const std::string& name : names) add(name, "CoreML Model Weights");
  manifest["rootModelIdentifier"] = root;
  return manifest.dump(4, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<Manifest> ParseManifest(const Blob& text) {
  if (text.size() > kMaxManifestBytes)
    return LimitError("{}: it has {} bytes, more than {}", kManifestName, text.size(),
                      kMaxManifestBytes);
  const auto* begin = reinterpret_cast<const char*>(text.data());
  const Json json = Json::parse(begin, begin + text.size(), nullptr, false);
  if (!json.is_object()) return ParseError("{}: not a JSON object", kManifestName);
  Manifest out;
  const std::string* version = Text(json, "fileFormatVersion");
  if (version == nullptr) return ParseError("{}: fileFormatVersion is missing", kManifestName);
  NN_RETURN_IF_ERROR(CheckVersion(*version));
  out.version = *version;
  const std::string* root = Text(json, "rootModelIdentifier");
  if (root == nullptr) return ParseError("{}: rootModelIdentifier is missing", kManifestName);
  const auto items = json.find("itemInfoEntries");
  if (items == json.end() || !items->is_object())
    return ParseError("{}: itemInfoEntries is missing", kManifestName);
  for (const auto& [identifier, entry] : items->items()) {
    out.items.push_back(ItemOf(identifier, entry));
    if (identifier == *root) out.root = out.items.back().path;
  }
  if (out.root.empty())
    return ParseError("{}: the root model {} is not an item with a path", kManifestName,
                      Quote(*root));
  return out;
}

std::optional<std::string> ModelFolder::Resolve(std::string_view name) const {
  if (!name.starts_with(kModelPath)) return std::nullopt;
  name.remove_prefix(kModelPath.size());
  if (!IsPlainRelativePath(name)) return std::nullopt;
  return (manifest ? FolderOf(manifest->root) : std::string()) + std::string(name);
}

const Blob* ModelFolder::Find(std::string_view name) const {
  const auto path = Resolve(name);
  const auto it = path ? files.find(*path) : files.end();
  return it == files.end() ? nullptr : &it->second;
}

bool IsPackagePath(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.ends_with(kExtension);
}

bool CoremlReader::IsModelFolder(const std::string& path) const {
  std::error_code error;
  return IsCompiledProgram(path) || (fs::is_regular_file(fs::path(path) / kManifestName, error) &&
                                     fs::is_directory(fs::path(path) / kDataFolder, error));
}

Status ReadPackage(const std::string& path, const ReadLimits& limits, ModelFolder& folder,
                   Blob& model) {
  const fs::path directory(path);
  const SideFiles reader(directory, limits.max_file_bytes, 0);
  auto text = ReadPackageFile(directory, std::string(kManifestName), reader);
  if (!text) {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(directory / kManifestName, error)))
      return ParseError("not a Core ML package: the folder has no {}", kManifestName);
    return tl::unexpected(text.error());
  }
  NN_ASSIGN(folder.manifest, ParseManifest(*text));
  const std::string& root = folder.manifest->root;
  if (!IsPlainRelativePath(root))
    return ModelError("{}: the path of the root model, {}, is outside the package", kManifestName,
                      Quote(root));
  NN_ASSIGN(model, ReadPackageFile(directory, root, reader));
  return ReadFiles(directory, reader, root, folder.files);
}

FileImage PackageImage(const ModelFolder& folder, std::vector<Blob> model) {
  if (folder.manifest) {
    FileImage image;
    image.is_folder = true;
    for (const auto& [name, bytes] : folder.files) image.side_files.push_back({name, {bytes}});
    image.side_files.push_back({folder.manifest->root, std::move(model)});
    return image;
  }
  std::vector<SideFile> files;
  for (const auto& [name, bytes] : folder.files)
    if (name.substr(0, name.find('/')) != kModelName)  // the model's own place
      files.push_back({name, {bytes}});
  return NewPackage(std::move(files), std::move(model));
}

FileImage NewPackage(std::vector<SideFile> files, std::vector<Blob> model) {
  FileImage image;
  image.is_folder = true;
  const std::string manifest = NewManifest(files, model);
  const std::string data = fmt::format("{}{}/", kDataFolder, kAuthor);
  image.side_files.push_back(
      {std::string(kManifestName), {Blob::Copy(std::as_bytes(std::span(manifest)))}});
  image.side_files.push_back({data + std::string(kModelName), std::move(model)});
  for (SideFile& file : files)
    image.side_files.push_back({data + file.name, std::move(file.parts)});
  return image;
}

}  // namespace nn::coreml
