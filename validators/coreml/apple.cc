// Rules of model types with opaque parameters: text models, feature prints, sound analysis,
// custom and linked models.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

// A text model: its revision, labels and parameters.
struct TextModel {
  std::string_view field;
  const google::protobuf::Message* message;
  uint32_t revision;
  uint32_t least;  // supported revision
  int labels;      // -1: the type has none
  int data_field;
};

std::optional<TextModel> TextModelOf(const pb::Model& m) {
  if (m.has_textclassifier()) {
    const auto& p = m.textclassifier();
    return TextModel{"textClassifier",
                     &p,
                     p.revision(),
                     1,
                     p.stringclasslabels().vector_size(),
                     pb::TextClassifier::kModelParameterDataFieldNumber};
  }
  if (m.has_wordtagger()) {
    const auto& p = m.wordtagger();
    return TextModel{"wordTagger",
                     &p,
                     p.revision(),
                     1,
                     p.stringtags().vector_size(),
                     pb::WordTagger::kModelParameterDataFieldNumber};
  }
  if (m.has_gazetteer()) {
    const auto& p = m.gazetteer();
    return TextModel{"gazetteer",
                     &p,
                     p.revision(),
                     2,
                     p.stringclasslabels().vector_size(),
                     pb::Gazetteer::kModelParameterDataFieldNumber};
  }
  if (m.has_wordembedding()) {
    const auto& p = m.wordembedding();
    return TextModel{"wordEmbedding",
                     &p,
                     p.revision(),
                     2,
                     -1,
                     pb::WordEmbedding::kModelParameterDataFieldNumber};
  }
  return std::nullopt;
}

void TextModels(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto text = TextModelOf(*m.model);
    if (!text) continue;
    const Location where = At(m.path + std::string(text->field));
    if (text->revision < text->least)
      f.Add(where, "{} has revision {}; expected {} or more", text->field, text->revision,
            text->least);
    if (text->labels == 0) f.Add(where, "{} has no labels", text->field);
    if (s.SizeOf(*text->message, text->data_field) == 0)
      f.Add(where, "{} has no modelParameterData", text->field);
  }
}

// Calls visit(name, output or nullptr, is it of strings?) for each output that a word tagger names.
template <typename Visit>
void EachTag(const ModelAt& m, const Visit& visit) {
  const auto& p = m.model->wordtagger();
  const auto find = [&](const std::string& name) -> const pb::FeatureType* {
    for (const auto& output : m.description().output())
      if (output.name() == name) return &output.type();
    return nullptr;
  };
  visit(p.tokentagsoutputfeaturename(), find(p.tokentagsoutputfeaturename()), true);
  visit(p.tokensoutputfeaturename(), find(p.tokensoutputfeaturename()), true);
  visit(p.tokenlocationsoutputfeaturename(), find(p.tokenlocationsoutputfeaturename()), false);
  visit(p.tokenlengthsoutputfeaturename(), find(p.tokenlengthsoutputfeaturename()), false);
}

void TaggerOutputs(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_wordtagger()) continue;
    const auto& outputs = m.description().output();
    const Location where = At(m.path + "wordTagger");
    std::set<std::string_view> names;
    int named = 0;
    EachTag(m, [&](const std::string& name, const auto*, bool) {
      names.insert(name);
      named += name.empty() ? 0 : 1;
    });
    if (outputs.size() != named)
      f.Add(where, "wordTagger names {} outputs, but the model has {}", named, outputs.size());
    for (const auto& output : outputs)
      if (!names.contains(output.name()))
        f.Add(where, "wordTagger does not name the output {}", Quote(output.name()));
    EachTag(m, [&](const std::string& name, const auto* type, bool strings) {
      const bool is_tags = name == m.model->wordtagger().tokentagsoutputfeaturename();
      if (type == nullptr && is_tags) f.Add(where, "the model has no output {}", Quote(name));
      if (type != nullptr && (strings ? !type->sequencetype().has_stringtype()
                                      : !type->sequencetype().has_int64type()))
        f.Add(where, "{} is not a sequence of {}", Quote(name), strings ? "strings" : "integers");
    });
  }
}

// What a feature print, or sound analysis preprocessing, lacks; "" if it is complete.
std::string PrintFault(const pb::Model& m) {
  const auto version = [](std::string_view print, int number, std::string_view known, int newest) {
    if (number >= 1 && number <= newest) return std::string();
    return fmt::format("the {} print has version {}; expected {}", print, number, known);
  };
  if (m.has_visionfeatureprint()) {
    const auto& p = m.visionfeatureprint();
    if (p.has_scene()) return version("scene", p.scene().version(), "1 or 2", 2);
    return p.has_objects() ? version("object", p.objects().version(), "1", 1)
                           : "the vision feature print has no type";
  }
  if (m.has_audiofeatureprint()) {
    const auto& p = m.audiofeatureprint();
    if (!p.has_sound()) return "the audio feature print has no type";
    return p.sound().version() == 0 ? "the sound print has no version" : "";
  }
  if (m.has_soundanalysispreprocessing() && !m.soundanalysispreprocessing().has_vggish())
    return "the sound analysis preprocessing has no type";
  return "";
}

void PrintsComplete(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (const auto fault = PrintFault(*m.model); !fault.empty())
      f.Add(At(m.path + "Type"), "{}", fault);
}

void SoundPrintsKnown(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (const int version = m.model->audiofeatureprint().sound().version(); version > 1)
      f.Add(At(m.path + "audioFeaturePrint.sound.version"),
            "the sound print has version {}; the newest known version is 1", version);
}

