#include "validators/coreml/subject.h"

#include "base/text.h"

namespace nn::coreml {
namespace {

constexpr int kMaxPipelineDepth = 32;

bool AnyNewLayer(const Layers& layers) {
  for (const auto& layer : layers) {
    const Signature* s = FindSignature(layer.layer_case());
    if (s != nullptr && !s->first_versions) return true;
  }
  return false;
}

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

}  // namespace

int32_t ModelAt::version() const {
  return outer_version;
}

int LayerAt::InputRank(int i) const {
  return i < layer->inputtensor_size() ? static_cast<int>(layer->inputtensor(i).rank()) : 0;
}

int LayerAt::OutputRank(int i) const {
  return i < layer->outputtensor_size() ? static_cast<int>(layer->outputtensor(i).rank()) : 0;
}

Subject::Subject(const Model& model) : model_(model) {
  AddModel(proto(), "", 0);
}

void Subject::AddModel(const pb::Model& model, const std::string& path, int depth) {
  auto at = std::make_unique<ModelAt>();
  at->model = &model;
  at->path = path;
  at->outer_version = proto().specificationversion();
  const ModelAt& self = *at;
  models_.push_back(std::move(at));
  if (model.Type_case() == pb::Model::kNeuralNetwork)
    AddNetwork(self, model.neuralnetwork(), "neuralNetwork");
  else if (model.Type_case() == pb::Model::kNeuralNetworkClassifier)
    AddNetwork(self, model.neuralnetworkclassifier(), "neuralNetworkClassifier");
  else if (model.Type_case() == pb::Model::kNeuralNetworkRegressor)
    AddNetwork(self, model.neuralnetworkregressor(), "neuralNetworkRegressor");
  const pb::Pipeline* pipeline = PipelineOf(model);
  if (pipeline == nullptr || depth >= kMaxPipelineDepth) return;
  for (int i = 0; i < pipeline->models_size(); ++i)
    AddModel(pipeline->models(i), fmt::format("{}pipeline.models[{}].", path, i), depth + 1);
}

template <typename Network>
void Subject::AddNetwork(const ModelAt& model, const Network& network, std::string_view field) {
  auto at = std::make_unique<NetworkAt>();
  at->model = &model;
  at->layers = &network.layers();
  at->preprocessing = &network.preprocessing();
  at->update = network.has_updateparams() ? &network.updateparams() : nullptr;
  at->path = fmt::format("{}{}", model.path, field);
  at->exact_arrays = network.arrayinputshapemapping() != pb::RANK5_ARRAY_MAPPING;
  at->exact_images = network.imageinputshapemapping() != pb::RANK5_IMAGE_MAPPING;
  at->has_new_layers = AnyNewLayer(network.layers());
  const NetworkAt& self = *at;
  networks_.push_back(std::move(at));
  AddLayers(self, network.layers(), self.path, 0, false);
}

void Subject::AddLayers(const NetworkAt& network, const Layers& layers, const std::string& path,
                        int loop_depth, bool nested) {
  for (int i = 0; i < layers.size(); ++i) {
    const auto& layer = layers.Get(i);
    LayerAt at;
    at.layer = &layer;
    at.network = &network;
    at.signature = FindSignature(layer.layer_case());
    at.path = fmt::format("{}.layers[{}]", path, i);
    at.index = i;
    at.loop_depth = loop_depth;
    at.nested = nested;
    const std::string own = at.path;
    layers_.push_back(std::move(at));
    const auto inner = [&](const pb::NeuralNetwork& n, std::string_view field, int depth) {
      AddLayers(network, n.layers(), fmt::format("{}.{}", own, field), depth, true);
    };
    if (layer.has_loop()) {
      inner(layer.loop().conditionnetwork(), "loop.conditionNetwork", loop_depth);
      inner(layer.loop().bodynetwork(), "loop.bodyNetwork", loop_depth + 1);
    } else if (layer.has_branch()) {
      inner(layer.branch().ifbranch(), "branch.ifBranch", loop_depth);
      inner(layer.branch().elsebranch(), "branch.elseBranch", loop_depth);
    }
  }
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
