#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <limits>

#include "base/text.h"
#include "formats/coreml/native.h"
#include "formats/coreml/weights.h"
#include "ir/type.h"

namespace nn::coreml {
namespace {

using google::protobuf::FieldDescriptor;

// Lists in attributes are cut after this many elements.
constexpr size_t kShownElements = 16;

// "3", or "1..10" and "1.." for what varies.
std::string SpanText(const Fields& range) {
  const int64_t low = range.Int("lowerBound"), high = range.Int("upperBound");
  if (low == high) return std::to_string(low);
  return high < 0 ? fmt::format("{}..", low) : fmt::format("{}..{}", low, high);
}

std::vector<std::string> Texts(const std::vector<int64_t>& values) {
  std::vector<std::string> out;
  for (const int64_t v : values) out.push_back(std::to_string(v));
  return out;
}

std::vector<std::string> ArrayShape(const Fields& array) {
  const std::string_view flexible = array.OneOf("ShapeFlexibility");
  if (flexible == "shapeRange") {
    std::vector<std::string> out;
    for (const Fields& range : array.Sub(flexible).List("sizeRanges"))
      out.push_back(SpanText(range));
    return out;
  }
  auto out = Texts(array.Ints("shape"));
  if (flexible != "enumeratedShapes") return out;
  for (const Fields& shape : array.Sub(flexible).List("shapes")) {
    const auto dims = Texts(shape.Ints("shape"));
    if (out.empty()) out = dims;
    for (size_t i = 0; i < std::min(out.size(), dims.size()); ++i)
      if (out[i] != dims[i]) out[i] = "?";
  }
  return out;
}

std::vector<std::string> ImageShape(const Fields& image) {
  const std::string_view flexible = image.OneOf("SizeFlexibility");
  if (flexible == "imageSizeRange")
    return {SpanText(image.Sub(flexible).Sub("heightRange")),
            SpanText(image.Sub(flexible).Sub("widthRange"))};
  if (flexible == "enumeratedSizes") return {"?", "?"};
  return Texts({image.Int("height"), image.Int("width")});
}

TensorSummary DescribeFeature(const Fields& feature) {
  TensorSummary t;
  t.name = feature.Text("name");
  const Fields type = feature.Sub("type");
  const std::string_view kind = type.OneOf("Type");
  if (kind == "multiArrayType") {
    t.type = fmt::format("MultiArray({})", type.Sub(kind).Enum("dataType"));
    if (auto shape = ArrayShape(type.Sub(kind)); !shape.empty()) t.shape = std::move(shape);
  } else if (kind == "imageType") {
    t.type = fmt::format("Image({})", type.Sub(kind).Enum("colorSpace"));
    t.shape = ImageShape(type.Sub(kind));
  } else {
    t.type = kind;
  }
  return t;
}

class Summarizer {
 public:
  Summarizer(const Model& model, size_t shown_elements)
      : model_(model), shown_elements_(shown_elements) {}

  ModelSummary Run() {
    const Fields root = model_.root(), description = root.Sub("description");
    out_.format = "Core ML";
    out_.version = fmt::format("specification version {}", root.Int("specificationVersion"));
    Metadata(description);
    for (const Fields& f : description.List("input")) out_.inputs.push_back(DescribeFeature(f));
    for (const Fields& f : description.List("output")) out_.outputs.push_back(DescribeFeature(f));
    if (model_.has_network()) AddNetwork(model_.network(), "");
    return std::move(out_);
  }

 private:
  void Add(std::string key, std::string value) {
    if (!value.empty()) out_.metadata.emplace_back(std::move(key), std::move(value));
  }

  void Metadata(const Fields& description) {
    const Fields m = description.Sub("metadata");
    Add("kind", DescribeKind(model_));
    for (const char* key : {"shortDescription", "versionString", "author", "license"})
      Add(key, m.Text(key));
    if (model_.root().Bool("isUpdatable")) Add("isUpdatable", "true");
    Add("predictedFeatureName", description.Text("predictedFeatureName"));
    Add("predictedProbabilitiesName", description.Text("predictedProbabilitiesName"));
    if (model_.kind() == "neuralNetworkClassifier") {
      const Fields network = model_.network();
      if (const std::string_view labels = network.OneOf("ClassLabels"); !labels.empty())
        Add("classLabels", fmt::format("{}", network.Sub(labels).Count("vector")));
    }
    if (model_.has_network())
      for (const char* key : {"arrayInputShapeMapping", "imageInputShapeMapping"})
        Add(key, std::string(model_.network().Enum(key)));
    for (const Fields& entry : m.List("userDefined")) {
      const std::string key = entry.Text("key"), value = entry.Text("value");
      // Tools sign with their name and version.
      if (key == "com.github.apple.coremltools.version")
        out_.producer = "coremltools " + value;
      else if (key == "nn.producer")
        out_.producer = value;
      out_.metadata.emplace_back(key, value);
    }
  }

