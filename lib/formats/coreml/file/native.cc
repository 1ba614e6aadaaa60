#include "formats/coreml/file/native.h"

#include <fmt/core.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <filesystem>

#include "base/text/text.h"
#include "coreml_model.pb.h"
#include "formats/common/protobuf/pb_match.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/file/compiled.h"
#include "formats/coreml/roles.h"
#include "formats/recognize.h"

namespace nn::coreml {

namespace {

constexpr int kFirstKind = 200;  // field numbers of Model below are not kinds

Result<std::unique_ptr<Model>> Parse(const Blob& file, const ReadLimits& limits) {
  if (const auto what = KnownNonModel(file.bytes()); !what.empty())
    return ParseError("this is {}", what);
  auto model = std::make_unique<Model>();
  model->file = file;
  PayloadLimits payload_limits;
  payload_limits.max_depth = limits.max_depth;
  NN_RETURN_IF_ERROR(ParseWithPayloads(file, model->proto.get(), model->payloads, payload_limits));
  return model;
}

}  // namespace

Model::Model() : proto(std::make_unique<pb::Model>()) {}
Model::~Model() = default;

Fields Model::root() const {
  return {*proto, payloads};
}
Writer Model::writer() {
  return {proto.get(), &payloads};
}
const Message& Model::message() const {
  return *proto;
}
Message* Model::mutable_message() {
  return proto.get();
}

std::string_view Model::kind() const {
  return root().OneOf("Type");
}

bool Model::has_network() const {
  return kind().starts_with("neuralNetwork");
}

Fields Model::network() const {
  return root().Sub(kind());
}

std::string DescribeKind(const Fields& model) {
  if (const std::string_view kind = model.OneOf("Type"); !kind.empty()) return std::string(kind);
  const Message& m = model.message();
  const auto& unknown = m.GetReflection()->GetUnknownFields(m);
  for (int i = 0; i < unknown.field_count(); ++i)
    if (const int field = unknown.field(i).number();
        field >= kFirstKind && field != PayloadTable::kReferenceField)
      return fmt::format("an unknown kind (field {})", field);
  return "a model without a kind";
}

Result<std::vector<Blob>> Serialize(const Model& model) {
  NN_ASSIGN(auto parts, SerializeWithPayloads(model.message(), model.payloads));
  uint64_t bytes = 0;
  for (const Blob& part : parts) bytes += part.size();
  if (bytes > kMaxProtobufBytes)
    return UnsupportedError(
        "the model would have {}, but Core ML reads files of at most 2 GiB: its neural networks "
        "have no external weights",
        HumanBytes(bytes));
  return parts;
}

Likeness CoremlReader::LikenessOf(std::span<const std::byte> bytes) const {
  const PbMatch match = MatchPb(bytes, *pb::Model::descriptor());
  if (!match.IsPlausible()) return Likeness::kNone;
  const bool has_kind = std::ranges::any_of(match.numbers, [](int n) { return n >= kFirstKind; });
  return has_kind ? Likeness::kLikely : Likeness::kPossible;
}

Result<std::unique_ptr<NativeModel>> CoremlReader::Read(const Blob& file, const std::string& path,
                                                        const ReadLimits& limits) const {
  NN_ASSIGN(auto model, Parse(file, limits));
  // A copy would be an empty file, which is not a model.
  if (model->message().ByteSizeLong() == 0)
    return ParseError("not a Core ML model: no field is set");
  NN_RETURN_IF_ERROR(ReadWeightFiles(std::filesystem::path(path).parent_path(), limits, *model));
  return std::unique_ptr<NativeModel>(std::move(model));
}

Result<std::unique_ptr<NativeModel>> CoremlReader::ReadFolder(const std::string& path,
                                                              const ReadLimits& limits) const {
  if (IsCompiledProgram(path)) {
    NN_ASSIGN(auto model, ReadCompiledProgram(path, limits));
    return std::unique_ptr<NativeModel>(std::move(model));
  }
  ModelFolder folder;
  Blob file;
  NN_RETURN_IF_ERROR(ReadPackage(path, limits, folder, file));
  auto model = Parse(file, limits);
  if (!model) return tl::unexpected(model.error().In(folder.manifest->root));
  (*model)->folder = std::move(folder);
  return std::unique_ptr<NativeModel>(*std::move(model));
}

std::string ScoresBlob(const Fields& network) {
  std::string name = network.Text("labelProbabilityLayerName");
  if (!name.empty()) return name;
  const auto layers = network.List("layers");
  const auto outputs = layers.empty() ? std::vector<std::string>() : layers.back().Texts("output");
  return outputs.empty() ? std::string() : outputs[0];
}

std::string KindOf(const Fields& layer) {
  const std::string_view kind = layer.OneOf("layer");
  if (kind == "activation")
    return fmt::format("activation.{}", layer.Sub(kind).OneOf("NonlinearityType"));
  if (kind == "unary") return fmt::format("unary.{}", layer.Sub(kind).Enum("type"));
  return std::string(kind);
}

std::vector<std::string> LayerKinds() {
  const google::protobuf::OneofDescriptor* layers =
      pb::NeuralNetworkLayer::descriptor()->FindOneofByName("layer");
  const google::protobuf::OneofDescriptor* activations =
      pb::ActivationParams::descriptor()->FindOneofByName("NonlinearityType");
  const google::protobuf::EnumDescriptor* unary =
      pb::UnaryFunctionLayerParams::Operation_descriptor();
  std::vector<std::string> kinds;
  for (int i = 0; i < layers->field_count(); ++i) {
    const std::string& layer = layers->field(i)->name();
    if (layer == "activation") {
      for (int k = 0; k < activations->field_count(); ++k)
        kinds.push_back(layer + "." + activations->field(k)->name());
    } else if (layer == "unary") {
      for (int k = 0; k < unary->value_count(); ++k)
        kinds.push_back(layer + "." + unary->value(k)->name());
    } else {
      kinds.push_back(layer);
    }
  }
  return kinds;
}

}  // namespace nn::coreml
