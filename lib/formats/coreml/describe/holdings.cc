// What a Core ML file holds beside its graph.
#include <string_view>

#include "coreml_model.pb.h"
#include "formats/common/describe/holdings.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/import/interface.h"
#include "formats/coreml/roles.h"

namespace nn::coreml {
namespace {

constexpr auto kGraph = FieldUse::Kind::kGraph;
constexpr auto kParts = FieldUse::Kind::kParts;
constexpr auto kHeld = FieldUse::Kind::kHeld;

constexpr std::string_view kMetadata = "metadata";
constexpr std::string_view kProducerKey = "nn.producer";

// Kinds of models other than networks are not imported, and held as a whole.
constexpr FieldUse kUses[] = {
    {"Model.specificationVersion"},
    {"Model.description", kParts},
    {"Model.neuralNetwork", kParts},
    {"Model.neuralNetworkClassifier", kParts},
    {"Model.neuralNetworkRegressor", kParts},
    {"ModelDescription.input", kParts},
    {"ModelDescription.output", kParts},
    {"ModelDescription.predictedFeatureName", kHeld, "output of the label"},
    {"ModelDescription.predictedProbabilitiesName", kHeld, "output of the class scores"},
    {"ModelDescription.metadata", kParts},
    {"FeatureDescription.name"},
    {"FeatureDescription.shortDescription", kHeld, "documentation"},
    {"FeatureDescription.type", kParts},
    {"FeatureType.imageType", kHeld, "image"},
    {"FeatureType.Type"},
    {"Metadata.shortDescription", kHeld, "description"},
    {"Metadata.versionString", kHeld, kMetadata, "", "version"},
    {"Metadata.author", kHeld, kMetadata, "", "author"},
    {"Metadata.license", kHeld, kMetadata, "", "license"},
    {"Metadata.userDefined", kHeld, kMetadata},
    {"NeuralNetwork.layers", kParts},
    {"NeuralNetwork.preprocessing"},
    {"NeuralNetwork.arrayInputShapeMapping"},
    {"NeuralNetwork.imageInputShapeMapping"},
    {"NeuralNetworkClassifier.layers", kParts},
    {"NeuralNetworkClassifier.preprocessing"},
    {"NeuralNetworkClassifier.arrayInputShapeMapping"},
    {"NeuralNetworkClassifier.imageInputShapeMapping"},
    {"NeuralNetworkClassifier.ClassLabels", kHeld, "class labels"},
    {"NeuralNetworkClassifier.labelProbabilityLayerName"},
    {"NeuralNetworkRegressor.layers", kParts},
    {"NeuralNetworkRegressor.preprocessing"},
    {"NeuralNetworkRegressor.arrayInputShapeMapping"},
    {"NeuralNetworkRegressor.imageInputShapeMapping"},
    {"NeuralNetworkLayer.name"},
    {"NeuralNetworkLayer.input"},
    {"NeuralNetworkLayer.output"},
    {"NeuralNetworkLayer.inputTensor", kGraph},
    {"NeuralNetworkLayer.outputTensor", kGraph},
    {"NeuralNetworkLayer.layer", kGraph},
};

}  // namespace

std::vector<Holding> CoremlDescriber::HoldingsOf(const NativeModel& native) const {
  const Model& m = ModelOf(native);
  std::vector<Holding> out;
  for (Holding& h : nn::HoldingsOf(m.message(), kUses)) {
    // Sizes of inputs (WriteDims).
    if (h.kind == kMetadata && h.name.starts_with(kDimsKey)) continue;
    if (h.kind == kMetadata && h.name == kProducerKey)
      h = {std::string(kProducerKind), "", h.digest, std::string(kNewProducer)};
    out.push_back(std::move(h));
  }
  for (const auto& [name, bytes] : m.folder.files)
    if (name != kManifestName) out.push_back({"file of the package", name, DigestOf(bytes), ""});
  return out;
}

}  // namespace nn::coreml
