#include "validators/coreml/rule_context.h"

#include <algorithm>

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

RuleContext::RuleContext(const Model& model, int specification_version)
    : model_(model), specification_version_(specification_version) {
  AddModel(proto(), "", 0);
  for (LayerAt& at : layers_)
    at.weights = WeightsOf(*at.layer, [this](const google::protobuf::Message& message, int field) {
      return SizeOf(message, field);
    });
}

void RuleContext::AddModel(const pb::Model& model, const std::string& path, int depth) {
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
void RuleContext::AddNetwork(const ModelAt& model, const Network& network, std::string_view field) {
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

uint64_t RuleContext::SizeOf(const google::protobuf::Message& message, int field) const {
  return ElementsOf(model_.payloads, message, field);
}

}  // namespace nn::coreml
