// Rules of models whose parameters are tables: linear models, support vectors, tree ensembles,
// Bayesian regression, recommenders.
#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

template <typename Params>
int LabelCount(const Params& p) {
  return std::max(p.stringclasslabels().vector_size(), p.int64classlabels().vector_size());
}

// ---- Linear models

// Calls visit(model, weights, path) for linear models.
template <typename Visit>
void EachLinear(const Subject& s, const Visit& visit) {
  for (const ModelAt& m : s.models()) {
    if (m.model->has_glmregressor()) visit(m.model->glmregressor(), m.path + "glmRegressor");
    if (m.model->has_glmclassifier()) visit(m.model->glmclassifier(), m.path + "glmClassifier");
  }
}

uint64_t OffsetsOf(const Subject& s, const google::protobuf::Message& m) {
  return s.SizeOf(m, pb::GLMRegressor::kOffsetFieldNumber);
}

void LinearOffsets(const Subject& s, Findings& f) {
  EachLinear(s, [&](const auto& p, const std::string& path) {
    if (static_cast<uint64_t>(p.weights_size()) != OffsetsOf(s, p))
      f.Add(At(path + ".offset"), "there are {} rows of weights and {} offsets", p.weights_size(),
            OffsetsOf(s, p));
  });
}

void LinearRows(const Subject& s, Findings& f) {
  EachLinear(s, [&](const auto& p, const std::string& path) {
    const auto size = [&](int i) { return s.SizeOf(p.weights(i), 1); };
    for (int i = 1; i < p.weights_size(); ++i)
      if (size(i) != size(0))
        f.Add(At(fmt::format("{}.weights[{}]", path, i)), "row {} has {} weights, the first {}", i,
              size(i), size(0));
  });
}

void ClassifierRows(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_glmclassifier()) continue;
    const auto& p = m.model->glmclassifier();
    const int classes = LabelCount(p);
    const bool reference = p.classencoding() == pb::GLMClassifier::ReferenceClass;
    const int want = reference ? classes - 1 : (classes == 2 ? 1 : classes);
    const Location where = At(m.path + "glmClassifier.weights");
    if (p.weights().empty() || s.SizeOf(p.weights(0), 1) == 0)
      f.Add(where, "there are no weights");
    else if (p.weights_size() != want)
      f.Add(where, "there are {} rows of weights for {} classes instead of {}", p.weights_size(),
            classes, want);
  }
}

void LinearTransforms(const Subject& s, Findings& f) {
  using G = pb::GLMClassifier;
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_glmclassifier()) continue;
    const auto& p = m.model->glmclassifier();
    const int transform = p.postevaluationtransform();
    if (!G::PostEvaluationTransform_IsValid(transform))
      f.Add(At(m.path + "glmClassifier.postEvaluationTransform"), "there is no transform {}",
            transform);
    if (!G::ClassEncoding_IsValid(p.classencoding()))
      f.Add(At(m.path + "glmClassifier.classEncoding"), "there is no encoding {}",
            static_cast<int>(p.classencoding()));
    if (transform == G::Probit && LabelCount(p) > 2)
      f.Add(At(m.path + "glmClassifier.postEvaluationTransform"),
            "Probit tells two classes apart, not {}", LabelCount(p));
  }
}

// ---- Support vector machines

std::string KernelFault(const pb::Kernel& kernel) {
  switch (kernel.kernel_case()) {
    case pb::Kernel::kLinearKernel:
      return "";
    case pb::Kernel::kRbfKernel:
      return kernel.rbfkernel().gamma() < 0 ? "gamma is negative" : "";
    case pb::Kernel::kPolyKernel:
      if (kernel.polykernel().degree() < 0) return "the degree is negative";
      return kernel.polykernel().gamma() < 0 ? "gamma is negative" : "";
    case pb::Kernel::kSigmoidKernel:
      return kernel.sigmoidkernel().gamma() < 0 ? "gamma is negative" : "";
    default:
      return "there is no kernel";
  }
}

