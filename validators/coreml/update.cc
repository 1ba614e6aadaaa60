// Rules of on-device training.
#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "validators/coreml/interface.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

bool CanBeUpdated(const pb::Model& model) {
  return IsNetwork(model) || model.has_knearestneighborsclassifier() ||
         PipelineOf(model) != nullptr;
}

void KindCanBeUpdated(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (m.model->isupdatable() && !CanBeUpdated(*m.model))
      f.Add(At(m.path + "isUpdatable"), "models of this kind cannot be updated");
}

template <typename Visit>
void EachUpdatable(const Subject& s, const Visit& visit) {
  for (const NetworkAt& n : s.networks())
    if (n.model->model->isupdatable()) visit(n);
}

// Calls visit(at) for the updatable layers of updatable networks; training sees no nested ones.
template <typename Visit>
void EachUpdatableLayer(const Subject& s, const Visit& visit) {
  for (const LayerAt& at : s.layers())
    if (at.network->model->model->isupdatable() && !at.nested && at.layer->isupdatable()) visit(at);
}

void LayersToUpdate(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (std::none_of(n.layers->begin(), n.layers->end(),
                     [](const auto& layer) { return layer.isupdatable(); }))
      f.Add(At(n.path + ".layers"), "the model is updatable, none of its layers is");
  });
}

void UpdatableKinds(const Subject& s, Findings& f) {
  EachUpdatableLayer(s, [&](const LayerAt& at) {
    if (!at.layer->has_convolution() && !at.layer->has_innerproduct() &&
        !at.layer->has_unidirectionallstm())
      f.Add(Where(at, "isUpdatable"), "{} cannot be updated", Title(at));
  });
}

// As the published text has it; the owner's checker lets LSTMs pass.
void PublishedUpdatableKinds(const Subject& s, Findings& f) {
  EachUpdatableLayer(s, [&](const LayerAt& at) {
    if (at.layer->has_unidirectionallstm())
      f.Add(Where(at, "isUpdatable"), "{} cannot be updated", Title(at));
  });
}

void NestedNotUpdatable(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->isupdatable() && (at.nested || !at.network->model->model->isupdatable()))
      f.Add(Where(at, "isUpdatable"), "{} is updatable, {}", Title(at),
            at.nested ? "but stands in a loop or branch" : "its model is not");
}

void UpdatableWeights(const Subject& s, Findings& f) {
  EachUpdatableLayer(s, [&](const LayerAt& at) {
    const auto check = [&](const auto& p) {
      if (p.weights().has_quantization() || (p.hasbias() && p.bias().has_quantization()))
        f.Add(Where(at), "{} is updatable but quantised", Title(at));
      else if (!p.weights().isupdatable() || (p.hasbias() && !p.bias().isupdatable()))
        f.Add(Where(at), "{} is updatable, its weights or bias are not", Title(at));
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

// The layers that write a network's blobs last.
class Writers {
 public:
  explicit Writers(const Layers& layers) {
    for (int i = 0; i < layers.size(); ++i)
      for (const std::string& output : layers.Get(i).output()) last_[output] = i;
  }
  // -1 if none does.
  int Of(const std::string& blob) const {
    const auto found = last_.find(blob);
    return found != last_.end() ? found->second : -1;
  }

 private:
  std::unordered_map<std::string_view, int> last_;
};

void OneLoss(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    const int losses = n.update != nullptr ? n.update->losslayers_size() : 0;
    if (losses != 1)
      f.Add(At(n.path + ".updateParams.lossLayers"), "the network has {} losses", losses);
  });
}

// Calls visit(network, its writers, loss, place) for the losses of updatable networks.
template <typename Visit>
void EachLoss(const Subject& s, const Visit& visit) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (n.update == nullptr) return;
    const Writers writers(*n.layers);
    for (int i = 0; i < n.update->losslayers_size(); ++i)
      visit(n, writers, LossOf(n.update->losslayers(i)),
            At(fmt::format("{}.updateParams.lossLayers[{}]", n.path, i)));
  });
}

