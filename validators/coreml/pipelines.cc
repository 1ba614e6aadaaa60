// Rules of pipelines, and of the predictions that classifiers and regressors name.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "validators/coreml/interface.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

template <typename Visit>
void EachPipeline(const Subject& s, const Visit& visit) {
  for (const ModelAt& m : s.models())
    if (const pb::Pipeline* p = PipelineOf(*m.model)) visit(m, *p);
}

void Filled(const Subject& s, Findings& f) {
  EachPipeline(s, [&](const ModelAt& m, const pb::Pipeline& p) {
    if (p.models().empty()) f.Add(At(m.path + "pipeline.models"), "the pipeline has no models");
  });
}

void Named(const Subject& s, Findings& f) {
  EachPipeline(s, [&](const ModelAt& m, const pb::Pipeline& p) {
    if (!p.names().empty() && p.names_size() != p.models_size())
      f.Add(At(m.path + "pipeline.names"), "the pipeline has {} names and {} models",
            p.names_size(), p.models_size());
    std::set<std::string_view> seen;
    for (int i = 0; i < p.names_size(); ++i)
      if (!seen.insert(p.names(i)).second)
        f.Add(At(fmt::format("{}pipeline.names[{}]", m.path, i)), "a second model is named {}",
              Quote(p.names(i)));
  });
}

// What is known of features when a model of a pipeline runs.
using Known = std::unordered_map<std::string_view, const pb::FeatureDescription*>;

// Calls visit(feature, known or nullptr, path) for the inputs of the models and the pipeline's own
// outputs.
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

void FeaturesDefined(const Subject& s, Findings& f) {
  EachPipeline(s, [&](const ModelAt& m, const pb::Pipeline& p) {
    EachUse(m, p, [&](const auto& feature, const auto* known, const std::string& path) {
      if (known == nullptr)
        f.Add(At(path), "{} is no input of the pipeline, and no earlier model gives it",
              Quote(feature.name()));
    });
  });
}

void FeaturesAgree(const Subject& s, Findings& f) {
  EachPipeline(s, [&](const ModelAt& m, const pb::Pipeline& p) {
    EachUse(m, p, [&](const auto& feature, const auto* known, const std::string& path) {
      if (known != nullptr && !SameType(feature.type(), known->type()))
        f.Add(At(path), "{} is of another type than the feature of that name before it",
              Quote(feature.name()));
    });
  });
}

void Updatable(const Subject& s, Findings& f) {
  EachPipeline(s, [&](const ModelAt& m, const pb::Pipeline& p) {
    for (int i = 0; i < p.models_size(); ++i) {
      const bool want = m.model->isupdatable() && i == p.models_size() - 1;
      if (p.models(i).isupdatable() != want)
        f.Add(At(fmt::format("{}pipeline.models[{}].isUpdatable", m.path, i)),
              "model {} of {} {} updatable", i, p.models_size(), want ? "is not" : "is");
    }
  });
}

const pb::FeatureDescription* FindOutput(const ModelAt& m, const std::string& name) {
  for (const auto& output : m.description().output())
    if (output.name() == name) return &output;
  return nullptr;
}

// Kinds whose labels are numbers or strings, as their interface has it.
enum class Labels { kNone, kStrings, kIntegers };

template <typename Params>
Labels LabelsOf(const Params& p) {
  if (p.has_int64classlabels()) return Labels::kIntegers;
  return p.has_stringclasslabels() ? Labels::kStrings : Labels::kNone;
}

// The labels of a classifier whose interface has to go with them; nullopt of other models.
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
int LabelCount(const Params& p) {
  return std::max(p.stringclasslabels().vector_size(), p.int64classlabels().vector_size());
}

void LabelsGiven(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto check = [&](bool present, const auto& p) {
      if (present && LabelCount(p) == 0) f.Add(At(m.path + "Type"), "there are no class labels");
    };
    check(m.model->has_neuralnetworkclassifier(), m.model->neuralnetworkclassifier());
    check(m.model->has_glmclassifier(), m.model->glmclassifier());
    check(m.model->has_supportvectorclassifier(), m.model->supportvectorclassifier());
  }
}

bool IsRegressor(const pb::Model& m) {
  return m.has_neuralnetworkregressor() || m.has_glmregressor() || m.has_supportvectorregressor();
}

