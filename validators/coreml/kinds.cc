// Rules of models that are neither networks nor programs.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "validators/coreml/interface.h"
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
  for (const ModelAt& m : s.models()) {
    if (MayMissInputs(m.model->Type_case())) continue;
    for (int i = 0; i < m.description().input_size(); ++i)
      if (m.description().input(i).type().isoptional())
        f.Add(At(fmt::format("{}description.input[{}]", m.path, i)),
              "input {} is optional, which this kind of model does not allow",
              Quote(m.description().input(i).name()));
  }
}

using T = pb::FeatureType;

// What a kind takes and gives.
struct KindRule {
  FeatureRule input;
  FeatureRule output;
};

const FeatureRule kAnyNumbers = {0, {T::kInt64Type, T::kDoubleType, T::kMultiArrayType}};
const FeatureRule kOneArray = {1, {T::kMultiArrayType}};
const FeatureRule kOneString = {1, {T::kStringType}};
const FeatureRule kOneDictionary = {1, {T::kDictionaryType}};
const FeatureRule kOneNumber = {1, {T::kInt64Type, T::kDoubleType, T::kMultiArrayType}};
const FeatureRule kOneImputed = {
    1, {T::kInt64Type, T::kDoubleType, T::kMultiArrayType, T::kStringType, T::kDictionaryType}};
const FeatureRule kAnyVectors = {
    0, {T::kInt64Type, T::kDoubleType, T::kMultiArrayType, T::kDictionaryType}};

KindRule RuleOfMapping(const pb::CategoricalMapping& p) {
  const auto one = [](T::TypeCase type) { return FeatureRule{1, {type, T::kSequenceType}}; };
  if (p.has_stringtoint64map()) return {one(T::kStringType), one(T::kInt64Type)};
  return {one(T::kInt64Type), one(T::kStringType)};
}

KindRule RuleOfPrint(const pb::VisionFeaturePrint& p) {
  return {{1, {T::kImageType}}, {p.has_objects() ? 2 : 1, {T::kMultiArrayType}}};
}

// nullopt for kinds that take anything, or that other rules check.
std::optional<KindRule> RuleOf(const pb::Model& m) {
  switch (m.Type_case()) {
    case pb::Model::kArrayFeatureExtractor:
      return KindRule{kOneArray, kOneNumber};
    case pb::Model::kAudioFeaturePrint:
    case pb::Model::kNormalizer:
    case pb::Model::kSoundAnalysisPreprocessing:
      return KindRule{kOneArray, kOneArray};
    case pb::Model::kCategoricalMapping:
      return RuleOfMapping(m.categoricalmapping());
    case pb::Model::kDictVectorizer:
      return KindRule{kOneDictionary, kOneDictionary};
    case pb::Model::kFeatureVectorizer:
      return KindRule{kAnyVectors, kOneArray};
    case pb::Model::kGazetteer:
    case pb::Model::kTextClassifier:
      return KindRule{kOneString, kOneString};
    case pb::Model::kGlmRegressor:
      return KindRule{kAnyNumbers, {0, {T::kDoubleType}}};
    case pb::Model::kImputer:
      return KindRule{kOneImputed, kOneImputed};
    case pb::Model::kOneHotEncoder:
      return KindRule{{1, {T::kInt64Type, T::kStringType}},
                      m.onehotencoder().outputsparse() ? kOneDictionary : kOneArray};
    case pb::Model::kScaler:
      return KindRule{kOneNumber, kOneNumber};
    case pb::Model::kVisionFeaturePrint:
      return RuleOfPrint(m.visionfeatureprint());
    case pb::Model::kWordEmbedding:
      return KindRule{kOneString, kOneArray};
    case pb::Model::kWordTagger:
      return KindRule{kOneString, {0, {T::kSequenceType}}};
    default:
      return std::nullopt;
  }
}

void FeaturesOfKinds(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const Features& inputs = m.description().input();
    if (const auto rule = RuleOf(*m.model)) {
      CheckFeatures(f, m, inputs, "input", rule->input);
      // Other versions of a sound print may give anything.
      if (!m.model->has_audiofeatureprint() || m.model->audiofeatureprint().sound().version() == 1)
        CheckFeatures(f, m, m.description().output(), "output", rule->output);
    } else if (m.model->has_glmclassifier() || m.model->has_supportvectorclassifier() ||
               m.model->has_supportvectorregressor()) {
      CheckFeatures(f, m, inputs, "input", kAnyNumbers);
    }
  }
}

template <typename Visit>
void EachNeighbours(const Subject& s, const Visit& visit) {
  for (const ModelAt& m : s.models())
    if (m.model->has_knearestneighborsclassifier())
      visit(m.model->knearestneighborsclassifier(), m.path + "kNearestNeighborsClassifier");
}

void NeighbourCount(const Subject& s, Findings& f) {
  EachNeighbours(s, [&](const Neighbours& n, const std::string& path) {
    if (const auto fault = FaultOf(n.numberofneighbors(), true); !fault.empty())
      f.Add(At(path + ".numberOfNeighbors"), "the number of neighbours {}", fault);
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
      const auto size = static_cast<int64_t>(
          s.SizeOf(index.floatsamples(i), pb::FloatVector::kVectorFieldNumber));
      if (size != index.numberofdimensions())
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
    {{"COREML-KIND-006", Severity::kError,
      "A model has inputs and outputs of the number and types that its kind takes.",
      "Model.proto, Model.Type", true, ""},
     FeaturesOfKinds},
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