void LossInputs(const Subject& s, Findings& f) {
  EachLoss(
      s, [&](const NetworkAt& n, const Writers& writers, const Loss& loss, const Location& where) {
        const int writer = writers.Of(loss.input);
        if (!loss.known)
          f.Add(where, "the loss is of no kind");
        else if (writer < 0)
          f.Add(where, "no layer writes {}, which the loss reads", Quote(loss.input));
        else if (loss.entropy && (!n.layers->Get(writer).has_softmax() ||
                                  n.layers->Get(writer).output(0) != loss.input))
          f.Add(where, "{}, which the cross entropy reads, is no softmax", Quote(loss.input));
      });
}

void LossTargets(const Subject& s, Findings& f) {
  EachLoss(s,
           [&](const NetworkAt&, const Writers& writers, const Loss& loss, const Location& where) {
             if (writers.Of(loss.target) >= 0)
               f.Add(where, "the target {} is written by a layer", Quote(loss.target));
           });
}

// Layers that training goes back through.
bool HasGradient(const pb::NeuralNetworkLayer& l) {
  return l.has_convolution() || l.has_innerproduct() || l.has_unidirectionallstm() ||
         l.has_pooling() || l.has_batchnorm() || l.has_flatten() ||
         (l.has_activation() &&
          (l.activation().has_relu() || l.activation().has_tanh() || l.activation().has_sigmoid()));
}

// For each layer those that write what it reads.
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

// Goes from the loss backwards, breadth first, as the owner's checker does: an updatable layer that
// is met after one without a gradient cannot be trained.
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
            "layer {} {} stands between the loss and updatable layer {} and has no gradient",
            blocked, Quote(n.layers->Get(blocked).name()), i);
    if (!HasGradient(layer) && !(softmax_allowed && layer.has_softmax())) blocked = i;
  };
  visit(last, loss.entropy);
  while (!queue.empty()) {
    const int i = queue.front();
    queue.pop_front();
    for (const int writer : before[static_cast<size_t>(i)]) visit(writer, false);
  }
}

// Of networks with one loss; others are faulty anyway.
void GradientsExist(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (n.update != nullptr && n.update->losslayers_size() == 1)
      CheckGradients(n, LossOf(n.update->losslayers(0)), f);
  });
}

void NamesDistinct(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    std::set<std::string_view> seen;
    const auto add = [&](const std::string& name, const std::string& path) {
      if (!seen.insert(name).second) f.Add(At(path), "a second layer is named {}", Quote(name));
    };
    for (int i = 0; i < n.layers->size(); ++i)
      add(n.layers->Get(i).name(), fmt::format("{}.layers[{}]", n.path, i));
    for (int i = 0; n.update != nullptr && i < n.update->losslayers_size(); ++i)
      add(n.update->losslayers(i).name(), fmt::format("{}.updateParams.lossLayers[{}]", n.path, i));
  });
}

// Training inputs that the model has too, and those that it has not.
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

void TrainingInputsGiven(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    const auto& d = n.model->description();
    const TrainingInputs inputs = SortTrainingInputs(d);
    const Location where = At(n.model->path + "description.trainingInput");
    if (inputs.shared == 0)
      f.Add(where, "no input of the model is among the {} training inputs", d.traininginput_size());
    if (inputs.own.empty()) f.Add(where, "the training inputs have no target");
  });
}

const pb::FeatureType* OutputType(const pb::ModelDescription& d, const std::string& name) {
  for (const auto& output : d.output())
    if (output.name() == name) return &output.type();
  return nullptr;
}

void TargetsGiven(const Subject& s, Findings& f) {
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
        f.Add(where, "the target {} is of another type than the output", Quote(given->name()));
      found = true;
    }
    if (!found)
      f.Add(where, "{}, the target of the loss, is no training input", Quote(loss.target));
  });
}

void CheckReal(Findings& f, const std::string& path, std::string_view name, bool present,
               const pb::DoubleParameter& p) {
  const double v = p.defaultvalue();
  if (!present)
    f.Add(At(path), "{} is missing", name);
  else if (p.has_range() && (v < p.range().minvalue() || v > p.range().maxvalue()))
    f.Add(At(path), "{} has the default {}, outside of {} to {}", name, v, p.range().minvalue(),
          p.range().maxvalue());
}