void PredictedFeature(const Subject& s, Findings& f) {
  using T = pb::FeatureType;
  for (const ModelAt& m : s.models()) {
    const auto labels = ClassifierLabels(*m.model);
    if (!labels && !IsRegressor(*m.model)) continue;
    const std::string& name = m.description().predictedfeaturename();
    const Location where = At(m.path + "description.predictedFeatureName");
    const auto* output = FindOutput(m, name);
    if (name.empty() || output == nullptr) {
      f.Add(where, "there is no output {}", Quote(name));
      continue;
    }
    const auto type = output->type().Type_case();
    if (labels && type != (*labels == Labels::kIntegers ? T::kInt64Type : T::kStringType))
      f.Add(where, "{} is no {}, which the class labels are", Quote(name),
            *labels == Labels::kIntegers ? "Int64" : "String");
    if (!labels && type != T::kDoubleType && type != T::kMultiArrayType)
      f.Add(where, "{} is neither a Double nor an array", Quote(name));
  }
}

void Probabilities(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const std::string& name = m.description().predictedprobabilitiesname();
    if (!ClassifierLabels(*m.model) || name.empty()) continue;
    const auto* output = FindOutput(m, name);
    const Location where = At(m.path + "description.predictedProbabilitiesName");
    if (output == nullptr)
      f.Add(where, "there is no output {}", Quote(name));
    else if (!output->type().has_dictionarytype() && !output->type().has_multiarraytype())
      f.Add(where, "{} is no dictionary", Quote(name));
  }
}

// The same of kinds whose interface the owner's checker does not look at.
void OtherPredictions(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const pb::Model& model = *m.model;
    const bool classifier = model.has_pipelineclassifier() || model.has_treeensembleclassifier();
    if (!classifier && !model.has_pipelineregressor() && !model.has_treeensembleregressor())
      continue;
    const auto check = [&](const std::string& name, std::string_view field) {
      if (!name.empty() && FindOutput(m, name) == nullptr)
        f.Add(At(fmt::format("{}description.{}", m.path, field)), "there is no output {}",
              Quote(name));
    };
    if (m.description().predictedfeaturename().empty())
      f.Add(At(m.path + "description.predictedFeatureName"), "no predicted feature is named");
    check(m.description().predictedfeaturename(), "predictedFeatureName");
    check(m.description().predictedprobabilitiesname(), "predictedProbabilitiesName");
  }
}

constexpr std::string_view kClause = "Model.proto, Pipeline";
constexpr std::string_view kPredicted = "Model.proto, ModelDescription.predictedFeatureName";

constexpr Rule kRules[] = {
    {{"COREML-MODEL-011", Severity::kError,
      "The predicted feature is an output: of a classifier of the type of its labels, of a "
      "regressor a Double or an array.",
      kPredicted, true, ""},
     PredictedFeature},
    {{"COREML-MODEL-018", Severity::kError, "The predicted probabilities are an output.",
      "Model.proto, ModelDescription.predictedProbabilitiesName", true, ""},
     Probabilities},
    {{"COREML-MODEL-019", Severity::kError,
      "Pipelines and tree ensembles that classify or regress name an output as predicted feature.",
      kPredicted, false, ""},
     OtherPredictions},
    {{"COREML-MODEL-020", Severity::kError, "Classifiers have class labels.",
      "NeuralNetwork.proto, NeuralNetworkClassifier.ClassLabels", true, ""},
     LabelsGiven},
    {{"COREML-MODEL-013", Severity::kError, "A pipeline has models.", kClause, true, ""}, Filled},
    {{"COREML-PIPELINE-001", Severity::kError,
      "A pipeline names none or all of its models, each in its own way.",
      "Model.proto, Pipeline.names", true, ""},
     Named},
    {{"COREML-PIPELINE-002", Severity::kError,
      "Inputs of a pipeline's models, and its own outputs, come from its inputs or from a model "
      "before.",
      kClause, true, "Sort the models, or give the features one name."},
     FeaturesDefined},
    {{"COREML-PIPELINE-003", Severity::kError,
      "A feature that goes from model to model keeps its type.", kClause, true, ""},
     FeaturesAgree},
    {{"COREML-UPDATE-012", Severity::kError,
      "Of a pipeline the last model is updatable, and only if the pipeline is.", kClause, true, ""},
     Updatable},
};

}  // namespace

std::span<const Rule> PipelineRules() {
  return kRules;
}

}  // namespace nn::coreml
