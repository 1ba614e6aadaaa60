// Other names for inputs and outputs. Features, the blobs of a network and the values of a program
// are matched by name, so every occurrence of a name in the model changes, also where an inner
// block or a later layer has it for something else: what was equal stays equal.
#include "formats/common/edit/rename.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "coreml_model.pb.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/edit/network_parts.h"
#include "formats/coreml/edit/rename.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/import/interface.h"
#include "formats/coreml/roles.h"

namespace nn::coreml {
namespace {

using google::protobuf::FieldDescriptor;
// A string field with the name of a feature, a blob or a value.
struct NameField {
  std::string_view message;
  std::string_view field;
};

constexpr NameField kNameFields[] = {
    {"FeatureDescription", "name"},
    {"ModelDescription", "predictedFeatureName"},
    {"ModelDescription", "predictedProbabilitiesName"},
    {"FunctionDescription", "predictedFeatureName"},
    {"FunctionDescription", "predictedProbabilitiesName"},
    {"NeuralNetworkLayer", "input"},
    {"NeuralNetworkLayer", "output"},
    {"LoopLayerParams", "conditionVar"},
    {"NeuralNetworkPreprocessing", "featureName"},
    {"NeuralNetworkClassifier", "labelProbabilityLayerName"},
    {"CategoricalCrossEntropyLossLayer", "input"},
    {"CategoricalCrossEntropyLossLayer", "target"},
    {"MeanSquaredErrorLossLayer", "input"},
    {"MeanSquaredErrorLossLayer", "target"},
    {"InputColumn", "inputColumn"},
    {"NamedValueType", "name"},
    {"Binding", "name"},
    {"Block", "outputs"},
};

// Parameters of some kinds, such as confidenceOutputFeatureName.
constexpr std::string_view kNameSuffix = "FeatureName";

// Kinds whose features have names that their implementation or another file determines.
constexpr std::string_view kFixedNames[] = {
    "customModel", "linkedModel",       "serializedModel",    "textClassifier",
    "gazetteer",   "wordEmbedding",     "visionFeaturePrint", "soundAnalysisPreprocessing",
    "wordTagger",  "audioFeaturePrint",
};

bool IsNameField(const FieldDescriptor& field) {
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_STRING) return false;
  if (std::string_view(field.name()).ends_with(kNameSuffix)) return true;
  return std::ranges::any_of(kNameFields, [&](const NameField& f) {
    return f.field == field.name() && f.message == field.containing_type()->name();
  });
}

class FeatureRenamer {
 public:
  explicit FeatureRenamer(FeatureNames names)
      : names_(std::move(names)), targets_(TargetsOf(names_)) {}

  Status Run(pb::Model& model) const {
    if (model.Type_case() == pb::Model::TYPE_NOT_SET || !CanRename(KindOfModel(model)))
      return UnsupportedError(
          "the names of inputs and outputs cannot be changed: {} determines them itself",
          DescribeKind(Fields(model, PayloadTable())));
    if (model.has_description()) NN_RETURN_IF_ERROR(InDescription(*model.mutable_description()));
    switch (model.Type_case()) {
      case pb::Model::kPipeline:
        return InStages(*model.mutable_pipeline());
      case pb::Model::kPipelineClassifier:
        return InStages(*model.mutable_pipelineclassifier()->mutable_pipeline());
      case pb::Model::kPipelineRegressor:
        return InStages(*model.mutable_pipelineregressor()->mutable_pipeline());
      case pb::Model::kMlProgram: {
        const std::string main = DefaultFunction(Fields(model, PayloadTable()).Sub("description"));
        for (auto& function : *model.mutable_mlprogram()->mutable_functions())
          if (function.key() == main) NN_RETURN_IF_ERROR(InAll(function.mutable_value()));
        return {};
      }
      default: {
        const FieldDescriptor* kind = model.GetReflection()->GetOneofFieldDescriptor(
            model, pb::Model::descriptor()->FindOneofByName("Type"));
        return InAll(model.GetReflection()->MutableMessage(&model, kind));
      }
    }
  }

 private:
  static std::string_view KindOfModel(const pb::Model& model) {
    return Fields(model, PayloadTable()).OneOf("Type");
  }

  static bool CanRename(std::string_view kind) {
    return std::ranges::find(kFixedNames, kind) == std::end(kFixedNames);
  }

