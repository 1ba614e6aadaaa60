// Examples of NNAPI rules: models and operands.
#include "validators/nnapi/doc/example_models.h"

namespace nn::nnapi {

std::vector<RuleExample> ModelExamples() {
  // Adds operand 5, which no operation uses.
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
       {{"\"inputIndexes\": [0]", "\"inputIndexes\": [5]"},
        spare(tensor + R"("lifetime": "MODEL_INPUT")"),
        {"\"MODEL_INPUT\"", R"("CONSTANT_COPY", "value": [1, 2], "location": {"length": 8})"},
        {"\"inputs\": [3]", "\"inputs\": [5]"},
        {R"([1, 2], "numberOfConsumers": 1, "lifetime": "TEMP)",
         R"([1, 2], "numberOfConsumers": 0, "lifetime": "TEMP)"},
        {R"("name": "s", "numberOfConsumers": 0)", R"("name": "s", "numberOfConsumers": 1)"}}},
      {"NNAPI-MODEL-004", kModel, {{"\"inputIndexes\": [0]", "\"inputIndexes\": [0, 0]"}}, {}},
      {"NNAPI-MODEL-005",
       kModel,
       {{"\"outputIndexes\": [4]", "\"outputIndexes\": [3]"},
        {"TEMPORARY_VARIABLE", "MODEL_OUTPUT"}},
       {{"\"outputIndexes\": [4]", "\"outputIndexes\": [3, 4]"},
        {"TEMPORARY_VARIABLE", "MODEL_OUTPUT"}}},
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
      {"NNAPI-MODEL-011",
       kModel,
       {{"{\"type\": \"ADD\", \"inputs\": [0, 1, 2], \"outputs\": [3]},", ""},
        {"{\"type\": \"RELU\", \"inputs\": [3], \"outputs\": [4]}", ""},
        {"\"numberOfConsumers\": 1", "\"numberOfConsumers\": 0"},
        {"\"numberOfConsumers\": 1", "\"numberOfConsumers\": 0"},
        {"\"numberOfConsumers\": 1", "\"numberOfConsumers\": 0"},
        {"\"numberOfConsumers\": 1", "\"numberOfConsumers\": 0"}},
       {}},
      {"NNAPI-OPERAND-001",
       kModel,
       {spare(R"("type": 6, "dimensions": [1], "lifetime": "NO_VALUE")")},
       {spare(R"("type": 5, "dimensions": [1], "scale": 1, "lifetime": "NO_VALUE")")}},
      {"NNAPI-OPERAND-001",
       kModel,
       {spare(R"("type": 3, "dimensions": [1], "lifetime": 6)")},
       {spare(R"("type": 3, "dimensions": [1], "lifetime": 5)")}},
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
       {spare(
           R"("type": "TENSOR_INT32", "dimensions": [1], "lifetime": "NO_VALUE", "scale": 0.5)")}},
      {"NNAPI-OPERAND-004",
       kModel,
       {spare(
           R"("type": "TENSOR_INT32", "dimensions": [1], "lifetime": "NO_VALUE", "zeroPoint": 1)")},
       {spare(R"("type": "TENSOR_INT32", "dimensions": [1], "lifetime": "NO_VALUE")")}},
      {"NNAPI-OPERAND-005",
       kModel,
       {spare(
           R"("type": "TENSOR_FLOAT32", "dimensions": [0], "lifetime": "CONSTANT_COPY", "value": [])")},
       {spare(
           R"("type": "TENSOR_FLOAT32", "dimensions": [1], "lifetime": "CONSTANT_COPY", "value": [1])")}},
      {"NNAPI-OPERAND-006",
       kModel,
       {{"\"offset\": 8", "\"offset\": 12"}},
       {{"\"offset\": 8", "\"offset\": 12"}, {"ValuesSize\": 12", "ValuesSize\": 16"}}},
      {"NNAPI-OPERAND-006",
       kModel,
       {{"\"poolIndex\": 0", "\"poolIndex\": 1"}},
       {{"CONSTANT_COPY", "CONSTANT_REFERENCE"},
        {"\"operandValuesSize\"", "\"poolSizes\": [8], \"operandValuesSize\""}}},
      {"NNAPI-OPERAND-006",
       kModel,
       {{"CONSTANT_COPY", "CONSTANT_REFERENCE"}},
       {{"CONSTANT_COPY", "CONSTANT_REFERENCE"},
        {"\"operandValuesSize\"", "\"poolSizes\": [16], \"operandValuesSize\""}}},
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
      {"NNAPI-OPERAND-010",
       kModel,
       {spare(R"("type": "TENSOR_FLOAT32", "dimensions": [], "lifetime": "NO_VALUE")")},
       {spare(R"("type": "TENSOR_FLOAT32", "dimensions": [0], "lifetime": "NO_VALUE")")}},
      {"NNAPI-OPERAND-011",
       kModel,
       {spare(
           R"("type": "TENSOR_INT32", "dimensions": [1], "lifetime": "NO_VALUE", "scale": "inf")")},
       {spare(
           R"("type": "TENSOR_INT32", "dimensions": [1], "lifetime": "NO_VALUE", "scale": 10000)")}},
  };
}

}  // namespace nn::nnapi
