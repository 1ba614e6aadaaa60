// Rules about models whose parameters are tables: linear models, support vector machines, Bayesian
// regression, recommenders.
#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/text/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using T = pb::FeatureType;

template <typename Params>
int ClassLabelCount(const Params& p) {
  return std::max(p.stringclasslabels().vector_size(), p.int64classlabels().vector_size());
}

// ---- Linear models

// Calls visit(model, weights, path) for linear models.
template <typename Visit>
void EachLinear(const RuleContext& s, const Visit& visit) {
  for (const ModelAt& m : s.models()) {
    if (m.model->has_glmregressor()) visit(m.model->glmregressor(), m.path + "glmRegressor");
    if (m.model->has_glmclassifier()) visit(m.model->glmclassifier(), m.path + "glmClassifier");
  }
}

uint64_t OffsetsOf(const RuleContext& s, const google::protobuf::Message& m) {
  return s.SizeOf(m, pb::GLMRegressor::kOffsetFieldNumber);
}

void LinearOffsets(const RuleContext& s, Findings& f) {
  EachLinear(s, [&](const auto& p, const std::string& path) {
    if (static_cast<uint64_t>(p.weights_size()) != OffsetsOf(s, p))
      f.Add(At(path + ".offset"), "the model has {} rows of weights but {} offsets",
            p.weights_size(), OffsetsOf(s, p));
  });
}

void LinearRows(const RuleContext& s, Findings& f) {
  EachLinear(s, [&](const auto& p, const std::string& path) {
    const auto size = [&](int i) { return s.SizeOf(p.weights(i), 1); };
    for (int i = 1; i < p.weights_size(); ++i)
      if (size(i) != size(0))
        f.Add(At(fmt::format("{}.weights[{}]", path, i)),
              "row {} has {} weights; expected {} as in the first row", i, size(i), size(0));
  });
}

void ClassifierRows(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_glmclassifier()) continue;
    const auto& p = m.model->glmclassifier();
    const int classes = ClassLabelCount(p);
    const bool reference = p.classencoding() == pb::GLMClassifier::ReferenceClass;
    const int want = reference ? classes - 1 : (classes == 2 ? 1 : classes);
    const Location where = At(m.path + "glmClassifier.weights");
    if (p.weights().empty() || s.SizeOf(p.weights(0), 1) == 0)
      f.Add(where, "the classifier has no weights");
    else if (p.weights_size() != want)
      f.Add(where, "the classifier has {} rows of weights for {} classes; expected {}",
            p.weights_size(), classes, want);
  }
}

void LinearTransforms(const RuleContext& s, Findings& f) {
  using G = pb::GLMClassifier;
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_glmclassifier()) continue;
    const auto& p = m.model->glmclassifier();
    const int transform = p.postevaluationtransform();
    if (!G::PostEvaluationTransform_IsValid(transform))
      f.Add(At(m.path + "glmClassifier.postEvaluationTransform"),
            "postEvaluationTransform has the unknown value {}", transform);
    if (!G::ClassEncoding_IsValid(p.classencoding()))
      f.Add(At(m.path + "glmClassifier.classEncoding"), "classEncoding has the unknown value {}",
            static_cast<int>(p.classencoding()));
    if (transform == G::Probit && ClassLabelCount(p) > 2)
      f.Add(At(m.path + "glmClassifier.postEvaluationTransform"),
            "Probit supports two classes; the model has {}", ClassLabelCount(p));
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
      return "the kernel has no type";
  }
}

