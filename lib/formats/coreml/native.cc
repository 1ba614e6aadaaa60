#include "formats/coreml/native.h"

#include <fmt/core.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <iterator>

#include "coreml_model.pb.h"

namespace nn::coreml {

Model::Model() : proto(std::make_unique<pb::Model>()) {}
Model::~Model() = default;

Fields Model::root() const {
  return {*proto, payloads};
}
Writer Model::writer() {
  return {proto.get(), &payloads};
}
const Message& Model::message() const {
  return *proto;
}
Message* Model::mutable_message() {
  return proto.get();
}

std::string_view Model::kind() const {
  return root().OneOf("Type");
}

bool Model::has_network() const {
  return kind().starts_with("neuralNetwork");
}

Fields Model::network() const {
  return root().Sub(kind());
}

std::string DescribeKind(const Model& model) {
  if (!model.kind().empty()) return std::string(model.kind());
  struct Row {
    int field;  // of Model
    std::string_view name;
  };
  // The kinds that the schema leaves out.
  constexpr Row kRows[] = {{300, "glmRegressor"},
                           {301, "supportVectorRegressor"},
                           {302, "treeEnsembleRegressor"},
                           {304, "bayesianProbitRegressor"},
                           {400, "glmClassifier"},
                           {401, "supportVectorClassifier"},
                           {402, "treeEnsembleClassifier"},
                           {404, "kNearestNeighborsClassifier"},
                           {501, "itemSimilarityRecommender"},
                           {502, "mlProgram"},
                           {555, "customModel"},
                           {556, "linkedModel"},
                           {560, "classConfidenceThresholding"},
                           {600, "oneHotEncoder"},
                           {601, "imputer"},
                           {602, "featureVectorizer"},
                           {603, "dictVectorizer"},
                           {604, "scaler"},
                           {606, "categoricalMapping"},
                           {607, "normalizer"},
                           {609, "arrayFeatureExtractor"},
                           {610, "nonMaximumSuppression"},
                           {900, "identity"},
                           {2000, "textClassifier"},
                           {2001, "wordTagger"},
                           {2002, "visionFeaturePrint"},
                           {2003, "soundAnalysisPreprocessing"},
                           {2004, "gazetteer"},
                           {2005, "wordEmbedding"},
                           {2006, "audioFeaturePrint"}};
  const Message& m = model.message();
  const auto& unknown = m.GetReflection()->GetUnknownFields(m);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) {
      return r.field == unknown.field(i).number();
    });
    if (row != std::end(kRows)) return std::string(row->name);
  }
  return "a model without a kind";
}

bool Sniff(std::span<const std::byte> bytes) {
  // specificationVersion (field 1, varint, one byte as yet), then the description (field 2).
  return bytes.size() >= 3 && std::to_integer<int>(bytes[0]) == 0x08 &&
         std::to_integer<int>(bytes[1]) < 0x80 && std::to_integer<int>(bytes[2]) == 0x12;
}

Result<std::unique_ptr<NativeModel>> Read(const Blob& file, const std::string&,
                                          const ReadLimits& limits) {
  auto model = std::make_unique<Model>();
  model->file = file;
  PayloadLimits payload_limits;
  payload_limits.max_depth = limits.max_depth;
  NN_RETURN_IF_ERROR(ParseWithPayloads(file, model->proto.get(), model->payloads, payload_limits));
  return std::unique_ptr<NativeModel>(std::move(model));
}

std::string KindOf(const Fields& layer) {
  const std::string_view kind = layer.OneOf("layer");
  if (kind == "activation")
    return fmt::format("activation.{}", layer.Sub(kind).OneOf("NonlinearityType"));
  if (kind == "unary") return fmt::format("unary.{}", layer.Sub(kind).Enum("type"));
  return std::string(kind);
}

std::vector<std::string> LayerKinds() {
  const google::protobuf::OneofDescriptor* layers =
      pb::NeuralNetworkLayer::descriptor()->FindOneofByName("layer");
  const google::protobuf::OneofDescriptor* activations =
      pb::ActivationParams::descriptor()->FindOneofByName("NonlinearityType");
  const google::protobuf::EnumDescriptor* unary =
      pb::UnaryFunctionLayerParams::Operation_descriptor();
  std::vector<std::string> kinds;
  for (int i = 0; i < layers->field_count(); ++i) {
    const std::string& layer = layers->field(i)->name();
    if (layer == "activation") {
      for (int k = 0; k < activations->field_count(); ++k)
        kinds.push_back(layer + "." + activations->field(k)->name());
    } else if (layer == "unary") {
      for (int k = 0; k < unary->value_count(); ++k)
        kinds.push_back(layer + "." + unary->value(k)->name());
    } else {
      kinds.push_back(layer);
    }
  }
  return kinds;
}

}  // namespace nn::coreml
