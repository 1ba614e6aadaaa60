// Rules about ML programs and packages.
#include "formats/coreml/describe/program.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text/text.h"
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

// Of a block: the types of its values, and the operations that compute them.
struct BlockValues {
  std::map<std::string_view, const mil::ValueType*> types;
  std::map<std::string_view, const mil::Operation*> operations;

  explicit BlockValues(const mil::Function& function, const mil::Block& block) {
    for (const auto& input : function.inputs()) types[input.name()] = &input.type();
    for (const mil::Operation& operation : block.operations())
      for (const auto& output : operation.outputs()) {
        types[output.name()] = &output.type();
        operations[output.name()] = &operation;
      }
  }
};

// The only argument for an input of the operation; nullptr if there is none or there are several.
const mil::Argument::Binding* ArgumentOf(const mil::Operation& operation, std::string_view key) {
  for (const auto& input : operation.inputs())
    if (input.key() == key && input.value().arguments_size() == 1)
      return &input.value().arguments(0);
  return nullptr;
}

// The number of class labels: elements of a constant list or tensor.
std::optional<uint64_t> LabelsOf(const BlockValues& values, const mil::Argument::Binding& classes) {
  const mil::Value* value = classes.has_value() ? &classes.value() : nullptr;
  if (const auto it = values.operations.find(classes.name()); it != values.operations.end())
    if (it->second->type() == "const") value = FindAttribute(*it->second, "val");
  if (value == nullptr) return std::nullopt;
  if (value->immediatevalue().has_list())
    return static_cast<uint64_t>(value->immediatevalue().list().values_size());
  return value->type().has_tensortype() ? ElementsOf(value->type().tensortype()) : std::nullopt;
}

void CheckClassify(const mil::Operation& operation, const BlockValues& values, Findings& f) {
  const auto* const scores = ArgumentOf(operation, "probabilities");
  const auto* const classes = ArgumentOf(operation, "classes");
  if (scores == nullptr || classes == nullptr) return;
  const auto type = values.types.find(scores->name());
  if (type == values.types.end() || !type->second->has_tensortype()) return;
  const auto count = ElementsOf(type->second->tensortype());
  const auto labels = LabelsOf(values, *classes);
  if (count && labels && *count != *labels)
    f.Add(At("mlProgram"), "{}: there are {} labels, but {} has {} scores", TitleOf(&operation),
          *labels, Quote(scores->name()), *count);
}

void ScoresFitLabels(const RuleContext& s, Findings& f) {
  for (const mil::Program* program : Programs(s.native()))
    for (const auto& function : program->functions())
      for (const auto& block : function.value().block_specializations()) {
        const BlockValues values(function.value(), block.value());
        for (const mil::Operation& operation : block.value().operations())
          if (operation.type() == "classify") CheckClassify(operation, values, f);
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
    {.info = {.id = "COREML-MIL-004",
              .statement = "An operation that classifies has one probability for each class label.",
              .clause = "MIL.proto, Operation",
              .hint = "Give the labels of all probabilities; a classifier takes those of one "
                      "sample, not of a batch."},
     .check = ScoresFitLabels},
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
