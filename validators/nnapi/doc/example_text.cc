#include "validators/nnapi/doc/example_text.h"

#include <fmt/core.h>

#include <cstdlib>
#include <sstream>
#include <vector>

#include "base/json/json.h"

namespace nn::nnapi {
namespace {

class ExampleOperation {
 public:
  explicit ExampleOperation(const std::string& text) {
    std::istringstream in(text);
    std::string type;
    in >> type;
    bool output = false;
    Json inputs = Json::array();
    Json outputs = Json::array();
    for (std::string word; in >> word;) {
      if (word == "->")
        output = true;
      else
        (output ? outputs : inputs).push_back(Operand(word, output));
    }
    const bool number = type.find_first_not_of("0123456789") == std::string::npos;
    model_["operations"] = {{{"type", number ? Json(std::stoi(type)) : Json(type)},
                             {"inputs", inputs},
                             {"outputs", outputs}}};
  }

  // A line for each operand.
  std::string text() const {
    std::string out = "{\n\"operands\": [";
    for (size_t i = 0; i < model_["operands"].size(); ++i)
      out += (i == 0 ? "\n" : ",\n") + model_["operands"][i].dump();
    out += "\n]";
    for (const char* list : {"operations", "inputIndexes", "outputIndexes"})
      out += fmt::format(",\n\"{}\": {}", list, model_[list].dump());
    return out + "\n}";
  }

 private:
  size_t Operand(const std::string& word, bool output) {
    const size_t index = model_["operands"].size();
    Json o = {{"dimensions", Json::array()}, {"numberOfConsumers", output ? 0 : 1}};
    const char kind = word[0];
    const bool tensor = word.find('[') != std::string::npos;
    if (kind == 't' || kind == 'i')
      o["type"] = tensor ? "TENSOR_INT32" : "INT32";
    else if (kind == 'q')
      o["type"] = "TENSOR_QUANT8_ASYMM";
    else
      o["type"] = tensor || kind == '-' ? "TENSOR_FLOAT32" : "FLOAT32";
    size_t elements = 1;
    if (tensor) {
      o["dimensions"] = Json::parse(word.substr(1, word.find(']')));
      for (const Json& d : o["dimensions"]) elements *= d.get<size_t>();
    }
    if (const size_t at = word.find('*'); at != std::string::npos)
      o["scale"] = std::atof(word.c_str() + at + 1);
    if (const size_t at = word.find('+'); at != std::string::npos)
      o["zeroPoint"] = std::atoi(word.c_str() + at + 1);
    if (const size_t at = word.find('='); at != std::string::npos) {
      std::string value = word.substr(at + 1);
      o["lifetime"] = "CONSTANT_COPY";
      if (value[0] == '{')
        o["value"] = Json::parse("[" + value.substr(1, value.size() - 2) + "]");
      else
        o["value"] = Json(std::vector<Json>(elements, Json::parse(value)));
    } else if (kind == '-') {
      o["lifetime"] = "NO_VALUE";
      o["dimensions"] = {1};
    } else {
      o["lifetime"] = output ? "MODEL_OUTPUT" : "MODEL_INPUT";
      model_[output ? "outputIndexes" : "inputIndexes"].push_back(index);
    }
    model_["operands"].push_back(o);
    return index;
  }

  Json model_ = {{"operands", Json::array()},
                 {"inputIndexes", Json::array()},
                 {"outputIndexes", Json::array()}};
};

}  // namespace

std::string OperationModel(const std::string& text) {
  return text.starts_with('{') ? text : ExampleOperation(text).text();
}

}  // namespace nn::nnapi
