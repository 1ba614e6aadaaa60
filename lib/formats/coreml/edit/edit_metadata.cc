#include "formats/coreml/edit/edit_metadata.h"
#include "formats/coreml/roles.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text/text.h"
#include "coreml_model.pb.h"

namespace nn::coreml {
namespace {

constexpr std::string_view kTexts[] = {"shortDescription", "versionString", "author", "license"};

bool IsText(std::string_view name) {
  return std::ranges::count(kTexts, name) > 0;
}

int EntryOf(const pb::Metadata& metadata, const std::string& key) {
  for (int i = 0; i < metadata.userdefined_size(); ++i)
    if (metadata.userdefined(i).key() == key) return i;
  return -1;
}

Status SetEntry(const ModelSummary& summary, const std::string& name, const std::string& text,
                pb::Model& model) {
  if (!IsUtf8(name) || !IsUtf8(text))
    return UnsupportedError("metadata {} is not UTF-8", Quote(name));
  pb::Metadata& metadata = *model.mutable_description()->mutable_metadata();
  if (IsText(name)) {
    const auto* field = metadata.GetDescriptor()->FindFieldByName(name);
    metadata.GetReflection()->SetString(&metadata, field, text);
    return {};
  }
  const int at = EntryOf(metadata, name);
  const auto shown = [&](const auto& entry) { return entry.first == name; };
  if (at < 0 && std::ranges::any_of(summary.metadata, shown))
    return UnsupportedError("{} is a fact about the model, not an entry of its metadata",
                            Quote(name));
  if (text.empty()) {
    if (at >= 0) metadata.mutable_userdefined()->DeleteSubrange(at, 1);
    return {};
  }
  auto& entry = at >= 0 ? *metadata.mutable_userdefined(at) : *metadata.add_userdefined();
  entry.set_key(name);
  entry.set_value(text);
  return {};
}

void StripDocs(pb::ModelDescription& description) {
  if (description.has_metadata()) description.mutable_metadata()->clear_shortdescription();
  const auto clear = [](auto& features) {
    for (pb::FeatureDescription& feature : features) feature.clear_shortdescription();
  };
  for (auto* features : {description.mutable_input(), description.mutable_output(),
                         description.mutable_state(), description.mutable_traininginput()})
    clear(*features);
  for (pb::FunctionDescription& function : *description.mutable_functions())
    for (auto* features :
         {function.mutable_input(), function.mutable_output(), function.mutable_state()})
      clear(*features);
}

// Layers, which are also in the networks of branches and loops.
Status StripLayerNames(pb::Model& model) {
  return ForEachMessage(&model, [](Message* message) -> Status {
    if (message->GetDescriptor() == pb::NeuralNetworkLayer::descriptor())
      static_cast<pb::NeuralNetworkLayer*>(message)->clear_name();
    return {};
  });
}

}  // namespace

Status EditMetadata(const Model& source, const NativeEdit& edit, Model& model) {
  pb::Model& proto = *model.proto;
  if (edit.strip.docs && proto.has_description()) StripDocs(*proto.mutable_description());
  if (edit.strip.metadata && proto.has_description()) {
    std::string text = proto.description().metadata().shortdescription();
    proto.mutable_description()->clear_metadata();
    if (!text.empty())
      proto.mutable_description()->mutable_metadata()->set_shortdescription(std::move(text));
  }
  // The training of an updatable model refers to its layers by name.
  if (edit.strip.names && !proto.isupdatable()) NN_RETURN_IF_ERROR(StripLayerNames(proto));
  if (edit.metadata.empty()) return {};
  NN_ASSIGN(const ModelSummary summary, CoremlDescriber().Summarize(source));
  for (const auto& [name, text] : edit.metadata)
    NN_RETURN_IF_ERROR(SetEntry(summary, name, text, proto));
  return {};
}

}  // namespace nn::coreml