// Calls visit(parameters, path) for support vector machines.
template <typename Visit>
void EachMachine(const Subject& s, const Visit& visit) {
  for (const ModelAt& m : s.models()) {
    if (m.model->has_supportvectorregressor())
      visit(m.model->supportvectorregressor(), m.path + "supportVectorRegressor");
    if (m.model->has_supportvectorclassifier())
      visit(m.model->supportvectorclassifier(), m.path + "supportVectorClassifier");
  }
}

template <typename Params>
int VectorCount(const Params& p) {
  return p.sparsesupportvectors().vectors_size() + p.densesupportvectors().vectors_size();
}

void Kernels(const Subject& s, Findings& f) {
  EachMachine(s, [&](const auto& p, const std::string& path) {
    if (const auto fault = KernelFault(p.kernel()); !fault.empty())
      f.Add(At(path + ".kernel"), "{}", fault);
  });
}

void VectorsPresent(const Subject& s, Findings& f) {
  EachMachine(s, [&](const auto& p, const std::string& path) {
    if (!p.has_sparsesupportvectors() && !p.has_densesupportvectors())
      f.Add(At(path), "there are neither sparse nor dense support vectors");
  });
}

void VectorsAlike(const Subject& s, Findings& f) {
  EachMachine(s, [&](const auto& p, const std::string& path) {
    const auto& vectors = p.densesupportvectors().vectors();
    for (int i = 1; i < vectors.size(); ++i)
      if (s.SizeOf(vectors.Get(i), 1) != s.SizeOf(vectors.Get(0), 1))
        f.Add(At(fmt::format("{}.denseSupportVectors.vectors[{}]", path, i)),
              "vector {} has {} values, the first {}", i, s.SizeOf(vectors.Get(i), 1),
              s.SizeOf(vectors.Get(0), 1));
  });
}

void Coefficients(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto check = [&](const pb::Coefficients& row, int vectors, const std::string& path) {
      const uint64_t size = s.SizeOf(row, pb::Coefficients::kAlphaFieldNumber);
      if (size != static_cast<uint64_t>(vectors))
        f.Add(At(path), "there are {} coefficients for {} vectors", size, vectors);
    };
    if (m.model->has_supportvectorregressor()) {
      const auto& p = m.model->supportvectorregressor();
      check(p.coefficients(), VectorCount(p), m.path + "supportVectorRegressor.coefficients");
    }
    if (!m.model->has_supportvectorclassifier()) continue;
    const auto& p = m.model->supportvectorclassifier();
    const std::string path = m.path + "supportVectorClassifier.coefficients";
    if (p.coefficients_size() != LabelCount(p) - 1)
      f.Add(At(path), "there are {} rows of coefficients for {} classes", p.coefficients_size(),
            LabelCount(p));
    for (int i = 0; i < p.coefficients_size(); ++i)
      check(p.coefficients(i), VectorCount(p), fmt::format("{}[{}]", path, i));
  }
}

void VectorsPerClass(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_supportvectorclassifier()) continue;
    const auto& p = m.model->supportvectorclassifier();
    const auto& counts = p.numberofsupportvectorsperclass();
    const std::string path = m.path + "supportVectorClassifier";
    int64_t sum = 0;
    for (const int32_t count : counts) sum += count;
    if (counts.size() != LabelCount(p) || sum != VectorCount(p))
      f.Add(At(path + ".numberOfSupportVectorsPerClass"),
            "there are {} counts of {} vectors for {} classes of {} vectors", counts.size(), sum,
            LabelCount(p), VectorCount(p));
    const int pairs = LabelCount(p) * (LabelCount(p) - 1) / 2;
    const uint64_t a = s.SizeOf(p, pb::SupportVectorClassifier::kProbAFieldNumber);
    const uint64_t b = s.SizeOf(p, pb::SupportVectorClassifier::kProbBFieldNumber);
    if ((a != 0 || b != 0) && (a != b || a != static_cast<uint64_t>(pairs)))
      f.Add(At(path + ".probA"), "there are {} and {} probabilities for {} pairs of classes", a, b,
            pairs);
  }
}

