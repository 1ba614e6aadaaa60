// The model that the examples of NNAPI rules edit, and the lists of examples.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "validators/example.h"

namespace nn::nnapi {

inline constexpr const char* kModel = R"({
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

std::vector<RuleExample> ModelExamples();
std::vector<RuleExample> OperationExamples();
std::vector<RuleExample> WindowExamples();
std::vector<RuleExample> ElementwiseExamples();
std::vector<RuleExample> ShapeExamples();
std::vector<RuleExample> LookupExamples();
std::vector<RuleExample> MatrixExamples();
std::vector<RuleExample> RequestExamples();
std::vector<RuleExample> LintExamples();

}  // namespace nn::nnapi
