// Rules about ML programs and packages.
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

void WeightsFound(const RuleContext& s, Findings& f) {
  ProgramWeights weights(s.native().folder);
  for (const mil::Program* program : Programs(s.native()))
    EachBlobValue(*program, [&](const mil::Value& value, const mil::Operation* operation) {
      if (const auto entry = weights.Find(value); !entry)
        f.Add(At("mlProgram"), "{}: {}", TitleOf(operation), entry.error().message());
    });
}

void WeightsFit(const RuleContext& s, Findings& f) {
  ProgramWeights weights(s.native().folder);
  for (const mil::Program* program : Programs(s.native()))
    EachBlobValue(*program, [&](const mil::Value& value, const mil::Operation* operation) {
      const auto entry = weights.Find(value);
      if (!entry) return;
      const auto& type = value.type().tensortype();
      const auto elements = ElementsOf(type);
      const std::string_view name = TypeName(type.datatype());
      // Weight files have no type for booleans.
      if (type.datatype() != mil::BOOL && name != entry->type)
        f.Add(At("mlProgram"), "{}: the value has type {}, but its weight entry has type {}",
              TitleOf(operation), name.empty() ? "unknown" : name, entry->type);
      else if (!elements || *elements != entry->elements)
        f.Add(At("mlProgram"), "{}: the value has {} elements, but its weight entry has {}",
              TitleOf(operation), elements ? std::to_string(*elements) : "an unknown number of",
              entry->elements);
    });
}

void BlockExists(const RuleContext& s, Findings& f) {
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

void ItemsComplete(const RuleContext& s, Findings& f) {
  const ModelFolder& folder = s.native().folder;
  if (!folder.manifest) return;
  for (const PackageItem& item : folder.manifest->items)
    for (const std::string& member : item.missing)
      f.Add(At("Manifest.json"), "item {} has no {}", Quote(item.identifier), member);
}

void ItemsExist(const RuleContext& s, Findings& f) {
  const ModelFolder& folder = s.native().folder;
  if (!folder.manifest) return;
  for (const PackageItem& item : folder.manifest->items) {
    if (item.path.empty() || item.path == folder.manifest->root) continue;
    // A file, or a folder with files.
    const auto next = folder.files.lower_bound(item.path);
    const bool is_file = next != folder.files.end() && next->first == item.path;
    const auto inside = folder.files.lower_bound(item.path + "/");
    if (!is_file && (inside == folder.files.end() || !inside->first.starts_with(item.path + "/")))
      f.Add(At("Manifest.json"), "the path {} of item {} does not exist in the package",
            Quote(item.path), Quote(item.identifier));
  }
}

constexpr Rule kProgramRules[] = {
    {.info = {.id = "COREML-MIL-001",
              .statement = "The weights that an ML program refers to exist: the file, and in it "
                           "the entry and its data.",
              .clause = "MIL.proto, Value.BlobFileValue",
              .hint =
                  "Keep the files of the package together, and fetch those stored with Git LFS."},
     .check = WeightsFound},
    {.info = {.id = "COREML-MIL-002",
              .statement = "A weight entry has the data type and the number of elements of the "
                           "value that refers to it.",
              .clause = "MIL.proto, Value.BlobFileValue",
              .hint =
                  "Write the weight file again from the program; the two do not belong together."},
     .check = WeightsFit},
    {.info = {.id = "COREML-MIL-003",
              .statement = "A function of an ML program has a block specialization for its opset.",
              .clause = "MIL.proto, Function.opset",
              .hint = "Add a block for the opset, or set opset to that of an existing block."},
     .check = BlockExists},
    {.info = {.id = "COREML-PACKAGE-001",
              .statement =
                  "Each item of a model package has a path, a name, an author and a description.",
              .clause = "Model package 1.0.0",
              .vendor = true,
              .hint = "Add the missing members to the item in Manifest.json."},
     .check = ItemsComplete},
    {.info = {.id = "COREML-PACKAGE-002",
              .statement = "The path of each item of a model package exists in the package.",
              .clause = "Model package 1.0.0",
              .vendor = true,
              .hint = "Restore the file or folder, or remove the item from Manifest.json."},
     .check = ItemsExist},
};

}  // namespace

std::span<const Rule> ProgramRules() {
  return kProgramRules;
}

}  // namespace nn::coreml
