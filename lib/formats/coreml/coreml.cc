#include "formats/coreml/coreml.h"
#include "formats/coreml/roles.h"

#include "formats/coreml/export/export.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/import/import.h"
#include "formats/coreml/import/interface.h"

namespace nn::coreml {
namespace {

// The type of a function is known to WebAssembly if that of its result is complete.
static_assert(alignof(Result<ModelSummary>) > 0);

constexpr std::string_view kCompiled = ".mlmodelc";

// name, versions, copied, imported, exported, note
constexpr FeatureSupport kFeatures[] = {
    {.name = ".mlmodel", .versions = "1 to 10"},
    {.name = ".mlpackage"},
    {.name = "neuralNetwork, neuralNetworkClassifier, neuralNetworkRegressor"},
    {.name = "mlProgram with its weight files",
     .versions = "6 on",
     .note = "written as .mlpackage, or with --core-ml program"},
    {.name = "states of ML Programs",
     .versions = "9 on",
     .note = "stay states, or inputs and outputs with --states; new ones with --carry"},
    {.name = "pipeline, pipelineClassifier, pipelineRegressor",
     .imported = false,
     .exported = false},
    {.name = "all other model kinds", .imported = false, .exported = false},
    {.name = "compiled ML Programs (.mlmodelc with model.mil)",
     .versions = "6 on",
     .exported = false},
    {.name = "other compiled models", .copied = false, .imported = false, .exported = false},
};

}  // namespace

const Format& CoremlFormat() {
  static const CoremlReader reader;
  static const CoremlImporter importer;
  static const CoremlDescriber describer;
  static const CoremlWriter writer;
  static const CoremlEditor editor;
  static const Format format = {
      .name = "coreml",
      .label = "Core ML",
      .extensions = {".mlmodel", ".mlpackage"},
      .reader = reader,
      .importer = importer,
      .describer = describer,
      .writer = writer,
      .editor = editor,
      .target = &CoremlTarget(),
      .operator_lists = {"neuralNetwork.layers", "neuralNetworkClassifier.layers",
                         "neuralNetworkRegressor.layers"},
      .operators = Operators,
      .features = kFeatures,
  };
  return format;
}

bool IsCompiledModel(std::string_view path) {
  for (size_t at = path.find(kCompiled); at != std::string_view::npos;
       at = path.find(kCompiled, at + 1)) {
    const std::string_view rest = path.substr(at + kCompiled.size());
    if (rest.empty() || rest.front() == '/') return true;
  }
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "coremldata.bin" || name.starts_with("model.espresso.");
}

}  // namespace nn::coreml
