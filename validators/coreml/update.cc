// Rules about on-device training.
#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>

#include "base/text/text.h"
#include "validators/coreml/interface.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

bool CanBeUpdated(const pb::Model& model) {
  return IsNetwork(model) || model.has_knearestneighborsclassifier() ||
         PipelineOf(model) != nullptr;
}

void KindCanBeUpdated(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (m.model->isupdatable() && !CanBeUpdated(*m.model))
      f.Add(At(m.path + "isUpdatable"), "models of this type cannot be updated");
}

template <typename Visit>
void EachUpdatable(const RuleContext& s, const Visit& visit) {
  for (const NetworkAt& n : s.networks())
    if (n.model->model->isupdatable()) visit(n);
}

// Calls visit(at) for the updatable layers of updatable networks; training ignores nested ones.
template <typename Visit>
void EachUpdatableLayer(const RuleContext& s, const Visit& visit) {
  for (const LayerAt& at : s.layers())
    if (at.network->model->model->isupdatable() && !at.nested && at.layer->isupdatable()) visit(at);
}

void LayersToUpdate(const RuleContext& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (std::none_of(n.layers->begin(), n.layers->end(),
                     [](const auto& layer) { return layer.isupdatable(); }))
      f.Add(At(n.path + ".layers"), "the model is updatable, but none of its layers is");
  });
}

void UpdatableKinds(const RuleContext& s, Findings& f) {
  EachUpdatableLayer(s, [&](const LayerAt& at) {
    if (!at.layer->has_convolution() && !at.layer->has_innerproduct() &&
        !at.layer->has_unidirectionallstm())
      f.Add(Where(at, "isUpdatable"), "{} cannot be updated", Title(at));
  });
}

// The published text excludes LSTMs; the vendor's checker accepts them.
void PublishedUpdatableKinds(const RuleContext& s, Findings& f) {
  EachUpdatableLayer(s, [&](const LayerAt& at) {
    if (at.layer->has_unidirectionallstm())
      f.Add(Where(at, "isUpdatable"), "{} cannot be updated", Title(at));
  });
}

void NestedNotUpdatable(const RuleContext& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->isupdatable() && (at.nested || !at.network->model->model->isupdatable()))
      f.Add(Where(at, "isUpdatable"), "{} is updatable, {}", Title(at),
            at.nested ? "but is inside a loop or branch" : "but its model is not");
}

void UpdatableWeights(const RuleContext& s, Findings& f) {
  EachUpdatableLayer(s, [&](const LayerAt& at) {
    const auto check = [&](const auto& p) {
      if (p.weights().has_quantization() || (p.hasbias() && p.bias().has_quantization()))
        f.Add(Where(at), "{} is updatable, but its weights or bias are quantized", Title(at));
      else if (!p.weights().isupdatable() || (p.hasbias() && !p.bias().isupdatable()))
        f.Add(Where(at), "{} is updatable, but its weights or bias are not", Title(at));
    };
    if (at.layer->has_convolution()) check(at.layer->convolution());
    if (at.layer->has_innerproduct()) check(at.layer->innerproduct());
  });
}

struct Loss {
  std::string input;
  std::string target;
  bool entropy = false;
  bool known = false;
};

Loss LossOf(const pb::LossLayer& loss) {
  if (loss.has_categoricalcrossentropylosslayer())
    return {loss.categoricalcrossentropylosslayer().input(),
            loss.categoricalcrossentropylosslayer().target(), true, true};
  return {loss.meansquarederrorlosslayer().input(), loss.meansquarederrorlosslayer().target(),
          false, loss.has_meansquarederrorlosslayer()};
}

// The last layer that writes each blob of a network.
class Writers {
 public:
  explicit Writers(const Layers& layers) {
    for (int i = 0; i < layers.size(); ++i)
      for (const std::string& output : layers.Get(i).output()) last_[output] = i;
  }
  // -1 if no layer writes it.
  int Of(const std::string& blob) const {
    const auto found = last_.find(blob);
    return found != last_.end() ? found->second : -1;
  }

