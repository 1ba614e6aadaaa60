// Rules of models that are neither networks nor programs.
#include <algorithm>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using Neighbours = pb::KNearestNeighborsClassifier;

// Kinds that do without an input, or that other rules check.
bool MayMissInputs(pb::Model::TypeCase kind) {
  switch (kind) {
    case pb::Model::TYPE_NOT_SET:
    case pb::Model::kImputer:
    case pb::Model::kNeuralNetwork:
    case pb::Model::kNeuralNetworkClassifier:
    case pb::Model::kNeuralNetworkRegressor:
    case pb::Model::kMlProgram:
    case pb::Model::kSerializedModel:
    case pb::Model::kTreeEnsembleClassifier:
    case pb::Model::kTreeEnsembleRegressor:
    case pb::Model::kPipeline:
    case pb::Model::kPipelineClassifier:
    case pb::Model::kPipelineRegressor:
    case pb::Model::kItemSimilarityRecommender:
    case pb::Model::kIdentity:
      return true;
    default:
      return false;
  }
}

void InputsGiven(const Subject& s, Findings& f) {
  for (const auto& m : s.models()) {
    if (MayMissInputs(m->model->Type_case())) continue;
    for (int i = 0; i < m->description().input_size(); ++i)
      if (m->description().input(i).type().isoptional())
        f.Add(At(fmt::format("{}description.input[{}]", m->path, i)),
              "input {} is optional, which this kind of model does not allow",
              Quote(m->description().input(i).name()));
  }
}

template <typename Visit>
void EachNeighbours(const Subject& s, const Visit& visit) {
  for (const auto& m : s.models())
    if (m->model->has_knearestneighborsclassifier())
      visit(m->model->knearestneighborsclassifier(), m->path + "kNearestNeighborsClassifier");
}

void NeighbourCount(const Subject& s, Findings& f) {
  EachNeighbours(s, [&](const Neighbours& n, const std::string& path) {
    const auto& count = n.numberofneighbors();
    const int64_t value = count.defaultvalue();
    const Location where = At(path + ".numberOfNeighbors");
    if (value <= 0) f.Add(where, "the number of neighbours is {}", value);
    if (count.has_set()) {
      const auto& values = count.set().values();
      const auto bad = std::find_if(values.begin(), values.end(), [](int64_t v) { return v <= 0; });
      if (bad != values.end()) f.Add(where, "the number of neighbours may become {}", *bad);
      if (std::find(values.begin(), values.end(), value) == values.end())
        f.Add(where, "the number of neighbours, {}, is not in its set of values", value);
    } else if (count.has_range()) {
      const auto& range = count.range();
      if (range.minvalue() <= 0 || value < range.minvalue() || value > range.maxvalue())
        f.Add(where, "the number of neighbours, {}, has a range of {} to {}", value,
              range.minvalue(), range.maxvalue());
    }
  });
}

void NeighbourMethods(const Subject& s, Findings& f) {
  EachNeighbours(s, [&](const Neighbours& n, const std::string& path) {
    const auto& index = n.nearestneighborsindex();
    const auto need = [&](bool present, std::string_view what) {
      if (!present) f.Add(At(path), "the classifier has no {}", what);
    };
    need(n.WeightingScheme_case() != Neighbours::WEIGHTINGSCHEME_NOT_SET, "weighting scheme");
    need(index.has_linearindex() || index.has_singlekdtreeindex(), "index type");
    need(index.has_squaredeuclideandistance(), "distance function");
    if (index.has_singlekdtreeindex() && index.singlekdtreeindex().leafsize() <= 0)
      f.Add(At(path + ".nearestNeighborsIndex.singleKdTreeIndex"), "the leaf size is {}",
            index.singlekdtreeindex().leafsize());
  });
}

int LabelCount(const Neighbours& n) {
  return std::max(n.stringclasslabels().vector_size(), n.int64classlabels().vector_size());
}

void NeighbourLabels(const Subject& s, Findings& f) {
  EachNeighbours(s, [&](const Neighbours& n, const std::string& path) {
    const auto fallback = n.DefaultClassLabel_case();
    if (fallback == Neighbours::DEFAULTCLASSLABEL_NOT_SET && LabelCount(n) == 0)
      f.Add(At(path), "there are neither class labels nor a default one");
    if ((fallback == Neighbours::kDefaultStringLabel && n.has_int64classlabels()) ||
        (fallback == Neighbours::kDefaultInt64Label && n.has_stringclasslabels()))
      f.Add(At(path), "the class labels and the default one differ in type");
  });
}

void NeighbourSamples(const Subject& s, Findings& f) {
  EachNeighbours(s, [&](const Neighbours& n, const std::string& path) {
    const auto& index = n.nearestneighborsindex();
    const std::string list = path + ".nearestNeighborsIndex.floatSamples";
    if (index.floatsamples_size() != LabelCount(n))
      f.Add(At(list), "{} samples have {} labels", index.floatsamples_size(), LabelCount(n));
    for (int i = 0; i < index.floatsamples_size(); ++i) {
      const uint64_t size = s.SizeOf(index.floatsamples(i), pb::FloatVector::kVectorFieldNumber);
      if (size != static_cast<uint64_t>(std::max(index.numberofdimensions(), 0)))
        f.Add(At(fmt::format("{}[{}]", list, i)), "sample {} has {} numbers, not {}", i, size,
              index.numberofdimensions());
    }
  });
}

constexpr Rule kRules[] = {
    {{"COREML-KIND-001", Severity::kError,
      "Inputs are not optional, but of networks, programs, pipelines, tree ensembles, imputers, "
      "recommenders and identities.",
      "FeatureTypes.proto, FeatureType.isOptional", true, ""},
     InputsGiven},
    {{"COREML-KIND-002", Severity::kError,
      "The number of neighbours is positive, and among the values that it may have.",
      "NearestNeighbors.proto, KNearestNeighborsClassifier.numberOfNeighbors", true, ""},
     NeighbourCount},
    {{"COREML-KIND-003", Severity::kError,
      "A nearest-neighbour classifier states its weighting, index and distance; leaves of a k-d "
      "tree hold samples.",
      "NearestNeighbors.proto", true, ""},
     NeighbourMethods},
    {{"COREML-KIND-004", Severity::kError,
      "A nearest-neighbour classifier has labels or a default one, of one type.",
      "NearestNeighbors.proto, KNearestNeighborsClassifier.DefaultClassLabel", true, ""},
     NeighbourLabels},
    {{"COREML-KIND-005", Severity::kError,
      "Samples have the stated number of dimensions, and a label each.",
      "NearestNeighbors.proto, NearestNeighborsIndex", true, ""},
     NeighbourSamples},
};

}  // namespace

std::span<const Rule> KindRules() {
  return kRules;
}

}  // namespace nn::coreml
