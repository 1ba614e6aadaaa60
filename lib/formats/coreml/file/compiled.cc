#include "formats/coreml/file/compiled.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file/file.h"
#include "base/json/json_parse.h"
#include "base/text/text.h"
#include "coreml_model.pb.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/import/interface.h"
#include "formats/coreml/program/spec/signature.h"
#include "formats/coreml/program/text/parse.h"

namespace nn::coreml {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kProgramName = "model.mil", kMetadataName = "metadata.json";

// The member of an object; null if there is none.
const Json& Member(const Json& object, const char* name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto it = object.find(name);
  return it == object.end() ? none : *it;
}

std::string TextOf(const Json& object, const char* name) {
  const Json& member = Member(object, name);
  return member.is_string() ? member.get<std::string>() : std::string();
}

// Numbers, and lists of lists of numbers, are written as text.
int64_t NumberOf(const Json& object, const char* name) {
  const Json number = Json::parse(TextOf(object, name), nullptr, false);
  return number.is_number_integer() ? number.get<int64_t>() : 0;
}
std::vector<std::vector<int64_t>> ListsOf(const Json& object, const char* name) {
  std::vector<std::vector<int64_t>> out;
  const Json lists = Json::parse(TextOf(object, name), nullptr, false);
  if (!lists.is_array()) return out;
  for (const Json& list : lists) {
    std::vector<int64_t>& numbers = out.emplace_back();
    if (!list.is_array()) return {};
    for (const Json& n : list) {
      if (!n.is_number_integer()) return {};
      numbers.push_back(n.get<int64_t>());
    }
  }
  return out;
}

// The entry of a list that describes the feature or function of this name; null if there is none.
const Json& EntryNamed(const Json& features, std::string_view name) {
  static const Json none;
  if (!features.is_array()) return none;
  const auto it =
      std::ranges::find_if(features, [&](const Json& f) { return TextOf(f, "name") == name; });
  return it == features.end() ? none : *it;
}

void AddImage(const Json& about, Writer type) {
  Writer image = type.Sub("imageType");
  image.Int("width", NumberOf(about, "width"));
  image.Int("height", NumberOf(about, "height"));
  const std::string color = TextOf(about, "colorspace");
  image.Enum("colorSpace", color == "RGB" || color == "BGR" ? color : "GRAYSCALE");
}

// A feature of the program's type. Sizes that the program leaves open are those of the metadata.
Status SetArray(const mil::TensorType& type, const Json& about, Writer array) {
  const std::string_view element = TypeName(type.datatype());
  if (ArrayDType(element) == DType::kUnknown)
    return UnsupportedError("it has elements of {}", element);
  array.Enum("dataType", element);
  std::vector<int64_t> shape;
  for (const mil::Dimension& d : type.dimensions())
    if (d.has_constant()) shape.push_back(static_cast<int64_t>(d.constant().size()));
  const bool is_fixed = static_cast<int>(shape.size()) == type.dimensions_size();
  if (is_fixed) {
    array.Ints("shape", shape);
    return {};
  }
  const auto rank = static_cast<size_t>(type.dimensions_size());
  const auto ranges = ListsOf(about, "shapeRange"), shapes = ListsOf(about, "enumeratedShapes");
  if (ranges.size() == rank) {
    for (const auto& range : ranges) {
      if (range.size() != 2) return ParseError("{} has a range without two ends", kMetadataName);
      Writer bounds = array.Sub("shapeRange").Add("sizeRanges");
      bounds.Int("lowerBound", range[0]);
      bounds.Int("upperBound", range[1]);
    }
    return {};
  }
  for (const auto& s : shapes) array.Sub("enumeratedShapes").Add("shapes").Ints("shape", s);
  if (shapes.empty())
    return UnsupportedError("its sizes are open, and {} does not state them", kMetadataName);
  return {};
}

Status AddFeature(const std::string& name, const mil::ValueType& type, const Json& about,
                  Writer feature) {
  feature.Text("name", name);
  if (std::string text = TextOf(about, "shortDescription"); !text.empty())
    feature.Text("shortDescription", text);
  if (TextOf(about, "type") == "Image") {
    AddImage(about, feature.Sub("type"));
    return {};
  }
  if (type.has_dictionarytype()) {
    const bool by_text = type.dictionarytype().keytype().tensortype().datatype() == mil::STRING;
    feature.Sub("type").Sub("dictionaryType").Sub(by_text ? "stringKeyType" : "int64KeyType");
    return {};
  }
  if (type.tensortype().datatype() == mil::STRING || type.tensortype().datatype() == mil::INT64) {
    feature.Sub("type").Sub(type.tensortype().datatype() == mil::STRING ? "stringType"
                                                                        : "int64Type");
    return {};
  }
  auto added = SetArray(type.tensortype(), about, feature.Sub("type").Sub("multiArrayType"));
  if (!added) return tl::unexpected(added.error().In("feature " + Quote(name)));
  return {};
}

void AddMetadata(const Json& about, Writer metadata) {
  for (const auto& [from, to] :
       {std::pair("shortDescription", "shortDescription"), std::pair("version", "versionString"),
        std::pair("author", "author"), std::pair("license", "license")})
    if (const std::string text = TextOf(about, from); !text.empty()) metadata.Text(to, text);
  const Json& user = Member(about, "userDefinedMetadata");
  if (!user.is_object()) return;
  for (const auto& [key, value] : user.items()) {
    if (!value.is_string()) continue;
    Writer entry = metadata.Add("userDefined");
    entry.Text("key", key);
    entry.Text("value", value.get<std::string>());
  }
}

// The features of a function. `description`: of the model or the function.
Status AddFeatures(const mil::Function& function, const Json& about, Writer description) {
  for (const mil::NamedValueType& input : function.inputs()) {
    if (input.type().has_statetype()) {
      Writer state = description.Add("state");
      state.Text("name", input.name());
      NN_RETURN_IF_ERROR(SetArray(input.type().statetype().wrappedtype().tensortype(), {},
                                  state.Sub("type").Sub("stateType").Sub("arrayType")));
      continue;
    }
    NN_RETURN_IF_ERROR(AddFeature(input.name(), input.type(),
                                  EntryNamed(Member(about, "inputSchema"), input.name()),
                                  description.Add("input")));
  }
  const mil::Block& block = function.block_specializations(0).value();
  std::map<std::string, const mil::ValueType*> types;
  for (const mil::Operation& operation : block.operations()) {
    for (const mil::NamedValueType& output : operation.outputs())
      types[output.name()] = &output.type();
    if (operation.type() != "classify" || operation.outputs_size() != 2) continue;
    description.Text("predictedFeatureName", operation.outputs(0).name());
    description.Text("predictedProbabilitiesName", operation.outputs(1).name());
  }
  for (const std::string& name : block.outputs()) {
    const auto type = types.find(name);
    if (type == types.end())
      return ParseError("{}: output {} is not defined", kProgramName, Quote(name));
    NN_RETURN_IF_ERROR(AddFeature(name, *type->second,
                                  EntryNamed(Member(about, "outputSchema"), name),
                                  description.Add("output")));
  }
  return {};
}

// The function that runs by default: the one that the metadata states, or "main", or the first.
std::string DefaultOf(const mil::Program& program, const Json& about) {
  const auto has = [&](const std::string& name) {
    return std::ranges::find(program.functions(), name, &mil::Program::NamedFunction::key) !=
           program.functions().end();
  };
  for (const std::string& name : {TextOf(about, "defaultFunctionName"), std::string("main")})
    if (has(name)) return name;
  return program.functions(0).key();
}

Status Describe(const Json& about, Model& model) {
  const mil::Program& program = model.proto->mlprogram();
  if (program.functions().empty())
    return UnsupportedError("{}: there is no function", kProgramName);
  int version = 0;
  for (const auto& function : program.functions())
    version = std::max(
        version, program::SpecificationVersionOf(*program::OpsetNamed(function.value().opset())));
  Writer root = model.writer();
  root.Int("specificationVersion", version);
  Writer description = root.Sub("description");
  AddMetadata(about, description.Sub("metadata"));
  const std::string main = DefaultOf(program, about);
  if (program.functions_size() == 1 && main == "main")
    return AddFeatures(program.functions(0).value(), about, description);
  description.Text("defaultFunctionName", main);
  for (const auto& function : program.functions()) {
    // Without an entry, the metadata are those of the only function that they know.
    const Json& own = EntryNamed(Member(about, "functions"), function.key());
    Writer features = description.Add("functions");
    features.Text("name", function.key());
    NN_RETURN_IF_ERROR(AddFeatures(function.value(), own.is_null() ? about : own, features));
  }
  return {};
}

}  // namespace