 private:
  std::unordered_map<std::string_view, int> last_;
};

void OneLoss(const RuleContext& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    const int losses = n.update != nullptr ? n.update->losslayers_size() : 0;
    if (losses != 1)
      f.Add(At(n.path + ".updateParams.lossLayers"), "the network has {} loss layers; expected 1",
            losses);
  });
}

// Calls visit(network, its writers, loss, place) for the losses of updatable networks.
template <typename Visit>
void EachLoss(const RuleContext& s, const Visit& visit) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (n.update == nullptr) return;
    const Writers writers(*n.layers);
    for (int i = 0; i < n.update->losslayers_size(); ++i)
      visit(n, writers, LossOf(n.update->losslayers(i)),
            At(fmt::format("{}.updateParams.lossLayers[{}]", n.path, i)));
  });
}

void LossInputs(const RuleContext& s, Findings& f) {
  EachLoss(s, [&](const NetworkAt& n, const Writers& writers, const Loss& loss,
                  const Location& where) {
    const int writer = writers.Of(loss.input);
    if (!loss.known)
      f.Add(where, "the loss layer has no type");
    else if (writer < 0)
      f.Add(where, "no layer writes {}, which the loss reads", Quote(loss.input));
    else if (loss.entropy && (!n.layers->Get(writer).has_softmax() ||
                              n.layers->Get(writer).output(0) != loss.input))
      f.Add(where, "{}, which the cross entropy loss reads, is not the output of a softmax layer",
            Quote(loss.input));
  });
}

void LossTargets(const RuleContext& s, Findings& f) {
  EachLoss(s,
           [&](const NetworkAt&, const Writers& writers, const Loss& loss, const Location& where) {
             if (writers.Of(loss.target) >= 0)
               f.Add(where, "the target {} is written by a layer", Quote(loss.target));
           });
}

// Whether training can backpropagate through the layer.
bool HasGradient(const pb::NeuralNetworkLayer& l) {
  return l.has_convolution() || l.has_innerproduct() || l.has_unidirectionallstm() ||
         l.has_pooling() || l.has_batchnorm() || l.has_flatten() ||
         (l.has_activation() &&
          (l.activation().has_relu() || l.activation().has_tanh() || l.activation().has_sigmoid()));
}

// For each layer, the layers that write its inputs.
std::vector<std::vector<int>> WritersOf(const Layers& layers) {
  std::unordered_map<std::string_view, int> writers;
  std::vector<std::vector<int>> before(static_cast<size_t>(layers.size()));
  for (int i = 0; i < layers.size(); ++i) {
    for (const std::string& input : layers.Get(i).input())
      if (const auto found = writers.find(input); found != writers.end())
        before[static_cast<size_t>(i)].push_back(found->second);
    for (const std::string& output : layers.Get(i).output()) writers[output] = i;
  }
  return before;
}

// Walks backwards from the loss, breadth first, as the vendor's checker does: an updatable layer
// that is reached after a layer without a gradient cannot be trained.
void CheckGradients(const NetworkAt& n, const Loss& loss, Findings& f) {
  const int last = Writers(*n.layers).Of(loss.input);
  if (last < 0) return;
  const auto before = WritersOf(*n.layers);
  std::vector<bool> seen(before.size());
  std::deque<int> queue;
  int blocked = -1;
  const auto visit = [&](int i, bool softmax_allowed) {
    if (seen[static_cast<size_t>(i)]) return;
    seen[static_cast<size_t>(i)] = true;
    queue.push_back(i);
    const auto& layer = n.layers->Get(i);
    if (layer.isupdatable() && blocked >= 0)
      f.Add(At(fmt::format("{}.layers[{}]", n.path, blocked), blocked),
            "layer {} {} is between the loss and updatable layer {} but has no gradient", blocked,
            Quote(n.layers->Get(blocked).name()), i);
    if (!HasGradient(layer) && !(softmax_allowed && layer.has_softmax())) blocked = i;
  };
  visit(last, loss.entropy);
  while (!queue.empty()) {
    const int i = queue.front();
    queue.pop_front();
    for (const int writer : before[static_cast<size_t>(i)]) visit(writer, false);
  }
}

