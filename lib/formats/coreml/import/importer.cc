#include "formats/coreml/import/importer.h"

#include <fmt/core.h>

#include "base/text/text.h"
#include "formats/coreml/import/interface.h"
#include "ir/verify.h"
#include "ops/array/opaque.h"
#include "passes/core/allowed_shapes.h"

namespace nn::coreml {
namespace {

// Replaces [C] or [C, H, W] by a shape [S, B, C, H, W] that agrees with it.
void GiveAllAxes(Type& type, const std::vector<int64_t>& shape) {
  Dims declared = *type.dims;
  if (declared.size() == 1) declared.insert(declared.end(), {Dim(1), Dim(1)});
  if (declared.size() != 3 || shape.size() != 5) return;
  for (size_t i = 0; i < declared.size(); ++i)
    if (declared[i].is_const() && !(declared[i] == shape[2 + i])) return;
  type = type.WithDims(ToDims(shape));
}

}  // namespace

Result<ImportedModel> Importer::Run() {
  ReadMetadata();
  size_t position = 0;
  for (const Fields& feature : description_.List("input"))
    NN_RETURN_IF_ERROR(ReadInput(feature, position++));
  NN_RETURN_IF_ERROR(ImportLayers(network_));
  for (const Fields& feature : description_.List("output")) NN_RETURN_IF_ERROR(ReadOutput(feature));
  NN_RETURN_IF_ERROR(Verify(graph_));
  return ImportedModel{std::move(graph_), std::move(unsupported_)};
}

std::map<std::string, Type> Importer::BlobTypes() const {
  std::map<std::string, Type> types;
  for (const auto& [name, value] : scope_) types.emplace(name, value->type());
  return types;
}

void Importer::ReadMetadata() {
  ReadModelMetadata(graph_, user_defined_);
  if (!IsClassifier()) return;
  const std::string_view kind = network_.OneOf("ClassLabels");
  const Fields vector = kind.empty() ? network_ : network_.Sub(kind);
  Tensor labels = Tensor::Ints({});
  if (kind == "stringClassLabels") {
    std::vector<std::string> texts = vector.Texts("vector");
    labels = Tensor({static_cast<int64_t>(texts.size())}, std::move(texts));
  } else if (kind == "int64ClassLabels") {
    labels = Tensor::Ints(vector.Ints("vector"));
  }
  SetClassLabels(graph_, labels);
  if (std::string label = description_.Text("predictedFeatureName"); !label.empty())
    graph_.metadata[std::string(kLabelKey)] = std::move(label);
}

Status Importer::ReadInput(const Fields& feature, size_t position) {
  const std::string name = feature.Text("name");
  auto type = FeatureType(feature, user_defined_);
  if (!type) return tl::unexpected(type.error().In("input " + Quote(name)));
  if (scope_.contains(name)) return ModelError("two inputs are named {}", Quote(name));
  if (const auto given = shapes_.find(name); given != shapes_.end() && IsArray(feature) && rank5())
    GiveAllAxes(*type, given->second);
  SetAllowedShapes(graph_, name, FeatureShapes(feature, *type));
  NN_ASSIGN(Value* const input, known_inputs_.AddInput(graph_, position, name, *type));
  ReadFeatureMetadata(graph_, feature);
  auto blob = FeatureBlob(graph_, input, feature, network_);
  if (!blob) return tl::unexpected(blob.error().In("input " + Quote(name)));
  Assign(name, *blob);
  return {};
}

Status Importer::ReadOutput(const Fields& feature) {
  const std::string name = feature.Text("name");
  std::string blob = name;
  if (IsClassifier()) {
    if (name == description_.Text("predictedFeatureName") && !scope_.contains(name)) return {};
    if (name == description_.Text("predictedProbabilitiesName") || !scope_.contains(name)) {
      blob = ScoresBlob(network_);
      graph_.metadata[std::string(kScoresKey)] = name;
    }
  }
  const auto it = scope_.find(blob);
  if (it == scope_.end()) return ModelError("output {} is not defined", Quote(blob));
  ReadFeatureMetadata(graph_, feature);
  auto value = OutputOf(graph_, it->second, feature, rank5());
  if (!value) return tl::unexpected(value.error().In("output " + Quote(name)));
  graph_.AddOutput(name, *value);
  return {};
}

Result<Importer::Flow> Importer::ImportLayers(const Fields& network, int64_t index) {
  return ImportLayers(network.List("layers"), 0, index);
}

Result<Importer::Flow> Importer::ImportLayers(const std::vector<Fields>& layers, size_t at,
                                              int64_t index) {
  for (; at < layers.size(); ++at) {
    const Fields& layer = layers[at];
    const std::string kind = KindOf(layer);
    const int64_t source = index < 0 ? static_cast<int64_t>(at) : index;
    const SharedString place =
        within_.empty() ? SharedString() : SharedString(fmt::format("{} in {}", at, within_));
    const auto flow = ImportLayer(layer, kind, source, place);
    if (!flow)
      return tl::unexpected(flow.error().In(fmt::format(
          "layer {} ({} {})", at, kind.empty() ? "unknown" : kind, Quote(layer.Text("name")))));
    if (std::holds_alternative<Value*>(flow->ends_iteration)) {
      ImportContext ctx(layer, source, graph_, {});
      ctx.set_place(place);
      return ImportGuarded(ctx, *flow, [&] { return ImportLayers(layers, at + 1, index); });
    }
    if (std::get<bool>(flow->ends_iteration)) return *flow;
  }
  return Flow{};
}

Result<Importer::Flow> Importer::ImportLayer(const Fields& layer, const std::string& kind,
                                             int64_t index, const SharedString& place) {
  const int64_t last_id = LastId(graph_);
  std::vector<Value*> inputs;
  bool on_opaque = false;
  for (const std::string& name : layer.Texts("input")) {
    const auto it = scope_.find(name);
    if (it == scope_.end()) return ModelError("input {} is not defined", Quote(name));
    inputs.push_back(it->second);
    on_opaque |= !it->second->type().ranked();
  }
  const auto names = layer.Texts("output");
  ImportContext ctx(layer, index, graph_, inputs);
  ctx.set_place(place);
  if (loops_ > 0) ctx.set_shared_weights(&weights_);
  const auto refuse = [&](std::string reason) -> Result<Flow> {
    NN_RETURN_IF_ERROR(MakeOpaque(ctx, names, std::move(reason)));
    return Flow{};
  };
  if (kind.empty()) return refuse("unknown kind of layer");
  if (IsControlFlow(kind)) return ImportControl(ctx, index);
  // Values after an unsupported layer often have unknown types; they are not imported.
  if (on_opaque && IsImported(kind)) return refuse("");
  auto status = ImportKind(ctx);
  if (!status && status.error().code() == ErrorCode::kUnsupported)
    return refuse(status.error().message());
  if (!status) return tl::unexpected(status.error());
  for (size_t i = 0; i < names.size(); ++i) {
    Value* const v = ctx.outputs()[i];
    if (v == nullptr)
      return ModelError("output {} does not exist; the layer has fewer outputs", Quote(names[i]));
    Declare(v, names[i]);
  }
  if (loops_ > 0 || branches_ > 0) {
    NN_RETURN_IF_ERROR(unrolled_.TakeConstants(graph_, last_id));
    FoldKnown(graph_, known_, ctx.outputs(), last_id);
  }
  return Flow{};
}

void Importer::Declare(Value* v, const std::string& name) {
  if (!v->is_input() && v->name().empty()) v->set_name(name);
  Assign(name, v);
}

void Importer::Assign(const std::string& name, Value* v) {
  const auto it = scope_.find(name);
  journal_.emplace_back(name, it == scope_.end() ? nullptr : it->second);
  if (v == nullptr)
    scope_.erase(name);
  else
    scope_[name] = v;
}

Status Importer::MakeOpaque(ImportContext& ctx, const std::vector<std::string>& blobs,
                            std::string reason) {
  NN_ASSIGN(const Node* const opaque,
            ctx.EmitOpaque(blobs.size(), std::move(reason), unsupported_));
  for (size_t i = 0; i < blobs.size(); ++i) Declare(opaque->output(i), blobs[i]);
  return {};
}

}  // namespace nn::coreml
