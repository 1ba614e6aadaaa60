// Rules of ML programs and of packages.
#include "formats/coreml/program.h"

#include <algorithm>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

// "mlProgram: operation \"w\" (const)".
std::string TitleOf(const mil::Operation* operation) {
  if (operation == nullptr) return "an attribute";
  return fmt::format("operation {} ({})", Quote(NameOf(*operation)), Escape(operation->type()));
}

void WeightsFound(const Subject& s, Findings& f) {
  ProgramWeights weights(s.native().folder);
  for (const mil::Program* program : Programs(s.native()))
    EachBlobValue(*program, [&](const mil::Value& value, const mil::Operation* operation) {
      if (const auto entry = weights.Find(value); !entry)
        f.Add(At("mlProgram"), "{}: {}", TitleOf(operation), entry.error().message());
    });
}

void WeightsFit(const Subject& s, Findings& f) {
  ProgramWeights weights(s.native().folder);
  for (const mil::Program* program : Programs(s.native()))
    EachBlobValue(*program, [&](const mil::Value& value, const mil::Operation* operation) {
      const auto entry = weights.Find(value);
      if (!entry) return;
      const auto& type = value.type().tensortype();
      const auto elements = ElementsOf(type);
      const std::string_view name = TypeName(type.datatype());
      // There is no type of truth values in files.
      if (type.datatype() != mil::BOOL && name != entry->type)
        f.Add(At("mlProgram"), "{}: a value of {} lies in an entry of {}", TitleOf(operation),
              name.empty() ? "unknown type" : name, entry->type);
      else if (!elements || *elements != entry->elements)
        f.Add(At("mlProgram"), "{}: a value of {} elements lies in an entry of {}",
              TitleOf(operation), elements ? std::to_string(*elements) : "an unknown number",
              entry->elements);
    });
}

void BlockExists(const Subject& s, Findings& f) {
  for (const mil::Program* program : Programs(s.native()))
    for (const auto& function : program->functions()) {
      const auto& blocks = function.value().block_specializations();
      const std::string& opset = function.value().opset();
      if (std::none_of(blocks.begin(), blocks.end(),
                       [&](const auto& b) { return b.key() == opset; }))
        f.Add(At("mlProgram.functions"), "function {} has no block for its opset {}",
              Quote(function.key()), Quote(opset));
    }
}

void ItemsComplete(const Subject& s, Findings& f) {
  const ModelFolder& folder = s.native().folder;
  if (!folder.manifest) return;
  for (const PackageItem& item : folder.manifest->items)
    for (const std::string& member : item.missing)
      f.Add(At("Manifest.json"), "item {} has no {}", Quote(item.identifier), member);
}

void ItemsExist(const Subject& s, Findings& f) {
  const ModelFolder& folder = s.native().folder;
  if (!folder.manifest) return;
  for (const PackageItem& item : folder.manifest->items) {
    if (item.path.empty() || item.path == folder.manifest->root) continue;
    // A file, or a folder with files.
    const auto next = folder.files.lower_bound(item.path);
    const bool is_file = next != folder.files.end() && next->first == item.path;
    const auto inside = folder.files.lower_bound(item.path + "/");
    if (!is_file && (inside == folder.files.end() || !inside->first.starts_with(item.path + "/")))
      f.Add(At("Manifest.json"), "{} of item {} is not in the package", Quote(item.path),
            Quote(item.identifier));
  }
}

constexpr Rule kRules[] = {
    {{"COREML-MIL-001", Severity::kError,
      "Weights that a program refers to are there: the file, and in it the entry and its data.",
      "MIL.proto, Value.BlobFileValue", false,
      "Keep the package's folder together; fetch files that Git LFS keeps."},
     WeightsFound},
    {{"COREML-MIL-002", Severity::kError,
      "Weights in files have the type and size of their values.", "MIL.proto, Value.BlobFileValue",
      false, ""},
     WeightsFit},
    {{"COREML-MIL-003", Severity::kError, "A function has a block for its opset.",
      "MIL.proto, Function.opset", false, ""},
     BlockExists},
    {{"COREML-PACKAGE-001", Severity::kError,
      "Items of a package have a path, a name, an author and a description.", "Model package 1.0.0",
      true, ""},
     ItemsComplete},
    {{"COREML-PACKAGE-002", Severity::kError, "Items of a package are there.",
      "Model package 1.0.0", true, ""},
     ItemsExist},
};

}  // namespace

std::span<const Rule> ProgramRules() {
  return kRules;
}

}  // namespace nn::coreml
