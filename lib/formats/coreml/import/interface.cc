#include "formats/coreml/import/interface.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/checked_math.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "formats/coreml/import/import.h"
#include "formats/coreml/roles.h"
#include "ir/text/text.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "passes/core/ports.h"

namespace nn::coreml {
namespace {

bool HasOutput(const Graph& graph, std::string_view name) {
  return std::ranges::any_of(graph.outputs(), [&](const Port& p) { return p.name == name; });
}

// One size of a feature: a number, or a symbol if dynamic.
struct SizeSpan {
  int64_t low = 0;
  int64_t high = 0;  // below 0: no limit
  void Include(int64_t v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
};

// Text of the model's user-defined metadata; "" if absent.
std::string UserDefined(const Fields& metadata, const std::string& key) {
  for (const Fields& entry : metadata.List("userDefined"))
    if (entry.Text("key") == key) return entry.Text("value");
  return {};
}

// The symbols recorded by the exporter, if they match the declaration.
std::optional<Dims> NotedDims(const Fields& metadata, const std::string& feature,
                              const std::vector<SizeSpan>& sizes) {
  const std::string text = UserDefined(metadata, std::string(kDimsKey) + feature);
  if (text.empty()) return std::nullopt;
  const auto type = ParseType("f32" + text);
  if (!type || !type->ranked() || type->dims->size() != sizes.size()) return std::nullopt;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool varies = sizes[i].low != sizes[i].high;
    const Dim& d = (*type->dims)[i];
    if (varies != d.symbol().has_value()) return std::nullopt;
    if (!varies && !(d == sizes[i].low)) return std::nullopt;
  }
  return type->dims;
}

Result<Dims> DimsOf(const Fields& metadata, const std::string& feature,
                    const std::vector<SizeSpan>& sizes) {
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i].low == sizes[i].high && sizes[i].low <= 0)
      return ModelError("dimension {} is {}, which is out of range", i, sizes[i].low);
  if (auto noted = NotedDims(metadata, feature, sizes)) return *std::move(noted);
  Dims dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].low == sizes[i].high)
      dims.emplace_back(sizes[i].low);
    else
      dims.push_back(Dim::Symbol(fmt::format("{}_{}", feature, i)));
  }
  return dims;
}

SizeSpan SpanOf(const Fields& range) {
  return {range.Int("lowerBound"), range.Int("upperBound")};
}

Result<std::vector<SizeSpan>> ArraySizes(const Fields& array) {
  std::vector<SizeSpan> sizes;
  for (const int64_t v : array.Ints("shape")) sizes.push_back({v, v});
  const std::string_view flexible = array.OneOf("ShapeFlexibility");
  if (flexible == "shapeRange") {
    sizes.clear();
    for (const Fields& range : array.Sub(flexible).List("sizeRanges"))
      sizes.push_back(SpanOf(range));
  } else if (flexible == "enumeratedShapes") {
    for (const Fields& shape : array.Sub(flexible).List("shapes")) {
      const auto dims = shape.Ints("shape");
      if (sizes.empty())
        for (const int64_t v : dims) sizes.push_back({v, v});
      if (dims.size() != sizes.size())
        return UnsupportedError("enumerated shapes of different ranks, {} and {}, are unsupported",
                                sizes.size(), dims.size());
      for (size_t i = 0; i < dims.size(); ++i) sizes[i].Include(dims[i]);
    }
  }
  if (sizes.empty()) return UnsupportedError("arrays without a declared shape are unsupported");
  return sizes;
}

Result<std::vector<SizeSpan>> ImageSizes(const Fields& image) {
  const int64_t w = image.Int("width"), h = image.Int("height");
  SizeSpan width{w, w}, height{h, h};
  const std::string_view flexible = image.OneOf("SizeFlexibility");
  if (flexible == "imageSizeRange") {
    width = SpanOf(image.Sub(flexible).Sub("widthRange"));
    height = SpanOf(image.Sub(flexible).Sub("heightRange"));
  } else if (flexible == "enumeratedSizes") {
    for (const Fields& size : image.Sub(flexible).List("sizes")) {
      const int64_t sw = size.Int("width"), sh = size.Int("height");
      if (width.low == 0) width = {sw, sw};
      if (height.low == 0) height = {sh, sh};
      width.Include(sw);
      height.Include(sh);
    }
  }
  const std::string_view color = image.Enum("colorSpace");
  int64_t channels = 1;
  if (color == "RGB" || color == "BGR")
    channels = 3;
  else if (!color.starts_with("GRAYSCALE"))
    return ModelError("the image has no color space");
  return std::vector<SizeSpan>{{1, 1}, {channels, channels}, height, width};
}

