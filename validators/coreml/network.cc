// Rules of networks: shape mappings, and which blobs there are when a layer runs.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "validators/coreml/rules.h"
#include "validators/coreml/shapes.h"

namespace nn::coreml {
namespace {

bool HasArrayInput(const NetworkAt& n) {
  const auto& inputs = n.model->description().input();
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const auto& input) { return input.type().has_multiarraytype(); });
}

void MappingFitsLayers(const Subject& s, Findings& f) {
  for (const NetworkAt& n : s.networks())
    if (HasArrayInput(n) && !n.exact_arrays && (n.has_new_layers || n.exact_images))
      f.Add(
          At(n.path + ".arrayInputShapeMapping"), "RANK5_ARRAY_MAPPING goes not together with {}",
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
void EachArrayInput(const Subject& s, bool exact_ranks, const Visit& visit) {
  for (const NetworkAt& n : s.networks()) {
    if (n.exact_ranks() != exact_ranks) continue;
    const auto& inputs = n.model->description().input();
    for (int i = 0; i < inputs.size(); ++i)
      if (inputs.Get(i).type().has_multiarraytype())
        visit(inputs.Get(i).type().multiarraytype(),
              fmt::format("{}description.input[{}]", n.model->path, i), inputs.Get(i).name());
  }
}

void ArraysFitMapping(const Subject& s, Findings& f) {
  EachArrayInput(s, false, [&](const auto& array, const std::string& path, const auto& name) {
    if (!FitsRank5(array))
      f.Add(At(path), "input {} is of rank {}; RANK5_ARRAY_MAPPING takes rank 1 and 3", Quote(name),
            array.shape_size());
  });
}

void ArraysHaveDefaultShapes(const Subject& s, Findings& f) {
  EachArrayInput(s, true, [&](const auto& array, const std::string& path, const auto& name) {
    if (array.shape().empty())
      f.Add(At(path), "input {} has no default shape", Quote(name));
    else if (array.has_shaperange() && array.shaperange().sizeranges_size() != array.shape_size())
      f.Add(At(path), "input {} has a shape of rank {} and a range of rank {}", Quote(name),
            array.shape_size(), array.shaperange().sizeranges_size());
  });
}

void LayersPresent(const Subject& s, Findings& f) {
  for (const NetworkAt& n : s.networks())
    if (n.layers->empty()) f.Add(At(n.path + ".layers"), "the network has no layers");
}

void FeaturesOfNetworks(const Subject& s, Findings& f) {
  for (const NetworkAt& n : s.networks()) {
    const auto check = [&](const Features& list, std::string_view field) {
      for (int i = 0; i < list.size(); ++i) {
        const auto& type = list.Get(i).type();
        if (type.Type_case() != pb::FeatureType::TYPE_NOT_SET && !type.has_imagetype() &&
            !type.has_multiarraytype() && !type.has_statetype())
          f.Add(At(fmt::format("{}description.{}[{}]", n.model->path, field, i)),
                "{} is no array, image or state", Quote(list.Get(i).name()));
      }
    };
    check(n.model->description().input(), "input");
    if (n.model->model->has_neuralnetwork()) check(n.model->description().output(), "output");
  }
}

void InputsDefined(const Subject& s, Findings& f) {
  for (const NetworkAt& n : s.networks())
    for (const auto& fault : n.faults.missing) {
      const LayerAt& at = s.layers()[fault.layer];
      f.Add(Where(at, fmt::format("input[{}]", fault.input)),
            "{} reads {}, which nothing before it writes", Title(at),
            Quote(at.layer->input(fault.input)));
    }
}

void OutputsUnique(const Subject& s, Findings& f) {
  for (const NetworkAt& n : s.networks())
    for (const auto& fault : n.faults.repeated) {
      const LayerAt& at = s.layers()[fault.layer];
      f.Add(Where(at, fmt::format("output[{}]", fault.output)), "{} writes {}, {}", Title(at),
            Quote(at.layer->output(fault.output)),
            fault.first == kInputLayer ? "which is an input of the model"
                                       : "as layer " + Quote(fault.first) + " did");
    }
}

// Names that a classifier or regressor gives without a layer of theirs.
bool IsPredicted(const pb::ModelDescription& d, const std::string& name) {
  return name == d.predictedfeaturename() || name == d.predictedprobabilitiesname();
}

void CheckProduced(const Subject& s, Findings& f, bool of_regressors) {
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
        f.Add(where, "output {} is written by no layer", Quote(name));
      else if (plain && !seen.insert(name).second)
        f.Add(where, "output {} is listed again", Quote(name));
    }
  }
}

