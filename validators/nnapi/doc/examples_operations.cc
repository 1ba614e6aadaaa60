// Examples of NNAPI rules: operations.
#include "validators/nnapi/doc/example_models.h"

namespace nn::nnapi {

std::vector<RuleExample> OperationExamples() {
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
       {{kAdd, "LSH_PROJECTION f[2,3] t[4] - i=1 -> t[2]"}}},
      {"NNAPI-OP-004",
       "RNN f[1,2] f[3,2] f[3,3] f[3] f[1,3] i=1 -> f[1,3] f[1,3]",
       {{"f[3] f[1,3]", "- f[1,3]"}},
       {{"i=1", "i=0"}}},
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
      {"NNAPI-OP-009",
       "MAX_POOL_2D f[1,4,4,2] i=1 i=1 i=1 i=1 i=1 i=0 -> f[1,4,4,2]",
       {{"i=1", "i=3"}},
       {{"i=1", "i=2"}}},
      {"NNAPI-OP-010", "SPACE_TO_DEPTH f[1,2,2,1] i=1 -> f[1,2,2,1]", {{"i=1", "i=0"}}, {}},
      {"NNAPI-OP-010",
       "MAX_POOL_2D f[1,4,4,2] i=1 i=1 i=1 i=1 i=1 i=0 -> f[1,4,4,2]",
       {{"i=1 i=1 i=1 i=1 i=1", "i=1 i=1 i=0 i=1 i=1"}},
       {{"i=1 i=1 i=1 i=1 i=1", "i=1 i=1 i=1 i=3 i=3"}}},
      {"NNAPI-OP-011",
       "CONV_2D f[1,4,4,2] f[3,3,3,2] f[3] i=0 i=0 i=0 i=0 i=1 i=1 i=0 -> f[1,2,2,3]",
       {{"i=0", "i=-1"}, {"f[1,2,2,3]", "f[1,2,1,3]"}},
       {{"i=0", "i=1"}, {"f[1,2,2,3]", "f[1,2,3,3]"}}},
  };
}

std::vector<RuleExample> WindowExamples() {
  constexpr const char* kConv = "CONV_2D f[1,4,4,2] f[3,3,3,2] f[3] i=2 i=1 i=1 i=0 -> f[1,2,2,3]";
  constexpr const char* kQuantized =
      "CONV_2D q[1,1,1,1]*0.5 q[1,1,1,1]*0.5 t[1]*0.25 i=1 i=1 i=1 i=0 -> q[1,1,1,1]*1";
  constexpr const char* kDepthwise =
      "DEPTHWISE_CONV_2D f[1,4,4,2] f[1,1,1,4] f[4] i=1 i=1 i=1 i=2 i=0 -> f[1,4,4,4]";
  constexpr const char* kPool = "MAX_POOL_2D f[1,4,6,2] i=1 i=2 i=1 i=2 i=2 i=0 -> f[1,4,3,2]";
  return {
      {"NNAPI-WINDOW-001",
       kConv,
       {{"-> f[1,2,2,3]", "-> f[1,4,4,3]"}},
       {{"-> f[1,2,2,3]", "-> f[1,4,4,3]"}, {"i=2", "i=1"}}},
      {"NNAPI-WINDOW-001", kPool, {{"i=1 i=2 i=1 i=2", "i=1 i=1 i=2 i=2"}}, {}},
      {"NNAPI-WINDOW-001",
       kConv,
       {{"f[3,3,3,2]", "f[3,5,3,2]"}},
       {{"f[3,3,3,2]", "f[3,2,3,2]"}, {"[1,2,2,3]", "[1,3,2,3]"}}},
      {"NNAPI-WINDOW-002",
       kConv,
       {{"f[3,3,3,2]", "f[3,3,3,1]"}},
       {{"f[3,3,3,2]", "f[3,3,3,1]"}, {"f[1,4,4,2]", "f[1,4,4,1]"}}},
      {"NNAPI-WINDOW-003", kConv, {{"f[3] i", "f[2] i"}}, {{"f[3] i", "f[0] i"}}},
      {"NNAPI-WINDOW-004", kQuantized, {{"*0.25", "*0.26"}}, {}},
      {"NNAPI-WINDOW-005", kQuantized, {{"]*1", "]*0.25"}}, {{"]*1", "]*0.26"}}},
      {"NNAPI-WINDOW-006", kDepthwise, {{"i=2", "i=1"}}, {{"i=2", "i=2"}}},
      {"NNAPI-WINDOW-006",
       kDepthwise,
       {{"f[1,1,1,4]", "f[2,1,1,4]"}},
       {{"f[1,1,1,4]", "f[0,1,1,4]"}}},
      {"NNAPI-WINDOW-007",
       "MAX_POOL_2D f[1,4,4,2] i=0 i=0 i=1 i=0 i=1 i=1 i=2 i=2 i=0 -> f[1,4,3,2]",
       {{"i=0 i=0 i=1", "i=0 i=0 i=2"}, {"f[1,4,3,2]", "f[1,5,3,2]"}},
       {{"i=0 i=0 i=1", "i=1 i=0 i=1"}, {"f[1,4,3,2]", "f[1,4,4,2]"}}},
  };
}

