// Rules of on-device training.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

bool CanBeUpdated(const pb::Model& model) {
  switch (model.Type_case()) {
    case pb::Model::kNeuralNetwork:
    case pb::Model::kNeuralNetworkClassifier:
    case pb::Model::kNeuralNetworkRegressor:
    case pb::Model::kKNearestNeighborsClassifier:
    case pb::Model::kPipeline:
    case pb::Model::kPipelineClassifier:
    case pb::Model::kPipelineRegressor:
      return true;
    default:
      return false;
  }
}

void KindCanBeUpdated(const Subject& s, Findings& f) {
  for (const auto& m : s.models())
    if (m->model->isupdatable() && !CanBeUpdated(*m->model))
      f.Add(At(m->path + "isUpdatable"), "models of this kind cannot be updated");
}

template <typename Visit>
void EachUpdatable(const Subject& s, const Visit& visit) {
  for (const auto& n : s.networks())
    if (n->model->model->isupdatable()) visit(*n);
}

void LayersToUpdate(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (std::none_of(n.layers->begin(), n.layers->end(),
                     [](const auto& layer) { return layer.isupdatable(); }))
      f.Add(At(n.path + ".layers"), "the model is updatable, none of its layers is");
  });
}

void UpdatableKinds(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.network->model->model->isupdatable() && at.layer->isupdatable() &&
        !at.layer->has_convolution() && !at.layer->has_innerproduct())
      f.Add(Where(at, "isUpdatable"), "{} cannot be updated", Title(at));
}

void UpdatableWeights(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.network->model->model->isupdatable() || !at.layer->isupdatable()) continue;
    const auto check = [&](const auto& p) {
      if (p.weights().has_quantization() || (p.hasbias() && p.bias().has_quantization()))
        f.Add(Where(at), "{} is updatable but quantised", Title(at));
      if (!p.weights().isupdatable() || (p.hasbias() && !p.bias().isupdatable()))
        f.Add(Where(at), "{} is updatable, its weights or bias are not", Title(at));
    };
    if (at.layer->has_convolution()) check(at.layer->convolution());
    if (at.layer->has_innerproduct()) check(at.layer->innerproduct());
  }
}

struct Loss {
  std::string input;
  std::string target;
  bool softmax = false;  // its input is one
};

Loss LossOf(const pb::LossLayer& loss) {
  if (loss.has_categoricalcrossentropylosslayer())
    return {loss.categoricalcrossentropylosslayer().input(),
            loss.categoricalcrossentropylosslayer().target(), true};
  return {loss.meansquarederrorlosslayer().input(), loss.meansquarederrorlosslayer().target()};
}

const pb::NeuralNetworkLayer* WriterOf(const NetworkAt& n, const std::string& blob) {
  for (const auto& layer : *n.layers)
    for (const std::string& output : layer.output())
      if (output == blob) return &layer;
  return nullptr;
}

void OneLoss(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    const int losses = n.update != nullptr ? n.update->losslayers_size() : 0;
    if (losses != 1)
      f.Add(At(n.path + ".updateParams.lossLayers"), "the network has {} losses", losses);
  });
}

void LossInputs(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (n.update == nullptr) return;
    for (int i = 0; i < n.update->losslayers_size(); ++i) {
      const Loss loss = LossOf(n.update->losslayers(i));
      const auto* writer = WriterOf(n, loss.input);
      const Location where = At(fmt::format("{}.updateParams.lossLayers[{}]", n.path, i));
      if (writer == nullptr)
        f.Add(where, "no layer writes {}, which the loss reads", Quote(loss.input));
      else if (loss.softmax && !writer->has_softmax())
        f.Add(where, "{}, which the cross entropy reads, is no softmax", Quote(loss.input));
    }
  });
}

// Layers that training goes back through.
bool HasGradient(const pb::NeuralNetworkLayer& l) {
  return l.has_convolution() || l.has_innerproduct() || l.has_pooling() || l.has_batchnorm() ||
         l.has_flatten() ||
         (l.has_activation() &&
          (l.activation().has_relu() || l.activation().has_tanh() || l.activation().has_sigmoid()));
}

void GradientsExist(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (n.update == nullptr) return;
    for (const auto& update : n.update->losslayers()) {
      const Loss loss = LossOf(update);
      const auto* last = WriterOf(n, loss.input);
      if (last == nullptr) continue;
      bool passed = false;
      for (int i = 0; i < n.layers->size() && &n.layers->Get(i) != last; ++i) {
        const auto& layer = n.layers->Get(i);
        if (passed && !layer.isupdatable() && !HasGradient(layer))
          f.Add(At(fmt::format("{}.layers[{}]", n.path, i), i),
                "layer {} {} stands between an updatable layer and the loss and has no gradient", i,
                Quote(layer.name()));
        passed = passed || layer.isupdatable();
      }
      if (passed && !loss.softmax && !last->isupdatable() && !HasGradient(*last))
        f.Add(At(n.path + ".updateParams.lossLayers"), "{}, which the loss reads, has no gradient",
              Quote(last->name()));
    }
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

void TrainingInputs(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    const auto& d = n.model->description();
    std::set<std::string_view> given;
    for (const auto& input : d.traininginput()) given.insert(input.name());
    bool any = false;
    for (const auto& input : d.input()) any = any || given.contains(input.name());
    if (!any)
      f.Add(At(n.model->path + "description.trainingInput"),
            "no input of the model is among the {} training inputs", given.size());
    if (n.update == nullptr) return;
    for (const auto& update : n.update->losslayers())
      if (const Loss loss = LossOf(update);
          !given.contains(loss.target) && !(n.model->model->has_neuralnetworkclassifier() &&
                                            given.contains(d.predictedfeaturename())))
        f.Add(At(n.model->path + "description.trainingInput"),
              "{}, the target of the loss, is no training input", Quote(loss.target));
  });
}

