// Rules of NNAPI models, each broken and nearly broken.
#include <doctest/doctest.h>

#include <cstdlib>
#include <sstream>

#include "base/json.h"
#include "validators/rule_cases.h"

namespace nn::test {
namespace {

constexpr const char* kModel = R"({
"operands": [
{"name": "x", "type": "TENSOR_FLOAT32", "dimensions": [1, 2], "numberOfConsumers": 1, "lifetime": "MODEL_INPUT"},
{"name": "c", "type": "TENSOR_FLOAT32", "dimensions": [2], "numberOfConsumers": 1, "lifetime": "CONSTANT_COPY",
 "value": [1, 2], "location": {"poolIndex": 0, "offset": 0, "length": 8}},
{"name": "a", "type": "INT32", "dimensions": [], "numberOfConsumers": 1, "lifetime": "CONSTANT_COPY",
 "value": [0], "location": {"poolIndex": 0, "offset": 8, "length": 4}},
{"name": "t", "type": "TENSOR_FLOAT32", "dimensions": [1, 2], "numberOfConsumers": 1, "lifetime": "TEMPORARY_VARIABLE"},
{"name": "y", "type": "TENSOR_FLOAT32", "dimensions": [1, 2], "numberOfConsumers": 0, "lifetime": "MODEL_OUTPUT"}
],
"operations": [
{"type": "ADD", "inputs": [0, 1, 2], "outputs": [3]},
{"type": "RELU", "inputs": [3], "outputs": [4]}
],
"inputIndexes": [0], "outputIndexes": [4], "operandValuesSize": 12
})";