// Checks only networks with one loss; OneLoss reports the others.
void GradientsExist(const RuleContext& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (n.update != nullptr && n.update->losslayers_size() == 1)
      CheckGradients(n, LossOf(n.update->losslayers(0)), f);
  });
}

void NamesDistinct(const RuleContext& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    std::set<std::string_view> seen;
    const auto add = [&](const std::string& name, const std::string& path) {
      if (!seen.insert(name).second)
        f.Add(At(path), "another layer is already named {}", Quote(name));
    };
    for (int i = 0; i < n.layers->size(); ++i)
      add(n.layers->Get(i).name(), fmt::format("{}.layers[{}]", n.path, i));
    for (int i = 0; n.update != nullptr && i < n.update->losslayers_size(); ++i)
      add(n.update->losslayers(i).name(), fmt::format("{}.updateParams.lossLayers[{}]", n.path, i));
  });
}

// The training inputs that are inputs of the model, and those that are not.
struct TrainingInputs {
  int shared = 0;
  std::vector<const pb::FeatureDescription*> own;
};

TrainingInputs SortTrainingInputs(const pb::ModelDescription& d) {
  std::unordered_map<std::string_view, std::vector<const pb::FeatureType*>> inputs;
  for (const auto& input : d.input()) inputs[input.name()].push_back(&input.type());
  TrainingInputs out;
  for (const auto& given : d.traininginput()) {
    const auto found = inputs.find(given.name());
    if (found != inputs.end() &&
        std::any_of(found->second.begin(), found->second.end(),
                    [&](const auto* type) { return SameType(*type, given.type()); }))
      ++out.shared;
    else
      out.own.push_back(&given);
  }
  return out;
}

void TrainingInputsGiven(const RuleContext& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    const auto& d = n.model->description();
    const TrainingInputs inputs = SortTrainingInputs(d);
    const Location where = At(n.model->path + "description.trainingInput");
    if (inputs.shared == 0)
      f.Add(where, "none of the {} training inputs is an input of the model",
            d.traininginput_size());
    if (inputs.own.empty()) f.Add(where, "the training inputs do not include a target");
  });
}

const pb::FeatureType* OutputType(const pb::ModelDescription& d, const std::string& name) {
  for (const auto& output : d.output())
    if (output.name() == name) return &output.type();
  return nullptr;
}

void TargetsGiven(const RuleContext& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (n.update == nullptr || n.update->losslayers().empty()) return;
    const auto& d = n.model->description();
    const Location where = At(n.model->path + "description.trainingInput");
    const bool classifier = n.model->model->has_neuralnetworkclassifier();
    const Loss loss = LossOf(n.update->losslayers(0));
    bool found = false;
    for (const auto* given : SortTrainingInputs(d).own) {
      if (given->name() == loss.target) found = true;
      if (!classifier || given->name() != d.predictedfeaturename()) continue;
      const auto* type = OutputType(d, given->name());
      if (type == nullptr) continue;
      if (!SameType(given->type(), *type))
        f.Add(where, "the target {} has a different type than the output", Quote(given->name()));
      found = true;
    }
    if (!found)
      f.Add(where, "{}, the target of the loss, is not a training input", Quote(loss.target));
  });
}

void CheckReal(Findings& f, const std::string& path, std::string_view name, bool present,
               const pb::DoubleParameter& p) {
  const double v = p.defaultvalue();
  if (!present)
    f.Add(At(path), "{} is missing", name);
  else if (p.has_range() && (v < p.range().minvalue() || v > p.range().maxvalue()))
    f.Add(At(path), "{} has the default {}, which is outside its range of {} to {}", name, v,
          p.range().minvalue(), p.range().maxvalue());
}

void CheckRequiredInteger(Findings& f, const std::string& path, std::string_view name, bool present,
                          const pb::Int64Parameter& p) {
  if (!present)
    f.Add(At(path), "{} is missing", name);
  else if (const auto fault = FaultOf(p, true); !fault.empty())
    f.Add(At(path), "{} {}", name, fault);
}