// Calls visit(parameters, path) for support vector machines.
template <typename Visit>
void EachMachine(const RuleContext& s, const Visit& visit) {
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

void Kernels(const RuleContext& s, Findings& f) {
  EachMachine(s, [&](const auto& p, const std::string& path) {
    if (const auto fault = KernelFault(p.kernel()); !fault.empty())
      f.Add(At(path + ".kernel"), "{}", fault);
  });
}

void VectorsPresent(const RuleContext& s, Findings& f) {
  EachMachine(s, [&](const auto& p, const std::string& path) {
    if (!p.has_sparsesupportvectors() && !p.has_densesupportvectors())
      f.Add(At(path), "the model has neither sparse nor dense support vectors");
  });
}

void VectorsAlike(const RuleContext& s, Findings& f) {
  EachMachine(s, [&](const auto& p, const std::string& path) {
    const auto& vectors = p.densesupportvectors().vectors();
    for (int i = 1; i < vectors.size(); ++i)
      if (s.SizeOf(vectors.Get(i), 1) != s.SizeOf(vectors.Get(0), 1))
        f.Add(At(fmt::format("{}.denseSupportVectors.vectors[{}]", path, i)),
              "vector {} has {} values; expected {} as in the first vector", i,
              s.SizeOf(vectors.Get(i), 1), s.SizeOf(vectors.Get(0), 1));
  });
}

void Coefficients(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto check = [&](const pb::Coefficients& row, int vectors, const std::string& path) {
      const uint64_t size = s.SizeOf(row, pb::Coefficients::kAlphaFieldNumber);
      if (size != static_cast<uint64_t>(vectors))
        f.Add(At(path), "there are {} coefficients for {} support vectors", size, vectors);
    };
    if (m.model->has_supportvectorregressor()) {
      const auto& p = m.model->supportvectorregressor();
      check(p.coefficients(), VectorCount(p), m.path + "supportVectorRegressor.coefficients");
    }
    if (!m.model->has_supportvectorclassifier()) continue;
    const auto& p = m.model->supportvectorclassifier();
    const std::string path = m.path + "supportVectorClassifier.coefficients";
    if (p.coefficients_size() != ClassLabelCount(p) - 1)
      f.Add(At(path), "there are {} rows of coefficients for {} classes; expected {}",
            p.coefficients_size(), ClassLabelCount(p), ClassLabelCount(p) - 1);
    for (int i = 0; i < p.coefficients_size(); ++i)
      check(p.coefficients(i), VectorCount(p), fmt::format("{}[{}]", path, i));
  }
}

void VectorsPerClass(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_supportvectorclassifier()) continue;
    const auto& p = m.model->supportvectorclassifier();
    const auto& counts = p.numberofsupportvectorsperclass();
    const std::string path = m.path + "supportVectorClassifier";
    int64_t sum = 0;
    for (const int32_t count : counts) sum += count;
    if (counts.size() != ClassLabelCount(p) || sum != VectorCount(p))
      f.Add(At(path + ".numberOfSupportVectorsPerClass"),
            "there are {} counts with the sum {}; expected {} with the sum {}", counts.size(), sum,
            ClassLabelCount(p), VectorCount(p));
    const int pairs = ClassLabelCount(p) * (ClassLabelCount(p) - 1) / 2;
    const uint64_t a = s.SizeOf(p, pb::SupportVectorClassifier::kProbAFieldNumber);
    const uint64_t b = s.SizeOf(p, pb::SupportVectorClassifier::kProbBFieldNumber);
    if ((a != 0 || b != 0) && (a != b || a != static_cast<uint64_t>(pairs)))
      f.Add(At(path + ".probA"), "probA has {} values and probB has {} for {} pairs of classes", a,
            b, pairs);
  }
}

void Offsets(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_supportvectorclassifier()) continue;
    const auto& p = m.model->supportvectorclassifier();
    const int pairs = ClassLabelCount(p) * (ClassLabelCount(p) - 1) / 2;
    const uint64_t rho = s.SizeOf(p, pb::SupportVectorClassifier::kRhoFieldNumber);
    if (rho != static_cast<uint64_t>(pairs))
      f.Add(At(m.path + "supportVectorClassifier.rho"), "rho has {} values for {} pairs of classes",
            rho, pairs);
  }
}

// ---- Bayesian probit regression

