// Rules of networks: shape mappings, and which blobs there are when a layer runs.
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

constexpr std::string_view kInputLayer = "the model's inputs";

bool HasArrayInput(const NetworkAt& n) {
  for (const auto& input : n.model->description().input())
    if (input.type().has_multiarraytype()) return true;
  return false;
}

void MappingFitsLayers(const Subject& s, Findings& f) {
  for (const auto& n : s.networks())
    if (HasArrayInput(*n) && !n->exact_arrays && (n->has_new_layers || n->exact_images))
      f.Add(
          At(n->path + ".arrayInputShapeMapping"), "RANK5_ARRAY_MAPPING goes not together with {}",
          n->has_new_layers ? "layers of specification version 4 or later" : "RANK4_IMAGE_MAPPING");
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

void ArraysFitMapping(const Subject& s, Findings& f) {
  for (const auto& n : s.networks()) {
    if (n->exact_ranks()) continue;
    const auto& inputs = n->model->description().input();
    for (int i = 0; i < inputs.size(); ++i)
      if (inputs.Get(i).type().has_multiarraytype() &&
          !FitsRank5(inputs.Get(i).type().multiarraytype()))
        f.Add(At(fmt::format("{}description.input[{}]", n->model->path, i)),
              "input {} is of rank {}; RANK5_ARRAY_MAPPING takes rank 1 and 3",
              Quote(inputs.Get(i).name()), inputs.Get(i).type().multiarraytype().shape_size());
  }
}

void LayersPresent(const Subject& s, Findings& f) {
  for (const auto& n : s.networks())
    if (n->layers->empty()) f.Add(At(n->path + ".layers"), "the network has no layers");
}

void FeaturesOfNetworks(const Subject& s, Findings& f) {
  for (const auto& n : s.networks()) {
    const auto check = [&](const Features& list, std::string_view field) {
      for (int i = 0; i < list.size(); ++i) {
        const auto& type = list.Get(i).type();
        if (type.Type_case() != pb::FeatureType::TYPE_NOT_SET && !type.has_imagetype() &&
            !type.has_multiarraytype() && !type.has_statetype())
          f.Add(At(fmt::format("{}description.{}[{}]", n->model->path, field, i)),
                "{} is no array, image or state", Quote(list.Get(i).name()));
      }
    };
    check(n->model->description().input(), "input");
    if (n->model->model->has_neuralnetwork()) check(n->model->description().output(), "output");
  }
}

// Walks a network in the order of execution and knows the blobs that there are. Branches start from
// the same blobs; what both of them write is there afterwards.
class Flow {
 public:
  using OnMissing = void (*)(Findings& f, const LayerAt& at, int input);
  using OnRepeated = void (*)(Findings& f, const LayerAt& at, int output, const std::string& first);

  Flow(const Subject& s, Findings& f, OnMissing missing, OnRepeated repeated)
      : subject_(s), findings_(f), missing_(missing), repeated_(repeated) {}

  void Run(const NetworkAt& network) {
    blobs_.clear();
    for (const auto& input : network.model->description().input())
      blobs_.emplace(input.name(), kInputLayer);
    for (const auto& input : network.model->description().state())
      blobs_.emplace(input.name(), kInputLayer);
    Walk(*network.layers);
  }

  bool Has(const std::string& blob) const { return blobs_.contains(blob); }

 private:
  void Walk(const Layers& layers) {
    for (int i = 0; i < layers.size(); ++i) {
      const LayerAt& at = subject_.layers()[next_++];
      if (at.layer->has_loop()) {
        Walk(at.layer->loop().conditionnetwork().layers());
        Walk(at.layer->loop().bodynetwork().layers());
      } else if (at.layer->has_branch()) {
        const auto first = WalkBranch(at.layer->branch().ifbranch().layers());
        const auto second = WalkBranch(at.layer->branch().elsebranch().layers());
        for (const std::string& blob : first)
          if (second.contains(blob)) Add(blob, "a branch");
      }
      for (int k = 0; k < at.layer->input_size(); ++k)
        if (missing_ != nullptr && !Has(at.layer->input(k))) missing_(findings_, at, k);
      for (int k = 0; k < at.layer->output_size(); ++k) Define(at, k);
    }
  }

  // The blobs that a branch adds; they are taken away again.
  std::unordered_set<std::string> WalkBranch(const Layers& layers) {
    const auto mark = static_cast<std::ptrdiff_t>(added_.size());
    Walk(layers);
    std::unordered_set<std::string> own(added_.begin() + mark, added_.end());
    for (const std::string& blob : own) blobs_.erase(blob);
    added_.resize(static_cast<size_t>(mark));
    return own;
  }

  void Define(const LayerAt& at, int output) {
    const std::string& blob = at.layer->output(output);
    const auto found = blobs_.find(blob);
    if (found == blobs_.end())
      Add(blob, Title(at));
    else if (repeated_ != nullptr && !at.layer->has_copy())
      repeated_(findings_, at, output, found->second);
  }

  void Add(const std::string& blob, std::string writer) {
    if (blobs_.emplace(blob, std::move(writer)).second) added_.push_back(blob);
  }

  const Subject& subject_;
  Findings& findings_;
  OnMissing missing_;
  OnRepeated repeated_;
  size_t next_ = 0;
  std::unordered_map<std::string, std::string> blobs_;
  std::vector<std::string> added_;
};

void InputsDefined(const Subject& s, Findings& f) {
  Flow flow(
      s, f,
      [](Findings& findings, const LayerAt& at, int i) {
        findings.Add(Where(at, fmt::format("input[{}]", i)),
                     "{} reads {}, which nothing before it writes", Title(at),
                     Quote(at.layer->input(i)));
      },
      nullptr);
  for (const auto& n : s.networks()) flow.Run(*n);
}

void OutputsUnique(const Subject& s, Findings& f) {
  Flow flow(s, f, nullptr,
            [](Findings& findings, const LayerAt& at, int i, const std::string& first) {
              findings.Add(Where(at, fmt::format("output[{}]", i)), "{} writes {}, as {} did",
                           Title(at), Quote(at.layer->output(i)), first);
            });
  for (const auto& n : s.networks()) flow.Run(*n);
}

void OutputsProduced(const Subject& s, Findings& f) {
  Flow flow(s, f, nullptr, nullptr);
  for (const auto& n : s.networks()) {
    flow.Run(*n);
    const auto& d = n->model->description();
    for (int i = 0; i < d.output_size(); ++i) {
      const std::string& name = d.output(i).name();
      const bool predicted =
          !n->model->model->has_neuralnetwork() &&
          (name == d.predictedfeaturename() || name == d.predictedprobabilitiesname());
      if (!predicted && !name.empty() && !flow.Has(name))
        f.Add(At(fmt::format("{}description.output[{}]", n->model->path, i)),
              "output {} is written by no layer", Quote(name));
    }
  }
}

void ProbabilitiesProduced(const Subject& s, Findings& f) {
  Flow flow(s, f, nullptr, nullptr);
  for (const auto& n : s.networks()) {
    flow.Run(*n);
    if (!n->model->model->has_neuralnetworkclassifier()) continue;
    const auto& classifier = n->model->model->neuralnetworkclassifier();
    const std::string& name = classifier.labelprobabilitylayername();
    if (!name.empty() && !flow.Has(name))
      f.Add(At(n->path + ".labelProbabilityLayerName"), "no layer writes {}", Quote(name));
    if (classifier.stringclasslabels().vector_size() +
            classifier.int64classlabels().vector_size() ==
        0)
      f.Add(At(n->path), "the classifier has no class labels");
  }
}

void NamesUnique(const Subject& s, Findings& f) {
  std::unordered_map<const NetworkAt*, std::unordered_set<std::string_view>> seen;
  for (const LayerAt& at : s.layers())
    if (!at.layer->name().empty() && !seen[at.network].insert(at.layer->name()).second)
      f.Add(Where(at, "name"), "a second layer is named {}", Quote(at.layer->name()));
}

void PreprocessingOfImages(const Subject& s, Findings& f) {
  for (const auto& n : s.networks())
    for (int i = 0; i < n->preprocessing->size(); ++i) {
      const std::string& name = n->preprocessing->Get(i).featurename();
      bool found = name.empty();
      for (const auto& input : n->model->description().input())
        found = found || (input.name() == name && input.type().has_imagetype());
      if (!found)
        f.Add(At(fmt::format("{}.preprocessing[{}].featureName", n->path, i)),
              "there is no image input {}", Quote(name));
    }
}

constexpr std::string_view kClause = "NeuralNetwork.proto, NeuralNetwork";

constexpr Rule kRules[] = {
    {{"COREML-NN-001", Severity::kError,
      "RANK5_ARRAY_MAPPING is used with layers of specification version 1 to 3 only.",
      "NeuralNetwork.proto, NeuralNetworkMultiArrayShapeMapping", true, "Use EXACT_ARRAY_MAPPING."},
     MappingFitsLayers},
    {{"COREML-NN-002", Severity::kError, "Under RANK5_ARRAY_MAPPING arrays have rank 1 or 3.",
      "NeuralNetwork.proto, NeuralNetworkMultiArrayShapeMapping", true, "Use EXACT_ARRAY_MAPPING."},
     ArraysFitMapping},
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
    {{"COREML-NN-007", Severity::kError, "Outputs of the model are written by layers.", kClause,
      true, ""},
     OutputsProduced},
    {{"COREML-NN-008", Severity::kError,
      "A classifier has class labels, and its probabilities are a blob.",
      "NeuralNetwork.proto, NeuralNetworkClassifier", true, ""},
     ProbabilitiesProduced},
    {{"COREML-NN-009", Severity::kWarning, "Names of layers are unique.",
      "NeuralNetwork.proto, NeuralNetworkLayer.name", false, "Rename one of them."},
     NamesUnique},
    {{"COREML-NN-010", Severity::kError, "Preprocessing belongs to an image input.",
      "NeuralNetwork.proto, NeuralNetworkPreprocessing", true, ""},
     PreprocessingOfImages},
};

}  // namespace

std::span<const Rule> NetworkRules() {
  return kRules;
}

}  // namespace nn::coreml
