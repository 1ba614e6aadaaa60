// Rules about networks: shape mappings, and which blobs exist when a layer runs.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text/text.h"
#include "formats/coreml/import/import.h"
#include "formats/coreml/import/interface.h"
#include "formats/coreml/roles.h"
#include "validators/coreml/layers/shapes.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

bool HasArrayInput(const NetworkAt& n) {
  const auto& inputs = n.model->description().input();
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const auto& input) { return input.type().has_multiarraytype(); });
}

void MappingFitsLayers(const RuleContext& s, Findings& f) {
  for (const NetworkAt& n : s.networks())
    if (HasArrayInput(n) && !n.exact_arrays && (n.has_new_layers || n.exact_images))
      f.Add(
          At(n.path + ".arrayInputShapeMapping"), "RANK5_ARRAY_MAPPING cannot be used with {}",
          n.has_new_layers ? "layers of specification version 4 or later" : "RANK4_IMAGE_MAPPING");
}

bool IsRank1Or3(int rank) {
  return rank == 1 || rank == 3;
}

// Whether an array can be mapped to five axes.
bool FitsRank5(const pb::ArrayFeatureType& a) {
  if (!a.shape().empty()) return IsRank1Or3(a.shape_size());
  if (a.has_shaperange()) return IsRank1Or3(a.shaperange().sizeranges_size());
  for (const auto& shape : a.enumeratedshapes().shapes())
    if (!IsRank1Or3(shape.shape_size())) return false;
  return a.has_enumeratedshapes();
}

// Calls visit(array, path, name) for the array inputs of networks.
template <typename Visit>
void EachArrayInput(const RuleContext& s, bool exact_ranks, const Visit& visit) {
  for (const NetworkAt& n : s.networks()) {
    if (n.exact_ranks() != exact_ranks) continue;
    const auto& inputs = n.model->description().input();
    for (int i = 0; i < inputs.size(); ++i)
      if (inputs.Get(i).type().has_multiarraytype())
        visit(inputs.Get(i).type().multiarraytype(),
              fmt::format("{}description.input[{}]", n.model->path, i), inputs.Get(i).name());
  }
}

void ArraysFitMapping(const RuleContext& s, Findings& f) {
  EachArrayInput(s, false, [&](const auto& array, const std::string& path, const auto& name) {
    if (!FitsRank5(array))
      f.Add(At(path), "input {} has rank {}; RANK5_ARRAY_MAPPING requires rank 1 or 3", Quote(name),
            array.shape_size());
  });
}

void ArraysHaveDefaultShapes(const RuleContext& s, Findings& f) {
  EachArrayInput(s, true, [&](const auto& array, const std::string& path, const auto& name) {
    if (array.shape().empty())
      f.Add(At(path), "input {} has no default shape", Quote(name));
    else if (array.has_shaperange() && array.shaperange().sizeranges_size() != array.shape_size())
      f.Add(At(path), "input {} has a default shape of rank {} but a shapeRange of rank {}",
            Quote(name), array.shape_size(), array.shaperange().sizeranges_size());
  });
}

void LayersPresent(const RuleContext& s, Findings& f) {
  for (const NetworkAt& n : s.networks())
    if (n.layers->empty()) f.Add(At(n.path + ".layers"), "the network has no layers");
}

void FeaturesOfNetworks(const RuleContext& s, Findings& f) {
  for (const NetworkAt& n : s.networks()) {
    const auto check = [&](const Features& list, std::string_view field) {
      for (int i = 0; i < list.size(); ++i) {
        const auto& type = list.Get(i).type();
        if (type.Type_case() != pb::FeatureType::TYPE_NOT_SET && !type.has_imagetype() &&
            !type.has_multiarraytype() && !type.has_statetype())
          f.Add(At(fmt::format("{}description.{}[{}]", n.model->path, field, i)),
                "{} is not an array, image or state", Quote(list.Get(i).name()));
      }
    };
    check(n.model->description().input(), "input");
    if (n.model->model->has_neuralnetwork()) check(n.model->description().output(), "output");
  }
}

void InputsDefined(const RuleContext& s, Findings& f) {
  for (const NetworkAt& n : s.networks())
    for (const auto& fault : n.faults.missing) {
      const LayerAt& at = s.layers()[fault.layer];
      f.Add(Where(at, fmt::format("input[{}]", fault.input)),
            "{} reads {}, which is neither an input nor written by an earlier layer", Title(at),
            Quote(at.layer->input(fault.input)));
    }
}

void OutputsUnique(const RuleContext& s, Findings& f) {
  for (const NetworkAt& n : s.networks())
    for (const auto& fault : n.faults.repeated) {
      const LayerAt& at = s.layers()[fault.layer];
      f.Add(Where(at, fmt::format("output[{}]", fault.output)), "{} writes {}, {}", Title(at),
            Quote(at.layer->output(fault.output)),
            fault.first == kInputLayer ? "which is an input of the model"
                                       : "which layer " + Quote(fault.first) + " also writes");
    }
}