void OptimizerComplete(const RuleContext& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    const std::string path = n.path + ".updateParams.optimizer";
    const pb::Optimizer none;
    const pb::Optimizer& o = n.update != nullptr ? n.update->optimizer() : none;
    if (o.has_sgdoptimizer()) {
      const auto& p = o.sgdoptimizer();
      CheckReal(f, path, "learningRate", p.has_learningrate(), p.learningrate());
      CheckRequiredInteger(f, path, "miniBatchSize", p.has_minibatchsize(), p.minibatchsize());
    } else if (o.has_adamoptimizer()) {
      const auto& p = o.adamoptimizer();
      CheckReal(f, path, "learningRate", p.has_learningrate(), p.learningrate());
      CheckRequiredInteger(f, path, "miniBatchSize", p.has_minibatchsize(), p.minibatchsize());
      CheckReal(f, path, "beta1", p.has_beta1(), p.beta1());
      CheckReal(f, path, "beta2", p.has_beta2(), p.beta2());
      CheckReal(f, path, "eps", p.has_eps(), p.eps());
    } else {
      f.Add(At(path), "the network has no optimizer");
    }
  });
}

void MomentumValid(const RuleContext& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (n.update == nullptr) return;
    const auto& p = n.update->optimizer().sgdoptimizer();
    if (p.has_momentum())
      CheckReal(f, n.path + ".updateParams.optimizer", "momentum", true, p.momentum());
  });
}

void EpochsValid(const RuleContext& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    const std::string path = n.path + ".updateParams";
    const pb::NetworkUpdateParameters none;
    const auto& p = n.update != nullptr ? *n.update : none;
    CheckRequiredInteger(f, path + ".epochs", "epochs", p.has_epochs(), p.epochs());
    if (!p.has_seed()) return;
    if (const auto fault = FaultOf(p.seed(), false); !fault.empty())
      f.Add(At(path + ".seed"), "seed {}", fault);
  });
}

constexpr std::string_view kUpdateClause = "NeuralNetwork.proto, NetworkUpdateParameters";
constexpr std::string_view kTraining = "Model.proto, ModelDescription.trainingInput";