void Offsets(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_supportvectorclassifier()) continue;
    const auto& p = m.model->supportvectorclassifier();
    const int pairs = LabelCount(p) * (LabelCount(p) - 1) / 2;
    const uint64_t rho = s.SizeOf(p, pb::SupportVectorClassifier::kRhoFieldNumber);
    if (rho != static_cast<uint64_t>(pairs))
      f.Add(At(m.path + "supportVectorClassifier.rho"), "there are {} offsets for {} pairs", rho,
            pairs);
  }
}

// ---- Bayesian probit regression

void BayesianInputs(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_bayesianprobitregressor()) continue;
    for (int i = 0; i < m.description().input_size(); ++i) {
      const auto& type = m.description().input(i).type();
      const auto& array = type.multiarraytype();
      if (!type.has_multiarraytype() || array.datatype() != pb::ArrayFeatureType::INT32 ||
          array.shape_size() < 1 || array.shape_size() > 2)
        f.Add(At(fmt::format("{}description.input[{}]", m.path, i)),
              "input {} is no array of INT32 of rank 1 or 2",
              Quote(m.description().input(i).name()));
    }
  }
}

// ---- Recommenders

using Recommender = pb::ItemSimilarityRecommender;

template <typename Visit>
void EachRecommender(const Subject& s, const Visit& visit) {
  for (const ModelAt& m : s.models())
    if (m.model->has_itemsimilarityrecommender()) visit(m, m.model->itemsimilarityrecommender());
}

uint64_t LargestItem(const Recommender& p) {
  uint64_t most = 0;
  for (const auto& item : p.itemitemsimilarities()) {
    most = std::max(most, item.itemid());
    for (const auto& similar : item.similaritemlist()) most = std::max(most, similar.itemid());
  }
  return most;
}

template <typename List>
bool HasRepeats(const List& list) {
  using Value = std::decay_t<decltype(*list.begin())>;
  std::unordered_set<Value> seen;
  return std::any_of(list.begin(), list.end(),
                     [&](const auto& value) { return !seen.insert(value).second; });
}

void ItemIds(const Subject& s, Findings& f) {
  EachRecommender(s, [&](const ModelAt& m, const Recommender& p) {
    const auto& numbers = p.itemint64ids().vector();
    const auto& names = p.itemstringids().vector();
    const Location where = At(m.path + "itemSimilarityRecommender");
    const uint64_t largest = LargestItem(p);
    if (!numbers.empty() && !names.empty())
      f.Add(where, "items have numbers and strings as ids");
    else if (HasRepeats(numbers) || HasRepeats(names))
      f.Add(where, "two items have one id");
    else if ((!numbers.empty() && static_cast<uint64_t>(numbers.size()) <= largest) ||
             (!names.empty() && static_cast<uint64_t>(names.size()) < largest))
      f.Add(where, "there are {} ids; the largest item is {}", numbers.size() + names.size(),
            largest);
  });
}

void LastItemNamed(const Subject& s, Findings& f) {
  EachRecommender(s, [&](const ModelAt& m, const Recommender& p) {
    const auto names = static_cast<uint64_t>(p.itemstringids().vector_size());
    if (names != 0 && names == LargestItem(p))
      f.Add(At(m.path + "itemSimilarityRecommender.itemStringIds"), "item {} has no id", names);
  });
}

using Types = std::initializer_list<pb::FeatureType::TypeCase>;

void CheckFeature(Findings& f, const ModelAt& m, const Features& list, const std::string& name,
                  Types types) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const auto& feature) { return feature.name() == name; });
  const Location where = At(m.path + "itemSimilarityRecommender");
  if (found == list.end())
    f.Add(where, "there is no feature {}", Quote(name));
  else if (std::find(types.begin(), types.end(), found->type().Type_case()) == types.end())
    f.Add(where, "{} is of another type", Quote(name));
}

