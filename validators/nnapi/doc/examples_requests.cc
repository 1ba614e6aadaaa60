// Examples of NNAPI rules: requests.
#include "validators/nnapi/doc/example_models.h"

namespace nn::nnapi {
namespace {

// The model has an input of unknown size, and the weights of its operation are optional.
constexpr const char* kRequest = R"({
"operands": [
{"name": "h", "type": "TENSOR_FLOAT32", "dimensions": [2, 3], "numberOfConsumers": 1, "lifetime": "MODEL_INPUT"},
{"name": "x", "type": "TENSOR_INT32", "dimensions": [0], "numberOfConsumers": 1, "lifetime": "MODEL_INPUT"},
{"name": "w", "type": "TENSOR_FLOAT32", "dimensions": [0], "numberOfConsumers": 1, "lifetime": "MODEL_INPUT"},
{"name": "s", "type": "INT32", "dimensions": [], "numberOfConsumers": 1, "lifetime": "CONSTANT_COPY",
 "value": [1], "location": {"length": 4}},
{"name": "y", "type": "TENSOR_INT32", "dimensions": [2], "numberOfConsumers": 0, "lifetime": "MODEL_OUTPUT"}
],
"operations": [{"type": "LSH_PROJECTION", "inputs": [0, 1, 2, 3], "outputs": [4]}],
"inputIndexes": [0, 1, 2], "outputIndexes": [4], "operandValuesSize": 4,
"request": {
"inputs": [
{"location": {"poolIndex": 0, "offset": 0, "length": 24}, "dimensions": []},
{"location": {"poolIndex": 0, "offset": 24, "length": 16}, "dimensions": [4]},
{"hasNoValue": true}
],
"outputs": [
{"location": {"poolIndex": 1, "offset": 0, "length": 8}, "dimensions": [2]}
],
"poolSizes": [40, 8]}
})";

}  // namespace

std::vector<RuleExample> RequestExamples() {
  const std::string none = R"("hasNoValue": true)";
  const std::string second = R"("offset": 24, "length": 16}, "dimensions": [4])";
  const std::string result = R"("poolIndex": 1, "offset": 0)";
  return {
      {"NNAPI-REQUEST-001", kRequest, {{"},\n{" + none + "}", "}"}}, {}},
      {"NNAPI-REQUEST-002",
       kRequest,
       {{none, none + R"(, "location": {"offset": 4})"}},
       {{none, none + R"(, "location": {"offset": 0})"}}},
      {"NNAPI-REQUEST-002", kRequest, {{none, none + R"(, "dimensions": [4])"}}, {}},
      {"NNAPI-REQUEST-003",
       kRequest,
       {{R"("location": {"poolIndex": 0, "offset": 0, "length": 24}, "dimensions": [])", none}},
       {}},
      {"NNAPI-REQUEST-003",
       kRequest,
       {{R"("location": {"poolIndex": 1, "offset": 0, "length": 8}, "dimensions": [2])", none}},
       {}},
      {"NNAPI-REQUEST-004", kRequest, {{"[40, 8]", "[39, 8]"}}, {{"[40, 8]", "[41, 8]"}}},
      {"NNAPI-REQUEST-004", kRequest, {{"[40, 8]", "[40]"}}, {{"[40, 8]", "[40, 8, 8]"}}},
      {"NNAPI-REQUEST-005",
       kRequest,
       {{R"("length": 24}, "dimensions": [])", R"("length": 24}, "dimensions": [3, 2])"}},
       {{R"("length": 24}, "dimensions": [])", R"("length": 24}, "dimensions": [2, 3])"}}},
      {"NNAPI-REQUEST-006",
       kRequest,
       {{second, R"("offset": 24, "length": 16}, "dimensions": [])"}},
       {{second, R"("offset": 24, "length": 12}, "dimensions": [3])"}}},
      {"NNAPI-REQUEST-006", kRequest, {{R"("dimensions": [2]})", R"("dimensions": [0]})"}}, {}},
      {"NNAPI-REQUEST-007",
       kRequest,
       {{second, R"("offset": 24, "length": 12}, "dimensions": [4])"}},
       {{second, R"("offset": 24, "length": 12}, "dimensions": [3])"}}},
      {"NNAPI-REQUEST-008",
       kRequest,
       {{result, R"("poolIndex": 0, "offset": 32)"}, {"[40, 8]", "[48, 8]"}},
       {{result, R"("poolIndex": 0, "offset": 40)"}, {"[40, 8]", "[48, 8]"}}},
  };
}

}  // namespace nn::nnapi
