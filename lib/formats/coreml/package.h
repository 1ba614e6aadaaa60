// Models in folders (.mlpackage): Manifest.json, which lists items below Data/ and says which of
// them is the model, the model's file, and files that it refers to.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/blob.h"
#include "base/status.h"
#include "formats/format.h"

namespace nn::coreml {

inline constexpr std::string_view kManifestName = "Manifest.json";

// An item as the manifest has it.
struct PackageItem {
  std::string identifier;
  std::string path;  // from the package's folder: "Data/com.apple.CoreML/weights", file or folder
  std::vector<std::string> missing;  // members that it lacks
};

struct Manifest {
  std::string version;  // "1.0.0"
  std::string root;     // path of the model's file from the package's folder
  std::vector<PackageItem> items;
};

// kParse for what is no manifest, kUnsupported for later versions.
Result<Manifest> ParseManifest(const Blob& text);

// The files around a model. Names are relative paths with "/"; one that ends in "/" is an empty
// folder, which an item of a program without weights may be.
struct ModelFolder {
  std::optional<Manifest> manifest;  // of a package; else the folder is that of the model's file
  std::map<std::string, Blob, std::less<>> files;  // without the model's own

  // The path of a file that an ML Program names, "@model_path/weights/weight.bin"; nullopt if the
  // name has no such form or leaves the folder.
  std::optional<std::string> Resolve(std::string_view name) const;
  // nullptr if there is none.
  const Blob* Find(std::string_view name) const;
};

// Whether it ends in ".mlpackage", a last "/" aside.
bool IsPackagePath(std::string_view path);

// The files of the package at `path`, the model's own as `model`. kLimit beyond 10,000 files or 32
// nested folders; kModel for a link that leaves the folder.
Status ReadPackage(const std::string& path, const ReadLimits& limits, ModelFolder& folder,
                   Blob& model);

// The image of a package of a model with this file. A folder of a package keeps its manifest and
// files; others get a manifest whose identifiers follow from the model's bytes.
FileImage PackageImage(const ModelFolder& folder, std::vector<Blob> model);

}  // namespace nn::coreml