bool IsCompiledProgram(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(fs::path(path) / kProgramName, error);
}

Result<std::unique_ptr<Model>> ReadCompiledProgram(const std::string& path,
                                                   const ReadLimits& limits) {
  const fs::path folder(path);
  auto model = std::make_unique<Model>();
  NN_ASSIGN(model->file, ReadFileBeneath(folder, kProgramName, limits.max_file_bytes));
  const auto text = model->file.bytes();
  const auto parsed =
      program::ParseProgram({reinterpret_cast<const char*>(text.data()), text.size()},
                            *model->proto->mutable_mlprogram());
  if (!parsed) return tl::unexpected(parsed.error().In(kProgramName));
  Json about;
  std::error_code error;
  if (fs::exists(folder / kMetadataName, error)) {
    NN_ASSIGN(const Blob file, ReadFileBeneath(folder, kMetadataName, limits.max_file_bytes));
    const auto bytes = file.bytes();
    auto json = ParseJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, {});
    if (!json) return tl::unexpected(json.error().In(kMetadataName));
    if (json->is_array() && json->size() == 1) about = json->front();
  }
  NN_RETURN_IF_ERROR(Describe(about, *model));
  NN_RETURN_IF_ERROR(ReadWeightFiles(folder, limits, *model));
  return model;
}

}  // namespace nn::coreml
