// What Core ML rules look at: the model, the models in it, their networks, and all layers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coreml_model.pb.h"
#include "formats/coreml/native.h"
#include "validators/coreml/signature.h"
#include "validators/rule.h"

namespace nn::coreml {

using Layers = google::protobuf::RepeatedPtrField<pb::NeuralNetworkLayer>;
using Features = google::protobuf::RepeatedPtrField<pb::FeatureDescription>;

// The model of the file, or one in a pipeline.
struct ModelAt {
  const pb::Model* model = nullptr;
  std::string path;  // "" or "pipeline.models[1]."
  const pb::ModelDescription& description() const { return model->description(); }
  int32_t version() const;  // of the specification: that of the outermost model
  int32_t outer_version = 0;
};

struct NetworkAt {
  const ModelAt* model = nullptr;
  const Layers* layers = nullptr;
  const google::protobuf::RepeatedPtrField<pb::NeuralNetworkPreprocessing>* preprocessing = nullptr;
  const pb::NetworkUpdateParameters* update = nullptr;  // nullptr if the network has none
  std::string path;                                     // "neuralNetwork"
  bool exact_arrays = false;                            // EXACT_ARRAY_MAPPING
  bool exact_images = false;                            // RANK4_IMAGE_MAPPING
  bool has_new_layers = false;                          // of specification version 4 or later
  // Blobs have the rank that they are declared with; else they all have rank 5.
  bool exact_ranks() const { return exact_arrays || exact_images || has_new_layers; }
};

struct LayerAt {
  const pb::NeuralNetworkLayer* layer = nullptr;
  const NetworkAt* network = nullptr;
  const Signature* signature = nullptr;
  std::string path;  // "neuralNetwork.layers[3]"
  int index = 0;     // in its list
  int loop_depth = 0;
  bool nested = false;  // stands in a loop or branch

  // Declared ranks; 0 where they are not declared.
  int InputRank(int i) const;
  int OutputRank(int i) const;
};

class Subject {
 public:
  explicit Subject(const Model& model);

  const Model& native() const { return model_; }
  const pb::Model& proto() const { return *model_.proto; }
  const std::vector<std::unique_ptr<ModelAt>>& models() const { return models_; }
  const std::vector<std::unique_ptr<NetworkAt>>& networks() const { return networks_; }
  // Nested layers follow the one that has them.
  const std::vector<LayerAt>& layers() const { return layers_; }

  // Elements of a repeated number field, or bytes of a bytes field, wherever they are.
  uint64_t SizeOf(const google::protobuf::Message& message, int field) const;

 private:
  void AddModel(const pb::Model& model, const std::string& path, int depth);
  template <typename Network>
  void AddNetwork(const ModelAt& model, const Network& network, std::string_view field);
  void AddLayers(const NetworkAt& network, const Layers& layers, const std::string& path,
                 int loop_depth, bool nested);

  const Model& model_;
  std::vector<std::unique_ptr<ModelAt>> models_;
  std::vector<std::unique_ptr<NetworkAt>> networks_;
  std::vector<LayerAt> layers_;
};

inline Location Where(const LayerAt& at, std::string_view field = {}) {
  return At(field.empty() ? at.path : fmt::format("{}.{}", at.path, field), at.index);
}

// "layer 3 (convolution \"name\")".
std::string Title(const LayerAt& at);

}  // namespace nn::coreml
