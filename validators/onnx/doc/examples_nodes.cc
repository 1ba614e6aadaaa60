// Examples of ONNX rules: nodes, attributes, operators, types.
#include "validators/onnx/doc/example_models.h"

namespace nn::onnx {

std::vector<RuleExample> NodeExamples() {
  const Edit empty = {"input: \"w\"", "input: \"\""};
  const Edit upsample = {"input: \"x\" output: \"t\" name: \"a\" op_type: \"Relu\"",
                         "input: [\"x\", \"w\"] output: \"t\" op_type: \"Upsample\""};
  const std::string alone = "node { op_type: \"E\" domain: \"com.example\" }";
  return {
      {"ONNX-NODE-001", kGraph, {{"op_type: \"Relu\"", ""}}, {Operator("\"Abs\"")}},
      {"ONNX-NODE-002",
       kGraph,
       {AddImport("com.example", "1"), AddToGraph(alone)},
       {AddImport("com.example", "1"),
        AddToGraph(alone),
        {"node {", "output { name: \"e\" $T } node { output: \"e\""}}},
      {"ONNX-NODE-003",
       kGraph,
       {Operator("\"Relu\" domain: \"com.example\"")},
       {Operator("\"Relu\" domain: \"com.example\""), AddImport("com.example", "1")}},
      {"ONNX-NODE-004",
       kGraph,
       {Operator("\"Gelu\"")},
       {Operator("\"Gelu\""), {"version: 17", "version: 20"}}},
      {"ONNX-NODE-005",
       kGraph,
       {upsample, {"version: 17", "version: 10"}},
       {upsample,
        {"\"Upsample\"", "\"Resize\""},
        {"version: 17", "version: 10"},
        Shaped("x", "dim {} dim {}"),
        Shaped("y", "dim {} dim {}")}},
      {"ONNX-NODE-006",
       kGraph,
       {{"input: \"w\"", ""}},
       {{"input: \"w\"", ""}, {"op_type: \"Add\"", "op_type: \"Sum\""}}},
      {"ONNX-NODE-007",
       kGraph,
       {{"output: \"t\"", "output: [\"t\", \"u\"]"}},
       {{"output: \"t\"", "output: [\"t\", \"u\"]"}, Operator("\"Dropout\"")}},
      {"ONNX-NODE-008", kGraph, {empty}, {empty, {"op_type: \"Add\"", "op_type: \"Clip\""}}},
      {"ONNX-NODE-009",
       kGraph,
       {Operator("\"Relu\" attribute { name: \"alpha\" type: FLOAT f: 1 }")},
       {Operator("\"LeakyRelu\" attribute { name: \"alpha\" type: FLOAT f: 1 }")}},
      {"ONNX-NODE-010",
       kGraph,
       {Operator("\"LeakyRelu\" attribute { name: \"alpha\" type: INT i: 1 }")},
       {Operator("\"LeakyRelu\" attribute { name: \"alpha\" type: FLOAT f: 1 }")}},
      {"ONNX-NODE-011",
       kGraph,
       {{"op_type: \"Add\"", "op_type: \"Concat\""}},
       {{"op_type: \"Add\"", "op_type: \"Concat\" attribute { name: \"axis\" type: INT i: 0 }"},
        {"name: \"y\" $T",
         "name: \"y\" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } }"}}},
      {"ONNX-NODE-012",
       kGraph,
       {AddImport("ai.onnx.preview", "1"), Operator("\"Relu\" domain: \"ai.onnx.preview\"")},
       {AddImport("com.example", "1"), Operator("\"Relu\" domain: \"com.example\"")}},
      {"ONNX-NODE-013",
       kGraph,
       {Operator("\"Relu\" domain: \"ai.onnx\"")},
       {Operator("\"Relu\" domain: \"\"")}},
      {"ONNX-NODE-014", kGraph, {Operator("\"Affine\"")}, {Operator("\"Abs\"")}},
  };
}

std::vector<RuleExample> AttributeExamples() {
  const auto leaky = [](const std::string& fields, const std::string& more = "") {
    return Operator("\"LeakyRelu\" attribute { name: \"alpha\" " + fields + " } " + more);
  };
  const auto constant = [](const std::string& fields) {
    return Edit{"input: \"x\" output: \"t\" name: \"a\" op_type: \"Relu\"",
                "output: \"t\" op_type: \"Constant\" attribute { name: \"value\" " + fields + " }"};
  };
  // Moves the node of the function into a branch of an If.
  const auto branch = [](const std::string& fields) {
    return Edit{
        "op_type: \"LeakyRelu\"\n    attribute { name: \"alpha\" type: FLOAT "
        "ref_attr_name: \"alpha\" }",
        "op_type: \"If\" attribute { name: \"then_branch\" type: GRAPH g { name: \"t\" "
        "node { input: \"a\" output: \"p\" op_type: \"LeakyRelu\" attribute { "
        "name: \"alpha\" type: FLOAT " +
            fields +
            " } } output { name: \"p\" } } } "
            "attribute { name: \"else_branch\" type: GRAPH g { name: \"e\" "
            "node { input: \"a\" output: \"q\" op_type: \"Abs\" } output { name: \"q\" } } }"};
  };
  return {
      {"ONNX-ATTR-001",
       kGraph,
       {Operator("\"Relu\" attribute { type: INT i: 1 }")},
       {Operator("\"Relu\" attribute { name: \"__\" type: INT i: 1 }")}},
      {"ONNX-ATTR-002",
       kGraph,
       {leaky("type: FLOAT f: 1", "attribute { name: \"alpha\" type: FLOAT f: 1 }")},
       {leaky("type: FLOAT f: 1", "attribute { name: \"__alpha\" type: FLOAT f: 1 }")}},
      {"ONNX-ATTR-003", kGraph, {leaky("f: 1")}, {leaky("type: FLOAT f: 1")}},
      {"ONNX-ATTR-004 ONNX-ATTR-005",
       kGraph,
       {leaky("type: FLOAT f: 1 i: 1")},
       {leaky("type: FLOAT f: 1 doc_string: \"i\"")}},
      {"ONNX-ATTR-005", kGraph, {leaky("type: FLOAT i: 1")}, {leaky("type: FLOAT")}},
      {"ONNX-ATTR-006", kGraph, {constant("type: TENSOR")}, {constant("type: TENSOR t { $D }")}},
      {"ONNX-ATTR-007",
       kGraph,
       {leaky("type: FLOAT ref_attr_name: \"alpha\"")},
       {leaky("type: FLOAT ref_attr_name: \"\" f: 1")}},
      {"ONNX-ATTR-007",
       kFunctionModel,
       {{"ref_attr_name: \"alpha\"", "ref_attr_name: \"beta\""}},
       {{"ref_attr_name: \"alpha\"", "ref_attr_name: \"beta\""},
        {"attribute: \"alpha\"", "attribute: [\"alpha\", \"beta\"]"}}},
      {"ONNX-ATTR-008",
       kFunctionModel,
       {{"ref_attr_name: \"alpha\"", "ref_attr_name: \"alpha\" f: 2"}},
       {{"ref_attr_name: \"alpha\"", "f: 2"}}},
      {"ONNX-ATTR-009",
       kFunctionModel,
       {branch("ref_attr_name: \"alpha\" f: 2")},
       {branch("ref_attr_name: \"alpha\"")}},
      {"ONNX-ATTR-010",
       kGraph,
       {Operator("\"Relu\" attribute { name: \"__u\" type: UNDEFINED }")},
       {Operator("\"Relu\" attribute { name: \"__u\" type: INT }")}},
      {"ONNX-ATTR-011",
       kGraph,
       {Operator("\"Relu\" attribute { name: \"__t\" type: TENSOR }")},
       {Operator("\"Relu\" attribute { name: \"__s\" type: STRING }")}},
      {"ONNX-ATTR-012 ONNX-OP-001",
       kConv,
       {
           ConvAttribute("name: \"auto_pad\" type: STRING s: \"\\377\""),
       },
       {ConvAttribute("name: \"__auto_pad\" type: STRING s: \"\\377\"")}},
  };
}

std::vector<RuleExample> OperatorExamples() {
  const auto transpose = [](const std::string& perm) {
    return Operator("\"Transpose\" attribute { name: \"perm\" type: INTS ints: " + perm + " }");
  };
  const auto cast = [](const std::string& type) {
    return Operator("\"Cast\" attribute { name: \"to\" type: INT i: " + type + " }");
  };
  const auto constant = [](const std::string& attributes) {
    return Edit{"input: \"x\" output: \"t\" name: \"a\" op_type: \"Relu\"",
                "output: \"t\" op_type: \"Constant\" " + attributes};
  };
  const std::string strides = "name: \"strides\" type: INTS ints: ";
  const Edit output = {"output { name: \"s2\" }", "output { name: \"s2\" } output { name: \"i\" }"};
  return {
      {"ONNX-OP-001",
       kConv,
       {ConvAttribute("name: \"auto_pad\" type: STRING s: \"SAME\"")},
       {ConvAttribute("name: \"auto_pad\" type: STRING s: \"SAME_LOWER\"")}},
      {"ONNX-OP-002",
       kConv,
       {ConvAttribute(strides + "[1, 0]")},
       {ConvAttribute(strides + "[1, 1]")}},
      {"ONNX-OP-003",
       kConv,
       {ConvAttribute("name: \"pads\" type: INTS ints: [0, 0, 0, 0]"),
        ConvAttribute(strides + "1")},
       {ConvAttribute("name: \"pads\" type: INTS ints: [0, 0, 0, 0]"),
        ConvAttribute(strides + "[1, 1]")}},
      {"ONNX-OP-003",
       kConv,
       {ConvAttribute("name: \"pads\" type: INTS ints: [0, 0, 0]")},
       {ConvAttribute("name: \"pads\" type: INTS ints: [0, 1, 0, 0]")}},
      {"ONNX-OP-004", kGraph, {transpose("1")}, {transpose("0")}},
      {"ONNX-OP-005",
       kConv,
       {{"i: 2", "i: 3"}},
       {{"dims: [2, 1, 1, 1] float_data: [1, 2]", "dims: [4, 1, 1, 1] float_data: [1, 2, 3, 4]"}}},
      {"ONNX-OP-005",
       kConv,
       {{"dims: [2, 1, 1, 1] float_data: [1, 2]", "dims: [3, 1, 1, 1] float_data: [1, 2, 3]"}},
       {}},
      {"ONNX-OP-006", kGraph, {cast("27")}, {cast("1")}},
      {"ONNX-OP-007",
       kGraph,
       {constant("")},
       {constant("attribute { name: \"value_floats\" type: FLOATS floats: [1, 2] }")}},
      {"ONNX-OP-008",
       kIf,
       {{"name: \"then\"", "name: \"then\" input { name: \"i\" $T }"}},
       {{"ir_version: 13", "ir_version: 3"},
        {"name: \"then\"", "name: \"then\" input { name: \"k\" $T }"}}},
      {"ONNX-OP-008",
       kIf,
       {{"output { name: \"p\" }", "output { name: \"p\" } output { name: \"k\" }"}},
       {{"output { name: \"p\" }", "output { name: \"p\" } output { name: \"k\" }"},
        {"output { name: \"q\" }",
         "output { name: \"q\" } initializer { name: \"r\" $D } "
         "output { name: \"r\" }"},
        {"output: \"y\"", "output: [\"y\", \"z\"]"}}},
      {"ONNX-OP-009", kLoop, {output}, {output, {"output: \"y\"", "output: [\"y\", \"z\"]"}}},
      {"ONNX-OP-010", kScan, {{"INT i: 1", "INT i: 2"}}, {}},
      {"ONNX-OP-010",
       kScan,
       {{"input: \"x\"", "input: [\"x\", \"x\"]"}},
       {{"input: \"x\"", "input: [\"x\", \"x\"]"},
        {"INT i: 1", "INT i: 2"},
        {"input { name: \"e\" }", "input { name: \"e\" } input { name: \"f\" }"}}},
  };
}

std::vector<RuleExample> TypeExamples() {
  const Edit v18 = {"version: 17", "version: 18"};
  const Edit integers = {"name: \"w\" $D", "name: \"w\" data_type: 7 dims: 2 int64_data: [1, 2]"};
  const auto info = [](const std::string& type) {
    return AddToGraph("value_info { name: \"t\" type { tensor_type { elem_type: " + type +
                      " } } }");
  };
  const auto version = [](const std::string& number) {
    return Edit{"version: 17", "version: " + number};
  };
  const Edit text = {"input: \"w\" output: \"y\" name: \"b\" op_type: \"Add\"",
                     "output: \"y\" op_type: \"Cast\" attribute { name: \"to\" type: INT i: 8 }"};
  const Edit result = {"name: \"y\" $T",
                       "name: \"y\" type { tensor_type { elem_type: 8 shape { dim {} } } }"};
  return {
      {"ONNX-TYPE-001", kGraph, {v18, Operator("\"BitwiseNot\"")}, {v18, Operator("\"Neg\"")}},
      {"ONNX-TYPE-002", kGraph, {integers}, {integers, {"op_type: \"Add\"", "op_type: \"Pow\""}}},
      {"ONNX-TYPE-003",
       kGraph,
       {{"name: \"y\" $T", "name: \"y\" type { tensor_type { elem_type: 11 shape { dim {} } } }"}},
       {info("1")}},
      {"ONNX-TYPE-004 ONNX-OP-006",
       kGraph,
       {text, result, version("8")},
       {text, result, version("9")}},
  };
}

std::vector<RuleExample> ShapeExamples() {
  const auto weights = [](const std::string& tensor) {
    return Edit{"name: \"w\" $D", "name: \"w\" data_type: 1 " + tensor};
  };
  const auto info = [](const std::string& type) {
    return AddToGraph("value_info { name: \"t\" type { " + type + " } }");
  };
  const auto result = [](const std::string& type) {
    return Edit{"name: \"y\" $T",
                "name: \"y\" type { tensor_type { elem_type: " + type + " shape { dim {} } } }"};
  };
  const auto dims = [&](const std::string& shape) {
    return info("tensor_type { elem_type: 1 shape { " + shape + " } }");
  };
  return {
      {"ONNX-SHAPE-001",
       kGraph,
       {weights("dims: 3 float_data: [1, 2, 3]")},
       {weights("dims: 1 float_data: 1")}},
      {"ONNX-SHAPE-002",
       kGraph,
       {dims("dim { dim_value: 3 }")},
       {dims("dim { dim_param: \"n\" }")}},
      {"ONNX-SHAPE-003", kIf, {result("11")}, {result("1")}},
  };
}

}  // namespace nn::onnx
