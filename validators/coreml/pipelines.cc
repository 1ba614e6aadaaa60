// Rules about pipelines, and about the predictions that classifiers and regressors name.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text/text.h"
#include "validators/coreml/interface.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using T = pb::FeatureType;

template <typename Visit>
void EachPipeline(const RuleContext& s, const Visit& visit) {
  for (const ModelAt& m : s.models())
    if (const pb::Pipeline* p = PipelineOf(*m.model)) visit(m, *p);
}

void Filled(const RuleContext& s, Findings& f) {
  EachPipeline(s, [&](const ModelAt& m, const pb::Pipeline& p) {
    if (p.models().empty()) f.Add(At(m.path + "pipeline.models"), "the pipeline has no models");
  });
}

void ModelsNamed(const RuleContext& s, Findings& f) {
  EachPipeline(s, [&](const ModelAt& m, const pb::Pipeline& p) {
    if (!p.names().empty() && p.names_size() != p.models_size())
      f.Add(At(m.path + "pipeline.names"), "the pipeline has {} names for {} models",
            p.names_size(), p.models_size());
    std::set<std::string_view> seen;
    for (int i = 0; i < p.names_size(); ++i)
      if (!seen.insert(p.names(i)).second)
        f.Add(At(fmt::format("{}pipeline.names[{}]", m.path, i)),
              "another model is already named {}", Quote(p.names(i)));
  });
}

// The features that exist when a model of a pipeline runs.
using Known = std::unordered_map<std::string_view, const pb::FeatureDescription*>;

// Calls visit(feature, known or nullptr, path) for the inputs of the models and the outputs of the
// pipeline.
template <typename Visit>
void EachUse(const ModelAt& m, const pb::Pipeline& p, const Visit& visit) {
  Known known;
  const auto find = [&](const std::string& name) {
    const auto found = known.find(name);
    return found != known.end() ? found->second : nullptr;
  };
  for (const auto& input : m.description().input()) known[input.name()] = &input;
  for (int i = 0; i < p.models_size(); ++i) {
    const auto& d = p.models(i).description();
    for (int k = 0; k < d.input_size(); ++k)
      visit(d.input(k), find(d.input(k).name()),
            fmt::format("{}pipeline.models[{}].description.input[{}]", m.path, i, k));
    for (const auto& output : d.output()) known[output.name()] = &output;
  }
  for (int k = 0; k < m.description().output_size(); ++k)
    visit(m.description().output(k), find(m.description().output(k).name()),
          fmt::format("{}description.output[{}]", m.path, k));
}

void FeaturesDefined(const RuleContext& s, Findings& f) {
  EachPipeline(s, [&](const ModelAt& m, const pb::Pipeline& p) {
    EachUse(m, p, [&](const auto& feature, const auto* known, const std::string& path) {
      if (known == nullptr)
        f.Add(At(path), "{} is neither an input of the pipeline nor an output of an earlier model",
              Quote(feature.name()));
    });
  });
}

void FeaturesAgree(const RuleContext& s, Findings& f) {
  EachPipeline(s, [&](const ModelAt& m, const pb::Pipeline& p) {
    EachUse(m, p, [&](const auto& feature, const auto* known, const std::string& path) {
      if (known != nullptr && !SameType(feature.type(), known->type()))
        f.Add(At(path), "{} has a different type than the earlier feature of that name",
              Quote(feature.name()));
    });
  });
}

void Updatable(const RuleContext& s, Findings& f) {
  EachPipeline(s, [&](const ModelAt& m, const pb::Pipeline& p) {
    for (int i = 0; i < p.models_size(); ++i) {
      const bool want = m.model->isupdatable() && i == p.models_size() - 1;
      if (p.models(i).isupdatable() != want)
        f.Add(At(fmt::format("{}pipeline.models[{}].isUpdatable", m.path, i)),
              "model {} of {} is {}", i, p.models_size(),
              want ? "not updatable but must be" : "updatable but must not be");
    }
  });
}

const pb::FeatureDescription* FindOutput(const ModelAt& m, const std::string& name) {
  for (const auto& output : m.description().output())
    if (output.name() == name) return &output;
  return nullptr;
}

