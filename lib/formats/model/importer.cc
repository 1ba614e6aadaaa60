#include "formats/model/importer.h"

#include "formats/common/known_inputs.h"

namespace nn {

Result<ImportedModel> ModelImporter::Import(const NativeModel& model) const {
  return Import(model, {}, false);
}

Result<ImportedModel> ModelImporter::ImportWithShapes(
    const NativeModel& model, const std::map<std::string, std::vector<int64_t>>& /*shapes*/) const {
  return Import(model);
}

std::optional<ImageColors> ModelImporter::ImageColorsOf(const Graph& /*graph*/,
                                                        const std::string& /*input*/) const {
  return std::nullopt;
}

std::optional<Classes> ModelImporter::ClassesOf(const Graph& /*graph*/) const {
  return std::nullopt;
}

}  // namespace nn
