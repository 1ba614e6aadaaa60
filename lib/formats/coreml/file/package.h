// Models in folders (.mlpackage): the model file, the files it refers to, and Manifest.json, which
// lists items below Data/ and identifies the model.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "formats/format.h"

namespace nn::coreml {

inline constexpr std::string_view kManifestName = "Manifest.json";

// An item of the manifest.
struct PackageItem {
  std::string identifier;
  std::string path;  // from the package's folder: "Data/com.apple.CoreML/weights", file or folder
  std::vector<std::string> missing;  // missing members
};

struct Manifest {
  std::string version;  // "1.0.0"
  std::string root;     // path of the model's file from the package's folder
  std::vector<PackageItem> items;
};

// kParse for invalid manifests, kUnsupported for later versions.
Result<Manifest> ParseManifest(const Blob& text);

// The side files of a model. Names are relative paths with "/"; a name that ends in "/" is an empty
// folder, such as the item of a program without weights.
struct ModelFolder {
  std::optional<Manifest> manifest;  // of a package; else the folder is that of the model's file
  std::map<std::string, Blob, std::less<>> files;  // without the model's own

  // The path of a file that an ML Program names, "@model_path/weights/weight.bin"; nullopt if the
  // name has a different form or is outside the folder.
  std::optional<std::string> Resolve(std::string_view name) const;
  // nullptr if there is none.
  const Blob* Find(std::string_view name) const;
};

// Whether it ends in ".mlpackage", ignoring a trailing "/".
bool IsPackagePath(std::string_view path);

// The files of the package at `path`, the model's own as `model`. kLimit beyond 10,000 files or 32
// nested folders; kModel for a link to outside the folder.
Status ReadPackage(const std::string& path, const ReadLimits& limits, ModelFolder& folder,
                   Blob& model);

// The package of a model. A package keeps its manifest and files; other models get a manifest with
// identifiers derived from the model's bytes.
FileImage PackageImage(const ModelFolder& folder, std::vector<Blob> model);
// The same for a new model, with files beside it: "weights/weight.bin".
FileImage NewPackage(std::vector<SideFile> files, std::vector<Blob> model);

}  // namespace nn::coreml