void BayesianInputs(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_bayesianprobitregressor()) continue;
    for (int i = 0; i < m.description().input_size(); ++i) {
      const auto& type = m.description().input(i).type();
      const auto& array = type.multiarraytype();
      if (!type.has_multiarraytype() || array.datatype() != pb::ArrayFeatureType::INT32 ||
          array.shape_size() < 1 || array.shape_size() > 2)
        f.Add(At(fmt::format("{}description.input[{}]", m.path, i)),
              "input {} is not an INT32 array of rank 1 or 2",
              Quote(m.description().input(i).name()));
    }
  }
}

// ---- Recommenders

using Recommender = pb::ItemSimilarityRecommender;

template <typename Visit>
void EachRecommender(const RuleContext& s, const Visit& visit) {
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

void ItemIds(const RuleContext& s, Findings& f) {
  EachRecommender(s, [&](const ModelAt& m, const Recommender& p) {
    const auto& numbers = p.itemint64ids().vector();
    const auto& names = p.itemstringids().vector();
    const Location where = At(m.path + "itemSimilarityRecommender");
    const uint64_t largest = LargestItem(p);
    if (!numbers.empty() && !names.empty())
      f.Add(where, "the items have both integer and string ids");
    else if (HasRepeats(numbers) || HasRepeats(names))
      f.Add(where, "two items have the same id");
    else if ((!numbers.empty() && static_cast<uint64_t>(numbers.size()) <= largest) ||
             (!names.empty() && static_cast<uint64_t>(names.size()) < largest))
      f.Add(where, "there are {} ids, but the largest item index is {}",
            numbers.size() + names.size(), largest);
  });
}

void LastItemNamed(const RuleContext& s, Findings& f) {
  EachRecommender(s, [&](const ModelAt& m, const Recommender& p) {
    const auto names = static_cast<uint64_t>(p.itemstringids().vector_size());
    if (names != 0 && names == LargestItem(p))
      f.Add(At(m.path + "itemSimilarityRecommender.itemStringIds"), "item {} has no string id",
            names);
  });
}

using Types = std::initializer_list<pb::FeatureType::TypeCase>;

void CheckFeature(Findings& f, const ModelAt& m, const Features& list, const std::string& name,
                  Types types) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const auto& feature) { return feature.name() == name; });
  const Location where = At(m.path + "itemSimilarityRecommender");
  if (found == list.end())
    f.Add(where, "the model has no feature {}", Quote(name));
  else if (std::find(types.begin(), types.end(), found->type().Type_case()) == types.end())
    f.Add(where, "{} does not have a type that the recommender allows", Quote(name));
}

void RecommenderFeatures(const RuleContext& s, Findings& f) {
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
      f.Add(At(m.path + "itemSimilarityRecommender"), "the recommender names no output");
  });
}

constexpr std::string_view kSvm = "SVM.proto, SupportVectorClassifier";
constexpr std::string_view kItems = "ItemSimilarityRecommender.proto";

