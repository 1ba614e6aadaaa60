#include "formats/coreml/export/write_interface.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "base/text/text.h"
#include "formats/coreml/export/export.h"
#include "formats/coreml/import/interface.h"
#include "formats/coreml/roles.h"
#include "formats/coreml/spec/signature.h"

namespace nn::coreml {
namespace {

std::string_view ArrayTypeName(DType dtype, ArrayTypes types) {
  if (dtype == DType::kF32 || dtype == DType::kBool) return "FLOAT32";
  if (dtype == DType::kI32 || dtype == DType::kI64) return "INT32";
  if (types == ArrayTypes::kOfNetworks) return {};
  if (dtype == DType::kF16) return types == ArrayTypes::kOfPrograms ? "FLOAT16" : "FLOAT32";
  return IsInteger(dtype) ? "INT32" : std::string_view();
}

std::string NameIn(const InterfaceForm& form, const std::string& name) {
  const auto it = form.names.find(name);
  return it == form.names.end() ? name : it->second;
}

void WriteRange(Writer range, const Dim& dim) {
  range.Int("lowerBound", dim.is_const() ? dim.value() : 1);
  range.Int("upperBound", dim.is_const() ? dim.value() : -1);
}

bool AllConst(const Dims& dims) {
  return ConstDims(dims).has_value();
}

// Whether the value can be an image, as recorded in the metadata.
bool IsImage(const Type& type, std::string_view color) {
  const int64_t channels = color == "RGB" || color == "BGR" ? 3 : 1;
  return !color.empty() && type.dtype == DType::kF32 && type.rank() == 4 && type.dim(0) == 1 &&
         type.dim(1) == channels;
}

// Dynamic sizes have the default 1.
int64_t DefaultSize(const Dim& dim) {
  return dim.is_const() ? dim.value() : 1;
}

void WriteImage(const Type& type, std::string_view color, Writer image) {
  image.Enum("colorSpace", color);
  image.Int("height", DefaultSize(type.dim(2)));
  image.Int("width", DefaultSize(type.dim(3)));
  if (AllConst(*type.dims)) return;
  Writer range = image.Sub("imageSizeRange");
  WriteRange(range.Sub("heightRange"), type.dim(2));
  WriteRange(range.Sub("widthRange"), type.dim(3));
}

// The color space of a port that is written as an image; empty for others.
std::string ColorOf(const Graph& graph, const Port& port) {
  const Type& type = port.value->type();
  std::string color = Metadata(graph, kImageKey, port.name);
  return type.ranked() && IsImage(type, color) ? color : std::string();
}

// Whether the value is a constant with integers that the 32 bits of an array do not hold, although
// float32 does.
bool ExceedsArray(const Value* v) {
  if (!v->is_constant() || v->dtype() != DType::kI64) return false;
  return std::ranges::any_of(v->constant().ToInts(), [](int64_t number) {
    return number < std::numeric_limits<int32_t>::min() ||
           number > std::numeric_limits<int32_t>::max();
  });
}

Status WriteFeature(const Graph& graph, const Port& port, bool input, const InterfaceForm& form,
                    Writer feature) {
  const std::string subject = (input ? "input " : "output ") + Quote(port.name);
  if (!IsUtf8(port.name)) return UnsupportedError("{}: its name is not UTF-8", subject);
  feature.Text("name", NameIn(form, port.name));
  if (const std::string text = Metadata(graph, kDescriptionKey, port.name); !text.empty())
    feature.Text("shortDescription", text);
  const Type& type = port.value->type();
  if (!input && ExceedsArray(port.value))
    return UnsupportedError("{}: it has integers of more than 32 bits", subject);
  if (const std::string color = ColorOf(graph, port); !color.empty()) {
    WriteImage(type, color, feature.Sub("type").Sub("imageType"));
    return {};
  }
  auto s = WriteArray(type, input, feature.Sub("type").Sub("multiArrayType"), form.array_types);
  if (!s) return tl::unexpected(s.error().In(subject));
  return {};
}

std::span<const Port> WithoutStates(const std::vector<Port>& ports, const InterfaceForm& form) {
  return std::span(ports).first(ports.size() - form.states);
}

void AddUserDefined(Writer metadata, const std::string& key, const std::string& value) {
  if (!IsUtf8(key) || !IsUtf8(value)) return;
  Writer entry = metadata.Add("userDefined");
  entry.Text("key", key);
  entry.Text("value", value);
}

void WriteMetadata(const Graph& graph, const ExportOptions& options, const InterfaceForm& form,
                   Writer metadata) {
  const auto text = [&](std::string_view key, std::string_view field) {
    if (const std::string value = Metadata(graph, key); !value.empty() && IsUtf8(value))
      metadata.Text(field, value);
  };
  text(graph.metadata.contains("doc_string") ? "doc_string" : "description", "shortDescription");
  text("author", "author");
  text("license", "license");
  text("version", "versionString");
  AddUserDefined(
      metadata, "nn.producer",
      options.producer_version.empty() ? "nnconvert" : "nnconvert " + options.producer_version);
  for (const Port& p : WithoutStates(graph.inputs(), form))
    if (p.value->type().ranked()) WriteDims(NameIn(form, p.name), *p.value->type().dims, metadata);
  constexpr std::string_view kOwn = "coreml.";
  constexpr std::string_view kOnnx = "onnx.";  // metadata_props
  constexpr std::string_view kNotUsers[] = {kImageKey, kDescriptionKey, kLabelsKey, kScoresKey,
                                            kLabelKey};
  for (const auto& [key, value] : graph.metadata) {
    const bool other = std::any_of(std::begin(kNotUsers), std::end(kNotUsers),
                                   [&k = key](std::string_view own) { return k.starts_with(own); });
    if (key.starts_with(kOwn) && !other) AddUserDefined(metadata, key.substr(kOwn.size()), value);
    if (key.starts_with(kOnnx)) AddUserDefined(metadata, key.substr(kOnnx.size()), value);
  }
}

bool HasStrings(const Classes& classes) {
  return classes.labels.dtype() == DType::kString;
}

}  // namespace

Status WriteArray(const Type& type, bool input, Writer array, ArrayTypes types) {
  const std::string_view name = ArrayTypeName(type.dtype, types);
  if (name.empty() || (type.quantized() && types == ArrayTypes::kOfNetworks))
    return UnsupportedError("Core ML has no arrays of {}", type.ToString());
  if (!type.ranked() || type.rank() < 1 || type.rank() > kMaxRank)
    return UnsupportedError("it is {}, but arrays of Core ML have 1 to {} axes", type.ToString(),
                            kMaxRank);
  array.Enum("dataType", name);
  const bool fixed = AllConst(*type.dims);
  if (!fixed && !input) return {};
  std::vector<int64_t> shape;
  for (const Dim& d : *type.dims) shape.push_back(DefaultSize(d));
  array.Ints("shape", shape);
  if (fixed) return {};
  Writer range = array.Sub("shapeRange");
  for (const Dim& d : *type.dims) WriteRange(range.Add("sizeRanges"), d);
  return {};
}

void WriteDims(const std::string& input, const Dims& dims, Writer metadata) {
  if (!AllConst(dims)) AddUserDefined(metadata, std::string(kDimsKey) + input, ToString(dims));
}

std::string_view NetworkKind(const Graph& graph) {
  return CoremlImporter().ClassesOf(graph) ? "neuralNetworkClassifier" : "neuralNetwork";
}

int64_t InterfaceVersion(const Graph& graph) {
  constexpr int64_t kHalfImages = 7, kNoInputs = 9;
  if (graph.inputs().empty()) return kNoInputs;
  for (const auto* ports : {&graph.inputs(), &graph.outputs()})
    for (const Port& p : *ports)
      if (ColorOf(graph, p) == "GRAYSCALE_FLOAT16") return kHalfImages;
  return 1;
}

Status WriteDescription(const Graph& graph, const ExportOptions& options, const InterfaceForm& form,
                        Writer description) {
  for (const Port& p : WithoutStates(graph.inputs(), form))
    NN_RETURN_IF_ERROR(WriteFeature(graph, p, true, form, description.Add("input")));
  const auto classes = CoremlImporter().ClassesOf(graph);
  for (const Port& p : WithoutStates(graph.outputs(), form)) {
    Writer feature = description.Add("output");
    if (!classes || p.name != classes->scores) {
      NN_RETURN_IF_ERROR(WriteFeature(graph, p, false, form, feature));
      continue;
    }
    feature.Text("name", NameIn(form, p.name));
    feature.Sub("type")
        .Sub("dictionaryType")
        .Sub(HasStrings(*classes) ? "stringKeyType" : "int64KeyType");
  }
  WriteMetadata(graph, options, form, description.Sub("metadata"));
  return {};
}

void DescribeClasses(const Classes& classes, const InterfaceForm& form, Writer root) {
  Writer description = root.Sub("description");
  Writer label = description.Add("output");
  const std::string name = NameIn(form, classes.label);
  label.Text("name", name);
  label.Sub("type").Sub(HasStrings(classes) ? "stringType" : "int64Type");
  description.Text("predictedFeatureName", name);
  description.Text("predictedProbabilitiesName", NameIn(form, classes.scores));
}

void WriteClassifier(const Graph& graph, Writer root, Writer network) {
  const auto classes = CoremlImporter().ClassesOf(graph);
  if (!classes) return;
  const bool strings = HasStrings(*classes);
  DescribeClasses(*classes, {}, root);
  network.Text("labelProbabilityLayerName", classes->scores);
  Writer list = network.Sub(strings ? "stringClassLabels" : "int64ClassLabels");
  if (!strings) {
    list.Ints("vector", classes->labels.ToInts());
    return;
  }
  for (const std::string& text : classes->labels.strings()) list.AddText("vector", text);
}

}  // namespace nn::coreml