// Outputs that a classifier provides without a layer that writes them.
bool IsPredicted(const pb::ModelDescription& d, const std::string& name) {
  return name == d.predictedfeaturename() || name == d.predictedprobabilitiesname();
}

void CheckProduced(const RuleContext& s, Findings& f, bool of_regressors) {
  for (const NetworkAt& n : s.networks()) {
    if (n.model->model->has_neuralnetworkregressor() != of_regressors) continue;
    const bool plain = n.model->model->has_neuralnetwork();
    const auto& d = n.model->description();
    std::unordered_set<std::string_view> seen;
    for (int i = 0; i < d.output_size(); ++i) {
      const std::string& name = d.output(i).name();
      const Location where = At(fmt::format("{}description.output[{}]", n.model->path, i));
      if (!plain && !of_regressors && IsPredicted(d, name)) continue;
      if (!name.empty() && !n.written.contains(name))
        f.Add(where, "no layer writes output {}", Quote(name));
      else if (plain && !seen.insert(name).second)
        f.Add(where, "output {} is listed more than once", Quote(name));
    }
  }
}

void OutputsProduced(const RuleContext& s, Findings& f) {
  CheckProduced(s, f, false);
}

void RegressionsProduced(const RuleContext& s, Findings& f) {
  CheckProduced(s, f, true);
}

void ProbabilitiesProduced(const RuleContext& s, Findings& f) {
  for (const NetworkAt& n : s.networks()) {
    const std::string& name = n.model->model->neuralnetworkclassifier().labelprobabilitylayername();
    if (!name.empty() && !n.written.contains(name))
      f.Add(At(n.path + ".labelProbabilityLayerName"), "no layer writes {}", Quote(name));
  }
}

// Calls visit(graph, path) for the classifier of the file as a graph, if it can be imported.
template <typename Visit>
void WithClassifier(const RuleContext& s, const Visit& visit) {
  if (!s.proto().has_neuralnetworkclassifier()) return;
  if (const auto imported = CoremlImporter().Import(s.native()))
    visit(imported->graph, s.networks().front().path);
}

void OneScoreForEachLabel(const RuleContext& s, Findings& f) {
  WithClassifier(s, [&](const Graph& graph, const std::string& path) {
    if (const std::string fault = ScoresFault(graph); !fault.empty()) f.Add(At(path), "{}", fault);
  });
}

void ScoresOfOneSample(const RuleContext& s, Findings& f) {
  WithClassifier(s, [&](const Graph& graph, const std::string& path) {
    if (const std::string why = BatchOfScores(graph); !why.empty()) f.Add(At(path), "{}", why);
  });
}

void LayerNamesUnique(const RuleContext& s, Findings& f) {
  std::unordered_map<const NetworkAt*, std::unordered_set<std::string_view>> seen;
  for (const LayerAt& at : s.layers())
    if (!at.layer->name().empty() && !seen[at.network].insert(at.layer->name()).second)
      f.Add(Where(at, "name"), "another layer is already named {}", Quote(at.layer->name()));
}

void PreprocessingOfImages(const RuleContext& s, Findings& f) {
  for (const NetworkAt& n : s.networks())
    for (int i = 0; i < n.preprocessing->size(); ++i) {
      const std::string& name = n.preprocessing->Get(i).featurename();
      bool found = name.empty();
      for (const auto& input : n.model->description().input())
        found = found || (input.name() == name && input.type().has_imagetype());
      if (!found)
        f.Add(At(fmt::format("{}.preprocessing[{}].featureName", n.path, i)),
              "the model has no image input {}", Quote(name));
    }
}

void SizesAgree(const RuleContext& s, Findings& f) {
  for (const NetworkAt& n : s.networks()) {
    if (n.exact_ranks() || !n.faults.missing.empty() || !n.faults.repeated.empty()) continue;
    const auto fault = FindShapeFault(n);
    if (!fault) continue;
    if (fault->layer < 0)
      f.Add(At(n.model->path + "description"), "{}", fault->message);
    else
      f.Add(At(fmt::format("{}.layers[{}]", n.path, fault->layer), fault->layer), "layer {} {}: {}",
            fault->layer, Quote(n.layers->Get(fault->layer).name()), fault->message);
  }
}

constexpr std::string_view kNetworkClause = "NeuralNetwork.proto, NeuralNetwork";
constexpr std::string_view kMapping = "NeuralNetwork.proto, NeuralNetworkMultiArrayShapeMapping";