void OutputsProduced(const Subject& s, Findings& f) {
  CheckProduced(s, f, false);
}

void RegressionsProduced(const Subject& s, Findings& f) {
  CheckProduced(s, f, true);
}

void ProbabilitiesProduced(const Subject& s, Findings& f) {
  for (const NetworkAt& n : s.networks()) {
    const std::string& name = n.model->model->neuralnetworkclassifier().labelprobabilitylayername();
    if (!name.empty() && !n.written.contains(name))
      f.Add(At(n.path + ".labelProbabilityLayerName"), "no layer writes {}", Quote(name));
  }
}

void NamesUnique(const Subject& s, Findings& f) {
  std::unordered_map<const NetworkAt*, std::unordered_set<std::string_view>> seen;
  for (const LayerAt& at : s.layers())
    if (!at.layer->name().empty() && !seen[at.network].insert(at.layer->name()).second)
      f.Add(Where(at, "name"), "a second layer is named {}", Quote(at.layer->name()));
}

void PreprocessingOfImages(const Subject& s, Findings& f) {
  for (const NetworkAt& n : s.networks())
    for (int i = 0; i < n.preprocessing->size(); ++i) {
      const std::string& name = n.preprocessing->Get(i).featurename();
      bool found = name.empty();
      for (const auto& input : n.model->description().input())
        found = found || (input.name() == name && input.type().has_imagetype());
      if (!found)
        f.Add(At(fmt::format("{}.preprocessing[{}].featureName", n.path, i)),
              "there is no image input {}", Quote(name));
    }
}

void SizesAgree(const Subject& s, Findings& f) {
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

constexpr std::string_view kClause = "NeuralNetwork.proto, NeuralNetwork";
constexpr std::string_view kMapping = "NeuralNetwork.proto, NeuralNetworkMultiArrayShapeMapping";

constexpr Rule kRules[] = {
    {{"COREML-NN-001", Severity::kError,
      "RANK5_ARRAY_MAPPING is used with layers of specification version 1 to 3 only.", kMapping,
      true, "Use EXACT_ARRAY_MAPPING."},
     MappingFitsLayers},
    {{"COREML-NN-002", Severity::kError, "Under RANK5_ARRAY_MAPPING arrays have rank 1 or 3.",
      kMapping, true, "Use EXACT_ARRAY_MAPPING."},
     ArraysFitMapping},
    {{"COREML-NN-011", Severity::kError,
      "Where ranks are exact, array inputs have a default shape, and size ranges its rank.",
      kMapping, true, ""},
     ArraysHaveDefaultShapes},
    {{"COREML-NN-003", Severity::kError, "A network has layers.", kClause, true, ""},
     LayersPresent},
    {{"COREML-NN-004", Severity::kError,
      "Inputs of networks, and outputs of those that neither classify nor regress, are arrays, "
      "images or states.",
      kClause, true, ""},
     FeaturesOfNetworks},
    {{"COREML-NN-005", Severity::kError, "Every blob is written before it is read.", kClause, true,
      "Sort the layers; where that cannot be done there is a cycle."},
     InputsDefined},
    {{"COREML-NN-006", Severity::kError,
      "A blob is written by one layer; only copy layers write it again.", kClause, true,
      "Rename the second output."},
     OutputsUnique},
    {{"COREML-NN-007", Severity::kError,
      "Outputs of networks and of classifiers are written by layers, and listed once.", kClause,
      true, ""},
     OutputsProduced},
    {{"COREML-NN-012", Severity::kError, "Outputs of regressors are written by layers.", kClause,
      false, ""},
     RegressionsProduced},
    {{"COREML-NN-008", Severity::kError, "The probabilities of a classifier are a blob.",
      "NeuralNetwork.proto, NeuralNetworkClassifier.labelProbabilityLayerName", true, ""},
     ProbabilitiesProduced},
    {{"COREML-NN-009", Severity::kWarning, "Names of layers are unique.",
      "NeuralNetwork.proto, NeuralNetworkLayer.name", false, "Rename one of them."},
     NamesUnique},
    {{"COREML-SHAPE-001", Severity::kWarning,
      "In a network of rank 5 sizes that follow from inputs, layers and outputs agree.",
      "NeuralNetwork.proto, NeuralNetworkLayer", true, ""},
     SizesAgree},
    {{"COREML-NN-010", Severity::kError, "Preprocessing belongs to an image input.",
      "NeuralNetwork.proto, NeuralNetworkPreprocessing", false, ""},
     PreprocessingOfImages},
};

}  // namespace

std::span<const Rule> NetworkRules() {
  return kRules;
}

}  // namespace nn::coreml