// The type of the class labels of a classifier.
enum class Labels { kNone, kStrings, kIntegers };

template <typename Params>
Labels LabelsOf(const Params& p) {
  if (p.has_int64classlabels()) return Labels::kIntegers;
  return p.has_stringclasslabels() ? Labels::kStrings : Labels::kNone;
}

// The labels of a classifier whose interface must match them; nullopt for other models.
std::optional<Labels> ClassifierLabels(const pb::Model& m) {
  if (m.has_neuralnetworkclassifier()) return LabelsOf(m.neuralnetworkclassifier());
  if (m.has_glmclassifier()) return LabelsOf(m.glmclassifier());
  if (m.has_supportvectorclassifier()) return LabelsOf(m.supportvectorclassifier());
  if (m.has_knearestneighborsclassifier()) {
    const auto& p = m.knearestneighborsclassifier();
    const Labels labels = LabelsOf(p);
    if (labels != Labels::kNone) return labels;
    return p.DefaultClassLabel_case() == pb::KNearestNeighborsClassifier::kDefaultInt64Label
               ? Labels::kIntegers
               : Labels::kStrings;
  }
  return std::nullopt;
}

template <typename Params>
int LabelCountOf(const Params& p) {
  return std::max(p.stringclasslabels().vector_size(), p.int64classlabels().vector_size());
}

void LabelsGiven(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto check = [&](bool present, const auto& p) {
      if (present && LabelCountOf(p) == 0)
        f.Add(At(m.path + "Type"), "the classifier has no class labels");
    };
    check(m.model->has_neuralnetworkclassifier(), m.model->neuralnetworkclassifier());
    check(m.model->has_glmclassifier(), m.model->glmclassifier());
    check(m.model->has_supportvectorclassifier(), m.model->supportvectorclassifier());
  }
}

bool IsRegressor(const pb::Model& m) {
  return m.has_neuralnetworkregressor() || m.has_glmregressor() || m.has_supportvectorregressor();
}

void PredictedFeature(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto labels = ClassifierLabels(*m.model);
    if (!labels && !IsRegressor(*m.model)) continue;
    const std::string& name = m.description().predictedfeaturename();
    const Location where = At(m.path + "description.predictedFeatureName");
    const auto* output = FindOutput(m, name);
    if (name.empty() || output == nullptr) {
      f.Add(where, "the model has no output {}", Quote(name));
      continue;
    }
    const auto type = output->type().Type_case();
    if (labels && type != (*labels == Labels::kIntegers ? T::kInt64Type : T::kStringType))
      f.Add(where, "{} does not have type {}, which the class labels have", Quote(name),
            *labels == Labels::kIntegers ? "Int64" : "String");
    if (!labels && type != T::kDoubleType && type != T::kMultiArrayType)
      f.Add(where, "{} is neither a Double nor a MultiArray", Quote(name));
  }
}

void ProbabilitiesDeclared(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const std::string& name = m.description().predictedprobabilitiesname();
    if (!ClassifierLabels(*m.model) || name.empty()) continue;
    const auto* output = FindOutput(m, name);
    const Location where = At(m.path + "description.predictedProbabilitiesName");
    if (output == nullptr)
      f.Add(where, "the model has no output {}", Quote(name));
    else if (!output->type().has_dictionarytype() && !output->type().has_multiarraytype())
      f.Add(where, "{} is neither a Dictionary nor a MultiArray", Quote(name));
  }
}

// Predictions of model types whose interface the vendor's checker ignores.
void OtherPredictions(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const pb::Model& model = *m.model;
    const bool classifier = model.has_pipelineclassifier() || model.has_treeensembleclassifier();
    if (!classifier && !model.has_pipelineregressor() && !model.has_treeensembleregressor())
      continue;
    const auto check = [&](const std::string& name, std::string_view field) {
      if (!name.empty() && FindOutput(m, name) == nullptr)
        f.Add(At(fmt::format("{}description.{}", m.path, field)), "the model has no output {}",
              Quote(name));
    };
    if (m.description().predictedfeaturename().empty())
      f.Add(At(m.path + "description.predictedFeatureName"), "predictedFeatureName is empty");
    check(m.description().predictedfeaturename(), "predictedFeatureName");
    check(m.description().predictedprobabilitiesname(), "predictedProbabilitiesName");
  }
}