constexpr Rule kNetworkRules[] = {
    {.info = {.id = "COREML-NN-001",
              .statement = "A network with array inputs and RANK5_ARRAY_MAPPING has only layers of "
                           "specification versions 1 to 3 and does not use RANK4_IMAGE_MAPPING.",
              .clause = kMapping,
              .vendor = true,
              .hint = "Set arrayInputShapeMapping to EXACT_ARRAY_MAPPING."},
     .check = MappingFitsLayers},
    {.info = {.id = "COREML-NN-002",
              .statement =
                  "The array inputs of a network with RANK5_ARRAY_MAPPING have rank 1 or 3.",
              .clause = kMapping,
              .vendor = true,
              .hint = "Set arrayInputShapeMapping to EXACT_ARRAY_MAPPING, or change the input to "
                      "rank 1 or 3."},
     .check = ArraysFitMapping},
    {.info = {.id = "COREML-NN-011",
              .statement = "In a network with EXACT_ARRAY_MAPPING, RANK4_IMAGE_MAPPING or layers "
                           "of specification version 4 or later, an array input has a default "
                           "shape, and its shapeRange has the same rank.",
              .clause = kMapping,
              .vendor = true,
              .hint = "Set the shape of the input, with as many sizes as shapeRange has ranges."},
     .check = ArraysHaveDefaultShapes},
    {.info = {.id = "COREML-NN-003",
              .statement = "A neural network has at least one layer.",
              .clause = kNetworkClause,
              .vendor = true,
              .hint = "Add a layer, for example a linear activation with alpha 1 to pass an input "
                      "through."},
     .check = LayersPresent},
    {.info = {.id = "COREML-NN-004",
              .statement = "The inputs of neural networks, and the outputs of networks that are "
                           "neither classifiers nor regressors, are arrays, images or states.",
              .clause = kNetworkClause,
              .vendor = true,
              .hint = "Change the type of the feature to multiArrayType or imageType."},
     .check = FeaturesOfNetworks},
    {.info = {.id = "COREML-NN-005",
              .statement = "Each blob that a layer reads is an input of the network or is written "
                           "by an earlier layer.",
              .clause = kNetworkClause,
              .vendor = true,
              .hint = "Sort the layers so that each blob is written before it is read; if there is "
                      "no such order, the network has a cycle."},
     .check = InputsDefined},
    {.info = {.id = "COREML-NN-006",
              .statement = "Only copy layers write a blob that is an input of the network or that "
                           "an earlier layer has written.",
              .clause = kNetworkClause,
              .vendor = true,
              .hint = "Rename the output of the second layer."},
     .check = OutputsUnique},
    {.info = {.id = "COREML-NN-007",
              .statement = "The outputs of a neural network or neural network classifier, except "
                           "for the predicted feature and its probabilities, are written by "
                           "layers, and a network that is not a classifier lists each output once.",
              .clause = kNetworkClause,
              .vendor = true,
              .hint = "Rename the output to a blob that a layer writes, and list it once."},
     .check = OutputsProduced},
    {.info = {.id = "COREML-NN-012",
              .statement = "The outputs of a neural network regressor are written by layers.",
              .clause = kNetworkClause,
              .hint = "Rename the output to a blob that a layer writes."},
     .check = RegressionsProduced},
    {.info = {.id = "COREML-NN-008",
              .statement = "The labelProbabilityLayerName of a neural network classifier, if set, "
                           "names a blob that a layer writes.",
              .clause = "NeuralNetwork.proto, NeuralNetworkClassifier.labelProbabilityLayerName",
              .vendor = true,
              .hint = "Set labelProbabilityLayerName to the output of the layer that computes the "
                      "probabilities."},
     .check = ProbabilitiesProduced},
    {.info = {.id = "COREML-NN-013",
              .statement = "A neural network classifier computes one score for each class label.",
              .clause = "NeuralNetwork.proto, NeuralNetworkClassifier.labelProbabilityLayerName",
              .hint = "Give the labels of all scores, or correct the layers that compute them."},
     .check = OneScoreForEachLabel},
    {.info = {.id = "COREML-NN-014",
              .severity = Severity::kWarning,
              .statement = "The number of scores of a neural network classifier does not depend on "
                           "the shapes of its inputs: it classifies one sample at a time.",
              .clause = "NeuralNetwork.proto, NeuralNetworkClassifier.labelProbabilityLayerName",
              .hint = "Fix the first size of the inputs at 1; for batches, make the model a plain "
                      "neural network with an array of scores."},
     .check = ScoresOfOneSample},
    {.info = {.id = "COREML-NN-009",
              .severity = Severity::kWarning,
              .statement = "No two layers of a network have the same non-empty name.",
              .clause = "NeuralNetwork.proto, NeuralNetworkLayer.name",
              .hint = "Rename one of the layers."},
     .check = LayerNamesUnique},
    {.info = {.id = "COREML-SHAPE-001",
              .severity = Severity::kWarning,
              .statement = "In a network whose blobs have rank 5, the sizes that follow from the "
                           "inputs, the layers and the outputs agree.",
              .clause = "NeuralNetwork.proto, NeuralNetworkLayer",
              .vendor = true,
              .hint = "Correct the parameters of the layer, or the sizes of the inputs and outputs "
                      "in the description."},
     .check = SizesAgree},
    {.info = {.id = "COREML-NN-010",
              .statement =
                  "The featureName of a preprocessing entry is empty or names an image input.",
              .clause = "NeuralNetwork.proto, NeuralNetworkPreprocessing",
              .hint = "Set featureName to the name of an image input, or remove the entry."},
     .check = PreprocessingOfImages},
};

}  // namespace

std::span<const Rule> NetworkRules() {
  return kNetworkRules;
}

}  // namespace nn::coreml
