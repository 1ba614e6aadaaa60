// The rule context of Core ML: the model, the models in it, their networks, and all layers.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "coreml_model.pb.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/spec/signature_constraints.h"
#include "validators/rule.h"

namespace nn::coreml {

using Layers = google::protobuf::RepeatedPtrField<pb::NeuralNetworkLayer>;
using Features = google::protobuf::RepeatedPtrField<pb::FeatureDescription>;

// The model of the file, or one in a pipeline.
struct ModelAt {
  const pb::Model* model = nullptr;
  std::string path;  // "" or "pipeline.models[1]."
  const pb::ModelDescription& description() const { return model->description(); }
  int32_t version() const { return model->specificationversion(); }
};

// nullptr if the model is not a pipeline.
const pb::Pipeline* PipelineOf(const pb::Model& model);

// Whether it is one of the three kinds of neural network.
bool IsNetwork(const pb::Model& model);

// Faults in the data flow of a network, found by a walk in execution order (flow.h). Layers are
// indices into RuleContext::layers().
struct FlowFaults {
  struct Missing {
    size_t layer;
    int input;
  };
  struct Repeated {
    size_t layer;
    int output;
    std::string_view first;  // the earlier writer of the blob; kInputLayer for an input
  };
  struct OtherRank {
    size_t layer;
    bool is_output;
    int index;
    int known;
    bool of_model;  // `known` is from the description of the model; else from an earlier layer
  };
  std::vector<Missing> missing;
  std::vector<Repeated> repeated;
  std::vector<OtherRank> other_rank;
  // Loops whose condition network does not write conditionVar.
  std::vector<size_t> stale_conditions;
};

inline constexpr std::string_view kInputLayer = "__input";

struct NetworkAt {
  const ModelAt* model = nullptr;
  const Layers* layers = nullptr;
  const google::protobuf::RepeatedPtrField<pb::NeuralNetworkPreprocessing>* preprocessing = nullptr;
  const pb::NetworkUpdateParameters* update = nullptr;  // nullptr if the network has none
  std::string path;                                     // "neuralNetwork"
  bool exact_arrays = false;                            // EXACT_ARRAY_MAPPING
  bool exact_images = false;                            // RANK4_IMAGE_MAPPING
  bool has_new_layers = false;                          // of specification version 4 or later
  // Whether blobs have their declared ranks; else they all have rank 5.
  bool exact_ranks() const { return exact_arrays || exact_images || has_new_layers; }

  FlowFaults faults;
  // Blobs that layers write, including those in branches and loops; an input only if a layer
  // overwrites it.
  std::unordered_set<std::string_view> written;
};

struct LayerAt : LayerView {
  const NetworkAt* network = nullptr;
  const std::string* list = nullptr;  // "neuralNetwork"
  int loop_depth = 0;
  bool nested = false;  // inside a loop or branch

  std::string path() const;  // "neuralNetwork.layers[3]"
};

class RuleContext {
 public:
  // `specification_version`: what the deployment target reads; 0: any.
  explicit RuleContext(const Model& model, int specification_version = 0);

  int specification_version() const { return specification_version_; }
  const Model& native() const { return model_; }
  const pb::Model& proto() const { return *model_.proto; }
  const std::deque<ModelAt>& models() const { return models_; }
  const std::deque<NetworkAt>& networks() const { return networks_; }
  // Nested layers follow the layer that contains them.
  const std::vector<LayerAt>& layers() const { return layers_; }

  // The number of elements of a repeated number field, or of bytes of a bytes field, wherever they
  // are stored.
  uint64_t SizeOf(const google::protobuf::Message& message, int field) const;

 private:
  void AddModel(const pb::Model& model, const std::string& path, int depth);
  template <typename Network>
  void AddNetwork(const ModelAt& model, const Network& network, std::string_view field);

  const Model& model_;
  const int specification_version_;
  std::deque<ModelAt> models_;
  std::deque<NetworkAt> networks_;
  std::deque<std::string> lists_;
  std::vector<LayerAt> layers_;
};

inline Location Where(const LayerAt& at, std::string_view field = {}) {
  return At(field.empty() ? at.path() : fmt::format("{}.{}", at.path(), field), at.index);
}

}  // namespace nn::coreml