  // The features of all stages have one scope.
  Status InStages(pb::Pipeline& pipeline) const {
    for (pb::Model& stage : *pipeline.mutable_models()) NN_RETURN_IF_ERROR(Run(stage));
    return {};
  }

  // Features of other functions are scopes of their own.
  Status InDescription(pb::ModelDescription& description) const {
    NN_RETURN_IF_ERROR(InMessage(&description));
    for (auto* features : {description.mutable_input(), description.mutable_output(),
                           description.mutable_state(), description.mutable_traininginput()})
      for (pb::FeatureDescription& feature : *features) NN_RETURN_IF_ERROR(InAll(&feature));
    const std::string& main = description.defaultfunctionname();
    for (pb::FunctionDescription& function : *description.mutable_functions())
      if (function.name() == main) NN_RETURN_IF_ERROR(InAll(&function));
    if (!description.has_metadata()) return {};
    for (auto& entry : *description.mutable_metadata()->mutable_userdefined()) {
      if (!std::string_view(entry.key()).starts_with(kDimsKey)) continue;
      const auto it = names_.find(std::string_view(entry.key()).substr(kDimsKey.size()));
      if (it != names_.end()) entry.set_key(std::string(kDimsKey) + it->second);
    }
    return {};
  }

  Status InAll(Message* root) const {
    return ForEachMessage(root, [&](Message* message) { return InMessage(message); });
  }

  // The names in a message itself.
  Status InMessage(Message* message) const {
    const auto& reflection = *message->GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(*message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (!IsNameField(*field)) continue;
      if (!field->is_repeated()) {
        NN_ASSIGN(const std::string* const name,
                  NewName(*message, *field, reflection.GetString(*message, field)));
        if (name != nullptr) reflection.SetString(message, field, *name);
        continue;
      }
      for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
        NN_ASSIGN(const std::string* const name,
                  NewName(*message, *field, reflection.GetRepeatedString(*message, field, i)));
        if (name != nullptr) reflection.SetRepeatedString(message, field, i, *name);
      }
    }
    return {};
  }

  // Null if the name stays.
  Result<const std::string*> NewName(const Message& owner, const FieldDescriptor& field,
                                     const std::string& name) const {
    if (const auto it = names_.find(name); it != names_.end()) return &it->second;
    if (!targets_.contains(name)) return nullptr;
    const FieldDescriptor* own = owner.GetDescriptor()->FindFieldByName("name");
    std::string place = owner.GetDescriptor()->name();
    if (own != nullptr && own != &field)
      place += " " + Quote(owner.GetReflection()->GetString(owner, own));
    return NameIsTaken(name, fmt::format("{}.{}", place, field.name()));
  }

  const FeatureNames names_;
  const std::set<std::string, std::less<>> targets_;
};

std::vector<std::string> FeatureNamesOf(const std::vector<Fields>& features) {
  std::vector<std::string> names;
  names.reserve(features.size());
  for (const Fields& feature : features) names.push_back(feature.Text("name"));
  return names;
}

}  // namespace

Status RenameFeatures(Model& model, FeatureNames names) {
  return FeatureRenamer(std::move(names)).Run(*model.proto);
}

Result<PortNames> CoremlDescriber::PortNamesOf(const NativeModel& native) const {
  const Features ports = PortsOf(ModelOf(native));
  return PortNames{FeatureNamesOf(ports.inputs), FeatureNamesOf(ports.outputs)};
}

Result<FileImage> CoremlEditor::Rename(const NativeModel& native, const PortNames& names,
                                       const ExportOptions& options) const {
  const auto& model = ModelOf(native);
  NN_ASSIGN(const PortNames present, CoremlDescriber().PortNamesOf(native));
  NN_ASSIGN(FeatureNames changes, NewNames(present.inputs, present.outputs, present, names));
  if (changes.empty()) return CoremlWriter().Save(native, options);
  if (changes.contains(""))
    return UnsupportedError("an input or output without a name cannot be renamed");
  Model renamed;
  *renamed.proto = *model.proto;
  renamed.payloads = model.payloads;
  renamed.folder = model.folder;
  NN_RETURN_IF_ERROR(RenameFeatures(renamed, std::move(changes)));
  return CoremlWriter().Save(renamed, options);
}

}  // namespace nn::coreml