// One operation. Inputs and, behind "->", outputs are
//   f[2,3] or t[2,3]   a tensor of floats or integers, an input or output of the model
//   q[2]*0.5+3         a quantised one with its scale and zeroPoint; scales of integers alike
//   t[2]={1,2} f[2]=0  constants, the second one filled
//   i=1 r=0.5          constant scalars
//   -                  no value
class Operation {
 public:
  explicit Operation(const std::string& text) {
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

  std::string text() const { return model_.dump(); }

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

std::string Encode(const std::string& text) {
  return text.starts_with('{') ? text : Operation(text).text();
}

std::vector<RuleCase> Models() {
  // An operand that no operation has; it is number 5.
  const auto spare = [](const std::string& fields) {
    return Edit{"\n],\n\"operations\"", ",\n{\"name\": \"s\", \"numberOfConsumers\": 0, " + fields +
                                            "}\n],\n\"operations\""};
  };
  const std::string tensor = R"("type": "TENSOR_FLOAT32", "dimensions": [1, 2], )";
  const Edit two = {R"("numberOfConsumers": 1)", R"("numberOfConsumers": 2)"};
  const auto first = [](const std::string& output) {
    return Edit{
        "\"operations\": [",
        "\"operations\": [\n{\"type\": \"RELU\", \"inputs\": [0], \"outputs\": [" + output + "]},"};
  };
  const Edit temporary = spare(tensor + R"("lifetime": "TEMPORARY_VARIABLE")");
  const std::string c = R"("dimensions": [2], "numberOfConsumers": 1)";
  return {
      {"NNAPI-MODEL-001",
       kModel,
       {{"\"MODEL_INPUT\"", R"("CONSTANT_COPY", "value": [1, 2], "location": {"length": 8})"},
        {"\"inputIndexes\": [0]", "\"inputIndexes\": []"}},
       {}},
      {"NNAPI-MODEL-002",
       kModel,
       {{"[4], \"operandValues", "[4, 5], \"operandValues"}},
       {{"[4], \"operandValues", "[4, 5], \"operandValues"},
        spare(tensor + R"("lifetime": "MODEL_OUTPUT")"),
        first("5"),
        two}},
      {"NNAPI-MODEL-003",
       kModel,
       {{"\"inputIndexes\": [0]", "\"inputIndexes\": [0, 3]"}},
       {{"\"inputIndexes\": [0]", "\"inputIndexes\": [0, 5]"},
        spare(tensor + R"("lifetime": "MODEL_INPUT")")}},
      {"NNAPI-MODEL-004", kModel, {{"\"inputIndexes\": [0]", "\"inputIndexes\": [0, 0]"}}, {}},
      {"NNAPI-MODEL-005",
       kModel,
       {spare(tensor + R"("lifetime": "MODEL_INPUT")")},
       {spare(tensor + R"("lifetime": "NO_VALUE")")}},
      {"NNAPI-MODEL-006",
       kModel,
       {{"\"inputs\": [3]", "\"inputs\": [5]"},
        {R"([1, 2], "numberOfConsumers": 1, "lifetime": "TEMP)",
         R"([1, 2], "numberOfConsumers": 0, "lifetime": "TEMP)"}},
       {}},
      {"NNAPI-MODEL-007", kModel, {two}, {two, first("5"), temporary}},
      {"NNAPI-MODEL-008",
       kModel,
       {two, first("1"), {c, R"("dimensions": [1, 2], "numberOfConsumers": 1)"}},
       {two,
        first("1"),
        {c, R"("dimensions": [1, 2], "numberOfConsumers": 1)"},
        {R"("CONSTANT_COPY",
 "value": [1, 2], "location": {"poolIndex": 0, "offset": 0, "length": 8})",
         "\"TEMPORARY_VARIABLE\""}}},
      {"NNAPI-MODEL-009", kModel, {two, first("3")}, {two, first("5"), temporary}},
      {"NNAPI-MODEL-009", kModel, {temporary}, {two, first("5"), temporary}},
      {"NNAPI-MODEL-010",
       kModel,
       {{"{\"type\": \"ADD\", \"inputs\": [0, 1, 2], \"outputs\": [3]},", ""},
        {"[4]}\n]", "[4]},\n{\"type\": \"ADD\", \"inputs\": [0, 1, 2], \"outputs\": [3]}\n]"}},
       {}},
      {"NNAPI-OPERAND-001",
       kModel,
       {spare(R"("type": 6, "lifetime": "NO_VALUE")")},
       {spare(R"("type": 5, "scale": 1, "lifetime": "NO_VALUE")")}},
      {"NNAPI-OPERAND-001",
       kModel,
       {spare(R"("type": 3, "lifetime": 6)")},
       {spare(R"("type": 3, "lifetime": 5)")}},
      {"NNAPI-OPERAND-002",
       kModel,
       {spare(R"("type": "UINT32", "dimensions": [1], "lifetime": "NO_VALUE")")},
       {spare(R"("type": "UINT32", "dimensions": [], "lifetime": "NO_VALUE")")}},
      {"NNAPI-OPERAND-003",
       "RELU q[2]*0.5+255 -> q[2]*0.5+255",
       {{"255", "256"}, {"255", "256"}},
       {}},
      {"NNAPI-OPERAND-003",
       "TANH f[2] -> f[2]",
       {{"TANH f[2] -> f[2]", "RELU q[2]*0 -> q[2]*0"}},
       {{"TANH f[2] -> f[2]", "RELU q[2]*0.001 -> q[2]*0.001"}}},
      {"NNAPI-OPERAND-004",
       kModel,
       {spare(tensor + R"("lifetime": "NO_VALUE", "scale": 0.5)")},
       {spare(R"("type": "TENSOR_INT32", "lifetime": "NO_VALUE", "scale": 0.5)")}},
      {"NNAPI-OPERAND-005",
       kModel,
       {spare(
           R"("type": "TENSOR_FLOAT32", "dimensions": [0], "lifetime": "CONSTANT_COPY", "value": [])")},
       {spare(
           R"("type": "TENSOR_FLOAT32", "dimensions": [1], "lifetime": "CONSTANT_COPY", "value": [1])")}},
      {"NNAPI-OPERAND-006",
       kModel,
       {{"\"offset\": 8", "\"offset\": 9"}},
       {{"\"offset\": 8", "\"offset\": 9"}, {"ValuesSize\": 12", "ValuesSize\": 13"}}},
      {"NNAPI-OPERAND-006",
       kModel,
       {{"\"poolIndex\": 0", "\"poolIndex\": 1"}},
       {{"\"poolIndex\": 0", "\"poolIndex\": 1"},
        {"CONSTANT_COPY", "CONSTANT_REFERENCE"},
        {"\"operandValuesSize\"", "\"poolSizes\": [0, 8], \"operandValuesSize\""}}},
      {"NNAPI-OPERAND-007",
       kModel,
       {{c, R"("dimensions": [1], "numberOfConsumers": 1)"}},
       {{c, R"("dimensions": [1, 2], "numberOfConsumers": 1)"}}},
      {"NNAPI-OPERAND-008",
       kModel,
       {{"\"MODEL_INPUT\"", R"("MODEL_INPUT", "location": {"offset": 4})"}},
       {{"\"MODEL_INPUT\"", R"("MODEL_INPUT", "location": {"offset": 0})"}}},
      {"NNAPI-OPERAND-009",
       kModel,
       {spare(R"("type": "TENSOR_FLOAT32", "dimensions": [65536, 16384], "lifetime": "NO_VALUE")")},
       {spare(
           R"("type": "TENSOR_FLOAT32", "dimensions": [65536, 16383], "lifetime": "NO_VALUE")")}},
  };
}

std::vector<RuleCase> Operations() {
  constexpr const char* kAdd = "ADD f[2] f[2] i=0 -> f[2]";
  constexpr const char* kRelu = "RELU f[1,2] -> f[1,2]";
  return {
      {"NNAPI-OP-001", kRelu, {{"RELU", "29"}}, {{"RELU", "28"}}},
      {"NNAPI-OP-002", kAdd, {{" i=0", ""}}, {{"i=0", "i=3"}}},
      {"NNAPI-OP-002",
       "CONV_2D f[1,4,4,2] f[3,3,3,2] f[3] i=1 i=1 i=1 i=0 -> f[1,4,4,3]",
       {{"i=0", "i=0 i=0"}},
       {{"i=1", "i=1 i=1 i=1 i=1"}}},
      {"NNAPI-OP-003", kRelu, {{"-> f[1,2]", "-> f[1,2] f[1,2]"}}, {}},
      {"NNAPI-OP-004",
       kAdd,
       {{"f[2] f[2] i", "f[2] - i"}},
       {{kAdd, "LSH_PROJECTION f[2,3] t[4] - i=2 -> t[6]"}}},
      {"NNAPI-OP-005",
       kRelu,
       {{kRelu, "FLOOR q[2]*1 -> q[2]*1"}},
       {{kRelu, "RELU q[2]*1 -> q[2]*1"}}},
      {"NNAPI-OP-006", kAdd, {{"f[2] f[2] i", "f[2] t[2] i"}}, {{"f[2] f[2] i", "f[2] f[1] i"}}},
      {"NNAPI-OP-006", kAdd, {{"i=0", "r=0"}}, {{"i=0", "i=1"}}},
      {"NNAPI-OP-007",
       kRelu,
       {{kRelu, "RELU f[1,1,1,1,2] -> f[1,1,1,1,2]"}},
       {{kRelu, "RELU f[1,1,1,2] -> f[1,1,1,2]"}}},
      {"NNAPI-OP-008", kAdd, {{"i=0", "i=4"}}, {{"i=0", "i=3"}}},
      {"NNAPI-OP-008", "SPACE_TO_DEPTH f[1,2,2,1] i=1 -> f[1,2,2,1]", {{"i=1", "i=0"}}, {}},
  };
}

std::vector<RuleCase> Windows() {
  constexpr const char* kConv = "CONV_2D f[1,4,4,2] f[3,3,3,2] f[3] i=2 i=1 i=1 i=0 -> f[1,2,2,3]";
  constexpr const char* kQuantised =
      "CONV_2D q[1,1,1,1]*0.5 q[1,1,1,1]*0.5 t[1]*0.25 i=1 i=1 i=1 i=0 -> q[1,1,1,1]*1";
  constexpr const char* kPool = "MAX_POOL_2D f[1,4,6,2] i=1 i=2 i=1 i=2 i=2 i=0 -> f[1,4,3,2]";
  return {
      {"NNAPI-WINDOW-001",
       kConv,
       {{"-> f[1,2,2,3]", "-> f[1,4,4,3]"}},
       {{"-> f[1,2,2,3]", "-> f[1,4,4,3]"}, {"i=2", "i=1"}}},
      {"NNAPI-WINDOW-001", kPool, {{"i=1 i=2 i=1 i=2", "i=1 i=1 i=2 i=2"}}, {}},
      {"NNAPI-WINDOW-002",
       kConv,
       {{"f[3,3,3,2]", "f[3,3,3,1]"}},
       {{"f[3,3,3,2]", "f[3,3,3,1]"}, {"f[1,4,4,2]", "f[1,4,4,1]"}}},
      {"NNAPI-WINDOW-002",
       "DEPTHWISE_CONV_2D f[1,4,4,2] f[1,1,1,4] f[4] i=1 i=1 i=1 i=2 i=0 -> f[1,4,4,4]",
       {{"i=2", "i=1"}},
       {}},
      {"NNAPI-WINDOW-003", kConv, {{"f[3] i", "f[2] i"}}, {{"f[3] i", "f[0] i"}}},
      {"NNAPI-WINDOW-004", kQuantised, {{"*0.25", "*0.26"}}, {}},
      {"NNAPI-WINDOW-005", kQuantised, {{"]*1", "]*0.25"}}, {{"]*1", "]*0.26"}}},
  };
}

std::vector<RuleCase> Elementwise() {
  constexpr const char* kLrn =
      "LOCAL_RESPONSE_NORMALIZATION f[1,1,1,2] i=1 r=1 r=1 r=1 -> f[1,1,1,2]";
  return {
      {"NNAPI-ELEM-001", "RELU f[2] -> f[2]", {{"-> f[2]", "-> f[3]"}}, {{"-> f[2]", "-> f[0]"}}},
      {"NNAPI-ELEM-002", "ADD f[2,3] f[3] i=0 -> f[2,3]", {{"f[3]", "f[2]"}}, {{"f[3]", "f[1]"}}},
      {"NNAPI-ELEM-002", "MUL f[2,1] f[3] i=0 -> f[2,3]", {{"-> f[2,3]", "-> f[2,1]"}}, {}},
      {"NNAPI-ELEM-003",
       "RELU q[2]*0.5 -> q[2]*0.5",
       {{"-> q[2]*0.5", "-> q[2]*0.25"}},
       {{"RELU", "LOGISTIC"}, {"-> q[2]*0.5", "-> q[2]*0.00390625"}}},
      {"NNAPI-ELEM-003", "CONCATENATION q[1]*1 q[1]*1+1 i=0 -> q[2]*1", {}, {{"+1", "+0"}}},
      {"NNAPI-ELEM-004", "LOGISTIC q[2]*1 -> q[2]*0.00390625", {{"0.00390625", "0.0039"}}, {}},
      {"NNAPI-ELEM-005", kLrn, {{"r=1", "r=0"}}, {{"r=1", "r=-1"}}},
      {"NNAPI-ELEM-005", "SOFTMAX f[1,2] r=1 -> f[1,2]", {{"r=1", "r=0"}}, {{"r=1", "r=0.1"}}},
  };
}

std::vector<RuleCase> Shapes() {
  constexpr const char* kJoin = "CONCATENATION f[1,2] f[1,3] i=1 -> f[1,5]";
  return {
      {"NNAPI-SHAPE-001", kJoin, {{"i=1", "i=0"}}, {{"f[1,5]", "f[1,0]"}}},
      {"NNAPI-SHAPE-001", kJoin, {{"i=1", "i=2"}}, {}},
      {"NNAPI-SHAPE-002", "SPACE_TO_DEPTH f[1,4,4,1] i=4 -> f[1,1,1,16]", {{"i=4", "i=3"}}, {}},
      {"NNAPI-SHAPE-002", "DEPTH_TO_SPACE f[1,1,1,8] i=2 -> f[1,2,2,2]", {{"1,8]", "1,6]"}}, {}},
      {"NNAPI-SHAPE-003", "RESHAPE f[2,3] t[2]={3,-1} -> f[3,2]", {{"{3,-1}", "{-1,-1}"}}, {}},
      {"NNAPI-SHAPE-003",
       "RESHAPE f[2,3] t[2]={3,2} -> f[3,2]",
       {{"{3,2} -> f[3,2]", "{3,3} -> f[3,3]"}},
       {{"{3,2} -> f[3,2]", "{6,1} -> f[6,1]"}}},
      {"NNAPI-SHAPE-004",
       "RESIZE_BILINEAR f[1,2,2,1] i=4 i=3 -> f[1,3,4,1]",
       {{"f[1,3,4,1]", "f[1,4,3,1]"}},
       {}},
  };
}

std::vector<RuleCase> Lookups() {
  constexpr const char* kTable = "HASHTABLE_LOOKUP t[2] t[3]={1,2,5} f[3,4] -> f[2,4] q[2]*1";
  constexpr const char* kHash = "LSH_PROJECTION f[2,3] t[4] f[4] i=2 -> t[6]";
  return {
      {"NNAPI-LOOKUP-001",
       "EMBEDDING_LOOKUP t[2]={0,2} f[3,4] -> f[2,4]",
       {{"{0,2}", "{0,3}"}},
       {{"{0,2}", "{2,2}"}}},
      {"NNAPI-LOOKUP-001",
       "EMBEDDING_LOOKUP t[2] f[3,4] -> f[2,4]",
       {{"-> f[2,4]", "-> f[3,4]"}},
       {}},
      {"NNAPI-LOOKUP-002", kTable, {{"f[3,4]", "f[2,4]"}}, {{"f[3,4]", "f[0,4]"}}},
      {"NNAPI-LOOKUP-003", kTable, {{"{1,2,5}", "{1,2,2}"}}, {{"{1,2,5}", "{-1,0,2}"}}},
      {"NNAPI-LOOKUP-004", kHash, {{"i=2", "i=3"}}, {{"i=2 -> t[6]", "i=1 -> t[2]"}}},
      {"NNAPI-LOOKUP-004", kHash, {{"f[4]", "f[3]"}}, {{"f[4]", "-"}}},
  };
}

std::vector<RuleCase> Matrices() {
  constexpr const char* kDense = "FULLY_CONNECTED f[2,3] f[4,3] f[4] i=0 -> f[2,4]";
  constexpr const char* kRnn = "RNN f[1,2] f[3,2] f[3,3] f[3] f[1,3] i=1 -> f[1,3] f[1,3]";
  constexpr const char* kSvdf = "SVDF f[1,2] f[4,2] f[4,3] f[2] f[1,12] i=2 i=0 -> f[1,12] f[1,2]";
  constexpr const char* kLstm =
      "LSTM f[1,2] f[3,2]=0 f[3,2] f[3,2] f[3,2] f[3,3]=0 f[3,3] f[3,3] f[3,3] - - - f[3]=0 "
      "f[3] f[3] f[3] - - f[1,3] f[1,3] i=4 r=0 r=0 -> f[1,12] f[1,3] f[1,3] f[1,3]";
  const std::vector<Edit> no_input_gate = {
      {"f[3,2]=0", "-"}, {"f[3,3]=0", "-"}, {"f[3]=0", "-"}, {"f[1,12]", "f[1,9]"}};
  return {
      {"NNAPI-MATRIX-001", kDense, {{"f[4,3]", "f[4,4]"}}, {{"f[2,3]", "f[1,2,3]"}}},
      {"NNAPI-MATRIX-001", kDense, {{"-> f[2,4]", "-> f[2,3]"}}, {{"-> f[2,4]", "-> f[0,4]"}}},
      {"NNAPI-MATRIX-002", kRnn, {{"f[3,3]", "f[3,2]"}}, {{"f[3,3]", "f[3,0]"}}},
      {"NNAPI-MATRIX-003",
       kSvdf,
       {{"i=2", "i=3"}},
       {{"f[2] f[1,12] i=2", "f[4] f[1,12] i=1"}, {"f[1,12] f[1,2]", "f[1,12] f[1,4]"}}},
      {"NNAPI-MATRIX-003", kSvdf, {{"f[2] f", "f[3] f"}}, {{"f[2] f", "- f"}}},
      {"NNAPI-MATRIX-004", kLstm, {{"-> f[1,12]", "-> f[1,9]"}}, no_input_gate},
      {"NNAPI-MATRIX-004", kLstm, {{"f[1,2]", "f[1,3]"}}, {}},
      {"NNAPI-MATRIX-005", kLstm, {{"f[3]=0", "-"}}, no_input_gate},
      {"NNAPI-MATRIX-005",
       kLstm,
       {{"- - f[1,3]", "- f[3]=0 f[1,3]"}},
       {{"- - f[1,3]", "f[3,3]=0 f[3]=0 f[1,3]"}}},
      {"NNAPI-MATRIX-006", kLstm, {{"i=4", "i=5"}}, {{"i=4", "i=6"}}},
      {"NNAPI-MATRIX-006", kLstm, {{"r=0", "r=-1"}}, {{"r=0", "r=1"}}},
  };
}

TEST_CASE("NNAPI rules") {
  CheckRuleCases(
      {"NNAPI-",
       "m.nnapi.json",
       Encode,
       {Models(), Operations(), Windows(), Elementwise(), Shapes(), Lookups(), Matrices()}});
}

}  // namespace
}  // namespace nn::test