void ObjectOutputs(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->visionfeatureprint().has_objects()) continue;
    const auto& names = m.model->visionfeatureprint().objects().output();
    const Location where = At(m.path + "visionFeaturePrint.objects.output");
    if (names.size() != 2)
      f.Add(where, "the object print names {} outputs; expected 2", names.size());
    for (const auto& output : m.description().output())
      if (std::find(names.begin(), names.end(), output.name()) == names.end())
        f.Add(where, "the object print does not name the output {}", Quote(output.name()));
  }
}

void VggishShapes(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->soundanalysispreprocessing().has_vggish()) continue;
    const auto check = [&](const Features& list, std::string_view field,
                           const std::vector<int64_t>& want) {
      for (int i = 0; i < list.size(); ++i) {
        const auto& array = list.Get(i).type().multiarraytype();
        if (!std::equal(array.shape().begin(), array.shape().end(), want.begin(), want.end()) ||
            array.datatype() != pb::ArrayFeatureType::FLOAT32)
          f.Add(At(fmt::format("{}description.{}[{}]", m.path, field, i)),
                "{} is not a FLOAT32 array of shape [{}]", Quote(list.Get(i).name()),
                fmt::join(want, ", "));
      }
    };
    check(m.description().input(), "input", {15600});
    check(m.description().output(), "output", {1, 96, 64});
  }
}

void CustomModels(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_custommodel()) continue;
    const auto& p = m.model->custommodel();
    if (p.classname().empty())
      f.Add(At(m.path + "customModel.className"), "the custom model has no className");
    for (int i = 0; i < p.parameters_size(); ++i) {
      const auto& parameter = p.parameters(i);
      if (parameter.key().empty() ||
          parameter.value().value_case() == pb::CustomModel::CustomModelParamValue::VALUE_NOT_SET)
        f.Add(At(fmt::format("{}customModel.parameters[{}]", m.path, i)),
              "parameter {} has no name or no value", Quote(parameter.key()));
    }
  }
}

void LinkedModels(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_linkedmodel()) continue;
    const auto& p = m.model->linkedmodel();
    if (!p.has_linkedmodelfile())
      f.Add(At(m.path + "linkedModel"), "the linked model has no linkedModelFile");
    else if (p.linkedmodelfile().linkedmodelfilename().defaultvalue().empty())
      f.Add(At(m.path + "linkedModel.linkedModelFile.linkedModelFileName"),
            "the linked file has no default name");
  }
}

constexpr Rule kAppleRules[] = {
    {.info =
         {.id = "COREML-MODEL-014",
          .statement =
              "Vision and audio feature prints have a type and a version, which for vision feature "
              "prints is a published one, and sound analysis preprocessing has a type.",
          .clause = "VisionFeaturePrint.proto",
          .vendor = true,
          .hint =
              "Set the type, such as scene, objects, sound or vggish, and a published version."},
     .check = PrintsComplete},
    {.info = {.id = "COREML-MODEL-015",
              .statement = "The input of VGGish preprocessing is a FLOAT32 array of shape [15600], "
                           "and its output is a FLOAT32 array of shape [1, 96, 64].",
              .clause = "SoundAnalysisPreprocessing.proto",
              .vendor = true,
              .hint = "Set the shape and the dataType of the input and output to these values."},
     .check = VggishShapes},
    {.info = {.id = "COREML-KIND-019",
              .statement = "The version of a sound feature print is a published one.",
              .clause = "AudioFeaturePrint.proto, AudioFeaturePrint.Sound",
              .hint = "Set version to 1, or check the model with a newer version of this tool."},
     .check = SoundPrintsKnown},
    {.info = {.id = "COREML-KIND-020",
              .statement = "An object feature print names two outputs, and every output of the "
                           "model is one of them.",
              .clause = "VisionFeaturePrint.proto, VisionFeaturePrint.Objects.output",
              .vendor = true,
              .hint = "List two names in visionFeaturePrint.objects.output, and give the outputs "
                      "of the model these names."},
     .check = ObjectOutputs},
    {.info = {.id = "COREML-KIND-021",
              .statement =
                  "Text classifiers, word taggers, gazetteers and word embeddings have a supported "
                  "revision and modelParameterData, and all but word embeddings have labels.",
              .clause =
                  "TextClassifier.proto; WordTagger.proto; Gazetteer.proto; WordEmbedding.proto",
              .vendor = true,
              .hint =
                  "Set the labels, modelParameterData and revision: 1 or more for text classifiers "
                  "and word taggers, 2 or more for gazetteers and word embeddings."},
     .check = TextModels},
    {.info = {.id = "COREML-KIND-022",
              .statement =
                  "A word tagger names all outputs of the model, among them one for tags; tags and "
                  "tokens are sequences of strings, locations and lengths sequences of integers.",
              .clause = "WordTagger.proto, WordTagger",
              .vendor = true,
              .hint = "Set the output feature names of wordTagger to the outputs of the model, and "
                      "correct their types."},
     .check = TaggerOutputs},
    {.info =
         {.id = "COREML-KIND-023",
          .statement =
              "A custom model has a className, and each of its parameters has a name and a value.",
          .clause = "CustomModel.proto, CustomModel",
          .vendor = true,
          .hint = "Set className to the class that implements the model, and complete or remove "
                  "the parameter."},
     .check = CustomModels},
    {.info = {.id = "COREML-KIND-024",
              .statement = "A linked model has a linkedModelFile with a default file name.",
              .clause = "LinkedModel.proto, LinkedModelFile.linkedModelFileName",
              .vendor = true,
              .hint = "Set linkedModelFile.linkedModelFileName.defaultValue to the name of the "
                      "model file."},
     .check = LinkedModels},
};

}  // namespace

std::span<const Rule> AppleRules() {
  return kAppleRules;
}

}  // namespace nn::coreml