// The biases of an image's channels, in the order of the color space.
std::vector<float> BiasesOf(const Fields& scaler, std::string_view color) {
  const float red = scaler.Float("redBias"), green = scaler.Float("greenBias"),
              blue = scaler.Float("blueBias");
  if (color == "RGB") return {red, green, blue};
  if (color == "BGR") return {blue, green, red};
  return {scaler.Float("grayBias")};
}

Result<Value*> Append(Graph& graph, std::string_view op, Value* a, Tensor b) {
  NN_ASSIGN(Node* const node, graph.Append(op, {a, graph.AddConstant(std::move(b))}));
  return node->output();
}

Result<Value*> Scale(Graph& graph, Value* x, const Fields& scaler, std::string_view color) {
  // Older files do not set the factor.
  if (const float factor = scaler.Float("channelScale"); factor != 1 && factor != 0) {
    NN_ASSIGN(x, Append(graph, "mul", x, Tensor::Scalar(factor)));
  }
  const auto biases = BiasesOf(scaler, color);
  if (std::all_of(biases.begin(), biases.end(), [](float b) { return b == 0; })) return x;
  return Append(graph, "add", x, Tensor::Of({static_cast<int64_t>(biases.size()), 1, 1}, biases));
}

Result<Value*> SubtractMean(Graph& graph, Value* x, const Fields& mean) {
  const Dims& dims = *x->type().dims;
  const auto chw = ConstDims(Dims(dims.end() - 3, dims.end()));
  auto image = mean.Floats("meanImage");
  if (!chw) return UnsupportedError("a mean image needs an image of constant size");
  auto tensor = Tensor::Of({static_cast<int64_t>(image.size())}, image).Reshaped(*chw);
  if (!tensor)
    return ModelError("the mean image has {} elements for {}", image.size(), ToString(dims));
  return Append(graph, "sub", x, *std::move(tensor));
}

// Whether preprocessing of that name applies to this feature; without a name, it applies to the
// only image.
bool IsOf(const Fields& preprocessing, const Fields& feature) {
  const std::string name = preprocessing.Text("featureName");
  return name == feature.Text("name") ||
         (name.empty() && feature.Sub("type").OneOf("Type") == "imageType");
}

Result<Value*> Preprocess(Graph& graph, Value* x, const Fields& feature, const Fields& network) {
  const std::string_view color = feature.Sub("type").Sub("imageType").Enum("colorSpace");
  for (const Fields& p : network.List("preprocessing")) {
    if (!IsOf(p, feature)) continue;
    if (x->type().rank() < 3) return ModelError("preprocessing needs an image");
    const std::string_view kind = p.OneOf("preprocessor");
    if (kind == "scaler") {
      NN_ASSIGN(x, Scale(graph, x, p.Sub(kind), color));
    } else if (kind == "meanImage") {
      NN_ASSIGN(x, SubtractMean(graph, x, p.Sub(kind)));
    }
  }
  return x;
}

// Expands an array to the axes [S, B, C, H, W].
Result<Value*> Rank5(Graph& graph, Value* x) {
  const int rank = x->type().rank();
  if (rank == 5) return x;
  if (rank == 1) return Rearrange(graph, x, AxisMap(1, {-1, -1, 0, -1, -1}));
  if (rank == 3) return Rearrange(graph, x, AxisMap(3, {-1, -1, 0, 1, 2}));
  return ModelError("the array has rank {}, but the network needs rank 1 or 3", rank);
}

// Reshapes a rank-5 blob to a declared shape with fewer axes.
Result<Value*> FromRank5(Graph& graph, Value* blob, size_t declared_rank) {
  if (blob->type().rank() != 5) return blob;
  const Dims& dims = *blob->type().dims;
  if (declared_rank == 3 && dims[0] == 1 && dims[1] == 1)
    return Rearrange(graph, blob, AxisMap(5, {2, 3, 4}));
  if (declared_rank == 1 && dims[0] == 1 && dims[1] == 1) {
    NN_ASSIGN(Node* const flat, graph.Append("reshape", {blob}, ReshapeAttrs{{Dim(-1)}, false}));
    return flat->output();
  }
  return blob;
}

}  // namespace

std::string Metadata(const Graph& graph, std::string_view key, std::string_view suffix) {
  const auto it = graph.metadata.find(std::string(key) + std::string(suffix));
  return it == graph.metadata.end() ? std::string() : it->second;
}

void ReadModelMetadata(Graph& graph, const Fields& metadata) {
  const auto add = [&](std::string key, std::string value) {
    if (!value.empty()) graph.metadata[std::move(key)] = std::move(value);
  };
  add("doc_string", metadata.Text("shortDescription"));
  add("author", metadata.Text("author"));
  add("license", metadata.Text("license"));
  add("version", metadata.Text("versionString"));
  for (const Fields& entry : metadata.List("userDefined"))
    if (std::string key = entry.Text("key"); !key.starts_with("nn."))
      add("coreml." + key, entry.Text("value"));
}

