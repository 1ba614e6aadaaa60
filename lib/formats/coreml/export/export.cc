#include "formats/coreml/export/export.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text/text.h"
#include "formats/common/interface.h"
#include "formats/coreml/export/half_weights.h"
#include "formats/coreml/export/layer_fit.h"
#include "formats/coreml/export/write_interface.h"
#include "formats/coreml/family.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/file/weights.h"
#include "formats/coreml/import/interface.h"
#include "formats/coreml/roles.h"
#include "ir/op_def.h"

namespace nn::coreml {
namespace {

// The version that has exact shapes.
constexpr int64_t kMinVersion = 4;

// A constant as f32, which is exact (WhyIllegal). There are no scalars.
Tensor AsFloats(const Tensor& t) {
  std::vector<int64_t> dims = t.dims();
  if (dims.empty()) dims = {1};
  if (t.dtype() == DType::kF32) return Tensor(DType::kF32, std::move(dims), t.blob());
  std::vector<float> values;
  for (int64_t i = 0; i < t.elements(); ++i) values.push_back(static_cast<float>(t.GetInt(i)));
  return Tensor::Of(std::move(dims), values);
}

}  // namespace

Status WriteNode(ExportContext& ctx, const Node& node) {
  if (const ExportRow* row = FindExport(node.op_name()); row != nullptr && row->write != nullptr)
    return row->write(ctx, node);
  const FormatName* format = node.op().FindFormat("coreml");
  if (format == nullptr) return InternalError("{} was not legalized for Core ML", node.Describe());
  const size_t dot = format->path.find('.');
  Writer params = ctx.AddLayer(node, format->path.substr(0, dot));
  if (dot != std::string_view::npos) {
    const std::string_view inner = format->path.substr(dot + 1);
    if (format->path.starts_with("unary."))
      params.Enum("type", inner);
    else
      params = params.Sub(inner);
  }
  for (const auto& [ours, theirs] : format->attrs) {
    const AttrValue value = *node.attrs().Get(ours);
    if (const auto* real = std::get_if<float>(&value))
      params.Float(theirs, *real);
    else if (const auto* flag = std::get_if<bool>(&value))
      params.Bool(theirs, *flag);
    else if (const auto* integer = std::get_if<int64_t>(&value))
      params.Int(theirs, *integer);
    else
      return InternalError("attribute {} of {} has no encoding", ours, node.op_name());
  }
  return {};
}

std::string ExportContext::NameOf(const Value* value) {
  if (const std::string* const name = FindName(value)) return *name;
  std::string name = NewName(value->name());
  SetName(value, name);
  if (value->is_constant()) AddConstant(AsFloats(value->constant()), name);
  return name;
}

int ExportContext::RankOf(const std::string& name) const {
  for (const auto& [value, blob] : names())
    if (blob == name) return std::max(value->type().rank(), 1);
  return -1;
}

void ExportContext::Alias(const Node& source, const Value* value, const Value* same) {
  const std::string name = NameOf(same);
  if (!Claim(value, name)) AddLayer(source, "copy", {name}, {NameOf(value)});
}

Writer ExportContext::NewLayer(const Node& source, std::string_view kind,
                               const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs) {
  Writer layer = network_.Add("layers");
  // Layer names are unique.
  std::string base(source.name().empty() && !outputs.empty() ? outputs[0] : source.name());
  if (!IsUtf8(base)) base = Escape(base);
  if (base.empty()) base = kind;
  std::string name = base;
  for (int i = 1; !layers_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  layer.Text("name", name);
  for (const std::string& s : inputs) layer.AddText("input", s);
  for (const std::string& s : outputs) layer.AddText("output", s);
  return layer;
}

Writer ExportContext::AddLayer(const Node& source, std::string_view kind,
                               const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs) {
  return NewLayer(source, kind, inputs, outputs).Sub(kind);
}

Writer ExportContext::AddRankedLayer(const Node& source, std::string_view kind) {
  Writer layer = NewLayer(source, kind, {NameOf(source.input(0))}, {NameOf(source.output())});
  layer.Add("inputTensor").Int("rank", source.input(0)->type().rank());
  layer.Add("outputTensor").Int("rank", source.output()->type().rank());
  return layer.Sub(kind);
}

Writer ExportContext::AddLayer(const Node& source, std::string_view kind, size_t inputs) {
  std::vector<std::string> ins, outs;
  for (const Value* v : source.inputs().first(std::min(inputs, source.inputs().size())))
    ins.push_back(NameOf(v));
  for (const Value* v : source.outputs()) outs.push_back(NameOf(v));
  return AddLayer(source, kind, ins, outs);
}

Writer ExportContext::AddHelper(std::string_view kind, const std::vector<std::string>& inputs,
                                const std::vector<std::string>& outputs) {
  return AddLayer(Node(), kind, inputs, outputs);
}

void ExportContext::AddConstant(const Tensor& floats, const std::string& name) {
  Writer layer = AddHelper("loadConstantND", {}, {name});
  layer.Ints("shape", floats.dims());
  WriteWeights(layer.Sub("data"), floats);
}

std::string ExportContext::AddNumbers(std::span<const int64_t> numbers) {
  std::string name = NewName("numbers");
  const std::vector<float> floats(numbers.begin(), numbers.end());
  AddConstant(Tensor::Of({std::ssize(floats)}, floats), name);
  return name;
}

std::string ExportContext::Arrange(const std::string& vector, std::span<const int64_t> places) {
  const std::string zero = AddNumbers(std::array<int64_t, 1>{0});
  std::string after_zero = NewName("numbers"), arranged = NewName("numbers");
  AddHelper("concatND", {zero, vector}, {after_zero});
  std::vector<int64_t> indices(places.begin(), places.end());
  for (int64_t& i : indices) ++i;
  AddHelper("gather", {after_zero, AddNumbers(indices)}, {arranged});
  return arranged;
}

void WriteBias(Writer params, const Node& node) {
  const Tensor* const bias = ConstantOf(node, 2);
  if (bias == nullptr) return;
  params.Bool("hasBias", true);
  WriteWeights(params.Sub("bias"), *bias);
}

std::optional<std::string> WhyNotOneProbability(const Node& bernoulli) {
  const Tensor* const p = ConstantOf(bernoulli, 0);
  if (p == nullptr) return "its probabilities must be constant";
  for (int64_t i = 1; i < p->elements(); ++i)
    if (p->GetDouble(i) != p->GetDouble(0)) return "its probabilities must be equal";
  if (p->elements() == 0 || !(p->GetDouble(0) >= 0 && p->GetDouble(0) <= 1))
    return "its probabilities must be in [0, 1]";
  return std::nullopt;
}

const ExportRow* FindExport(std::string_view op) {
  static const auto table = RowsBy(&ExportRow::op, &Family::exports, Families());
  return FindRow(table, op);
}

Result<FileImage> WriteNetwork(const Graph& graph, const ExportOptions& options) {
  NN_RETURN_IF_ERROR(CheckInterface(
      graph, {.label = "Core ML", .outputs = true, .distinct_names = true, .least_size = 1}));
  if (const std::string fault = ScoresFault(graph); !fault.empty())
    return UnsupportedError("Core ML classifiers have one score for each label: {}", fault);
  if (const std::string why = BatchOfScores(graph); !why.empty())
    return UnsupportedError(
        "Core ML classifiers have one score for each label: {}; set them with --batch 1 or "
        "--input-shape",
        why);
  Model model;
  Writer root = model.writer();
  Writer network = root.Sub(NetworkKind(graph));
  network.Enum("arrayInputShapeMapping", "EXACT_ARRAY_MAPPING");
  network.Enum("imageInputShapeMapping", "RANK4_IMAGE_MAPPING");
  ExportContext ctx(network);
  for (const Port& p : graph.inputs()) ctx.Claim(p.value, p.name);
  // An output whose value already has another name (an input, a constant, a second output) is
  // written as a copy.
  std::vector<const Port*> copies;
  for (const Port& p : graph.outputs())
    if (p.value->is_constant() || !ctx.Claim(p.value, p.name)) {
      ctx.Reserve(p.name);
      copies.push_back(&p);
    }
  for (const Node& node : graph.nodes())
    if (auto s = WriteNode(ctx, node); !s) return tl::unexpected(s.error().In(node.Describe()));
  for (const Port* p : copies) ctx.AddHelper("copy", {ctx.NameOf(p->value)}, {p->name});
  NN_RETURN_IF_ERROR(WriteDescription(graph, options, {}, root.Sub("description")));
  WriteClassifier(graph, root, network);
  root.Int("specificationVersion",
           std::max({kMinVersion, InterfaceVersion(graph), VersionOfLayers(network.message())}));
  NN_RETURN_IF_ERROR(StoreHalfWeights(model.mutable_message(), model.payloads));
  NN_ASSIGN(auto parts, Serialize(model));
  if (IsPackagePath(options.path)) return PackageImage({}, std::move(parts));
  FileImage image;
  image.parts = std::move(parts);
  return image;
}

}  // namespace nn::coreml