std::vector<RuleExample> ElementwiseExamples() {
  constexpr const char* kLrn =
      "LOCAL_RESPONSE_NORMALIZATION f[1,1,1,2] i=1 r=1 r=1 r=1 -> f[1,1,1,2]";
  return {
      {"NNAPI-ELEM-001", "RELU f[2] -> f[2]", {{"-> f[2]", "-> f[3]"}}, {{"f[2] ->", "f[0] ->"}}},
      {"NNAPI-ELEM-002", "ADD f[2,3] f[3] i=0 -> f[2,3]", {{"f[3]", "f[2]"}}, {{"f[3]", "f[1]"}}},
      {"NNAPI-ELEM-002", "MUL f[2,1] f[3] i=0 -> f[2,3]", {{"-> f[2,3]", "-> f[2,1]"}}, {}},
      {"NNAPI-ELEM-003",
       "RELU q[2]*0.5 -> q[2]*0.5",
       {{"-> q[2]*0.5", "-> q[2]*0.25"}},
       {{"RELU", "LOGISTIC"}, {"-> q[2]*0.5", "-> q[2]*0.00390625"}}},
      {"NNAPI-ELEM-003", "CONCATENATION q[1]*1 q[1]*1+0 i=0 -> q[2]*1", {{"+0", "+1"}}, {}},
      {"NNAPI-ELEM-004", "LOGISTIC q[2]*1 -> q[2]*0.00390625", {{"0.00390625", "0.0039"}}, {}},
      {"NNAPI-ELEM-005", kLrn, {{"r=1", "r=0"}}, {{"r=1", "r=-1"}}},
      {"NNAPI-ELEM-006", "SOFTMAX f[1,2] r=1 -> f[1,2]", {{"r=1", "r=0"}}, {{"r=1", "r=0.1"}}},
  };
}

