// What a Core ML file holds beside its graph.
#include <set>
#include <string>
#include <string_view>

#include "coreml_model.pb.h"
#include "formats/common/describe/holdings.h"
#include "formats/coreml/describe/program.h"
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

// Kinds of models other than networks and programs are not imported, and held as a whole.
constexpr FieldUse kUses[] = {
    {"Model.specificationVersion"},
    {"Model.description", kParts},
    {"Model.neuralNetwork", kParts},
    {"Model.neuralNetworkClassifier", kParts},
    {"Model.neuralNetworkRegressor", kParts},
    {"Model.mlProgram", kGraph},
    {"ModelDescription.input", kParts},
    {"ModelDescription.output", kParts},
    {"ModelDescription.predictedFeatureName", kHeld, "output of the label"},
    {"ModelDescription.predictedProbabilitiesName", kHeld, "output of the class scores"},
    {"ModelDescription.state"},
    {"ModelDescription.functions"},
    {"ModelDescription.defaultFunctionName"},
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

// The weight files of the program. Adds its functions, apart from the one that is imported.
std::set<std::string> FilesOfProgram(const Model& m, std::vector<Holding>& out) {
  const mil::Program& program = m.proto->mlprogram();
  const std::string imported = DefaultFunction(m.root().Sub("description"));
  for (const auto& function : program.functions())
    if (function.key() != imported)
      out.push_back(
          {"function", function.key(), DigestOf(function.value().SerializeAsString()), ""});
  std::set<std::string> files;
  EachBlobValue(program, [&](const mil::Value& value, const mil::Operation*) {
    if (auto path = m.folder.Resolve(value.blobfilevalue().filename())) files.insert(*path);
  });
  return files;
}

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
  const std::set<std::string> weights =
      m.kind() == "mlProgram" ? FilesOfProgram(m, out) : std::set<std::string>();
  for (const auto& [name, bytes] : m.folder.files)
    if (name != kManifestName && !weights.contains(name))
      out.push_back({"file of the package", name, DigestOf(bytes), ""});
  return out;
}

}  // namespace nn::coreml
