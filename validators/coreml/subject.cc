#include "validators/coreml/subject.h"

#include <algorithm>

#include "base/text.h"
#include "validators/coreml/flow.h"

namespace nn::coreml {
namespace {

constexpr int kMaxPipelineDepth = 64;

}  // namespace

const pb::Pipeline* PipelineOf(const pb::Model& model) {
  switch (model.Type_case()) {
    case pb::Model::kPipeline:
      return &model.pipeline();
    case pb::Model::kPipelineClassifier:
      return &model.pipelineclassifier().pipeline();
    case pb::Model::kPipelineRegressor:
      return &model.pipelineregressor().pipeline();
    default:
      return nullptr;
  }
}

bool IsNetwork(const pb::Model& model) {
  return model.has_neuralnetwork() || model.has_neuralnetworkclassifier() ||
         model.has_neuralnetworkregressor();
}

std::string LayerAt::path() const {
  return fmt::format("{}.layers[{}]", *list, index);
}

int LayerAt::InputRank(int i) const {
  return i < layer->inputtensor_size() ? static_cast<int>(layer->inputtensor(i).rank()) : -1;
}

int LayerAt::OutputRank(int i) const {
  return i < layer->outputtensor_size() ? static_cast<int>(layer->outputtensor(i).rank()) : -1;
}

Subject::Subject(const Model& model) : model_(model) {
  AddModel(proto(), "", 0);
  weights_ = CollectWeights(*this);
}

void Subject::AddModel(const pb::Model& model, const std::string& path, int depth) {
  const ModelAt& self = models_.emplace_back(ModelAt{&model, path});
  if (model.has_neuralnetwork())
    AddNetwork(self, model.neuralnetwork(), "neuralNetwork");
  else if (model.has_neuralnetworkclassifier())
    AddNetwork(self, model.neuralnetworkclassifier(), "neuralNetworkClassifier");
  else if (model.has_neuralnetworkregressor())
    AddNetwork(self, model.neuralnetworkregressor(), "neuralNetworkRegressor");
  const pb::Pipeline* pipeline = PipelineOf(model);
  if (pipeline == nullptr || depth >= kMaxPipelineDepth) return;
  for (int i = 0; i < pipeline->models_size(); ++i)
    AddModel(pipeline->models(i), fmt::format("{}pipeline.models[{}].", path, i), depth + 1);
}

template <typename Network>
void Subject::AddNetwork(const ModelAt& model, const Network& network, std::string_view field) {
  NetworkAt& at = networks_.emplace_back();
  at.model = &model;
  at.layers = &network.layers();
  at.preprocessing = &network.preprocessing();
  at.update = network.has_updateparams() ? &network.updateparams() : nullptr;
  at.path = fmt::format("{}{}", model.path, field);
  at.exact_arrays = network.arrayinputshapemapping() != pb::RANK5_ARRAY_MAPPING;
  at.exact_images = network.imageinputshapemapping() != pb::RANK5_IMAGE_MAPPING;
  at.has_new_layers =
      std::any_of(network.layers().begin(), network.layers().end(), [](const auto& layer) {
        return !IsOfFirstVersions(layer, FindSignature(layer.layer_case()));
      });
  WalkNetwork(at, lists_, layers_);
}

uint64_t Subject::SizeOf(const google::protobuf::Message& message, int field) const {
  const auto* descriptor = message.GetDescriptor()->FindFieldByNumber(field);
  const auto* reflection = message.GetReflection();
  if (const auto blob = model_.payloads.Find(message, field))
    return blob->size() / static_cast<uint64_t>(PayloadElementSize(*descriptor));
  if (descriptor->is_repeated())
    return static_cast<uint64_t>(reflection->FieldSize(message, descriptor));
  std::string scratch;
  return reflection->GetStringReference(message, descriptor, &scratch).size();
}

std::string Title(const LayerAt& at) {
  const auto* field =
      pb::NeuralNetworkLayer::descriptor()->FindFieldByNumber(at.layer->layer_case());
  std::string out = fmt::format("layer {} ({}", at.index, field != nullptr ? field->name() : "?");
  if (!at.layer->name().empty()) out += " " + Quote(at.layer->name());
  return out + ")";
}

}  // namespace nn::coreml