std::vector<RuleExample> ShapeExamples() {
  constexpr const char* kReshape = "RESHAPE f[2,3] t[2]={3,-1} -> f[3,2]";
  constexpr const char* kJoin = "CONCATENATION f[1,2] f[1,3] i=1 -> f[1,5]";
  return {
      {"NNAPI-SHAPE-001", kJoin, {{"i=1", "i=0"}}, {{"f[1,3]", "f[1,0]"}}},
      {"NNAPI-SHAPE-001", kJoin, {{"i=1", "i=2"}}, {}},
      {"NNAPI-SHAPE-001",
       kJoin,
       {{"-> f[1,5]", "-> f[1,4]"}},
       {{"f[1,3] i=1 -> f[1,5]", "f[1,2] i=1 -> f[1,4]"}}},
      {"NNAPI-SHAPE-002", "SPACE_TO_DEPTH f[1,4,4,1] i=4 -> f[1,1,1,16]", {{"i=4", "i=3"}}, {}},
      {"NNAPI-SHAPE-002", "DEPTH_TO_SPACE f[1,1,1,8] i=2 -> f[1,2,2,2]", {{"1,8]", "1,6]"}}, {}},
      {"NNAPI-SHAPE-003", kReshape, {{"{3,-1}", "{-1,-1}"}}, {{"{3,-1}", "{3,2}"}}},
      {"NNAPI-SHAPE-003", kReshape, {{"{3,-1} -> f[3,2]", "{0,-1} -> f[6,1]"}}, {}},
      {"NNAPI-SHAPE-004",
       "RESIZE_BILINEAR f[1,2,2,1] i=4 i=3 -> f[1,3,4,1]",
       {{"f[1,3,4,1]", "f[1,4,3,1]"}},
       {}},
      {"NNAPI-SHAPE-005",
       "DEPTH_TO_SPACE f[1,1,1,8] i=2 -> f[1,2,2,2]",
       {{"f[1,2,2,2]", "f[1,2,4,1]"}},
       {{"f[1,1,1,8]", "f[3,1,1,8]"}, {"f[1,2,2,2]", "f[3,2,2,2]"}}},
      {"NNAPI-SHAPE-006",
       kReshape,
       {{"{3,-1} -> f[3,2]", "{3,3} -> f[3,3]"}},
       {{"{3,-1} -> f[3,2]", "{6,1} -> f[6,1]"}}},
      {"NNAPI-SHAPE-006", kReshape, {{"{3,-1} -> f[3,2]", "{4,-1} -> f[4,2]"}}, {}},
      {"NNAPI-SHAPE-007", kReshape, {{"f[3,2]", "f[2,3]"}}, {}},
      {"NNAPI-SHAPE-007",
       "RESHAPE f[2,3] t[2] -> f[3,2]",
       {{"f[3,2]", "f[6]"}},
       {{"f[3,2]", "f[6,1]"}}},
  };
}

std::vector<RuleExample> LookupExamples() {
  constexpr const char* kTable = "HASHTABLE_LOOKUP t[2] t[3]={1,2,5} f[3,4] -> f[2,4] q[2]*1";
  constexpr const char* kHash = "LSH_PROJECTION f[2,3] t[4] f[4]=0 i=2 -> t[6]";
  return {
      {"NNAPI-LOOKUP-001",
       "EMBEDDING_LOOKUP t[2]={0,2} f[3,4] -> f[2,4]",
       {{"{0,2}", "{0,3}"}},
       {{"{0,2}", "{2,2}"}}},
      {"NNAPI-LOOKUP-001",
       "EMBEDDING_LOOKUP t[2] f[3,4] -> f[2,4]",
       {{"-> f[2,4]", "-> f[3,4]"}},
       {}},
      {"NNAPI-LOOKUP-002", kTable, {{"q[2]", "q[3]"}}, {{"t[2]", "t[0]"}}},
      {"NNAPI-LOOKUP-002", kTable, {{"f[2,4]", "f[3,4]"}}, {}},
      {"NNAPI-LOOKUP-003", kTable, {{"{1,2,5}", "{1,2,0}"}}, {{"{1,2,5}", "{-1,0,2}"}}},
      {"NNAPI-LOOKUP-004", kHash, {{"i=2", "i=3"}}, {{"f[4]=0 i=2 -> t[6]", "- i=1 -> t[2]"}}},
      {"NNAPI-LOOKUP-005", kTable, {{"f[3,4]", "f[2,4]"}}, {{"f[3,4]", "f[0,4]"}}},
      {"NNAPI-LOOKUP-006", kTable, {{"q[2]*1", "q[2]*0.5"}}, {}},
      {"NNAPI-LOOKUP-006", kTable, {{"q[2]*1", "q[2]*1+1"}}, {}},
      {"NNAPI-LOOKUP-007", kHash, {{"f[4]", "f[3]"}}, {{"t[4]", "t[0]"}}},
      {"NNAPI-LOOKUP-008", kHash, {{"f[4]=0", "-"}}, {{"f[4]=0 i=2 -> t[6]", "- i=1 -> t[2]"}}},
      {"NNAPI-LOOKUP-008", kHash, {{"i=2 -> t[6]", "i=1 -> t[2]"}}, {}},
      {"NNAPI-LOOKUP-009",
       "LSH_PROJECTION f[2,3] t[4] - i=1 -> t[2]",
       {{"f[2,3]", "f[2,32]"}},
       {{"f[2,3]", "f[2,31]"}}},
      {"NNAPI-LOOKUP-010", kHash, {{"t[6]", "t[2]"}}, {{"f[2,3]", "f[0,3]"}}},
  };
}

