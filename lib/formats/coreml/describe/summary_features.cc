#include <fmt/core.h>
#include <fmt/ranges.h>

#include "formats/coreml/describe/program.h"
#include "formats/coreml/describe/summary.h"
#include "formats/coreml/import/interface.h"
#include "ir/types/type.h"

namespace nn::coreml {
namespace {

// The number of enumerated shapes to show.
constexpr size_t kShownShapes = 16;

// "3"; "1..10" and "1.." if dynamic.
std::string SpanText(const Fields& range) {
  const int64_t low = range.Int("lowerBound"), high = range.Int("upperBound");
  if (low == high) return std::to_string(low);
  return high < 0 ? fmt::format("{}..", low) : fmt::format("{}..{}", low, high);
}

std::vector<std::string> Texts(const std::vector<int64_t>& values) {
  std::vector<std::string> out;
  out.reserve(values.size());
  for (const int64_t v : values) out.push_back(std::to_string(v));
  return out;
}

// Merges the shapes, with "?" where they differ; `fixed` is the declared one.
std::vector<std::string> Common(std::vector<std::string> fixed,
                                const std::vector<std::vector<std::string>>& shapes) {
  for (const auto& dims : shapes) {
    if (fixed.empty()) fixed = dims;
    for (size_t i = 0; i < std::min(fixed.size(), dims.size()); ++i)
      if (fixed[i] != dims[i]) fixed[i] = "?";
  }
  return fixed;
}

std::vector<std::vector<std::string>> EnumeratedTexts(const Fields& type, std::string_view kind) {
  std::vector<std::vector<std::string>> out;
  for (const auto& shape : EnumeratedShapes(type, kind)) out.push_back(Texts(shape));
  return out;
}

std::vector<std::string> ArrayShape(const Fields& array) {
  if (array.OneOf("ShapeFlexibility") == "shapeRange") {
    std::vector<std::string> out;
    for (const Fields& range : array.Sub("shapeRange").List("sizeRanges"))
      out.push_back(SpanText(range));
    return out;
  }
  return Common(Texts(array.Ints("shape")), EnumeratedTexts(array, "multiArrayType"));
}

std::vector<std::string> ImageShape(const Fields& image) {
  const std::string_view flexible = image.OneOf("SizeFlexibility");
  if (flexible == "imageSizeRange")
    return {SpanText(image.Sub(flexible).Sub("heightRange")),
            SpanText(image.Sub(flexible).Sub("widthRange"))};
  if (flexible == "enumeratedSizes") return {"?", "?"};
  return Texts({image.Int("height"), image.Int("width")});
}

std::string DefaultText(const Fields& array) {
  const std::string_view kind = array.OneOf("defaultOptionalValue");
  if (kind == "intDefaultValue") return std::to_string(array.Int(kind));
  if (kind == "floatDefaultValue") return FloatText(array.Float(kind));
  if (kind == "doubleDefaultValue") return DoubleText(array.Double(kind));
  return {};
}

void DescribeArray(const Fields& array, TensorSummary& t) {
  t.type = fmt::format("MultiArray({})", array.Enum("dataType"));
  if (auto shape = ArrayShape(array); !shape.empty()) t.shape = std::move(shape);
  if (const std::string value = DefaultText(array); !value.empty()) t.type += ", default " + value;
}

// "Int64" for int64Type and int64KeyType, and so on.
std::string ScalarName(std::string_view field) {
  if (field.starts_with("int64")) return "Int64";
  if (field.starts_with("string")) return "String";
  if (field.starts_with("double")) return "Double";
  return "?";
}

void DescribeSequence(const Fields& sequence, TensorSummary& t) {
  t.type = fmt::format("Sequence({})", ScalarName(sequence.OneOf("Type")));
  if (sequence.Has("sizeRange")) t.shape = {{SpanText(sequence.Sub("sizeRange"))}};
}

std::string ShapeText(const TensorSummary& t) {
  return t.shape && !t.shape->empty() ? fmt::format("{}[{}]", t.type, fmt::join(*t.shape, ", "))
                                      : t.type;
}

// Facts that TensorSummary cannot represent.
std::string Remarks(const Fields& feature) {
  std::string out = feature.Text("shortDescription");
  const Fields type = feature.Sub("type");
  const std::string_view kind = type.OneOf("Type");
  if (kind.empty()) return out;
  const auto shapes = EnumeratedTexts(type.Sub(kind), kind);
  if (shapes.empty()) return out;
  out += out.empty() ? "one of" : "; one of";
  for (size_t i = 0; i < std::min(shapes.size(), kShownShapes); ++i)
    out += fmt::format("{} [{}]", i == 0 ? "" : ",", fmt::join(shapes[i], ", "));
  if (shapes.size() > kShownShapes) out += fmt::format(", ... {} in all", shapes.size());
  return out;
}

void AddRemarks(const Fields& owner, const char* list, const char* word, Summary& out) {
  for (const Fields& f : owner.List(list))
    if (const std::string text = Remarks(f); !text.empty())
      out.metadata.emplace_back(fmt::format("{} {}", word, f.Text("name")), text);
}

void AddFeatures(const Fields& owner, Summary& out) {
  for (const Fields& f : owner.List("input")) out.inputs.push_back(DescribeFeature(f));
  for (const Fields& f : owner.List("output")) out.outputs.push_back(DescribeFeature(f));
  AddRemarks(owner, "input", "input", out);
  AddRemarks(owner, "output", "output", out);
  for (const Fields& f : owner.List("state"))
    out.metadata.emplace_back("state " + f.Text("name"), ShapeText(DescribeFeature(f)));
  for (const char* key : {"predictedFeatureName", "predictedProbabilitiesName"})
    if (const std::string text = owner.Text(key); !text.empty())
      out.metadata.emplace_back(key, text);
}

std::string FeatureList(const Fields& owner, const char* list) {
  std::vector<std::string> out;
  for (const Fields& f : owner.List(list))
    out.push_back(fmt::format("{} {}", f.Text("name"), ShapeText(DescribeFeature(f))));
  return fmt::format("{}", fmt::join(out, ", "));
}

void AddFunctions(const Fields& description, Summary& out) {
  const std::string main = DefaultFunction(description);
  out.metadata.emplace_back("defaultFunctionName", main);
  if (const auto function = DefaultFunctionIn(description)) AddFeatures(*function, out);
  for (const Fields& function : description.List("functions"))
    if (const std::string name = function.Text("name"); name != main)
      out.metadata.emplace_back(
          "features of " + name,
          fmt::format("{} -> {}", FeatureList(function, "input"), FeatureList(function, "output")));
}

}  // namespace

TensorSummary DescribeFeature(const Fields& feature) {
  TensorSummary t;
  t.name = feature.Text("name");
  const Fields type = feature.Sub("type");
  const std::string_view kind = type.OneOf("Type");
  if (kind == "multiArrayType") {
    DescribeArray(type.Sub(kind), t);
  } else if (kind == "stateType") {
    DescribeArray(type.Sub(kind).Sub("arrayType"), t);
    t.type = fmt::format("State({})", t.type);
  } else if (kind == "imageType") {
    t.type = fmt::format("Image({})", type.Sub(kind).Enum("colorSpace"));
    t.shape = ImageShape(type.Sub(kind));
  } else if (kind == "sequenceType") {
    DescribeSequence(type.Sub(kind), t);
  } else if (kind == "dictionaryType") {
    t.type = fmt::format("Dictionary({} -> Double)", ScalarName(type.Sub(kind).OneOf("KeyType")));
  } else {
    t.type = ScalarName(kind);
    t.shape.emplace();
  }
  if (type.Bool("isOptional")) t.type += ", optional";
  return t;
}

void AddDescription(const Fields& description, Summary& out) {
  AddFeatures(description, out);
  for (const Fields& f : description.List("trainingInput"))
    out.metadata.emplace_back("training input " + f.Text("name"), ShapeText(DescribeFeature(f)));
  if (description.Count("functions") > 0) AddFunctions(description, out);
}

}  // namespace nn::coreml