constexpr Rule kUpdateRules[] = {
    {.info = {.id = "COREML-UPDATE-001",
              .statement =
                  "Only neural networks, nearest-neighbor classifiers and pipelines are updatable.",
              .clause = "Model.proto, Model.isUpdatable",
              .vendor = true,
              .hint = "Clear isUpdatable of the model."},
     .check = KindCanBeUpdated},
    {.info = {.id = "COREML-UPDATE-002",
              .statement = "An updatable neural network has at least one updatable layer.",
              .clause = kUpdateClause,
              .vendor = true,
              .hint =
                  "Set isUpdatable of the layers that training changes, or clear it in the model."},
     .check = LayersToUpdate},
    {.info = {.id = "COREML-UPDATE-003",
              .statement = "The updatable layers of an updatable network are convolution, "
                           "innerProduct or uniDirectionalLSTM layers.",
              .clause = kUpdateClause,
              .vendor = true,
              .hint = "Clear isUpdatable of the layer."},
     .check = UpdatableKinds},
    {.info = {.id = "COREML-UPDATE-013",
              .statement = "No uniDirectionalLSTM layer of an updatable network is updatable; the "
                           "published format allows only convolution and innerProduct layers.",
              .clause = kUpdateClause,
              .hint = "Clear isUpdatable of the LSTM layer."},
     .check = PublishedUpdatableKinds},
    {.info =
         {.id = "COREML-UPDATE-014",
          .severity = Severity::kWarning,
          .statement =
              "Updatable layers belong to an updatable model and are outside loops and branches.",
          .clause = "NeuralNetwork.proto, NeuralNetworkLayer.isUpdatable",
          .hint = "Clear isUpdatable of the layer."},
     .check = NestedNotUpdatable},
    {.info =
         {.id = "COREML-UPDATE-004",
          .statement = "The weights and bias of an updatable convolution or innerProduct layer are "
                       "marked as updatable and are not quantized.",
          .clause = "NeuralNetwork.proto, WeightParams.isUpdatable",
          .vendor = true,
          .hint =
              "Set isUpdatable in the weights and the bias, and store them without quantization."},
     .check = UpdatableWeights},
    {.info = {.id = "COREML-UPDATE-005",
              .statement = "An updatable neural network has exactly one loss layer.",
              .clause = kUpdateClause,
              .vendor = true,
              .hint = "List one loss layer in updateParams.lossLayers."},
     .check = OneLoss},
    {.info = {.id = "COREML-UPDATE-006",
              .statement = "A loss layer has a type and reads a blob that a layer writes, and a "
                           "categorical cross entropy loss reads the output of a softmax layer.",
              .clause = "NeuralNetwork.proto, LossLayer",
              .vendor = true,
              .hint = "Set the type of the loss and its input; put a softmax layer before a "
                      "categorical cross entropy loss."},
     .check = LossInputs},
    {.info = {.id = "COREML-UPDATE-015",
              .statement = "No layer of an updatable network writes the target of a loss layer.",
              .clause = "NeuralNetwork.proto, LossLayer",
              .vendor = true,
              .hint = "Set target to the name of a training input that no layer writes."},
     .check = LossTargets},
    {.info = {.id = "COREML-UPDATE-007",
              .statement =
                  "Every layer between an updatable layer and the loss layer has a gradient.",
              .clause = kUpdateClause,
              .vendor = true,
              .hint = "Use only convolution, innerProduct, uniDirectionalLSTM, pooling, batchnorm, "
                      "flatten and ReLU, tanh or sigmoid activations there, or clear isUpdatable "
                      "of the layers before."},
     .check = GradientsExist},
    {.info = {.id = "COREML-UPDATE-008",
              .statement =
                  "The names of the layers and loss layers of an updatable network are unique.",
              .clause = kUpdateClause,
              .vendor = true,
              .hint = "Give every layer and loss layer a different name."},
     .check = NamesDistinct},
    {.info =
         {.id = "COREML-UPDATE-009",
          .statement = "The training inputs of an updatable network include an input of the model, "
                       "with the same type, and another feature for the target.",
          .clause = kTraining,
          .vendor = true,
          .hint =
              "Add an input of the model and the target of the loss to description.trainingInput."},
     .check = TrainingInputsGiven},
    {.info = {.id = "COREML-UPDATE-016",
              .statement =
                  "The training inputs of an updatable network include the target of the loss or, "
                  "with the type of the output, the predicted feature of a classifier.",
              .clause = kTraining,
              .vendor = true,
              .hint = "Add the target of the loss to description.trainingInput."},
     .check = TargetsGiven},
    {.info = {.id = "COREML-UPDATE-010",
              .statement = "The optimizer of an updatable network is SGD or Adam, has all required "
                           "parameters, and its default values are allowed ones.",
              .clause = "NeuralNetwork.proto, Optimizer",
              .vendor = true,
              .hint = "Set sgdOptimizer or adamOptimizer with all its parameters, and choose "
                      "defaults within their ranges or sets."},
     .check = OptimizerComplete},
    {.info = {.id = "COREML-UPDATE-017",
              .statement = "The default momentum of the SGD optimizer of an updatable network is "
                           "within its range.",
              .clause = "NeuralNetwork.proto, SGDOptimizer.momentum",
              .hint = "Set the default of momentum to a value in its range."},
     .check = MomentumValid},
    {.info =
         {.id = "COREML-UPDATE-011",
          .statement = "The updateParams of an updatable network have positive epochs, and the "
                       "defaults of epochs and seed are allowed ones.",
          .clause = kUpdateClause,
          .vendor = true,
          .hint =
              "Set epochs, and choose defaults for epochs and seed within their ranges or sets."},
     .check = EpochsValid},
};

}  // namespace

std::span<const Rule> UpdateRules() {
  return kUpdateRules;
}

}  // namespace nn::coreml