std::vector<RuleExample> MatrixExamples() {
  constexpr const char* kDense = "FULLY_CONNECTED f[2,3] f[4,3] f[4] i=0 -> f[2,4]";
  constexpr const char* kRnn = "RNN f[1,2] f[3,2] f[3,3] f[3] f[1,3] i=1 -> f[1,3] f[1,3]";
  constexpr const char* kSvdf = "SVDF f[1,2] f[4,2] f[4,3] f[2] f[1,12] i=2 i=0 -> f[1,12] f[1,2]";
  constexpr const char* kLstm =
      "LSTM f[1,2] f[3,2]=0 f[3,2] f[3,2] f[3,2] f[3,3]=0 f[3,3] f[3,3] f[3,3] - - - f[3]=0 "
      "f[3] f[3] f[3] - - f[1,3] f[1,3] i=4 r=0 r=0 -> f[1,12] f[1,3] f[1,3] f[1,3]";
  constexpr const char* kProjected =
      "LSTM f[1,2] - f[3,2] f[3,2] f[3,2] - f[3,2] f[3,2] f[3,2] - - - - f[3] f[3] f[3] f[2,3]=0 - "
      "f[1,2] f[1,3] i=4 r=0 r=0 -> f[1,9] f[1,2] f[1,3] f[1,2]";
  const std::vector<Edit> peepholes = {{"- - - f[3]=0", "f[3]=0 f[3]=0 f[3]=0 f[3]=0"}};
  const std::vector<Edit> no_input_gate = {
      {"f[3,2]=0", "-"}, {"f[3,3]=0", "-"}, {"f[3]=0", "-"}, {"f[1,12]", "f[1,9]"}};
  return {
      {"NNAPI-MATRIX-001", kDense, {{"f[4,3]", "f[4,4]"}}, {{"f[2,3]", "f[1,2,3]"}}},
      {"NNAPI-MATRIX-001", kDense, {{"-> f[2,4]", "-> f[2,3]"}}, {{"f[2,3]", "f[0,3]"}}},
      {"NNAPI-MATRIX-002", kRnn, {{"f[3,3]", "f[3,2]"}}, {{"f[3,3]", "f[3,0]"}}},
      {"NNAPI-MATRIX-003",
       kSvdf,
       {{"i=2", "i=3"}},
       {{"f[2] f[1,12] i=2", "f[4] f[1,12] i=1"}, {"f[1,12] f[1,2]", "f[1,12] f[1,4]"}}},
      {"NNAPI-MATRIX-003", kSvdf, {{"f[2] f", "f[3] f"}}, {{"f[2] f", "- f"}}},
      {"NNAPI-MATRIX-004", kLstm, {{"-> f[1,12]", "-> f[1,9]"}}, no_input_gate},
      {"NNAPI-MATRIX-004", kLstm, {{"f[1,2]", "f[1,3]"}}, {}},
      {"NNAPI-MATRIX-005", kLstm, {{"f[3]=0", "-"}}, no_input_gate},
      {"NNAPI-MATRIX-006", kLstm, {{"i=4", "i=5"}}, {{"i=4", "i=6"}}},
      {"NNAPI-MATRIX-007", kLstm, {{"- - - f[3]=0", "f[3]=0 - f[3]=0 f[3]=0"}}, peepholes},
      {"NNAPI-MATRIX-007", kLstm, {{"- - - f[3]=0", "- f[3]=0 f[3]=0 f[3]=0"}}, peepholes},
      {"NNAPI-MATRIX-008",
       kLstm,
       {{"- - f[1,3]", "- f[3]=0 f[1,3]"}},
       {{"- - f[1,3]", "f[3,3]=0 f[3]=0 f[1,3]"}}},
      {"NNAPI-MATRIX-009", kLstm, {{"r=0", "r=-1"}}, {{"r=0", "r=1"}}},
      {"NNAPI-MATRIX-010", kProjected, {{"f[2,3]=0", "-"}}, {{"f[2,3]=0 -", "f[2,3]=0 f[2]=0"}}},
      {"NNAPI-MATRIX-011",
       kSvdf,
       {{"f[1,12] i=2", "f[1,11] i=2"}, {"-> f[1,12]", "-> f[1,11]"}},
       {{"f[1,12] i=2", "f[1,8] i=2"}, {"-> f[1,12]", "-> f[1,8]"}}},
      {"NNAPI-MATRIX-011", kSvdf, {{"-> f[1,12]", "-> f[1,8]"}}, {{"f[1,12] i=2", "f[1,0] i=2"}}},
  };
}