void RecommenderFeatures(const Subject& s, Findings& f) {
  using T = pb::FeatureType;
  EachRecommender(s, [&](const ModelAt& m, const Recommender& p) {
    const Features& in = m.description().input();
    const Features& out = m.description().output();
    const std::string items = p.iteminputfeaturename().empty() && in.size() == 1
                                  ? in.Get(0).name()
                                  : p.iteminputfeaturename();
    CheckFeature(f, m, in, items, {T::kDictionaryType, T::kSequenceType, T::kMultiArrayType});
    const auto optional = [&](const Features& list, const std::string& name, Types types) {
      if (!name.empty()) CheckFeature(f, m, list, name, types);
    };
    optional(in, p.numrecommendationsinputfeaturename(), {T::kInt64Type});
    optional(in, p.itemexclusioninputfeaturename(), {T::kSequenceType, T::kMultiArrayType});
    optional(in, p.itemrestrictioninputfeaturename(), {T::kSequenceType, T::kMultiArrayType});
    optional(out, p.recommendeditemscoreoutputfeaturename(), {T::kDictionaryType});
    optional(out, p.recommendeditemlistoutputfeaturename(), {T::kSequenceType});
    if (p.recommendeditemscoreoutputfeaturename().empty() &&
        p.recommendeditemlistoutputfeaturename().empty())
      f.Add(At(m.path + "itemSimilarityRecommender"), "no output is named");
  });
}

constexpr std::string_view kSvm = "SVM.proto, SupportVectorClassifier";
constexpr std::string_view kItems = "ItemSimilarityRecommender.proto";

constexpr Rule kRules[] = {
    {{"COREML-GLM-001", Severity::kError, "A linear model has an offset for each row of weights.",
      "GLMRegressor.proto, GLMRegressor.offset", true, ""},
     LinearOffsets},
    {{"COREML-GLM-002", Severity::kError, "Rows of weights are of one length.",
      "GLMRegressor.proto, GLMRegressor.weights", true, ""},
     LinearRows},
    {{"COREML-GLM-003", Severity::kError,
      "A linear classifier has rows of weights for its classes: one less with ReferenceClass, one "
      "for two classes with OneVsRest.",
      "GLMClassifier.proto, GLMClassifier.weights", true, ""},
     ClassifierRows},
    {{"COREML-GLM-004", Severity::kError,
      "Transforms and encodings are known ones; Probit goes with two classes.",
      "GLMClassifier.proto, GLMClassifier.postEvaluationTransform", true, ""},
     LinearTransforms},
    {{"COREML-SVM-001", Severity::kError,
      "A kernel is given; its gamma and degree are not negative.", "SVM.proto, Kernel", true, ""},
     Kernels},
    {{"COREML-SVM-002", Severity::kError, "Support vectors are there.", kSvm, true, ""},
     VectorsPresent},
    {{"COREML-SVM-003", Severity::kError,
      "There is a coefficient for each support vector, a row for each class but one.", kSvm, true,
      ""},
     Coefficients},
    {{"COREML-SVM-004", Severity::kError,
      "Support vectors are counted by class, probabilities by pair of classes.", kSvm, true, ""},
     VectorsPerClass},
    {{"COREML-SVM-005", Severity::kError, "There is an offset rho for each pair of classes.", kSvm,
      false, ""},
     Offsets},
    {{"COREML-SVM-006", Severity::kError, "Dense support vectors are of one length.", kSvm, false,
      ""},
     VectorsAlike},
    {{"COREML-BAYES-001", Severity::kError,
      "Inputs of Bayesian probit regression are arrays of INT32 of rank 1 or 2.",
      "BayesianProbitRegressor.proto", true, ""},
     BayesianInputs},
    {{"COREML-ITEMS-001", Severity::kError,
      "Ids of items are numbers or strings, each once, and there are enough of them.", kItems, true,
      ""},
     ItemIds},
    {{"COREML-ITEMS-002", Severity::kError, "The last item has an id.", kItems, false, ""},
     LastItemNamed},
    {{"COREML-ITEMS-003", Severity::kError,
      "Features that a recommender names are there and of the right type; one is an output.",
      kItems, true, ""},
     RecommenderFeatures},
};

}  // namespace

std::span<const Rule> TableRules() {
  return kRules;
}

}  // namespace nn::coreml