constexpr Rule kTableRules[] = {
    {.info = {.id = "COREML-GLM-001",
              .statement = "A linear model has one offset for each row of weights.",
              .clause = "GLMRegressor.proto, GLMRegressor.offset",
              .vendor = true,
              .hint = "List one value in offset for each row of weights."},
     .check = LinearOffsets},
    {.info = {.id = "COREML-GLM-002",
              .statement = "The rows of weights of a linear model have the same length.",
              .clause = "GLMRegressor.proto, GLMRegressor.weights",
              .vendor = true,
              .hint = "Give each row one weight for each value of the input."},
     .check = LinearRows},
    {.info = {.id = "COREML-GLM-003",
              .statement =
                  "A linear classifier has non-empty rows of weights: one for each class, one less "
                  "with ReferenceClass, or a single one for two classes with OneVsRest.",
              .clause = "GLMClassifier.proto, GLMClassifier.weights",
              .vendor = true,
              .hint = "Add or remove rows of weights, or change classEncoding."},
     .check = ClassifierRows},
    {.info = {.id = "COREML-GLM-004",
              .statement = "The postEvaluationTransform and classEncoding of a linear classifier "
                           "have known values, and Probit is used with at most two classes.",
              .clause = "GLMClassifier.proto, GLMClassifier.postEvaluationTransform",
              .vendor = true,
              .hint = "Set known values, and use Logit for more than two classes."},
     .check = LinearTransforms},
    {.info = {.id = "COREML-SVM-001",
              .statement =
                  "A support vector machine has a kernel whose gamma and degree are not negative.",
              .clause = "SVM.proto, Kernel",
              .vendor = true,
              .hint = "Set the kernel, with gamma and degree of 0 or more."},
     .check = Kernels},
    {.info = {.id = "COREML-SVM-002",
              .statement = "A support vector machine has sparse or dense support vectors.",
              .clause = kSvm,
              .vendor = true,
              .hint = "Set sparseSupportVectors or denseSupportVectors."},
     .check = VectorsPresent},
    {.info = {.id = "COREML-SVM-003",
              .statement = "A support vector machine has one coefficient for each support vector, "
                           "and a classifier has one row of them for each class but one.",
              .clause = kSvm,
              .vendor = true,
              .hint = "Give each row one coefficient for each support vector; a classifier with n "
                      "classes needs n - 1 rows."},
     .check = Coefficients},
    {.info =
         {.id = "COREML-SVM-004",
          .statement = "The numberOfSupportVectorsPerClass of a support vector classifier has one "
                       "count for each class and adds up to the number of vectors, and probA and "
                       "probB are empty or have one value for each pair of classes.",
          .clause = kSvm,
          .vendor = true,
          .hint =
              "Correct the counts, and give probA and probB n(n - 1)/2 values each for n classes."},
     .check = VectorsPerClass},
    {.info = {.id = "COREML-SVM-005",
              .statement =
                  "The rho of a support vector classifier has one value for each pair of classes.",
              .clause = kSvm,
              .hint = "Give rho n(n - 1)/2 values for n classes."},
     .check = Offsets},
    {.info = {.id = "COREML-SVM-006",
              .statement =
                  "The dense support vectors of a support vector machine have the same length.",
              .clause = kSvm,
              .hint = "Give each vector one value for each value of the input, or use sparse "
                      "support vectors."},
     .check = VectorsAlike},
    {.info = {.id = "COREML-BAYES-001",
              .statement =
                  "The inputs of a Bayesian probit regressor are INT32 arrays of rank 1 or 2.",
              .clause = "BayesianProbitRegressor.proto",
              .vendor = true,
              .hint = "Change the input to an INT32 multiArrayType with one or two axes."},
     .check = BayesianInputs},
    {.info = {.id = "COREML-ITEMS-001",
              .statement = "The item ids of an item similarity recommender are integers or "
                           "strings, but not both, are unique, and cover all items except that the "
                           "last one may lack a string id.",
              .clause = kItems,
              .vendor = true,
              .hint =
                  "Set either itemInt64Ids or itemStringIds, with one unique id for each item."},
     .check = ItemIds},
    {.info = {.id = "COREML-ITEMS-002",
              .statement = "The string ids of an item similarity recommender, if any, include an "
                           "id for the last item.",
              .clause = kItems,
              .hint = "Add the id of the last item to itemStringIds."},
     .check = LastItemNamed},
    {.info =
         {.id = "COREML-ITEMS-003",
          .statement = "The features that an item similarity recommender names exist and have the "
                       "required types, and it names an output for the items or for their scores.",
          .clause = kItems,
          .vendor = true,
          .hint =
              "Set recommendedItemListOutputFeatureName or recommendedItemScoreOutputFeatureName, "
              "and correct the names and types of the features."},
     .check = RecommenderFeatures},
};

}  // namespace

std::span<const Rule> TableRules() {
  return kTableRules;
}

}  // namespace nn::coreml
