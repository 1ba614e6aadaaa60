// Rules of kinds whose insides only their owner knows: text, prints, sound, custom, linked.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

// A model of text: its revision, labels and parameters.
struct TextModel {
  std::string_view field;
  const google::protobuf::Message* message;
  uint32_t revision;
  uint32_t least;  // revision
  int labels;      // -1: the kind has none
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

void TextModels(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto text = TextModelOf(*m.model);
    if (!text) continue;
    const Location where = At(m.path + std::string(text->field));
    if (text->revision < text->least)
      f.Add(where, "{} has revision {}; {} is the first", text->field, text->revision, text->least);
    if (text->labels == 0) f.Add(where, "{} has no labels", text->field);
    if (s.SizeOf(*text->message, text->data_field) == 0)
      f.Add(where, "{} has no parameters", text->field);
  }
}

// Calls visit(name, output or nullptr, whether it holds strings) for the outputs of a word tagger.
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

void TaggerOutputs(const Subject& s, Findings& f) {
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
      f.Add(where, "the tagger names {} outputs, the model has {}", named, outputs.size());
    for (const auto& output : outputs)
      if (!names.contains(output.name()))
        f.Add(where, "the tagger does not give {}", Quote(output.name()));
    EachTag(m, [&](const std::string& name, const auto* type, bool strings) {
      const bool is_tags = name == m.model->wordtagger().tokentagsoutputfeaturename();
      if (type == nullptr && is_tags) f.Add(where, "there is no output {}", Quote(name));
      if (type != nullptr && (strings ? !type->sequencetype().has_stringtype()
                                      : !type->sequencetype().has_int64type()))
        f.Add(where, "{} is no sequence of {}", Quote(name), strings ? "strings" : "integers");
    });
  }
}

// What a print, or a preprocessing of sound, is; "" if it is complete.
std::string PrintFault(const pb::Model& m) {
  const auto version = [](int number, int newest) {
    return number < 1 || number > newest ? fmt::format("has version {}", number) : std::string();
  };
  if (m.has_visionfeatureprint()) {
    const auto& p = m.visionfeatureprint();
    if (p.has_scene()) return version(p.scene().version(), 2);
    return p.has_objects() ? version(p.objects().version(), 1) : "has no type";
  }
  if (m.has_audiofeatureprint()) {
    const auto& p = m.audiofeatureprint();
    if (!p.has_sound()) return "has no type";
    return p.sound().version() == 0 ? "has no version" : "";
  }
  if (m.has_soundanalysispreprocessing() && !m.soundanalysispreprocessing().has_vggish())
    return "has no type";
  return "";
}

void PrintsComplete(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (const auto fault = PrintFault(*m.model); !fault.empty())
      f.Add(At(m.path + "Type"), "the model {}", fault);
}

void SoundPrintsKnown(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (const int version = m.model->audiofeatureprint().sound().version(); version > 1)
      f.Add(At(m.path + "audioFeaturePrint.sound.version"), "there is no version {}", version);
}

void ObjectOutputs(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->visionfeatureprint().has_objects()) continue;
    const auto& names = m.model->visionfeatureprint().objects().output();
    const Location where = At(m.path + "visionFeaturePrint.objects.output");
    if (names.size() != 2) f.Add(where, "the print names {} outputs instead of 2", names.size());
    for (const auto& output : m.description().output())
      if (std::find(names.begin(), names.end(), output.name()) == names.end())
        f.Add(where, "the print does not give {}", Quote(output.name()));
  }
}

void VggishShapes(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->soundanalysispreprocessing().has_vggish()) continue;
    const auto check = [&](const Features& list, std::string_view field,
                           const std::vector<int64_t>& want) {
      for (int i = 0; i < list.size(); ++i) {
        const auto& array = list.Get(i).type().multiarraytype();
        if (!std::equal(array.shape().begin(), array.shape().end(), want.begin(), want.end()) ||
            array.datatype() != pb::ArrayFeatureType::FLOAT32)
          f.Add(At(fmt::format("{}description.{}[{}]", m.path, field, i)),
                "{} is no array of FLOAT32 of [{}]", Quote(list.Get(i).name()),
                fmt::join(want, ", "));
      }
    };
    check(m.description().input(), "input", {15600});
    check(m.description().output(), "output", {1, 96, 64});
  }
}

void CustomModels(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_custommodel()) continue;
    const auto& p = m.model->custommodel();
    if (p.classname().empty()) f.Add(At(m.path + "customModel.className"), "the class has no name");
    for (int i = 0; i < p.parameters_size(); ++i) {
      const auto& parameter = p.parameters(i);
      if (parameter.key().empty() ||
          parameter.value().value_case() == pb::CustomModel::CustomModelParamValue::VALUE_NOT_SET)
        f.Add(At(fmt::format("{}customModel.parameters[{}]", m.path, i)),
              "parameter {} has no name or no value", Quote(parameter.key()));
    }
  }
}

void LinkedModels(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_linkedmodel()) continue;
    const auto& p = m.model->linkedmodel();
    if (!p.has_linkedmodelfile())
      f.Add(At(m.path + "linkedModel"), "the model is linked to nothing");
    else if (p.linkedmodelfile().linkedmodelfilename().defaultvalue().empty())
      f.Add(At(m.path + "linkedModel.linkedModelFile.linkedModelFileName"),
            "the linked file has no name");
  }
}

constexpr Rule kRules[] = {
    {{"COREML-MODEL-014", Severity::kError,
      "Feature prints and sound preprocessing state their type, prints a version that there is.",
      "VisionFeaturePrint.proto", true, ""},
     PrintsComplete},
    {{"COREML-MODEL-015", Severity::kError,
      "VGGish preprocessing takes 15600 samples and gives 1 x 96 x 64 values, as FLOAT32.",
      "SoundAnalysisPreprocessing.proto", true, ""},
     VggishShapes},
    {{"COREML-KIND-019", Severity::kError, "The version of a sound print is a published one.",
      "AudioFeaturePrint.proto, AudioFeaturePrint.Sound", false, ""},
     SoundPrintsKnown},
    {{"COREML-KIND-020", Severity::kError,
      "An object print names two outputs, the model's among them.",
      "VisionFeaturePrint.proto, VisionFeaturePrint.Objects.output", true, ""},
     ObjectOutputs},
    {{"COREML-KIND-021", Severity::kError, "Models of text have a revision, labels and parameters.",
      "TextClassifier.proto; WordTagger.proto; Gazetteer.proto; WordEmbedding.proto", true, ""},
     TextModels},
    {{"COREML-KIND-022", Severity::kError,
      "A word tagger names all outputs; tags and tokens are sequences of strings, the others of "
      "integers.",
      "WordTagger.proto, WordTagger", true, ""},
     TaggerOutputs},
    {{"COREML-KIND-023", Severity::kError,
      "A custom model names its class; its parameters have names and values.",
      "CustomModel.proto, CustomModel", true, ""},
     CustomModels},
    {{"COREML-KIND-024", Severity::kError, "A linked model names its file.",
      "LinkedModel.proto, LinkedModelFile.linkedModelFileName", true, ""},
     LinkedModels},
};

}  // namespace

std::span<const Rule> AppleRules() {
  return kRules;
}

}  // namespace nn::coreml
