#include "validators/tflite/doc/example_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "formats/tflite/spec/signature.h"

namespace nn::tflite {
namespace {

struct TypeName {
  std::string_view name;
  const char* type;
};

constexpr TypeName kTypes[] = {
    {"f32", "FLOAT32"},   {"f16", "FLOAT16"},     {"f64", "FLOAT64"},  {"i4", "INT4"},
    {"i8", "INT8"},       {"i16", "INT16"},       {"i32", "INT32"},    {"i64", "INT64"},
    {"u8", "UINT8"},      {"u16", "UINT16"},      {"u32", "UINT32"},   {"u64", "UINT64"},
    {"bool", "BOOL"},     {"str", "STRING"},      {"res", "RESOURCE"}, {"var", "VARIANT"},
    {"c64", "COMPLEX64"}, {"c128", "COMPLEX128"},
};

template <typename T>
void Append(std::vector<uint8_t>& bytes, double value) {
  const T number = static_cast<T>(value);
  uint8_t raw[sizeof(T)];
  std::memcpy(raw, &number, sizeof(T));
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

void AppendElement(std::vector<uint8_t>& bytes, std::string_view type, double value) {
  if (type == "f32")
    Append<float>(bytes, value);
  else if (type == "i32")
    Append<int32_t>(bytes, value);
  else if (type == "i64")
    Append<int64_t>(bytes, value);
  else if (type == "i16")
    Append<int16_t>(bytes, value);
  else if (type == "f16")
    Append<uint16_t>(bytes, 0x3C00 + value);
  else
    bytes.push_back(static_cast<uint8_t>(static_cast<int>(value)));
}

class ExampleModel {
 public:
  explicit ExampleModel(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    Operator(line);
    while (std::getline(lines, line)) {
      if (line.starts_with("graph "))
        graphs_.push_back(line.substr(6));
      else if (line == "-")
        op_["inputs"].push_back(-1);
      else if (line.starts_with("> "))
        op_["outputs"].push_back(Tensor(line.substr(2), true));
      else if (!line.empty())
        op_["inputs"].push_back(Tensor(line, false));
    }
  }

  std::string Text() const {
    std::string text = fmt::format(
        "{{\n\"version\": 3,\n\"operator_codes\": [{}],\n\"subgraphs\": [{{\n\"tensors\": [",
        code_.dump());
    for (size_t i = 0; i < tensors_.size(); ++i)
      text += fmt::format("{}\n{}", i == 0 ? "" : ",", tensors_[i].dump());
    text += fmt::format("\n],\n\"inputs\": {},\n\"outputs\": {},\n\"operators\": [{}]\n}}",
                        inputs_.dump(), op_["outputs"].dump(), op_.dump());
    for (const std::string& graph : graphs_) text += ",\n" + graph;
    text += "],\n\"buffers\": [{},\n{\"data\": [49, 46, 53, 46, 48]}";
    for (const auto& bytes : data_) text += ",\n" + Json{{"data", bytes}}.dump();
    text += fmt::format(
        "],\n\"metadata\": [{{\"name\": \"min_runtime_version\", \"buffer\": 1}}],\n"
        "\"signature_defs\": [{{\"signature_key\": \"serving_default\", \"subgraph_index\": 0,\n"
        " \"inputs\": {}, \"outputs\": {}}}]\n}}",
        Ports(inputs_).dump(), Ports(op_["outputs"]).dump());
    return text;
  }

 private:
  void Operator(const std::string& line) {
    std::istringstream in(line);
    std::string name;
    std::string options;
    in >> name >> options;
    const size_t slash = name.find('/');
    const std::string op = name.substr(0, slash);
    int number = 0;
    for (const fb::BuiltinOperator o : fb::EnumValuesBuiltinOperator())
      if (fb::EnumNameBuiltinOperator(o) == op) number = static_cast<int>(o);
    code_ = {{"deprecated_builtin_code", std::min(number, 127)}, {"builtin_code", op}};
    if (slash != std::string::npos) code_["version"] = std::stoi(name.substr(slash + 1));
    op_ = {{"opcode_index", 0}, {"inputs", Json::array()}, {"outputs", Json::array()}};
    std::string members;
    std::getline(in, members);
    if (op == "CUSTOM") code_.update(Json::parse(options + members));
    if (options.empty() || op == "CUSTOM") return;
    bool second = false;
    for (const fb::BuiltinOptions2 o : fb::EnumValuesBuiltinOptions2())
      second = second || fb::EnumNameBuiltinOptions2(o) == options;
    const std::string field = second ? "builtin_options_2" : "builtin_options";
    op_[field + "_type"] = options;
    op_[field] = Json::parse(members.empty() ? "{}" : members);
  }

  size_t Tensor(const std::string& line, bool output) {
    const size_t index = tensors_.size();
    const size_t bracket = line.find(']');
    const size_t open = line.find('[');
    const size_t space = line.find(' ');
    const std::string type = line.substr(space + 1, open - space - 1);
    Json tensor = {{"name", line.substr(0, space)},
                   {"shape", Json::parse(line.substr(open, bracket - open + 1))},
                   {"has_rank", true}};
    for (const TypeName& t : kTypes)
      if (t.name == type) tensor["type"] = t.type;
    std::string rest = line.substr(bracket + 1);
    if (const size_t brace = rest.find('{'); brace != std::string::npos) {
      tensor.update(Json::parse(rest.substr(brace)));
      rest.resize(brace);
    }
    if (rest.starts_with(" var"))
      tensor["is_variable"] = true;
    else if (rest.starts_with(" ="))
      tensor["buffer"] = Constant(type, tensor["shape"], rest.substr(2));
    else if (!output)
      inputs_.push_back(index);
    tensors_.push_back(tensor);
    return index;
  }

  // The index of a new buffer.
  size_t Constant(const std::string& type, const Json& shape, const std::string& values) {
    std::vector<uint8_t> bytes;
    size_t elements = 1;
    for (const Json& d : shape) elements *= d.get<size_t>();
    const auto first = static_cast<double>(1 + 3 * data_.size());
    std::istringstream in(values);
    for (std::string value; std::getline(in, value, ',');)
      if (value.find_first_not_of(' ') != std::string::npos)
        AppendElement(bytes, type, std::stod(value));
    if (bytes.empty())
      for (size_t i = 0; i < elements; ++i)
        AppendElement(bytes, type, first + static_cast<double>(i % 100));
    data_.push_back(bytes);
    return 1 + data_.size();
  }

  Json Ports(const Json& indices) const {
    Json ports = Json::array();
    for (const Json& i : indices)
      ports.push_back({{"name", tensors_[i.get<size_t>()]["name"]}, {"tensor_index", i}});
    return ports;
  }

  Json code_;
  Json op_;
  std::vector<Json> tensors_;
  Json inputs_ = Json::array();
  std::vector<std::vector<uint8_t>> data_;
  std::vector<std::string> graphs_;
};

}  // namespace

std::string OperatorModel(const std::string& text) {
  return text.starts_with('{') ? text : ExampleModel(text).Text();
}

}  // namespace nn::tflite