void ReadFeatureMetadata(Graph& graph, const Fields& feature) {
  const std::string name = feature.Text("name");
  if (std::string text = feature.Text("shortDescription"); !text.empty())
    graph.metadata[std::string(kDescriptionKey) + name] = std::move(text);
  const Fields type = feature.Sub("type");
  if (type.OneOf("Type") == "imageType")
    graph.metadata[std::string(kImageKey) + name] = type.Sub("imageType").Enum("colorSpace");
}

void SetClassLabels(Graph& graph, const Tensor& labels) {
  Json list = Json::array();
  if (labels.dtype() == DType::kString)
    for (const std::string& s : labels.strings()) list.push_back(s);
  else
    for (const int64_t v : labels.ToInts()) list.push_back(v);
  graph.metadata[std::string(kLabelsKey)] =
      list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<ImageColors> CoremlImporter::ImageColorsOf(const Graph& graph,
                                                         const std::string& input) const {
  const std::string color = Metadata(graph, kImageKey, input);
  if (color == "RGB") return ImageColors::kRgb;
  if (color == "BGR") return ImageColors::kBgr;
  if (color.starts_with("GRAYSCALE")) return ImageColors::kGray;
  return std::nullopt;
}

std::optional<Classes> CoremlImporter::ClassesOf(const Graph& graph) const {
  Classes classes{Metadata(graph, kScoresKey), Metadata(graph, kLabelKey), {}};
  const Json labels = Json::parse(Metadata(graph, kLabelsKey), nullptr, false);
  if (!labels.is_array() || labels.empty() || classes.label.empty() ||
      !HasOutput(graph, classes.scores) || HasOutput(graph, classes.label))
    return std::nullopt;
  const auto size = static_cast<int64_t>(labels.size());
  if (std::ranges::all_of(labels, [](const Json& l) { return l.is_string(); }))
    classes.labels = Tensor({size}, labels.get<std::vector<std::string>>());
  else if (std::ranges::all_of(labels, [](const Json& l) { return l.is_number_integer(); }))
    classes.labels = Tensor::Ints(labels.get<std::vector<int64_t>>());
  else
    return std::nullopt;
  return classes;
}

namespace {

struct Scores {
  Type type;
  int64_t labels;
};

// nullopt if the graph is no classifier.
std::optional<Scores> ScoresOf(const Graph& graph) {
  const auto classes = CoremlImporter().ClassesOf(graph);
  if (!classes) return std::nullopt;
  const auto port = std::ranges::find(graph.outputs(), classes->scores, &Port::name);
  return Scores{port->value->type(), classes->labels.elements()};
}

}  // namespace

DType ArrayDType(std::string_view name) {
  if (name == "FLOAT16") return DType::kF16;
  if (name == "FLOAT32" || name == "DOUBLE") return DType::kF32;
  if (name == "INT8") return DType::kI8;
  if (name == "INT32") return DType::kI32;
  return DType::kUnknown;
}

std::vector<std::vector<int64_t>> EnumeratedShapes(const Fields& type, std::string_view kind) {
  std::vector<std::vector<int64_t>> out;
  if (kind == "multiArrayType" && type.OneOf("ShapeFlexibility") == "enumeratedShapes") {
    for (const Fields& shape : type.Sub("enumeratedShapes").List("shapes"))
      out.push_back(shape.Ints("shape"));
  } else if (kind == "imageType" && type.OneOf("SizeFlexibility") == "enumeratedSizes") {
    for (const Fields& size : type.Sub("enumeratedSizes").List("sizes"))
      out.push_back({size.Int("height"), size.Int("width")});
  }
  return out;
}

std::vector<std::vector<int64_t>> FeatureShapes(const Fields& feature, const Type& type) {
  const std::string_view kind = feature.Sub("type").OneOf("Type");
  if (kind.empty()) return {};
  auto shapes = EnumeratedShapes(feature.Sub("type").Sub(kind), kind);
  if (kind == "imageType")
    for (std::vector<int64_t>& shape : shapes)
      shape.insert(shape.begin(), {(*type.dims)[0].value(), (*type.dims)[1].value()});
  return shapes;
}

std::string ScoresFault(const Graph& graph) {
  const auto scores = ScoresOf(graph);
  const auto dims = scores ? scores->type.const_dims() : std::nullopt;
  const auto count = dims ? CheckedElements(*dims) : std::nullopt;
  if (!count || *count == scores->labels) return {};
  return fmt::format("the classifier has {} labels, but {} scores, {}", scores->labels, *count,
                     scores->type.ToString());
}

std::string BatchOfScores(const Graph& graph) {
  const auto scores = ScoresOf(graph);
  if (!scores || !scores->type.ranked()) return {};
  const std::set<std::string> symbols = InputSymbols(graph);
  for (const Dim& d : *scores->type.dims)
    if (const auto symbol = d.symbol(); symbol && symbols.contains(std::string(*symbol)))
      return fmt::format(
          "the classifier has {} labels, but the number of its scores, {}, depends "
          "on the shapes of the inputs",
          scores->labels, scores->type.ToString());
  return {};
}

Result<Type> FeatureType(const Fields& feature, const Fields& metadata) {
  const std::string name = feature.Text("name");
  const Fields type = feature.Sub("type");
  const std::string_view kind = type.OneOf("Type");
  if (kind == "doubleType") return Type(DType::kF32, {1});
  if (kind == "int64Type") return Type(DType::kI64, {1});
  std::vector<SizeSpan> sizes;
  DType dtype = DType::kF32;
  if (kind == "multiArrayType") {
    NN_ASSIGN(sizes, ArraySizes(type.Sub(kind)));
    dtype = ArrayDType(type.Sub(kind).Enum("dataType"));
    if (dtype == DType::kUnknown) return ModelError("the array has no element type");
  } else if (kind == "imageType") {
    NN_ASSIGN(sizes, ImageSizes(type.Sub(kind)));
  } else {
    return UnsupportedError("features of type {} are unsupported", kind.empty() ? "none" : kind);
  }
  NN_ASSIGN(Dims dims, DimsOf(metadata, name, sizes));
  return Type(dtype, std::move(dims));
}

Result<Value*> FeatureBlob(Graph& graph, Value* input, const Fields& feature,
                           const Fields& network) {
  const bool image = feature.Sub("type").OneOf("Type") == "imageType";
  Value* x = input;
  if (image) {
    if (network.Enum("imageInputShapeMapping") == "RANK5_IMAGE_MAPPING") {
      NN_ASSIGN(x, Rearrange(graph, x, AxisMap::Insert(4, 0)));
    }
  } else if (network.Enum("arrayInputShapeMapping") == "RANK5_ARRAY_MAPPING") {
    NN_ASSIGN(x, Rank5(graph, x));
  }
  if (image || IsFloat(x->dtype())) {
    NN_ASSIGN(x, ConvertTo(graph, x, DType::kF32));
  }
  return Preprocess(graph, x, feature, network);
}

namespace {

// Whether two different shapes are equal without their axes of size 1: an output then has the
// declared one.
bool DifferInUnitAxes(std::vector<int64_t> declared,
                      const std::optional<std::vector<int64_t>>& actual) {
  if (!actual || *actual == declared) return false;
  std::vector<int64_t> sizes = *actual;
  std::erase(sizes, 1);
  std::erase(declared, 1);
  return sizes == declared;
}

}  // namespace

Result<Value*> OutputOf(Graph& graph, Value* blob, const Fields& feature, bool rank5) {
  if (!blob->type().ranked()) return blob;  // after an unsupported layer
  const Fields type = feature.Sub("type");
  const std::string_view kind = type.OneOf("Type");
  if (kind == "multiArrayType") {
    const Fields array = type.Sub(kind);
    const DType dtype = ArrayDType(array.Enum("dataType"));
    NN_ASSIGN(Value * value,
              ConvertTo(graph, blob, dtype == DType::kUnknown ? DType::kF32 : dtype));
    const auto shape = array.Ints("shape");
    if (rank5) return FromRank5(graph, value, shape.size());
    const Type declared(value->dtype(), ToDims(shape));
    if (shape.empty() || !array.OneOf("ShapeFlexibility").empty()) return value;
    if (DifferInUnitAxes(shape, value->type().const_dims())) {
      NN_ASSIGN(Node* const shaped,
                graph.Append("reshape", {value}, ReshapeAttrs{ToDims(shape), false}));
      return shaped->output();
    }
    if (!Compatible(declared, value->type()))
      return ModelError("it is declared as {}, but is {}", declared.ToString(),
                        value->type().ToString());
    value->set_type(Refine(value->type(), declared));
    return value;
  }
  if (kind == "imageType") {
    NN_ASSIGN(Value* const value, ConvertTo(graph, blob, DType::kF32));
    if (value->type().rank() == 5) return Rearrange(graph, value, AxisMap::Remove(5, 0));
    return value;
  }
  if (kind == "dictionaryType") {
    NN_ASSIGN(Value* const value, ConvertTo(graph, blob, DType::kF32));
    return FromRank5(graph, value, 1);
  }
  if (kind == "doubleType") return ConvertTo(graph, blob, DType::kF32);
  if (kind == "int64Type") return ConvertTo(graph, blob, DType::kI64);
  return UnsupportedError("features of type {} are unsupported", kind.empty() ? "none" : kind);
}

}  // namespace nn::coreml