std::vector<RuleExample> LintExamples() {
  const std::string offset = "\"offset\": 8";
  return {
      {"NNAPI-LINT-001", "RELU q[2]*0.5 -> q[2]*0.5", {{"*0.5", "*20000"}, {"*0.5", "*20000"}}, {}},
      {"NNAPI-LINT-001", "RELU q[2]*0.5 -> q[2]*0.5", {{"*0.5", "*1e-40"}, {"*0.5", "*1e-40"}}, {}},
      {"NNAPI-LINT-002",
       kModel,
       {{"\"operandValuesSize\"", "\"poolSizes\": [8], \"operandValuesSize\""}},
       {{"CONSTANT_COPY", "CONSTANT_REFERENCE"},
        {"\"operandValuesSize\"", "\"poolSizes\": [8], \"operandValuesSize\""}}},
      {"NNAPI-LINT-003",
       kModel,
       {{"ValuesSize\": 12", "ValuesSize\": 76"}},
       {{"ValuesSize\": 12", "ValuesSize\": 75"}}},
      {"NNAPI-LINT-004", kModel, {{offset, "\"offset\": 4"}}, {{offset, "\"offset\": 8"}}},
      {"NNAPI-LINT-005",
       kModel,
       {{offset, "\"offset\": 9"}, {"ValuesSize\": 12", "ValuesSize\": 13"}},
       {{offset, "\"offset\": 12"}, {"ValuesSize\": 12", "ValuesSize\": 16"}}},
      {"NNAPI-LINT-006", "RELU f[1,2] -> f[1,2]", {{"RELU", "10000"}}, {}},
      {"NNAPI-LINT-007",
       "RELU f[1,2] -> f[1,2]",
       {{"-> f[1,2]", "-> f[0,2]"}},
       {{"f[1,2]", "f[0,2]"}}},
      {"NNAPI-LINT-008",
       "HASHTABLE_LOOKUP t[2] t[3]={1,2,5} f[3,4] -> f[2,4] q[2]*1",
       {{"{1,2,5}", "{1,2,2}"}},
       {}},
      {"NNAPI-LINT-009",
       "MAX_POOL_2D f[1,4,4,2] i=1 i=1 i=1 i=1 i=1 i=0 -> f[1,4,4,2]",
       {{"i=1", "i=0"}},
       {{"i=1", "i=2"}}},
  };
}

}  // namespace nn::nnapi
