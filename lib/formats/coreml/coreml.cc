#include "formats/coreml/coreml.h"

#include "formats/coreml/export.h"
#include "formats/coreml/import.h"
#include "formats/coreml/native.h"

namespace nn::coreml {
namespace {

constexpr std::string_view kCompiled = ".mlmodelc";

// name, versions, copied, imported, exported, note
constexpr FeatureSupport kFeatures[] = {
    {".mlmodel", "1 to 10"},
    {".mlpackage"},
    {"neuralNetwork, neuralNetworkClassifier, neuralNetworkRegressor"},
    {"mlProgram with its weight files", "5 on", true, false, false},
    {"pipeline, pipelineClassifier, pipelineRegressor", "", true, false, false},
    {"all other kinds of model", "", true, false, false},
    {"compiled models (.mlmodelc)", "", false, false, false},
};

}  // namespace

const Format& CoremlFormat() {
  static const Format format = {
      .name = "coreml",
      .label = "Core ML",
      .extensions = {".mlmodel", ".mlpackage"},
      .sniff = Sniff,
      .read = Read,
      .read_folder = ReadFolder,
      .import = Import,
      .write = Write,
      .target = &CoremlTarget(),
      .summarize = Summarize,
      .summarize_in_full = SummarizeInFull,
      .tensors = Tensors,
      .operators = Operators,
      .features = kFeatures,
      .writes =
          [](const OpDef& op) {
            return FindExport(op.name) != nullptr || op.FindFormat("coreml") != nullptr;
          },
      .dump = Dump,
      .restore = Restore,
      .save = Save,
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
