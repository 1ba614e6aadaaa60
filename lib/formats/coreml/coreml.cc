#include "formats/coreml/coreml.h"

#include "formats/coreml/export.h"
#include "formats/coreml/import.h"
#include "formats/coreml/native.h"

namespace nn::coreml {

namespace {

// name, versions, copied, imported, exported, note
constexpr FeatureSupport kFeatures[] = {
    {".mlmodel", "1 to 10"},
    {"neuralNetwork, neuralNetworkClassifier, neuralNetworkRegressor"},
};

}  // namespace

const Format& CoremlFormat() {
  static const Format format = {
      .name = "coreml",
      .label = "Core ML",
      .extensions = {".mlmodel"},
      .sniff = Sniff,
      .read = Read,
      .import = Import,
      .write = Write,
      .target = &CoremlTarget(),
      .summarize = Summarize,
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

}  // namespace nn::coreml
