#include "formats/coreml/describe/summary.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/roles.h"

#include <fmt/core.h>

#include <limits>

namespace nn::coreml {
namespace {

class Summarizer {
 public:
  Summarizer(const Model& model, size_t shown_elements) : model_(model) {
    out_.shown_elements = shown_elements;
  }

  ModelSummary Run() {
    const Fields root = model_.root(), description = root.Sub("description");
    out_.format = "Core ML";
    out_.version = fmt::format("specification version {}", root.Int("specificationVersion"));
    Metadata(root, description);
    AddDescription(description, out_);
    Facts facts;
    AddModel(root, "", facts);
    out_.metadata.insert(out_.metadata.end(), facts.begin(), facts.end());
    UserDefined(description);
    return std::move(out_);
  }

 private:
  void Metadata(const Fields& root, const Fields& description) {
    out_.metadata.emplace_back("kind", DescribeKind(root));
    for (const char* key : {"shortDescription", "versionString", "author", "license"})
      if (std::string text = description.Sub("metadata").Text(key); !text.empty())
        out_.metadata.emplace_back(key, std::move(text));
    if (root.Bool("isUpdatable")) out_.metadata.emplace_back("isUpdatable", "true");
    if (const auto& manifest = model_.folder.manifest)
      out_.metadata.emplace_back("package", fmt::format("version {}, {} items", manifest->version,
                                                        manifest->items.size()));
  }

  void UserDefined(const Fields& description) {
    for (const Fields& entry : description.Sub("metadata").List("userDefined")) {
      const std::string key = entry.Text("key"), value = entry.Text("value");
      // Tools record their name and version.
      if (key == "com.github.apple.coremltools.version")
        out_.producer = "coremltools " + value;
      else if (key == "nn.producer")
        out_.producer = value;
      out_.metadata.emplace_back(key, value);
    }
  }

  // Facts about the whole model.
  void AddModel(const Fields& model, const std::string& scope, Facts& facts) {
    const std::string_view kind = model.OneOf("Type");
    if (kind.starts_with("neuralNetwork"))
      AddNetworkModel(model.Sub(kind), scope, facts);
    else if (kind == "mlProgram")
      AddProgram(model_, model.Sub(kind), DefaultFunction(model.Sub("description")), scope, out_,
                 facts);
    else if (kind == "pipeline")
      AddStages(model.Sub(kind), scope);
    else if (kind.starts_with("pipeline"))
      AddStages(model.Sub(kind).Sub("pipeline"), scope);
    else
      AddKind(model, kind, out_, facts);
  }

  void AddNetworkModel(const Fields& network, const std::string& scope, Facts& facts) {
    if (network.message().GetDescriptor()->FindOneofByName("ClassLabels") != nullptr)
      if (const std::string_view labels = network.OneOf("ClassLabels"); !labels.empty())
        facts.emplace_back("classLabels", std::to_string(network.Sub(labels).Count("vector")));
    for (const char* key : {"arrayInputShapeMapping", "imageInputShapeMapping"})
      facts.emplace_back(key, network.Enum(key));
    AddFields(network, "", NotToldOf(network), out_, facts);
    AddNetwork(network, scope, out_);
  }

  // All but preprocessing and training.
  static std::vector<std::string_view> NotToldOf(const Fields& network) {
    std::vector<std::string_view> out;
    const auto* type = network.message().GetDescriptor();
    for (int i = 0; i < type->field_count(); ++i)
      if (const std::string& name = type->field(i)->name();
          name != "preprocessing" && name != "updateParams")
        out.push_back(name);
    return out;
  }

  // Stages become operators, followed by their contents with the stage's name as scope.
  void AddStages(const Fields& pipeline, const std::string& scope) {
    const auto names = pipeline.Texts("names");
    const auto models = pipeline.List("models");
    for (size_t i = 0; i < models.size(); ++i) {
      OperatorSummary stage;
      stage.op = DescribeKind(models[i]);
      stage.name = StageName(names, i);
      stage.scope = scope;
      const Fields description = models[i].Sub("description");
      for (const Fields& f : description.List("input")) stage.inputs.push_back(f.Text("name"));
      for (const Fields& f : description.List("output")) stage.outputs.push_back(f.Text("name"));
      const std::string inner = InnerScope(scope, stage.name);
      const size_t place = out_.operators.size();
      out_.operators.push_back(std::move(stage));
      Facts facts;
      AddModel(models[i], inner, facts);
      out_.operators[place].attributes = std::move(facts);
    }
  }

  const Model& model_;
  Summary out_;
};

}  // namespace

std::string StageName(const std::vector<std::string>& names, size_t i) {
  return i < names.size() && !names[i].empty() ? names[i] : fmt::format("model{}", i);
}

Result<ModelSummary> CoremlDescriber::Summarize(const NativeModel& native) const {
  return Summarizer(ModelOf(native), Summary().shown_elements).Run();
}

Result<ModelSummary> CoremlDescriber::SummarizeInFull(const NativeModel& native) const {
  return Summarizer(ModelOf(native), std::numeric_limits<size_t>::max()).Run();
}

}  // namespace nn::coreml