void CheckRequiredInteger(Findings& f, const std::string& path, std::string_view name, bool present,
                          const pb::Int64Parameter& p) {
  if (!present)
    f.Add(At(path), "{} is missing", name);
  else if (const auto fault = FaultOf(p, true); !fault.empty())
    f.Add(At(path), "{} {}", name, fault);
}

void OptimizerComplete(const Subject& s, Findings& f) {
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

void MomentumValid(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (n.update == nullptr) return;
    const auto& p = n.update->optimizer().sgdoptimizer();
    if (p.has_momentum())
      CheckReal(f, n.path + ".updateParams.optimizer", "momentum", true, p.momentum());
  });
}

void EpochsValid(const Subject& s, Findings& f) {
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

constexpr std::string_view kClause = "NeuralNetwork.proto, NetworkUpdateParameters";
constexpr std::string_view kTraining = "Model.proto, ModelDescription.trainingInput";

constexpr Rule kRules[] = {
    {{"COREML-UPDATE-001", Severity::kError,
      "Only networks, nearest neighbours and pipelines can be updated.",
      "Model.proto, Model.isUpdatable", true, ""},
     KindCanBeUpdated},
    {{"COREML-UPDATE-002", Severity::kError, "An updatable network has an updatable layer.",
      kClause, true, ""},
     LayersToUpdate},
    {{"COREML-UPDATE-003", Severity::kError,
      "Updatable layers are convolutions, inner products and LSTMs of one direction.", kClause,
      true, ""},
     UpdatableKinds},
    {{"COREML-UPDATE-013", Severity::kError,
      "Updatable layers are convolutions and inner products.", kClause, false, ""},
     PublishedUpdatableKinds},
    {{"COREML-UPDATE-014", Severity::kWarning,
      "Updatable layers stand in updatable models, outside of loops and branches.",
      "NeuralNetwork.proto, NeuralNetworkLayer.isUpdatable", false, "Clear isUpdatable."},
     NestedNotUpdatable},
    {{"COREML-UPDATE-004", Severity::kError,
      "Weights of updatable layers are marked so and not quantised.",
      "NeuralNetwork.proto, WeightParams.isUpdatable", true, ""},
     UpdatableWeights},
    {{"COREML-UPDATE-005", Severity::kError, "An updatable network has one loss.", kClause, true,
      ""},
     OneLoss},
    {{"COREML-UPDATE-006", Severity::kError,
      "A loss reads a blob of the network, cross entropy that of a softmax.",
      "NeuralNetwork.proto, LossLayer", true, ""},
     LossInputs},
    {{"COREML-UPDATE-015", Severity::kError, "No layer writes the target of a loss.",
      "NeuralNetwork.proto, LossLayer", true, ""},
     LossTargets},
    {{"COREML-UPDATE-007", Severity::kError,
      "Layers between an updatable one and the loss have a gradient.", kClause, true, ""},
     GradientsExist},
    {{"COREML-UPDATE-008", Severity::kError,
      "Names of layers and losses of an updatable network are unique.", kClause, true, ""},
     NamesDistinct},
    {{"COREML-UPDATE-009", Severity::kError,
      "Training inputs hold an input of the model, of its type, and a target.", kTraining, true,
      ""},
     TrainingInputsGiven},
    {{"COREML-UPDATE-016", Severity::kError,
      "Training inputs hold the target of the loss, or the predicted feature of a classifier.",
      kTraining, true, ""},
     TargetsGiven},
    {{"COREML-UPDATE-010", Severity::kError,
      "The optimizer is complete and its defaults are allowed.", "NeuralNetwork.proto, Optimizer",
      true, ""},
     OptimizerComplete},
    {{"COREML-UPDATE-017", Severity::kError, "The default of momentum is in its range.",
      "NeuralNetwork.proto, SGDOptimizer.momentum", false, ""},
     MomentumValid},
    {{"COREML-UPDATE-011", Severity::kError,
      "epochs is given; its default and that of seed are allowed.", kClause, true, ""},
     EpochsValid},
};

}  // namespace

std::span<const Rule> UpdateRules() {
  return kRules;
}

}  // namespace nn::coreml