constexpr std::string_view kPipelinesClause = "Model.proto, Pipeline";
constexpr std::string_view kPredictedClause = "Model.proto, ModelDescription.predictedFeatureName";

constexpr Rule kPipelineRules[] = {
    {.info = {.id = "COREML-MODEL-011",
              .statement = "The predictedFeatureName of a neural network, linear, support vector "
                           "or nearest-neighbor classifier names an output with the type of the "
                           "class labels, and that of a neural network, linear or support vector "
                           "regressor an output of type Double or MultiArray.",
              .clause = kPredictedClause,
              .vendor = true,
              .hint = "Set predictedFeatureName to an output of type Int64 or String, as the class "
                      "labels of a classifier, or of type Double or MultiArray for a regressor."},
     .check = PredictedFeature},
    {.info = {.id = "COREML-MODEL-018",
              .statement = "The predictedProbabilitiesName of a neural network, linear, support "
                           "vector or nearest-neighbor classifier, if set, names an output of type "
                           "Dictionary or MultiArray.",
              .clause = "Model.proto, ModelDescription.predictedProbabilitiesName",
              .vendor = true,
              .hint = "Set predictedProbabilitiesName to an output of type Dictionary or "
                      "MultiArray, or clear it."},
     .check = ProbabilitiesDeclared},
    {.info =
         {.id = "COREML-MODEL-019",
          .statement =
              "The predictedFeatureName of a tree ensemble, pipeline classifier or pipeline "
              "regressor names an output, and its predictedProbabilitiesName, if set, does too.",
          .clause = kPredictedClause,
          .hint = "Set predictedFeatureName to the name of an output, and clear "
                  "predictedProbabilitiesName if the model has no such output."},
     .check = OtherPredictions},
    {.info = {.id = "COREML-MODEL-020",
              .statement =
                  "Neural network, linear and support vector classifiers have class labels.",
              .clause = "NeuralNetwork.proto, NeuralNetworkClassifier.ClassLabels",
              .vendor = true,
              .hint = "Set stringClassLabels or int64ClassLabels."},
     .check = LabelsGiven},
    {.info = {.id = "COREML-MODEL-013",
              .statement = "A pipeline has at least one model.",
              .clause = kPipelinesClause,
              .vendor = true,
              .hint = "Add a model to pipeline.models."},
     .check = Filled},
    {.info = {.id = "COREML-PIPELINE-001",
              .statement = "A pipeline has no names, or one unique name for each of its models.",
              .clause = "Model.proto, Pipeline.names",
              .vendor = true,
              .hint = "List one name for each model without repeats, or clear names."},
     .check = ModelsNamed},
    {.info = {.id = "COREML-PIPELINE-002",
              .statement = "Each input of a model in a pipeline, and each output of the pipeline, "
                           "is an input of the pipeline or an output of an earlier model.",
              .clause = kPipelinesClause,
              .vendor = true,
              .hint = "Sort the models so that each feature is produced before it is used, and "
                      "give it the same name in both models."},
     .check = FeaturesDefined},
    {.info =
         {.id = "COREML-PIPELINE-003",
          .statement =
              "A feature of a pipeline has the same type where it is used as where it is produced.",
          .clause = kPipelinesClause,
          .vendor = true,
          .hint = "Give the feature the same type, shape and dataType in both descriptions."},
     .check = FeaturesAgree},
    {.info = {.id = "COREML-UPDATE-012",
              .statement = "The last model of an updatable pipeline is updatable, and no other "
                           "model of any pipeline is updatable.",
              .clause = kPipelinesClause,
              .vendor = true,
              .hint = "Set isUpdatable of the last model if the pipeline is updatable, and clear "
                      "it in all other models."},
     .check = Updatable},
};

}  // namespace

std::span<const Rule> PipelineRules() {
  return kPipelineRules;
}

}  // namespace nn::coreml