  void AddNetwork(const Fields& network, const std::string& scope) {
    for (const Fields& layer : network.List("layers")) AddLayer(layer, scope);
  }

  void AddLayer(const Fields& layer, const std::string& scope) {
    const std::string kind = KindOf(layer);
    OperatorSummary op;
    op.op = kind.empty() ? "unknown" : kind;
    op.name = layer.Text("name");
    op.scope = scope;
    op.inputs = layer.Texts("input");
    op.outputs = layer.Texts("output");
    if (const std::string_view field = layer.OneOf("layer"); !field.empty())
      AddAttributes(layer.Sub(field), "", op);
    out_.operators.push_back(op);
    const std::string inner = (scope.empty() ? "" : scope + "/") + op.name + ".";
    if (kind == "branch")
      for (const char* part : {"ifBranch", "elseBranch"})
        AddNetwork(layer.Sub("branch").Sub(part), inner + part);
    if (kind == "loop")
      for (const char* part : {"conditionNetwork", "bodyNetwork"})
        AddNetwork(layer.Sub("loop").Sub(part), inner + part);
  }

  void AddWeights(const Fields& weights, const std::string& name, OperatorSummary& op) {
    const uint64_t count = WeightCount(weights);
    out_.parameter_count += count;
    out_.parameter_bytes += WeightBytes(weights);
    op.attributes.emplace_back(name, fmt::format("{} weights, {}", count, WeightForm(weights)));
  }

  // The fields that are set, those of inner messages with their path.
  void AddAttributes(const Fields& params, const std::string& prefix, OperatorSummary& op) {
    const Message& m = params.message();
    std::vector<const FieldDescriptor*> fields;
    m.GetReflection()->ListFields(m, &fields);
    for (const FieldDescriptor* f : fields) {
      const std::string name = prefix + f->name();
      const bool is_message = f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
      if (is_message && f->message_type()->name() == "WeightParams") {
        if (f->is_repeated())
          for (const Fields& w : params.List(f->name())) AddWeights(w, name, op);
        else
          AddWeights(params.Sub(f->name()), name, op);
      } else if (is_message && f->message_type()->name() == "NeuralNetwork") {
        const size_t layers = params.Sub(f->name()).Count("layers");
        op.attributes.emplace_back(name, fmt::format("network of {} layers", layers));
      } else if (is_message && !f->is_repeated()) {
        const size_t before = op.attributes.size();
        AddAttributes(params.Sub(f->name()), name + ".", op);
        if (op.attributes.size() == before) op.attributes.emplace_back(name, "set");
      } else if (is_message) {
        size_t i = 0;
        for (const Fields& entry : params.List(f->name()))
          AddAttributes(entry, fmt::format("{}[{}].", name, i++), op);
      } else {
        op.attributes.emplace_back(name, ValueText(params, *f));
      }
    }
  }

  std::string ValueText(const Fields& params, const FieldDescriptor& f) const {
    const std::string& name = f.name();
    std::vector<std::string> texts;
    switch (f.cpp_type()) {
      case FieldDescriptor::CPPTYPE_FLOAT:
        if (!f.is_repeated()) return FloatText(params.Float(name));
        for (const float v : params.Floats(name)) texts.push_back(FloatText(v));
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        if (!f.is_repeated()) return params.Bool(name) ? "true" : "false";
        for (const bool v : params.Bools(name)) texts.push_back(v ? "true" : "false");
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        return std::string(params.Enum(name));
      case FieldDescriptor::CPPTYPE_STRING:
        if (f.type() == FieldDescriptor::TYPE_BYTES)
          return fmt::format("{} bytes", params.Bytes(name).size());
        return Quote(params.Text(name));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return "";
      default:
        if (!f.is_repeated()) return std::to_string(params.Int(name));
        texts = Texts(params.Ints(name));
    }
    std::string out = "[";
    for (size_t i = 0; i < texts.size(); ++i) {
      if (i == shown_elements_) return out + fmt::format(", ... {} in all]", texts.size());
      out += (i == 0 ? "" : ", ") + texts[i];
    }
    return out + "]";
  }

  const Model& model_;
  size_t shown_elements_;
  ModelSummary out_;
};

}  // namespace

Result<ModelSummary> Summarize(const NativeModel& native) {
  return Summarizer(static_cast<const Model&>(native), kShownElements).Run();
}

Result<ModelSummary> SummarizeInFull(const NativeModel& native) {
  return Summarizer(static_cast<const Model&>(native), std::numeric_limits<size_t>::max()).Run();
}

}  // namespace nn::coreml
