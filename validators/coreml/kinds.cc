// Rules about models that are neither networks nor ML programs.
#include <algorithm>
#include <optional>

#include "base/text/text.h"
#include "validators/coreml/interface.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using Neighbors = pb::KNearestNeighborsClassifier;

// Model types that may have optional inputs, or whose inputs other rules check.
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

void InputsGiven(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (MayMissInputs(m.model->Type_case())) continue;
    for (int i = 0; i < m.description().input_size(); ++i)
      if (m.description().input(i).type().isoptional())
        f.Add(At(fmt::format("{}description.input[{}]", m.path, i)),
              "input {} is optional, which this type of model does not support",
              Quote(m.description().input(i).name()));
  }
}

using T = pb::FeatureType;

// What a model type requires of its inputs and outputs.
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

// nullopt for model types that take any features, or that other rules check.
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

void FeaturesOfKinds(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const Features& inputs = m.description().input();
    if (const auto rule = RuleOf(*m.model)) {
      CheckFeatures(f, m, inputs, "input", rule->input);
      // The outputs of other versions of a sound print are not specified.
      if (!m.model->has_audiofeatureprint() || m.model->audiofeatureprint().sound().version() == 1)
        CheckFeatures(f, m, m.description().output(), "output", rule->output);
    } else if (m.model->has_glmclassifier() || m.model->has_supportvectorclassifier() ||
               m.model->has_supportvectorregressor()) {
      CheckFeatures(f, m, inputs, "input", kAnyNumbers);
    }
  }
}

template <typename Visit>
void EachNeighbors(const RuleContext& s, const Visit& visit) {
  for (const ModelAt& m : s.models())
    if (m.model->has_knearestneighborsclassifier())
      visit(m.model->knearestneighborsclassifier(), m.path + "kNearestNeighborsClassifier");
}

void NeighborCount(const RuleContext& s, Findings& f) {
  EachNeighbors(s, [&](const Neighbors& n, const std::string& path) {
    if (const auto fault = FaultOf(n.numberofneighbors(), true); !fault.empty())
      f.Add(At(path + ".numberOfNeighbors"), "numberOfNeighbors {}", fault);
  });
}

void NeighborMethods(const RuleContext& s, Findings& f) {
  EachNeighbors(s, [&](const Neighbors& n, const std::string& path) {
    const auto& index = n.nearestneighborsindex();
    const auto need = [&](bool present, std::string_view what) {
      if (!present) f.Add(At(path), "the classifier has no {}", what);
    };
    need(n.WeightingScheme_case() != Neighbors::WEIGHTINGSCHEME_NOT_SET, "weighting scheme");
    need(index.has_linearindex() || index.has_singlekdtreeindex(), "index type");
    need(index.has_squaredeuclideandistance(), "distance function");
    if (index.has_singlekdtreeindex() && index.singlekdtreeindex().leafsize() <= 0)
      f.Add(At(path + ".nearestNeighborsIndex.singleKdTreeIndex"),
            "leafSize is {}; expected 1 or more", index.singlekdtreeindex().leafsize());
  });
}

int LabelCount(const Neighbors& n) {
  return std::max(n.stringclasslabels().vector_size(), n.int64classlabels().vector_size());
}

void NeighborLabels(const RuleContext& s, Findings& f) {
  EachNeighbors(s, [&](const Neighbors& n, const std::string& path) {
    const auto fallback = n.DefaultClassLabel_case();
    if (fallback == Neighbors::DEFAULTCLASSLABEL_NOT_SET && LabelCount(n) == 0)
      f.Add(At(path), "the classifier has neither class labels nor a default label");
    if ((fallback == Neighbors::kDefaultStringLabel && n.has_int64classlabels()) ||
        (fallback == Neighbors::kDefaultInt64Label && n.has_stringclasslabels()))
      f.Add(At(path), "the class labels and the default label have different types");
  });
}

void NeighborSamples(const RuleContext& s, Findings& f) {
  EachNeighbors(s, [&](const Neighbors& n, const std::string& path) {
    const auto& index = n.nearestneighborsindex();
    const std::string list = path + ".nearestNeighborsIndex.floatSamples";
    if (index.floatsamples_size() != LabelCount(n))
      f.Add(At(list), "there are {} samples but {} class labels", index.floatsamples_size(),
            LabelCount(n));
    for (int i = 0; i < index.floatsamples_size(); ++i) {
      const auto size = static_cast<int64_t>(
          s.SizeOf(index.floatsamples(i), pb::FloatVector::kVectorFieldNumber));
      if (size != index.numberofdimensions())
        f.Add(At(fmt::format("{}[{}]", list, i)), "sample {} has {} values; expected {}", i, size,
              index.numberofdimensions());
    }
  });
}

constexpr Rule kKindRules[] = {
    {.info = {.id = "COREML-KIND-001",
              .statement =
                  "Inputs are optional only in neural networks, ML programs, serialized models, "
                  "pipelines, tree ensembles, imputers, recommenders and identity models.",
              .clause = "FeatureTypes.proto, FeatureType.isOptional",
              .vendor = true,
              .hint = "Clear isOptional of the input."},
     .check = InputsGiven},
    {.info =
         {.id = "COREML-KIND-006",
          .statement = "The inputs and outputs of a model have the number and the types that the "
                       "type of the model allows.",
          .clause = "Model.proto, Model.Type",
          .vendor = true,
          .hint =
              "Change the type of the feature to an allowed one, or remove the surplus feature."},
     .check = FeaturesOfKinds},
    {.info = {.id = "COREML-KIND-002",
              .statement = "The default numberOfNeighbors of a nearest-neighbor classifier is "
                           "positive and within its range or set of values.",
              .clause = "NearestNeighbors.proto, KNearestNeighborsClassifier.numberOfNeighbors",
              .vendor = true,
              .hint = "Set numberOfNeighbors to a positive default that its range or set includes, "
                      "and remove values of 0 or less from them."},
     .check = NeighborCount},
    {.info = {.id = "COREML-KIND-003",
              .statement = "A nearest-neighbor classifier has a weighting scheme, an index type "
                           "and a distance function, and a k-d tree index has a positive leafSize.",
              .clause = "NearestNeighbors.proto",
              .vendor = true,
              .hint = "Set a weighting scheme, linearIndex or singleKdTreeIndex, and "
                      "squaredEuclideanDistance; set leafSize to 1 or more."},
     .check = NeighborMethods},
    {.info =
         {.id = "COREML-KIND-004",
          .statement = "A nearest-neighbor classifier has class labels or a default label, and "
                       "both have the same type.",
          .clause = "NearestNeighbors.proto, KNearestNeighborsClassifier.DefaultClassLabel",
          .vendor = true,
          .hint =
              "Set the class labels and the default label, both as strings or both as integers."},
     .check = NeighborLabels},
    {.info =
         {.id = "COREML-KIND-005",
          .statement = "Each sample of a nearest-neighbor classifier has numberOfDimensions values "
                       "and one class label.",
          .clause = "NearestNeighbors.proto, NearestNeighborsIndex",
          .vendor = true,
          .hint =
              "Give each sample numberOfDimensions values, and list one label for each sample."},
     .check = NeighborSamples},
};

}  // namespace

std::span<const Rule> KindRules() {
  return kKindRules;
}

}  // namespace nn::coreml