void CheckInteger(Findings& f, const std::string& path, std::string_view name, bool present,
                  const pb::Int64Parameter& p) {
  const int64_t v = p.defaultvalue();
  const auto& set = p.set().values();
  const bool allowed = p.has_range()
                           ? v >= p.range().minvalue() && v <= p.range().maxvalue()
                           : !p.has_set() || std::find(set.begin(), set.end(), v) != set.end();
  if (!present)
    f.Add(At(path), "{} is missing", name);
  else if (!allowed || v <= 0)
    f.Add(At(path), "{} has the default {}, which is not among its positive allowed values", name,
          v);
}

void CheckReal(Findings& f, const std::string& path, std::string_view name, bool present,
               const pb::DoubleParameter& p, bool required) {
  const double v = p.defaultvalue();
  if (!present) {
    if (required) f.Add(At(path), "{} is missing", name);
  } else if (p.has_range() && !(v >= p.range().minvalue() && v <= p.range().maxvalue())) {
    f.Add(At(path), "{} has the default {}, outside of {} to {}", name, v, p.range().minvalue(),
          p.range().maxvalue());
  }
}

void OptimizerComplete(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    const std::string path = n.path + ".updateParams.optimizer";
    const pb::Optimizer none;
    const pb::Optimizer& o = n.update != nullptr ? n.update->optimizer() : none;
    if (o.has_sgdoptimizer()) {
      const auto& p = o.sgdoptimizer();
      CheckReal(f, path, "learningRate", p.has_learningrate(), p.learningrate(), true);
      CheckInteger(f, path, "miniBatchSize", p.has_minibatchsize(), p.minibatchsize());
      CheckReal(f, path, "momentum", p.has_momentum(), p.momentum(), false);
    } else if (o.has_adamoptimizer()) {
      const auto& p = o.adamoptimizer();
      CheckReal(f, path, "learningRate", p.has_learningrate(), p.learningrate(), true);
      CheckInteger(f, path, "miniBatchSize", p.has_minibatchsize(), p.minibatchsize());
      CheckReal(f, path, "beta1", p.has_beta1(), p.beta1(), false);
      CheckReal(f, path, "beta2", p.has_beta2(), p.beta2(), false);
      CheckReal(f, path, "eps", p.has_eps(), p.eps(), false);
    } else {
      f.Add(At(path), "the network has no optimizer");
    }
  });
}

void EpochsValid(const Subject& s, Findings& f) {
  EachUpdatable(s, [&](const NetworkAt& n) {
    if (n.update != nullptr)
      CheckInteger(f, n.path + ".updateParams.epochs", "epochs", n.update->has_epochs(),
                   n.update->epochs());
  });
}

const pb::Pipeline* PipelineOf(const pb::Model& m) {
  if (m.has_pipeline()) return &m.pipeline();
  if (m.has_pipelineclassifier()) return &m.pipelineclassifier().pipeline();
  return m.has_pipelineregressor() ? &m.pipelineregressor().pipeline() : nullptr;
}

void PipelinesUpdatable(const Subject& s, Findings& f) {
  for (const auto& m : s.models()) {
    const pb::Pipeline* p = PipelineOf(*m->model);
    if (p == nullptr) continue;
    for (int i = 0; i < p->models_size(); ++i) {
      const bool want = m->model->isupdatable() && i == p->models_size() - 1;
      if (p->models(i).isupdatable() != want)
        f.Add(At(fmt::format("{}pipeline.models[{}].isUpdatable", m->path, i)),
              "model {} of {} {} updatable", i, p->models_size(), want ? "is not" : "is");
    }
  }
}

constexpr std::string_view kClause = "NeuralNetwork.proto, NetworkUpdateParameters";

constexpr Rule kRules[] = {
    {{"COREML-UPDATE-001", Severity::kError, "Only models that can be trained are updatable.",
      "Model.proto, Model.isUpdatable", true, ""},
     KindCanBeUpdated},
    {{"COREML-UPDATE-002", Severity::kError, "An updatable network has an updatable layer.",
      kClause, true, ""},
     LayersToUpdate},
    {{"COREML-UPDATE-003", Severity::kError,
      "Updatable layers are convolutions and inner products.", kClause, true, ""},
     UpdatableKinds},
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
    {{"COREML-UPDATE-007", Severity::kError,
      "Layers between an updatable one and the loss have a gradient.", kClause, true, ""},
     GradientsExist},
    {{"COREML-UPDATE-008", Severity::kError,
      "Names of layers and losses of an updatable network are unique.", kClause, true, ""},
     NamesDistinct},
    {{"COREML-UPDATE-009", Severity::kError,
      "Training inputs hold an input of the model and the target of the loss.",
      "Model.proto, ModelDescription.trainingInput", true, ""},
     TrainingInputs},
    {{"COREML-UPDATE-010", Severity::kError,
      "The optimizer is complete and its defaults are allowed.", "NeuralNetwork.proto, Optimizer",
      true, ""},
     OptimizerComplete},
    {{"COREML-UPDATE-011", Severity::kError, "epochs is given and its default is allowed.", kClause,
      true, ""},
     EpochsValid},
    {{"COREML-UPDATE-012", Severity::kError,
      "Of a pipeline the last model is updatable, and only if the pipeline is.",
      "Model.proto, Pipeline", true, ""},
     PipelinesUpdatable},
};

}  // namespace

std::span<const Rule> UpdateRules() {
  return kRules;
}

}  // namespace nn::coreml
